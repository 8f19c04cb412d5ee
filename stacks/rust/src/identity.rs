use std::{process, time::Instant};

use cpu_time::ProcessTime;
use serde_json::{Value, json};

use crate::Config;

/// The answer to `GET /`: versions and settings of this server, its CPU time and its memory.
pub struct Identity {
    fixed: Value,
    started: Instant,
}

impl Identity {
    /// `package` is the framework's name in Cargo.lock.
    pub fn new(config: &Config, framework: &str, package: &str) -> Self {
        let store = config.postgres.as_ref().map(|postgres| {
            let (client, tx): (&str, &str) = (postgres.client.into(), postgres.tx.into());
            let driver = format!("{client} {}", locked(client));
            json!({ "name": "postgres", "driver": driver, "pool": postgres.pool, "prepare": postgres.prepare, "tx": tx })
        });
        let driver: &str = config.driver.into();
        let fixed = json!({
            "server": config.server,
            "runtime": { "name": "rust", "version": env!("RUSTC_VERSION") },
            "framework": { "name": framework, "version": locked(package) },
            "driver": { "name": driver, "sqlite": rusqlite::version() },
            "store": store,
            "workers": 1,
            "pid": process::id(),
        });
        Self { fixed, started: Instant::now() }
    }

    pub fn now(&self) -> Value {
        let mut identity = self.fixed.clone();
        identity["uptimeSeconds"] = json!(self.started.elapsed().as_secs_f64());
        identity["cpuUs"] = json!(ProcessTime::now().as_duration().as_micros() as u64);
        identity["rssBytes"] = json!(memory_stats::memory_stats().map(|memory| memory.physical_mem));
        identity
    }
}

/// The version of a package that Cargo.lock names once.
fn locked(package: &str) -> &'static str {
    let start = format!("\nname = \"{package}\"\nversion = \"");
    let mut packages = include_str!("../Cargo.lock").split("[[package]]");
    packages.find_map(|text| text.strip_prefix(&start)?.split('"').next()).expect("Cargo.lock names the package")
}
