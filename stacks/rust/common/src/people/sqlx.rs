//! sqlx, which runs each connection in a thread of its own and keeps its statements prepared.

use sqlx::{
    Row as _, TypeInfo, ValueRef,
    sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteRow},
};

use super::{PRAGMAS, Row, Rows, Value};

pub use sqlx::SqlitePool as Pool;

pub async fn open(file: &str, connections: u32) -> anyhow::Result<SqlitePool> {
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let options = PRAGMAS.into_iter().fold(options, |options, (name, value)| options.pragma(name, value));
    Ok(SqlitePoolOptions::new().max_connections(connections).connect_with(options).await?)
}

pub async fn random_rows(pool: &SqlitePool, rows: &Rows, size: usize) -> anyhow::Result<Vec<Row>> {
    let mut connection = pool.acquire().await?;
    let mut found = Vec::with_capacity(size);
    for _ in 0..size {
        let id = rows.random_id();
        let row = sqlx::query(rows.by_id).bind(id).fetch_optional(&mut *connection).await?;
        let row = row.ok_or_else(|| rows.lost(id))?;
        let values = (0..row.len()).map(|index| value(&row, index)).collect::<Result<_, _>>()?;
        found.push(rows.row(values));
    }
    Ok(found)
}

fn value(row: &SqliteRow, index: usize) -> sqlx::Result<Value> {
    let value = row.try_get_raw(index)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    Ok(match value.type_info().name() {
        "INTEGER" => Value::Integer(row.try_get(index)?),
        "REAL" => Value::Real(row.try_get(index)?),
        _ => Value::Text(row.try_get(index)?),
    })
}
