//! tokio-postgres, in a pool of deadpool.

use std::{error::Error as _, io};

use deadpool_postgres::{Manager, Pool, PoolError, Runtime, Transaction};
use tokio_postgres::{
    Config, NoTls,
    types::{ToSql, Type},
};

use super::{CONNECT, STATEMENT_TIMEOUT, Transfer, failure_of, sql};
use crate::{
    Failure,
    config::{PostgresConfig, Tx},
};

pub struct TokioPostgres {
    pool: Pool,
    prepare: bool,
    tx: Tx,
}

type Result<T> = std::result::Result<T, PoolError>;

impl TokioPostgres {
    pub async fn open(config: &PostgresConfig) -> anyhow::Result<Self> {
        let mut settings: Config = config.url.parse()?;
        let (name, value) = STATEMENT_TIMEOUT;
        let options = format!("{} -c {name}={value}", settings.get_options().unwrap_or_default());
        settings.options(options);
        let pool = Pool::builder(Manager::new(settings, NoTls))
            .max_size(config.pool.into())
            .wait_timeout(Some(CONNECT))
            .create_timeout(Some(CONNECT))
            .runtime(Runtime::Tokio1)
            .build()?;
        drop(pool.get().await?);
        Ok(Self { pool, prepare: config.prepare, tx: config.tx })
    }

    /// None if there is no such account, teller or branch; then the transaction is rolled back.
    pub async fn transact(&self, Transfer { aid, tid, bid, delta }: Transfer) -> Result<Option<i32>> {
        let mut client = self.pool.get().await?;
        if let Tx::Function = self.tx {
            let row = if self.prepare {
                let statement = client.prepare_cached(sql::FUNCTION).await?;
                client.query_one(&statement, &[&aid, &tid, &bid, &delta]).await?
            } else {
                client.query_typed_one(sql::FUNCTION, &typed(&[aid, tid, bid, delta])).await?
            };
            return Ok(Some(row.try_get(0)?));
        }
        let transaction = client.transaction().await?;
        if self.execute(&transaction, sql::ACCOUNT, &[delta, aid]).await? == 0 {
            return Ok(None);
        }
        let row = if self.prepare {
            let statement = transaction.prepare_cached(sql::BALANCE).await?;
            transaction.query_one(&statement, &[&aid]).await?
        } else {
            transaction.query_typed_one(sql::BALANCE, &typed(&[aid])).await?
        };
        if self.execute(&transaction, sql::TELLER, &[delta, tid]).await? == 0
            || self.execute(&transaction, sql::BRANCH, &[delta, bid]).await? == 0
        {
            return Ok(None);
        }
        self.execute(&transaction, sql::HISTORY, &[tid, bid, aid, delta]).await?;
        transaction.commit().await?;
        Ok(Some(row.try_get(0)?))
    }

    /// Returns how many rows the statement changes.
    async fn execute(&self, transaction: &Transaction<'_>, sql: &str, values: &[i32]) -> Result<u64> {
        if !self.prepare {
            return Ok(transaction.execute_typed(sql, &typed(values)).await?);
        }
        let statement = transaction.prepare_cached(sql).await?;
        Ok(transaction.execute_raw(&statement, values).await?)
    }
}

/// Adds the type to values, because without a prepared statement Postgres does not tell the types.
fn typed(values: &[i32]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    values.iter().map(|value| (value as &(dyn ToSql + Sync), Type::INT4)).collect()
}

pub fn failure(error: PoolError) -> Failure {
    let PoolError::Backend(error) = error else { return Failure::Unavailable };
    let is_lost = error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>());
    match error.code() {
        Some(state) => failure_of(state.code()).unwrap_or_else(|| error.into()),
        None if is_lost => Failure::Unavailable,
        None => error.into(),
    }
}
