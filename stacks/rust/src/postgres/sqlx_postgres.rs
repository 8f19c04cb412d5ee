//! sqlx on Postgres.

use sqlx::{
    Error, PgConnection, Postgres, Result,
    postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions},
    query::{Query, QueryScalar},
};

use super::{CONNECT, STATEMENT_TIMEOUT, Transfer, failure_of, sql};
use crate::{
    Failure,
    config::{PostgresConfig, Tx},
};

pub struct SqlxPostgres {
    pool: PgPool,
    prepare: bool,
    tx: Tx,
}

impl SqlxPostgres {
    pub async fn open(config: &PostgresConfig) -> anyhow::Result<Self> {
        let options = config.url.parse::<PgConnectOptions>()?.options([STATEMENT_TIMEOUT]);
        let pool = PgPoolOptions::new().max_connections(config.pool.into()).acquire_timeout(CONNECT);
        let pool = pool.connect_with(options).await?;
        Ok(Self { pool, prepare: config.prepare, tx: config.tx })
    }

    /// None if there is no such account, teller or branch; then the transaction is rolled back.
    pub async fn transact(&self, Transfer { aid, tid, bid, delta }: Transfer) -> Result<Option<i32>> {
        if let Tx::Function = self.tx {
            let function = self.scalar(sql::FUNCTION).bind(aid).bind(tid).bind(bid).bind(delta);
            return function.fetch_one(&self.pool).await.map(Some);
        }
        let mut transaction = self.pool.begin().await?;
        if !self.add(&mut transaction, sql::ACCOUNT, delta, aid).await? {
            return Ok(None);
        }
        let balance = self.scalar(sql::BALANCE).bind(aid).fetch_one(&mut *transaction).await?;
        if !self.add(&mut transaction, sql::TELLER, delta, tid).await?
            || !self.add(&mut transaction, sql::BRANCH, delta, bid).await?
        {
            return Ok(None);
        }
        self.query(sql::HISTORY).bind(tid).bind(bid).bind(aid).bind(delta).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(Some(balance))
    }

    /// Adds `delta` to a balance. False if there is no such account, teller or branch.
    async fn add(&self, to: &mut PgConnection, sql: &'static str, delta: i32, id: i32) -> Result<bool> {
        let done = self.query(sql).bind(delta).bind(id).execute(to).await?;
        Ok(done.rows_affected() > 0)
    }

    fn query<'q>(&self, sql: &'static str) -> Query<'q, Postgres, PgArguments> {
        sqlx::query(sql).persistent(self.prepare)
    }

    fn scalar<'q>(&self, sql: &'static str) -> QueryScalar<'q, Postgres, i32, PgArguments> {
        sqlx::query_scalar(sql).persistent(self.prepare)
    }
}

pub fn failure(error: Error) -> Failure {
    match &error {
        Error::Io(_) | Error::PoolTimedOut => Failure::Unavailable,
        Error::Database(said) => failure_of(&said.code().unwrap_or_default()).unwrap_or_else(|| error.into()),
        _ => error.into(),
    }
}
