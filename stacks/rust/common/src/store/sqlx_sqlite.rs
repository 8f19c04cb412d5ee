//! sqlx on SQLite.

use async_trait::async_trait;
use sqlx::{
    AssertSqlSafe, Sqlite,
    sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions},
};

use super::{BUSY, Store, migrations::SQLITE, sql, sqlite_pragmas};
use crate::{
    Failure,
    config::SqliteConfig,
    content::{Content, Draft, NewUser, User},
};

pub struct SqlxSqlite(SqlitePool);

/// One connection: more would wait for each other's locks by sleeping. It stays, and with it what `:memory:` has.
pub async fn open(config: &SqliteConfig) -> anyhow::Result<SqlxSqlite> {
    let options = SqliteConnectOptions::new().filename(&config.file).create_if_missing(true).busy_timeout(BUSY);
    let pragmas = sqlite_pragmas(config).into_iter();
    let options = pragmas.fold(options, |options, (name, value)| options.pragma(name, value));
    let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_with(options).await?;
    migrate(&pool).await?;
    Ok(SqlxSqlite(pool))
}

async fn migrate(pool: &SqlitePool) -> sqlx::Result<()> {
    let applied = || sqlx::query_scalar::<Sqlite, i64>("PRAGMA user_version");
    let latest = SQLITE.len();
    if applied().fetch_one(pool).await? as usize == latest {
        return Ok(());
    }
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let applied = applied().fetch_one(&mut *transaction).await?;
    for migration in SQLITE.into_iter().skip(applied as usize) {
        sqlx::query(migration).execute(&mut *transaction).await?;
    }
    sqlx::query(AssertSqlSafe(format!("PRAGMA user_version = {latest}"))).execute(&mut *transaction).await?;
    transaction.commit().await
}

#[async_trait]
impl Store for SqlxSqlite {
    async fn create(&self, content: Content) -> Result<Content, Failure> {
        let create = sqlx::query(sql::CREATE)
            .bind(&content.id)
            .bind(&content.title)
            .bind(&content.body)
            .bind(&content.author)
            .bind(&content.status)
            .bind(&content.data)
            .bind(&content.created_at)
            .bind(&content.updated_at);
        let created = create.execute(&self.0).await;
        match created {
            Ok(_) => Ok(content),
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Err(Failure::Conflict(content.id)),
            Err(error) => Err(failure(error)),
        }
    }

    async fn read(&self, id: String) -> Result<Option<Content>, Failure> {
        sqlx::query_as(sql::READ).bind(id).fetch_optional(&self.0).await.map_err(failure)
    }

    async fn update(&self, id: String, draft: Draft, updated_at: String) -> Result<Option<Content>, Failure> {
        let update = sqlx::query_as(sql::UPDATE)
            .bind(draft.title)
            .bind(draft.body)
            .bind(draft.author)
            .bind(draft.status)
            .bind(draft.data)
            .bind(updated_at)
            .bind(id);
        // `fetch_optional` ends a statement after its first row, and is then silent about a commit that fails.
        Ok(update.fetch_all(&self.0).await.map_err(failure)?.pop())
    }

    async fn remove(&self, id: String) -> Result<bool, Failure> {
        let done = sqlx::query(sql::REMOVE).bind(id).execute(&self.0).await.map_err(failure)?;
        Ok(done.rows_affected() > 0)
    }

    async fn list(&self, after: String, limit: i64) -> Result<Vec<Content>, Failure> {
        sqlx::query_as(sql::LIST).bind(after).bind(limit).fetch_all(&self.0).await.map_err(failure)
    }

    async fn users(&self, limit: i64) -> Result<Vec<User>, Failure> {
        sqlx::query_as(sql::USERS).bind(limit).fetch_all(&self.0).await.map_err(failure)
    }

    async fn add_user(&self, user: NewUser) -> Result<User, Failure> {
        let add = sqlx::query_as(sql::ADD_USER).bind(user.name).bind(user.email);
        let added = add.fetch_all(&self.0).await.map_err(failure)?.pop();
        Ok(added.ok_or(sqlx::Error::RowNotFound)?)
    }

    async fn close(&self) {
        self.0.close().await;
    }
}

/// Goes by the primary result code (sqlite.org/rescode.html), the last byte of an extended one.
fn failure(error: sqlx::Error) -> Failure {
    const BUSY: u32 = 5;
    const IOERR: u32 = 10;
    const FULL: u32 = 13;
    if matches!(error, sqlx::Error::PoolTimedOut) {
        return Failure::Unavailable;
    }
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
    match code.map(|code| code & 0xff) {
        Some(BUSY | IOERR) => Failure::Unavailable,
        Some(FULL) => Failure::Full,
        _ => error.into(),
    }
}
