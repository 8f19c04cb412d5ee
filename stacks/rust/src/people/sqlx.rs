//! sqlx, which runs each connection in its own thread and keeps its prepared statements.

use ::sqlx::{
    Result, query_as,
    sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions},
};

use super::{Ids, PRAGMAS, Table};

pub type Pool = SqlitePool;

pub async fn open(file: &str, connections: usize) -> Result<Pool> {
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let options = PRAGMAS.into_iter().fold(options, |options, (name, value)| options.pragma(name, value));
    SqlitePoolOptions::new().max_connections(connections as u32).connect_with(options).await
}

pub async fn random_rows<T: Table>(pool: &Pool, ids: &Ids, size: usize) -> Result<Vec<T>> {
    let mut db = pool.acquire().await?;
    let mut rows = Vec::with_capacity(size);
    for _ in 0..size {
        rows.push(query_as(T::BY_ID).bind(rand::random_range(ids.clone())).fetch_one(&mut *db).await?);
    }
    Ok(rows)
}
