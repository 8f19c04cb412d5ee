//! What the four servers share: everything but HTTP.

mod config;
mod failure;
mod identity;
mod people;
mod process;

use askama::Template;
use serde::Serialize;

pub use config::{Config, Driver};
pub use failure::{ErrorBody, Failure};
pub use identity::Identity;
pub use people::{Row, Table};
pub use process::{GRACE, ended, listen, run};

use identity::Program;
use people::People;

/// What every server grants a client, as shared/limits.ts has it; each sets those that its framework lets it set.
pub mod limits {
    use std::time::Duration;

    pub const HEADER_BYTES: usize = 16_384;
    pub const HEADERS: Duration = Duration::from_secs(10);
    pub const IDLE: Duration = Duration::from_secs(10);
}

/// The answer to /plain.
#[derive(Serialize)]
pub struct Greeting {
    pub message: &'static str,
}

/// The page of /html-template.
#[derive(Template)]
#[template(path = "hi.html")]
pub struct Hi<'a> {
    name: &'a str,
}

/// What the handlers of all routes do; a server only mounts them.
pub struct App {
    people: People,
    program: Program,
}

impl App {
    /// Opens the database. `framework` is the name by which `GET /` says it, `package` that of Cargo.lock.
    ///
    /// # Errors
    /// In one line, where the database is missing or is not what createdb.ts writes.
    pub async fn open(config: &Config, framework: &'static str, package: &str) -> anyhow::Result<Self> {
        let people = People::open(config.driver, &config.db_file).await?;
        let program = Program::new(config, framework, package, &people.sqlite_version);
        Ok(Self { people, program })
    }

    pub fn identity(&self) -> Identity<'_> {
        self.program.identity()
    }

    pub fn plain(&self) -> Greeting {
        Greeting { message: "Hello, world!" }
    }

    /// # Errors
    /// Where the template fails.
    pub fn hi(&self) -> Result<String, Failure> {
        Ok(Hi { name: "Ben" }.render()?)
    }

    /// As many rows as the last segment of the path says, decoded.
    ///
    /// # Errors
    /// Where that is not a size, and where the database fails.
    pub async fn random_rows(&self, table: Table, size: &str) -> Result<Vec<Row>, Failure> {
        let size = failure::integer("size", size, people::MAX_SIZE)?;
        Ok(self.people.random_rows(table, size).await?)
    }
}
