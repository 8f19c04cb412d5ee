//! What the four servers share: everything but HTTP.

mod config;
mod content;
mod failure;
mod identity;
mod let_past;
mod people;
mod process;
mod store;
mod transaction;

use askama::Template;
use serde::Serialize;

pub use config::{Client, Config, Driver, StoreConfig};
pub use content::{Content, Contents, Page, User, check_type};
pub use failure::{ErrorBody, Failure};
pub use identity::Identity;
pub use let_past::LetPast;
pub use people::{Row, Table};
pub use process::{GRACE, ended, listen, run};
pub use transaction::Balance;

use identity::Program;
use people::People;

/// What every server grants a client, as shared/limits.ts has it; each sets those that its framework lets it set.
pub mod limits {
    use std::time::Duration;

    pub const HEADER_BYTES: usize = 16_384;
    /// Longest body of a request, where one is read.
    pub const BODY_BYTES: usize = 102_400;
    pub const HEADERS: Duration = Duration::from_secs(10);
    /// Until the body has come.
    pub const BODY: Duration = Duration::from_secs(30);
    pub const IDLE: Duration = Duration::from_secs(10);
}

/// What the drivers' builds of SQLite would set differently is set here, the same for all.
const SQLITE_PRAGMAS: [(&str, &str); 2] = [("cache_size", "-16000"), ("mmap_size", "0")];

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

/// What the handlers of all routes do, but for those of [`Contents`]; a server only mounts them.
pub struct App {
    people: People,
    program: Program,
}

impl App {
    /// Opens the database. `GET /` names the `store`, and the `framework`, whose `package` is that of Cargo.lock.
    ///
    /// # Errors
    /// In one line, where the database is missing or is not what createdb.ts writes.
    pub async fn open(
        config: &Config,
        store: Option<&StoreConfig>,
        framework: &'static str,
        package: &str,
    ) -> anyhow::Result<Self> {
        let people = People::open(config.driver, &config.db_file).await?;
        let program = Program::new(config, store, framework, package, &people.sqlite_version);
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
