use std::{process, time::Instant};

use cpu_time::ProcessTime;
use serde::Serialize;

use crate::{
    Config,
    config::{Place, StoreConfig},
};

/// What does not change while the server runs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Program {
    server: &'static str,
    runtime: Versioned,
    framework: Versioned,
    driver: SqliteDriver,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<Store>,
    workers: u16,
    pid: u32,
    #[serde(skip)]
    started: Instant,
}

#[derive(Serialize)]
struct Versioned {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct SqliteDriver {
    name: &'static str,
    sqlite: String,
}

#[derive(Serialize)]
#[serde(tag = "name", rename_all = "lowercase")]
enum Store {
    Sqlite { driver: String, file: String, journal: &'static str, synchronous: &'static str },
    Postgres { driver: String, pool: u16, prepare: bool, tx: &'static str },
}

/// The answer to `GET /`: what this server is and what it has used.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity<'a> {
    #[serde(flatten)]
    program: &'a Program,
    uptime_seconds: f64,
    cpu_us: u128,
    rss_bytes: usize,
}

impl Program {
    pub fn new(config: &Config, store: Option<&StoreConfig>, framework: &'static str, package: &str, sqlite: &str) -> Self {
        Self {
            server: config.server,
            runtime: Versioned { name: "rust", version: env!("RUSTC_VERSION") },
            framework: Versioned { name: framework, version: locked(package) },
            driver: SqliteDriver { name: config.driver.name(), sqlite: sqlite.into() },
            store: store.map(|config| Store::new(&config.place, sqlite)),
            workers: 1,
            pid: process::id(),
            started: Instant::now(),
        }
    }

    pub fn identity(&self) -> Identity<'_> {
        Identity {
            program: self,
            uptime_seconds: self.started.elapsed().as_secs_f64(),
            cpu_us: ProcessTime::now().as_duration().as_micros(),
            rss_bytes: memory_stats::memory_stats().map_or(0, |memory| memory.physical_mem),
        }
    }
}

impl Store {
    fn new(place: &Place, sqlite: &str) -> Self {
        match place {
            Place::Sqlite(config) => Self::Sqlite {
                driver: format!("{} {sqlite}", config.driver.name()),
                file: config.file.clone(),
                journal: config.journal,
                synchronous: config.synchronous,
            },
            Place::Postgres(config) => {
                let name = config.client.name();
                let driver = format!("{name} {}", locked(name));
                Self::Postgres { driver, pool: config.pool, prepare: config.prepare, tx: config.tx }
            }
        }
    }
}

/// The version of a package that Cargo.lock names once.
fn locked(package: &str) -> &'static str {
    let start = format!("\nname = \"{package}\"\nversion = \"");
    let mut packages = include_str!("../../Cargo.lock").split("[[package]]");
    packages.find_map(|text| text.strip_prefix(&start)?.split('"').next()).expect("Cargo.lock names the package")
}
