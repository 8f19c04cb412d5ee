//! sqlx on Postgres.

use async_trait::async_trait;
use sqlx::{
    FromRow, PgConnection, Postgres,
    postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions, PgRow},
    query::{Query, QueryAs, QueryScalar},
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

pub struct SqlxPostgres {
    pool: PgPool,
    prepare: bool,
    tx: &'static str,
}

pub fn open(config: &PostgresConfig) -> anyhow::Result<SqlxPostgres> {
    let options = config.url.parse::<PgConnectOptions>()?.options([STATEMENT_TIMEOUT]);
    let pool = PgPoolOptions::new().max_connections(config.pool.into()).acquire_timeout(TIMEOUT);
    Ok(SqlxPostgres { pool: pool.connect_lazy_with(options), prepare: config.prepare, tx: config.tx })
}

impl SqlxPostgres {
    fn query<'q>(&self, sql: &'static str) -> Query<'q, Postgres, PgArguments> {
        sqlx::query(sql).persistent(self.prepare)
    }

    fn query_as<'q, T>(&self, sql: &'static str) -> QueryAs<'q, Postgres, T, PgArguments>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        sqlx::query_as(sql).persistent(self.prepare)
    }

    fn query_scalar<'q>(&self, sql: &'static str) -> QueryScalar<'q, Postgres, i32, PgArguments> {
        sqlx::query_scalar(sql).persistent(self.prepare)
    }

    /// Adds to the balance of one that there must be.
    async fn add(&self, to: &mut PgConnection, sql: &'static str, delta: i32, id: i32) -> Result<(), Failure> {
        let done = self.query(sql).bind(delta).bind(id).execute(to).await.map_err(failure)?;
        if done.rows_affected() > 0 { Ok(()) } else { Err(Failure::NotFound) }
    }
}

#[async_trait]
impl Store for SqlxPostgres {
    async fn create(&self, content: Content) -> Result<Content, Failure> {
        let create = self
            .query(sql::CREATE)
            .bind(&content.id)
            .bind(&content.title)
            .bind(&content.body)
            .bind(&content.author)
            .bind(&content.status)
            .bind(&content.data)
            .bind(&content.created_at)
            .bind(&content.updated_at);
        let created = create.execute(&self.pool).await;
        match created {
            Ok(_) => Ok(content),
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Err(Failure::Conflict(content.id)),
            Err(error) => Err(failure(error)),
        }
    }

    async fn read(&self, id: String) -> Result<Option<Content>, Failure> {
        self.query_as(sql::READ).bind(id).fetch_optional(&self.pool).await.map_err(failure)
    }

    async fn update(&self, id: String, draft: Draft, updated_at: String) -> Result<Option<Content>, Failure> {
        let update = self
            .query_as(sql::UPDATE)
            .bind(draft.title)
            .bind(draft.body)
            .bind(draft.author)
            .bind(draft.status)
            .bind(draft.data)
            .bind(updated_at)
            .bind(id);
        update.fetch_optional(&self.pool).await.map_err(failure)
    }

    async fn remove(&self, id: String) -> Result<bool, Failure> {
        let done = self.query(sql::REMOVE).bind(id).execute(&self.pool).await.map_err(failure)?;
        Ok(done.rows_affected() > 0)
    }

    async fn list(&self, after: String, limit: i64) -> Result<Vec<Content>, Failure> {
        self.query_as(sql::LIST).bind(after).bind(limit).fetch_all(&self.pool).await.map_err(failure)
    }

    async fn users(&self, limit: i64) -> Result<Vec<User>, Failure> {
        let users: Vec<Named> = self.query_as(sql::USERS).bind(limit).fetch_all(&self.pool).await.map_err(failure)?;
        Ok(users.into_iter().map(to_user).collect())
    }

    async fn add_user(&self, user: NewUser) -> Result<User, Failure> {
        let add = self.query_as(sql::ADD_USER).bind(user.name).bind(user.email);
        add.fetch_one(&self.pool).await.map(to_user).map_err(failure)
    }

    async fn transact(&self, Transfer { aid, tid, bid, delta }: Transfer) -> Result<i32, Failure> {
        if self.tx == "function" {
            let function = self.query_scalar(tx::FUNCTION).bind(aid).bind(tid).bind(bid).bind(delta);
            return function.fetch_one(&self.pool).await.map_err(failure);
        }
        let mut transaction = self.pool.begin().await.map_err(failure)?;
        self.add(&mut transaction, tx::ACCOUNT, delta, aid).await?;
        let balance = self.query_scalar(tx::BALANCE).bind(aid).fetch_one(&mut *transaction).await.map_err(failure)?;
        self.add(&mut transaction, tx::TELLER, delta, tid).await?;
        self.add(&mut transaction, tx::BRANCH, delta, bid).await?;
        let history = self.query(tx::HISTORY).bind(tid).bind(bid).bind(aid).bind(delta);
        history.execute(&mut *transaction).await.map_err(failure)?;
        transaction.commit().await.map_err(failure)?;
        Ok(balance)
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

/// A user, whose id is an INTEGER.
type Named = (i32, String, String);

fn to_user((id, name, email): Named) -> User {
    User { id: id.into(), name, email }
}

fn failure(error: sqlx::Error) -> Failure {
    match &error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Failure::Unavailable,
        sqlx::Error::Database(said) => said.code().and_then(|state| failure_of(&state)).unwrap_or_else(|| error.into()),
        _ => error.into(),
    }
}
