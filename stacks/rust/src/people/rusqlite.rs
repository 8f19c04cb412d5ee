//! rusqlite. Its calls block, so they run in tokio's threads for blocking work.

use ::rusqlite::{Connection, OpenFlags, Result};
use tokio::task::spawn_blocking;

use super::{Ids, PRAGMAS, Table};

pub type Pool = deadpool::unmanaged::Pool<Connection>;

pub fn open(file: &str, connections: usize) -> Result<Pool> {
    let open_one = |_| -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(file, flags)?;
        PRAGMAS.iter().try_for_each(|(name, value)| db.pragma_update(None, name, value))?;
        Ok(db)
    };
    (0..connections).map(open_one).collect::<Result<Vec<_>>>().map(Pool::from)
}

/// Waits for a connection before it takes a thread, so that it needs no more threads than connections.
pub async fn random_rows<T: Table>(pool: &Pool, ids: &Ids, size: usize) -> anyhow::Result<Vec<T>> {
    let db = pool.get().await?;
    let ids = ids.clone();
    let rows = spawn_blocking(move || {
        let mut statement = db.prepare_cached(T::BY_ID)?;
        (0..size).map(|_| statement.query_row([rand::random_range(ids.clone())], T::read)).collect::<Result<Vec<T>>>()
    });
    Ok(rows.await??)
}
