//! tokio-postgres, in a pool of deadpool.

use std::{error::Error, io};

use async_trait::async_trait;
use deadpool_postgres::{Manager, Pool, PoolError, Runtime};
use tokio_postgres::{
    Config, NoTls, Row,
    error::SqlState,
    types::{ToSql, Type},
};

use super::{
    Store,
    postgres::{TIMEOUT, failure_of},
    sql,
};
use crate::{
    Failure,
    config::PostgresConfig,
    content::{Content, Draft, NewUser, User},
};

pub struct TokioPostgres {
    pool: Pool,
    prepare: bool,
}

pub fn open(config: &PostgresConfig) -> anyhow::Result<TokioPostgres> {
    let manager = Manager::new(config.url.parse::<Config>()?, NoTls);
    let pool = Pool::builder(manager)
        .max_size(config.pool.into())
        .wait_timeout(Some(TIMEOUT))
        .create_timeout(Some(TIMEOUT))
        .runtime(Runtime::Tokio1)
        .build()?;
    Ok(TokioPostgres { pool, prepare: config.prepare })
}

/// Values with their types, which are asked for where a statement is prepared.
type Values<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

impl TokioPostgres {
    async fn query(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, PoolError> {
        let client = self.pool.get().await?;
        if !self.prepare {
            return Ok(client.query_typed(sql, values).await?);
        }
        let statement = client.prepare_cached(sql).await?;
        Ok(client.query(&statement, &untyped(values)).await?)
    }

    async fn execute(&self, sql: &str, values: Values<'_>) -> Result<u64, PoolError> {
        let client = self.pool.get().await?;
        if !self.prepare {
            return Ok(client.execute_typed(sql, values).await?);
        }
        let statement = client.prepare_cached(sql).await?;
        Ok(client.execute(&statement, &untyped(values)).await?)
    }
}

fn untyped<'a>(values: Values<'a>) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|(value, _)| *value).collect()
}

#[async_trait]
impl Store for TokioPostgres {
    async fn create(&self, content: Content) -> Result<Content, Failure> {
        let Content { id, title, body, author, status, data, created_at, updated_at } = &content;
        let values = [id, title, body, author, status, data, created_at, updated_at].map(text);
        match self.execute(sql::CREATE, &values).await {
            Ok(_) => Ok(content),
            Err(PoolError::Backend(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                Err(Failure::Conflict(content.id))
            }
            Err(error) => Err(failure(error)),
        }
    }

    async fn read(&self, id: String) -> Result<Option<Content>, Failure> {
        let rows = self.query(sql::READ, &[text(&id)]).await.map_err(failure)?;
        Ok(rows.first().map(to_content))
    }

    async fn update(&self, id: String, draft: Draft, updated_at: String) -> Result<Option<Content>, Failure> {
        let Draft { title, body, author, status, data } = &draft;
        let values = [title, body, author, status, data, &updated_at, &id].map(text);
        let rows = self.query(sql::UPDATE, &values).await.map_err(failure)?;
        Ok(rows.first().map(to_content))
    }

    async fn remove(&self, id: String) -> Result<bool, Failure> {
        let removed = self.execute(sql::REMOVE, &[text(&id)]).await.map_err(failure)?;
        Ok(removed > 0)
    }

    async fn list(&self, after: String, limit: i64) -> Result<Vec<Content>, Failure> {
        let rows = self.query(sql::LIST, &[text(&after), (&limit, Type::INT8)]).await.map_err(failure)?;
        Ok(rows.iter().map(to_content).collect())
    }

    async fn users(&self, limit: i64) -> Result<Vec<User>, Failure> {
        let rows = self.query(sql::USERS, &[(&limit, Type::INT8)]).await.map_err(failure)?;
        Ok(rows.iter().map(to_user).collect())
    }

    async fn add_user(&self, NewUser { name, email }: NewUser) -> Result<User, Failure> {
        let rows = self.query(sql::ADD_USER, &[text(&name), text(&email)]).await.map_err(failure)?;
        Ok(to_user(&rows[0]))
    }

    async fn close(&self) {
        self.pool.close();
    }
}

fn text(value: &String) -> (&(dyn ToSql + Sync), Type) {
    (value, Type::TEXT)
}

fn to_content(row: &Row) -> Content {
    Content {
        id: row.get("id"),
        title: row.get("title"),
        body: row.get("body"),
        author: row.get("author"),
        status: row.get("status"),
        data: row.get("data"),
        created_at: row.get("created_at"),
        updated_at: row.get("updated_at"),
    }
}

fn to_user(row: &Row) -> User {
    User { id: row.get::<_, i32>("id").into(), name: row.get("name"), email: row.get("email") }
}

fn failure(error: PoolError) -> Failure {
    let PoolError::Backend(error) = error else { return Failure::Unavailable };
    let is_lost = error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>());
    match error.code() {
        Some(state) => failure_of(state.code()).unwrap_or_else(|| error.into()),
        None if is_lost => Failure::Unavailable,
        None => error.into(),
    }
}
