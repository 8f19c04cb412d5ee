//! rusqlite, whose calls block: they are made in tokio's threads for that, one at a time.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, ErrorCode, Params, Row, TransactionBehavior};
use tokio::{sync::Mutex, task::spawn_blocking};

use super::{BUSY, Store, migrations::SQLITE, sql, sqlite_pragmas};
use crate::{
    Failure,
    config::SqliteConfig,
    content::{Content, Draft, NewUser, User},
};

/// One connection: more would wait for each other's locks by sleeping.
pub struct Rusqlite(Arc<Mutex<Connection>>);

pub fn open(config: &SqliteConfig) -> anyhow::Result<Rusqlite> {
    let mut db = Connection::open(&config.file)?;
    db.busy_timeout(BUSY)?;
    for (name, value) in sqlite_pragmas(config) {
        db.pragma_update(None, name, value)?;
    }
    migrate(&mut db)?;
    Ok(Rusqlite(Arc::new(Mutex::new(db))))
}

fn migrate(db: &mut Connection) -> rusqlite::Result<()> {
    let latest = SQLITE.len() as i64;
    if applied(db)? == latest {
        return Ok(());
    }
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for migration in SQLITE.iter().skip(applied(&transaction)? as usize) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", latest)?;
    transaction.commit()
}

fn applied(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

impl Rusqlite {
    /// A call goes on where the request that waits for it does not.
    async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let db = self.0.clone().lock_owned().await;
        spawn_blocking(move || call(&db)).await?.map_err(failure)
    }
}

#[async_trait]
impl Store for Rusqlite {
    async fn create(&self, content: Content) -> Result<Content, Failure> {
        self.call(move |db| {
            let Content { id, title, body, author, status, data, created_at, updated_at } = &content;
            let values = (id, title, body, author, status, data, created_at, updated_at);
            let done = db.prepare_cached(sql::CREATE)?.execute(values);
            match done {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Ok(Err(Failure::Conflict(content.id)))
                }
                done => done.map(|_| Ok(content)),
            }
        })
        .await?
    }

    async fn read(&self, id: String) -> Result<Option<Content>, Failure> {
        self.call(move |db| Ok(all(db, sql::READ, [id], to_content)?.pop())).await
    }

    async fn update(&self, id: String, draft: Draft, updated_at: String) -> Result<Option<Content>, Failure> {
        let Draft { title, body, author, status, data } = draft;
        let values = (title, body, author, status, data, updated_at, id);
        self.call(move |db| Ok(all(db, sql::UPDATE, values, to_content)?.pop())).await
    }

    async fn remove(&self, id: String) -> Result<bool, Failure> {
        self.call(move |db| Ok(db.prepare_cached(sql::REMOVE)?.execute([id])? > 0)).await
    }

    async fn list(&self, after: String, limit: i64) -> Result<Vec<Content>, Failure> {
        self.call(move |db| all(db, sql::LIST, (after, limit), to_content)).await
    }

    async fn users(&self, limit: i64) -> Result<Vec<User>, Failure> {
        self.call(move |db| all(db, sql::USERS, [limit], to_user)).await
    }

    async fn add_user(&self, NewUser { name, email }: NewUser) -> Result<User, Failure> {
        let added = self.call(move |db| all(db, sql::ADD_USER, (name, email), to_user)).await?.pop();
        Ok(added.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
    }

    async fn close(&self) {} // when it is dropped
}

/// Reads to the end, since only that tells of a commit that fails.
fn all<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    to_row: fn(&Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = db.prepare_cached(sql)?;
    statement.query_map(values, to_row)?.collect()
}

fn to_content(row: &Row) -> rusqlite::Result<Content> {
    Ok(Content {
        id: row.get("id")?,
        title: row.get("title")?,
        body: row.get("body")?,
        author: row.get("author")?,
        status: row.get("status")?,
        data: row.get("data")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

fn to_user(row: &Row) -> rusqlite::Result<User> {
    Ok(User { id: row.get("id")?, name: row.get("name")?, email: row.get("email")? })
}

fn failure(error: rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::SystemIoFailure) => Failure::Unavailable,
        Some(ErrorCode::DiskFull) => Failure::Full,
        _ => error.into(),
    }
}
