//! What both clients of Postgres share.

use std::time::Duration;

use tokio_postgres::{Config, IsolationLevel, NoTls};

use super::migrations::POSTGRES;
use crate::Failure;

/// How long a request waits for a connection.
pub const TIMEOUT: Duration = Duration::from_secs(2);

/// How long a statement may take, after which Postgres itself gives it up.
pub const STATEMENT_TIMEOUT: (&str, &str) = ("statement_timeout", "5s");

/// Makes the tables, whichever client will use them, under a lock that the other servers take as well.
pub async fn migrate(url: &str) -> anyhow::Result<()> {
    let mut config: Config = url.parse()?;
    let (mut client, connection) = config.connect_timeout(TIMEOUT).connect(NoTls).await?;
    let connection = tokio::spawn(connection);
    // In one transaction that sees what others did before: a pooler in between has no session whose lock it would keep.
    let transaction = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await?;
    transaction.batch_execute("SELECT pg_advisory_xact_lock(7307)").await?;
    transaction.batch_execute("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY)").await?;
    let applied: i64 = transaction.query_one("SELECT count(*) FROM migration", &[]).await?.get(0);
    for (number, migration) in (0_i32..).zip(POSTGRES).skip(applied as usize) {
        transaction.batch_execute(migration).await?;
        transaction.execute("INSERT INTO migration VALUES ($1)", &[&number]).await?;
    }
    transaction.commit().await?;
    drop(client); // which ends the connection
    connection.await??;
    Ok(())
}

/// What a SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html) says of the store, None where it is of the statement.
pub fn failure_of(state: &str) -> Option<Failure> {
    match state {
        "53100" => Some(Failure::Full),
        "40001" | "40P01" => Some(Failure::Undone),
        "P0002" => Some(Failure::NotFound),
        "22003" => Some(Failure::TooMuch),
        "42P01" | "42883" => Some(Failure::NoTables),
        _ if ["08", "53", "57014", "57P0"].iter().any(|class| state.starts_with(class)) => Some(Failure::Unavailable),
        _ => None,
    }
}

pub fn without_user(url: &str) -> String {
    match (url.split_once("//"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}//{place}"),
        _ => url.into(),
    }
}
