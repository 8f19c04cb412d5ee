//! pgbench's transaction, as in shared/tpcb/.

mod sqlx_postgres;
mod tokio_postgres;

use std::time::Duration;

use anyhow::anyhow;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use self::{sqlx_postgres::SqlxPostgres, tokio_postgres::TokioPostgres};
use crate::{
    Failure,
    config::{Client, PostgresConfig},
};

/// The five statements of pgbench's own script, and a function of createdb.ts that runs all of them.
mod sql {
    pub const ACCOUNT: &str = "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2";
    pub const BALANCE: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
    pub const TELLER: &str = "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2";
    pub const BRANCH: &str = "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2";
    pub const HISTORY: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler) \
                               VALUES ($1, $2, $3, $4, now(), repeat('x', 22))";
    pub const FUNCTION: &str = "SELECT tpcb($1, $2, $3, $4)";
}

/// How long a request waits for a connection, including the time to open a new one.
const CONNECT: Duration = Duration::from_secs(2);
/// How long a statement may take before Postgres itself cancels it.
const STATEMENT_TIMEOUT: (&str, &str) = ("statement_timeout", "5s");
/// How long all attempts at a transaction may take.
const ANSWER: Duration = Duration::from_secs(7);
/// How often a transaction is tried if Postgres rolls it back. Before attempt n + 1 it pauses at most n × PAUSE, at random.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(5);

/// The body of `POST /tx`: adds `delta` to the balances of an account, a teller and a branch.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    aid: i32,
    tid: i32,
    bid: i32,
    delta: i32,
}

/// The answer: the new balance of the account.
#[derive(Serialize)]
pub struct Balance {
    abalance: i32,
}

pub enum Postgres {
    Sqlx(SqlxPostgres),
    TokioPostgres(TokioPostgres),
}

impl Postgres {
    /// Connects once, so that a mistake shows at the start.
    pub async fn open(config: &PostgresConfig) -> anyhow::Result<Self> {
        let opened = match config.client {
            Client::SqlxPostgres => SqlxPostgres::open(config).await.map(Self::Sqlx),
            Client::TokioPostgres => TokioPostgres::open(config).await.map(Self::TokioPostgres),
        };
        opened.map_err(|cause| {
            let url = without_user(&config.url);
            let cause = format!("{cause:#}").replace('\n', " "); // a hint has its own line
            anyhow!("{url} cannot be used ({cause}): start Postgres, or fix DATABASE_URL")
        })
    }

    pub async fn transact(&self, transfer: Transfer) -> Result<Balance, Failure> {
        let Transfer { aid, tid, bid, delta } = transfer;
        if [aid, tid, bid].iter().any(|id| *id < 1) || !(-5_000..=5_000).contains(&delta) {
            return Err(Failure::Refused(422, "aid, tid and bid must be at least 1, delta from -5000 to 5000".into()));
        }
        let abalance = timeout(ANSWER, self.attempts(transfer)).await.unwrap_or(Err(Failure::Unavailable))?;
        Ok(Balance { abalance })
    }

    async fn attempts(&self, transfer: Transfer) -> Result<i32, Failure> {
        for attempt in 1..ATTEMPTS {
            match self.attempt(transfer).await {
                Err(Failure::RolledBack) => sleep((PAUSE * attempt).mul_f64(rand::random())).await,
                done => return done,
            }
        }
        self.attempt(transfer).await
    }

    async fn attempt(&self, transfer: Transfer) -> Result<i32, Failure> {
        let balance = match self {
            Self::Sqlx(client) => client.transact(transfer).await.map_err(sqlx_postgres::failure),
            Self::TokioPostgres(client) => client.transact(transfer).await.map_err(tokio_postgres::failure),
        };
        balance?.ok_or(Failure::NotFound)
    }
}

/// The failure for a SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html); None for an internal error.
fn failure_of(state: &str) -> Option<Failure> {
    let failure = match state {
        "40001" | "40P01" => Failure::RolledBack,
        "P0002" => Failure::NotFound,
        "22003" => Failure::Refused(409, "a balance would be too large".into()),
        "42P01" | "42883" => Failure::NoTables,
        _ if ["08", "53", "57"].iter().any(|class| state.starts_with(class)) => Failure::Unavailable,
        _ => return None,
    };
    Some(failure)
}

fn without_user(url: &str) -> String {
    match (url.split_once("//"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}//{place}"),
        _ => url.into(),
    }
}
