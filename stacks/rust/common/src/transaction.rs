//! pgbench's transaction, as shared/tpcb/ has it.

use std::time::Duration;

use form_urlencoded::parse;
use serde::Serialize;

use crate::{Failure, failure, store::Store};

/// What answers to it say.
#[derive(Serialize)]
pub struct Balance {
    /// That of the account in the transaction.
    pub abalance: i32,
}

/// Moves `delta` to an account, a teller and a branch.
#[derive(Clone, Copy)]
pub struct Transfer {
    pub aid: i32,
    pub tid: i32,
    pub bid: i32,
    pub delta: i32,
}

/// Least and most of each part.
pub const IDS: (i32, i32) = (1, i32::MAX);
pub const DELTAS: (i32, i32) = (-5_000, 5_000);

/// The five statements of pgbench's own script, and a function of all that createdb.ts makes.
pub mod sql {
    pub const ACCOUNT: &str = "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2";
    pub const BALANCE: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
    pub const TELLER: &str = "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2";
    pub const BRANCH: &str = "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2";
    pub const HISTORY: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler) \
                               VALUES ($1, $2, $3, $4, now(), repeat('x', 22))";
    pub const FUNCTION: &str = "SELECT tpcb($1, $2, $3, $4)";
}

/// How often a transaction is tried where others are in its way, and the most that it waits before the second, each time more.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(5);
/// How long all of them may take.
const ANSWER: Duration = Duration::from_secs(7);

/// As the query of a URL has it.
///
/// # Errors
/// Where it names none.
pub fn of_query(query: &str) -> Result<Transfer, Failure> {
    let part = |name: &str, (least, most): (i32, i32)| {
        let text = parse(query.as_bytes()).find_map(|(key, value)| (key == name).then_some(value)).unwrap_or_default();
        let number = text.parse::<i32>().ok().filter(|number| (least..=most).contains(number));
        // As it is usually written: without a plus or zeros before it.
        let number = number.filter(|number| number.to_string() == text);
        number.ok_or_else(|| failure::bad_request(name, format_args!("an integer from {least} to {most}"), &text))
    };
    Ok(Transfer { aid: part("aid", IDS)?, tid: part("tid", IDS)?, bid: part("bid", IDS)?, delta: part("delta", DELTAS)? })
}

/// Makes it in time, again where Postgres has undone it for the sake of others.
///
/// # Errors
/// Where there is no such account, teller or branch, and where the store fails.
pub async fn transact(store: &dyn Store, transfer: Transfer) -> Result<Balance, Failure> {
    tokio::time::timeout(ANSWER, attempts(store, transfer)).await.unwrap_or(Err(Failure::Unavailable))
}

async fn attempts(store: &dyn Store, transfer: Transfer) -> Result<Balance, Failure> {
    for attempt in 1..ATTEMPTS {
        match store.transact(transfer).await {
            Err(Failure::Undone) => tokio::time::sleep((PAUSE * attempt).mul_f64(rand::random())).await,
            done => return done.map(|abalance| Balance { abalance }),
        }
    }
    store.transact(transfer).await.map(|abalance| Balance { abalance })
}
