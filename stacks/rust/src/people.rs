//! A read-only view of data.db.

mod rusqlite;
mod sqlx;
mod tables;

use std::{ops::RangeInclusive, path::Path, thread::available_parallelism};

use ::rusqlite::{Connection, OpenFlags};
use anyhow::{anyhow, ensure};

pub use tables::{Person5, Person30, Table};

use crate::{Failure, config::Driver};

/// Most rows that one request may ask for.
const MAX_SIZE: usize = 500;

/// As in shared/: settings that differ between builds of SQLite, and one that forbids writes.
const PRAGMAS: [(&str, &str); 3] = [("cache_size", "-16000"), ("mmap_size", "0"), ("query_only", "1")];

/// The ids of a table, without gaps.
pub type Ids = RangeInclusive<i64>;

pub struct People {
    person5: Ids,
    person30: Ids,
    pool: Pool,
}

/// One connection per core, because queries only use CPU time.
enum Pool {
    Rusqlite(rusqlite::Pool),
    Sqlx(sqlx::Pool),
}

impl People {
    pub async fn open(driver: Driver, file: &str) -> anyhow::Result<Self> {
        ensure!(Path::new(file).exists(), "no database at \"{file}\": make it with: bun createdb.ts --file {file}");
        Self::open_existing(driver, file).await.map_err(|cause| {
            anyhow!("\"{file}\" cannot be used ({cause:#}): make it again with: bun createdb.ts --file {file}")
        })
    }

    async fn open_existing(driver: Driver, file: &str) -> anyhow::Result<Self> {
        let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let connections = available_parallelism()?.get();
        Ok(Self {
            person5: ids::<Person5>(&db)?,
            person30: ids::<Person30>(&db)?,
            pool: match driver {
                Driver::Rusqlite => Pool::Rusqlite(rusqlite::open(file, connections)?),
                Driver::Sqlx => Pool::Sqlx(sqlx::open(file, connections).await?),
            },
        })
    }

    /// Runs one query per row, each with a random id.
    pub async fn random_rows<T: Table>(&self, size: usize) -> anyhow::Result<Vec<T>> {
        match &self.pool {
            Pool::Rusqlite(pool) => rusqlite::random_rows(pool, T::ids(self), size).await,
            Pool::Sqlx(pool) => Ok(sqlx::random_rows(pool, T::ids(self), size).await?),
        }
    }
}

fn ids<T: Table>(db: &Connection) -> anyhow::Result<Ids> {
    let bounds = format!("SELECT coalesce(min(id), 0), coalesce(max(id), 0), count(*) FROM {}", T::NAME);
    let (first, last, count): (i64, i64, i64) = db.query_row(&bounds, [], |row| row.try_into())?;
    ensure!(count > 0 && last - first + 1 == count, "{} is empty or has gaps between its ids", T::NAME);
    Ok(first..=last)
}

/// Reads an integer from 1 to 500 without a sign or leading zeros.
pub fn size(text: &str) -> Result<usize, Failure> {
    let size = text.parse().ok().filter(|size| (1..=MAX_SIZE).contains(size) && !text.starts_with(['0', '+']));
    let quoted = serde_json::Value::from(text);
    size.ok_or_else(|| Failure::Refused(400, format!("size must be an integer from 1 to {MAX_SIZE}, not {quoted}")))
}
