//! A read-only view of data.db.

mod rusqlite;
mod sqlx;

use std::{path::Path, sync::Arc, thread::available_parallelism};

use ::rusqlite::{Connection, OpenFlags};
use anyhow::{anyhow, ensure};
use rand::RngExt;
use serde::{Serialize, Serializer};

use crate::{Driver, SQLITE_PRAGMAS};

/// Most rows that one request may ask for.
pub const MAX_SIZE: usize = 500;

/// The connection is for reading only.
const PRAGMAS: [(&str, &str); 3] = [SQLITE_PRAGMAS[0], SQLITE_PRAGMAS[1], ("query_only", "1")];

#[derive(Clone, Copy)]
pub enum Table {
    Person5,
    Person30,
}

/// The rows of a table, and how one is read.
#[derive(Clone)]
struct Rows {
    table: &'static str,
    by_id: &'static str,
    columns: Arc<[String]>,
    first: i64,
    last: i64,
}

/// A row as its table has it.
pub struct Row {
    columns: Arc<[String]>,
    values: Vec<Value>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(&self.values))
    }
}

pub struct People {
    pub sqlite_version: String,
    person5: Rows,
    person30: Rows,
    pool: Pool,
}

/// As many connections as cores: queries wait for nothing but a core.
enum Pool {
    Sqlx(sqlx::Pool),
    Rusqlite(rusqlite::Pool),
}

impl People {
    pub async fn open(driver: Driver, file: &str) -> anyhow::Result<Self> {
        ensure!(Path::new(file).exists(), "no database at \"{file}\": make it with: bun createdb.ts --file {file}");
        Self::prepare(driver, file).await.map_err(|cause| {
            anyhow!("\"{file}\" cannot be used ({cause:#}): make it again with: bun createdb.ts --file {file}")
        })
    }

    /// Looks at the tables by a connection of its own, whatever reads them later.
    async fn prepare(driver: Driver, file: &str) -> anyhow::Result<Self> {
        let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let person5 = Rows::look(&db, "person5", "SELECT * FROM person5 WHERE id = ?")?;
        let person30 = Rows::look(&db, "person30", "SELECT * FROM person30 WHERE id = ?")?;
        let connections = u32::try_from(available_parallelism()?.get())?;
        let pool = match driver {
            Driver::Sqlx => Pool::Sqlx(sqlx::open(file, connections).await?),
            Driver::Rusqlite => Pool::Rusqlite(rusqlite::open(file, connections)?),
        };
        Ok(Self { sqlite_version: ::rusqlite::version().into(), person5, person30, pool })
    }

    /// Reads `size` rows, each by a query of its own, ids uniform over the rows that exist.
    pub async fn random_rows(&self, table: Table, size: usize) -> anyhow::Result<Vec<Row>> {
        let rows = match table {
            Table::Person5 => &self.person5,
            Table::Person30 => &self.person30,
        };
        match &self.pool {
            Pool::Sqlx(pool) => sqlx::random_rows(pool, rows, size).await,
            Pool::Rusqlite(pool) => rusqlite::random_rows(pool, rows, size).await,
        }
    }
}

impl Rows {
    fn look(db: &Connection, table: &'static str, by_id: &'static str) -> anyhow::Result<Self> {
        let bounds = format!("SELECT coalesce(min(id), 0), coalesce(max(id), 0), count(*) FROM {table}");
        let (first, last, count): (i64, i64, i64) = db.query_row(&bounds, [], |row| row.try_into())?;
        ensure!(count > 0 && last - first + 1 == count, "{table} is empty or has gaps between its ids");
        let columns = db.prepare(by_id)?.column_names().into_iter().map(String::from).collect();
        Ok(Self { table, by_id, columns, first, last })
    }

    fn random_id(&self) -> i64 {
        rand::rng().random_range(self.first..=self.last)
    }

    fn row(&self, values: Vec<Value>) -> Row {
        Row { columns: self.columns.clone(), values }
    }

    fn lost(&self, id: i64) -> anyhow::Error {
        anyhow!("{} has lost its row {id}", self.table)
    }
}
