//! rusqlite, whose calls block: they are made in tokio's threads for that, with connections of a pool.

use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{OpenFlags, OptionalExtension, types::ValueRef};
use tokio::task::spawn_blocking;

use super::{PRAGMAS, Row, Rows, Value};

pub type Pool = r2d2::Pool<SqliteConnectionManager>;

pub fn open(file: &str, connections: u32) -> anyhow::Result<Pool> {
    let manager = SqliteConnectionManager::file(file)
        .with_flags(OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .with_init(|db| PRAGMAS.iter().try_for_each(|(name, value)| db.pragma_update(None, name, value)));
    Ok(Pool::builder().max_size(connections).build(manager)?)
}

pub async fn random_rows(pool: &Pool, rows: &Rows, size: usize) -> anyhow::Result<Vec<Row>> {
    let (pool, rows) = (pool.clone(), rows.clone());
    spawn_blocking(move || {
        let db = pool.get()?;
        let mut statement = db.prepare_cached(rows.by_id)?;
        let mut found = Vec::with_capacity(size);
        for _ in 0..size {
            let id = rows.random_id();
            let values = statement.query_row([id], values).optional()?;
            found.push(rows.row(values.ok_or_else(|| rows.lost(id))?));
        }
        Ok(found)
    })
    .await?
}

fn values(row: &rusqlite::Row) -> rusqlite::Result<Vec<Value>> {
    (0..row.as_ref().column_count()).map(|index| value(row, index)).collect()
}

fn value(row: &rusqlite::Row, index: usize) -> rusqlite::Result<Value> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(_) | ValueRef::Blob(_) => Value::Text(row.get(index)?),
    })
}
