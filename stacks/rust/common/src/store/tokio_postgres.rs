//! tokio-postgres, in a pool of deadpool.

use std::{error::Error, io};

use async_trait::async_trait;
use deadpool_postgres::{Manager, Pool, PoolError, Runtime, Transaction};
use tokio_postgres::{
    Config, NoTls, Row,
    error::SqlState,
    types::{ToSql, Type},
};

use super::{
    Store,
    postgres::{STATEMENT_TIMEOUT, TIMEOUT, failure_of},
    sql,
};
use crate::{
    Failure,
    config::PostgresConfig,
    content::{Content, Draft, NewUser, User},
    transaction::{Transfer, sql as tx},
};

pub struct TokioPostgres {
    pool: Pool,
    prepare: bool,
    tx: &'static str,
}

pub fn open(config: &PostgresConfig) -> anyhow::Result<TokioPostgres> {
    let (name, value) = STATEMENT_TIMEOUT;
    let mut settings: Config = config.url.parse()?;
    settings.options(format!("-c {name}={value}"));
    let manager = Manager::new(settings, NoTls);
    let pool = Pool::builder(manager)
        .max_size(config.pool.into())
        .wait_timeout(Some(TIMEOUT))
        .create_timeout(Some(TIMEOUT))
        .runtime(Runtime::Tokio1)
        .build()?;
    Ok(TokioPostgres { pool, prepare: config.prepare, tx: config.tx })
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

impl TokioPostgres {
    /// Fails where it changes nothing.
    async fn change(&self, transaction: &Transaction<'_>, sql: &str, values: Values<'_>) -> Result<(), Failure> {
        let changed = if self.prepare {
            let statement = transaction.prepare_cached(sql).await.map_err(lost)?;
            transaction.execute(&statement, &untyped(values)).await
        } else {
            transaction.execute_typed(sql, values).await
        };
        if changed.map_err(lost)? > 0 { Ok(()) } else { Err(Failure::NotFound) }
    }

    async fn balance(&self, transaction: &Transaction<'_>, aid: i32) -> Result<i32, tokio_postgres::Error> {
        if !self.prepare {
            let rows = transaction.query_typed(tx::BALANCE, &[int(&aid)]).await?;
            return Ok(rows[0].get(0));
        }
        let statement = transaction.prepare_cached(tx::BALANCE).await?;
        Ok(transaction.query_one(&statement, &[&aid]).await?.get(0))
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

    async fn transact(&self, transfer: Transfer) -> Result<i32, Failure> {
        let Transfer { aid, tid, bid, delta } = &transfer;
        if self.tx == "function" {
            let rows = self.query(tx::FUNCTION, &[int(aid), int(tid), int(bid), int(delta)]).await.map_err(failure)?;
            return Ok(rows[0].get(0));
        }
        let mut client = self.pool.get().await.map_err(failure)?;
        let transaction = client.transaction().await.map_err(lost)?;
        self.change(&transaction, tx::ACCOUNT, &[int(delta), int(aid)]).await?;
        let balance = self.balance(&transaction, *aid).await.map_err(lost)?;
        self.change(&transaction, tx::TELLER, &[int(delta), int(tid)]).await?;
        self.change(&transaction, tx::BRANCH, &[int(delta), int(bid)]).await?;
        self.change(&transaction, tx::HISTORY, &[int(tid), int(bid), int(aid), int(delta)]).await?;
        transaction.commit().await.map_err(lost)?;
        Ok(balance)
    }

    async fn close(&self) {
        self.pool.close();
    }
}

fn text(value: &String) -> (&(dyn ToSql + Sync), Type) {
    (value, Type::TEXT)
}

fn int(value: &i32) -> (&(dyn ToSql + Sync), Type) {
    (value, Type::INT4)
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
    lost(error)
}

/// Of a connection that one had.
fn lost(error: tokio_postgres::Error) -> Failure {
    let is_lost = error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>());
    match error.code() {
        Some(state) => failure_of(state.code()).unwrap_or_else(|| error.into()),
        None if is_lost => Failure::Unavailable,
        None => error.into(),
    }
}
