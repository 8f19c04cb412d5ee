use std::{env, fmt::Display, ops::RangeInclusive};

use anyhow::{anyhow, bail};
use strum::{IntoStaticStr, VariantArray};

/// All settings; each comes from an environment variable. The error for a mistake is one line.
pub struct Config {
    /// The name of the server and of its binary.
    pub server: &'static str,
    pub host: String,
    pub port: u16,
    pub db_file: String,
    pub driver: Driver,
    /// The database of /tx.
    pub postgres: Option<PostgresConfig>,
}

pub struct PostgresConfig {
    pub client: Client,
    pub url: String,
    /// Most connections open at once.
    pub pool: u16,
    /// Whether statements are prepared on the server, once per connection.
    pub prepare: bool,
    pub tx: Tx,
}

/// The SQLite driver. In this and the next enums the first value is the default.
#[derive(Clone, Copy, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Driver {
    Rusqlite,
    Sqlx,
}

#[derive(Clone, Copy, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
enum Store {
    Sqlite,
    Postgres,
}

/// The Postgres client, by the name of its package.
#[derive(Clone, Copy, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Client {
    SqlxPostgres,
    TokioPostgres,
}

/// How a transaction runs: in seven round trips, or in one.
#[derive(Clone, Copy, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Tx {
    Statements,
    Function,
}

impl Config {
    pub fn read(server: &'static str) -> anyhow::Result<Self> {
        let workers = integer("WORKERS", "1", 1..=256)?;
        if workers != 1 {
            bail!("WORKERS is \"{workers}\": rust uses every core by threads: leave it out");
        }
        Ok(Self {
            server,
            host: variable("HOST", "0.0.0.0"),
            port: integer("PORT", "3000", 1..=u16::MAX)?,
            db_file: variable("DB_FILE", "data.db"),
            driver: one_of("SQLITE_DRIVER", "on rust ")?,
            postgres: match one_of("STORE", "")? {
                Store::Sqlite => None,
                Store::Postgres => Some(PostgresConfig::read()?),
            },
        })
    }
}

impl PostgresConfig {
    fn read() -> anyhow::Result<Self> {
        let prepare = variable("POSTGRES_PREPARE", "true");
        Ok(Self {
            client: one_of("POSTGRES_CLIENT", "on rust ")?,
            url: variable("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
            pool: integer("POSTGRES_POOL", "10", 1..=1_000)?,
            prepare: prepare.parse().map_err(|_| mistake("POSTGRES_PREPARE", &prepare, "set it to one of true false"))?,
            tx: one_of("POSTGRES_TX", "")?,
        })
    }
}

fn variable(name: &str, otherwise: &str) -> String {
    env::var(name).ok().filter(|value| !value.is_empty()).unwrap_or_else(|| otherwise.into())
}

fn integer(name: &str, otherwise: &str, range: RangeInclusive<u16>) -> anyhow::Result<u16> {
    let text = variable(name, otherwise);
    let value = text.parse().ok().filter(|value| range.contains(value));
    let (least, most) = range.into_inner();
    value.ok_or_else(|| mistake(name, &text, format_args!("set it to an integer from {least} to {most}")))
}

/// The error contains `place`, which says what the choices depend on.
fn one_of<T: Copy + Into<&'static str> + VariantArray>(name: &str, place: &str) -> anyhow::Result<T> {
    let names: Vec<&str> = T::VARIANTS.iter().map(|choice| (*choice).into()).collect();
    let text = variable(name, names[0]);
    let found = names.iter().position(|name| *name == text).map(|index| T::VARIANTS[index]);
    found.ok_or_else(|| mistake(name, &text, format_args!("{place}set it to one of {}", names.join(" "))))
}

fn mistake(name: &str, text: &str, remedy: impl Display) -> anyhow::Error {
    anyhow!("{name} is \"{text}\": {remedy}")
}
