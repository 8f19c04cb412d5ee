//! Where content items and users are kept.

mod migrations;
mod postgres;
mod rusqlite;
mod sqlx_postgres;
mod sqlx_sqlite;
mod tokio_postgres;

use std::time::Duration;

use anyhow::anyhow;
use async_trait::async_trait;

use crate::{
    Client, Driver, Failure, SQLITE_PRAGMAS,
    config::{Place, PostgresConfig, SqliteConfig},
    content::{Content, Draft, NewUser, User},
    transaction::Transfer,
};

/// How long a write to SQLite waits for those of other processes.
const BUSY: Duration = Duration::from_secs(5);

/// Statements of both databases; `data` is JSON text.
mod sql {
    pub const CREATE: &str = "INSERT INTO content VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    pub const READ: &str = "SELECT * FROM content WHERE id = $1";
    pub const UPDATE: &str = "UPDATE content SET title = $1, body = $2, author = $3, status = $4, data = $5, updated_at = $6 \
                              WHERE id = $7 RETURNING *";
    pub const REMOVE: &str = "DELETE FROM content WHERE id = $1";
    pub const LIST: &str = "SELECT * FROM content WHERE id > $1 ORDER BY id LIMIT $2";
    pub const USERS: &str = r#"SELECT id, name, email FROM "user" ORDER BY id LIMIT $1"#;
    pub const ADD_USER: &str = r#"INSERT INTO "user" (name, email) VALUES ($1, $2) RETURNING id, name, email"#;
}

/// What is written is durable, as far as the settings of the store promise it, when a call returns.
#[async_trait]
pub trait Store: Send + Sync {
    /// Fails where there is one of its id.
    async fn create(&self, content: Content) -> Result<Content, Failure>;
    async fn read(&self, id: String) -> Result<Option<Content>, Failure>;
    /// The content as it is then, None where there is none.
    async fn update(&self, id: String, draft: Draft, updated_at: String) -> Result<Option<Content>, Failure>;
    /// Whether there was one.
    async fn remove(&self, id: String) -> Result<bool, Failure>;
    /// The first content items by id whose id is greater than `after`.
    async fn list(&self, after: String, limit: i64) -> Result<Vec<Content>, Failure>;
    /// The first users by id.
    async fn users(&self, limit: i64) -> Result<Vec<User>, Failure>;
    async fn add_user(&self, user: NewUser) -> Result<User, Failure>;
    /// One attempt at a transaction of pgbench, which Postgres alone has. The account's balance in it.
    async fn transact(&self, _transfer: Transfer) -> Result<i32, Failure> {
        Err(Failure::NotFound)
    }
    async fn close(&self);
}

/// # Errors
/// In one line, where the store cannot be opened.
pub async fn open(place: &Place) -> anyhow::Result<Box<dyn Store>> {
    match place {
        Place::Sqlite(config) => open_sqlite(config).await.map_err(|cause| {
            anyhow!("CONTENT_FILE \"{}\" cannot be written ({cause}): set it to a file that can", config.file)
        }),
        Place::Postgres(config) => open_postgres(config).await.map_err(|cause| {
            let url = postgres::without_user(&config.url);
            let cause = format!("{cause:#}");
            let cause = cause.split_whitespace().collect::<Vec<_>>().join(" "); // hints come in lines of their own
            anyhow!("{url} cannot be used ({cause}): start Postgres, or fix DATABASE_URL")
        }),
    }
}

async fn open_sqlite(config: &SqliteConfig) -> anyhow::Result<Box<dyn Store>> {
    Ok(match config.driver {
        Driver::Sqlx => Box::new(sqlx_sqlite::open(config).await?),
        Driver::Rusqlite => Box::new(rusqlite::open(config)?),
    })
}

async fn open_postgres(config: &PostgresConfig) -> anyhow::Result<Box<dyn Store>> {
    postgres::migrate(&config.url).await?;
    Ok(match config.client {
        Client::SqlxPostgres => Box::new(sqlx_postgres::open(config)?),
        Client::TokioPostgres => Box::new(tokio_postgres::open(config)?),
    })
}

/// Beside the busy timeout.
fn sqlite_pragmas(config: &SqliteConfig) -> [(&'static str, &'static str); 4] {
    let [cache_size, mmap_size] = SQLITE_PRAGMAS;
    [("journal_mode", config.journal), ("synchronous", config.synchronous), cache_size, mmap_size]
}
