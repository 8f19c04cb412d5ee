//! The code that the four servers share: everything except the routes.

mod config;
mod failure;
mod identity;
mod people;
mod postgres;
mod process;
mod serve;

use askama::Template;
use mimalloc::MiMalloc;
use serde::Serialize;

pub use config::Config;
pub use failure::{ErrorBody, Failure};
pub use people::{Person5, Person30, Table};
pub use postgres::{Balance, Transfer};
pub use process::{GRACE, ended, listen, run};
pub use serve::serve;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Limits on clients, as in shared/limits.ts; each server sets the limits for which its framework has an option.
pub mod limits {
    use std::time::Duration;

    pub const HEADER_BYTES: usize = 16_384;
    pub const BODY_BYTES: usize = 102_400;
    /// From the end of an answer, or the start of the connection, to the end of the next request's headers.
    pub const HEADERS: Duration = Duration::from_secs(10);
    pub const REQUEST: Duration = Duration::from_secs(30);
    pub const IDLE: Duration = Duration::from_secs(10);
}

/// The answer to /plain.
#[derive(Serialize)]
pub struct Greeting {
    message: &'static str,
}

pub const GREETING: Greeting = Greeting { message: "Hello, world!" };

/// The page of /html-template.
#[derive(Template)]
#[template(path = "hi.html")]
struct Hi<'a> {
    name: &'a str,
}

/// The handlers of all routes; each server only mounts them.
pub struct App {
    people: people::People,
    postgres: Option<postgres::Postgres>,
    identity: identity::Identity,
}

impl App {
    /// Opens the databases. `package` is the framework's name in Cargo.lock.
    pub async fn open(config: &Config, framework: &str, package: &str) -> anyhow::Result<Self> {
        let people = people::People::open(config.driver, &config.db_file).await?;
        let postgres = match &config.postgres {
            Some(postgres) => Some(postgres::Postgres::open(postgres).await?),
            None => None,
        };
        Ok(Self { people, postgres, identity: identity::Identity::new(config, framework, package) })
    }

    pub fn identity(&self) -> serde_json::Value {
        self.identity.now()
    }

    pub fn hi(&self) -> Result<String, Failure> {
        Ok(Hi { name: "Ben" }.render()?)
    }

    /// Random rows of a table; `size` is the last segment of the path.
    pub async fn random_rows<T: Table>(&self, size: &str) -> Result<Vec<T>, Failure> {
        Ok(self.people.random_rows(people::size(size)?).await?)
    }

    pub async fn transact(&self, transfer: Transfer) -> Result<Balance, Failure> {
        self.postgres.as_ref().ok_or(Failure::NotFound)?.transact(transfer).await
    }
}
