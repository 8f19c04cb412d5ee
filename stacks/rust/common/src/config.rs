use std::{env, fmt::Display, io, ops::RangeInclusive};

use anyhow::{anyhow, bail};

/// Everything that is set from outside, by environment variables, but for [`StoreConfig`].
pub struct Config {
    /// The name of the server, which is that of its binary.
    pub server: &'static str,
    pub host: String,
    pub port: u16,
    pub db_file: String,
    pub driver: Driver,
}

/// Where content items are kept, and how.
pub struct StoreConfig {
    pub place: Place,
    /// Whether it is opened at the start, and not when it is first used.
    pub at_start: bool,
}

pub enum Place {
    Sqlite(SqliteConfig),
    Postgres(PostgresConfig),
}

pub struct SqliteConfig {
    pub driver: Driver,
    /// `:memory:` for none.
    pub file: String,
    pub journal: &'static str,
    pub synchronous: &'static str,
}

pub struct PostgresConfig {
    pub client: Client,
    pub url: String,
    /// Most connections at a time.
    pub pool: u16,
    /// Whether statements are prepared on the server, once per connection.
    pub prepare: bool,
    /// How transactions of pgbench are asked: `statements` or `function`.
    pub tx: &'static str,
}

/// What reads and writes SQLite databases.
#[derive(Clone, Copy)]
pub enum Driver {
    Sqlx,
    Rusqlite,
}

impl Driver {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlx => "sqlx",
            Self::Rusqlite => "rusqlite",
        }
    }
}

/// What talks to Postgres.
#[derive(Clone, Copy)]
pub enum Client {
    SqlxPostgres,
    TokioPostgres,
}

impl Client {
    /// That of its package, since sqlx alone is a driver of SQLite.
    pub fn name(self) -> &'static str {
        match self {
            Self::SqlxPostgres => "sqlx-postgres",
            Self::TokioPostgres => "tokio-postgres",
        }
    }
}

impl Config {
    /// `drivers` are the values of `SQLITE_DRIVER`, the default first.
    ///
    /// # Errors
    /// In one line, naming the variable, its value and what it may be.
    pub fn read(server: &'static str, drivers: [Driver; 2]) -> anyhow::Result<Self> {
        let workers = integer("WORKERS", "1", 1..=256)?;
        if workers != 1 {
            bail!("WORKERS is \"{workers}\": rust uses every core by threads: leave it out");
        }
        Ok(Self {
            server,
            host: variable("HOST", "0.0.0.0"),
            port: integer("PORT", "3000", 1..=u16::MAX)?,
            db_file: variable("DB_FILE", "data.db"),
            driver: one_of("SQLITE_DRIVER", "on rust ", drivers, Driver::name)?,
        })
    }

    /// Says why the server cannot listen.
    pub fn refused(&self, error: &io::Error) -> anyhow::Error {
        let reason = match error.kind() {
            io::ErrorKind::AddrInUse => "is taken".into(),
            _ => format!("cannot be listened on ({error})"),
        };
        anyhow!("{}:{} {reason}: choose another with PORT or HOST", self.host, self.port)
    }
}

impl StoreConfig {
    /// `clients` are the values of `POSTGRES_CLIENT`, the default first.
    ///
    /// # Errors
    /// As those of [`Config::read`].
    pub fn read(driver: Driver, clients: [Client; 2]) -> anyhow::Result<Self> {
        let sqlite = SqliteConfig {
            driver,
            file: variable("CONTENT_FILE", "content.db"),
            journal: choice("SQLITE_JOURNAL", ["wal", "delete"])?,
            synchronous: choice("SQLITE_SYNCHRONOUS", ["normal", "full", "off", "extra"])?,
        };
        let postgres = PostgresConfig {
            client: one_of("POSTGRES_CLIENT", "on rust ", clients, Client::name)?,
            url: variable("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
            pool: integer("POSTGRES_POOL", "10", 1..=1_000)?,
            prepare: choice("POSTGRES_PREPARE", ["true", "false"])? == "true",
            tx: choice("POSTGRES_TX", ["statements", "function"])?,
        };
        let place = match choice("STORE", ["sqlite", "postgres"])? {
            "postgres" => Place::Postgres(postgres),
            _ => Place::Sqlite(sqlite),
        };
        Ok(Self { place, at_start: !variable("STORE", "").is_empty() })
    }
}

fn variable(name: &str, otherwise: &str) -> String {
    env::var(name).ok().filter(|value| !value.is_empty()).unwrap_or_else(|| otherwise.into())
}

fn integer(name: &str, otherwise: &str, range: RangeInclusive<u16>) -> anyhow::Result<u16> {
    let text = variable(name, otherwise);
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|value| is_digits && range.contains(value));
    let (least, most) = range.into_inner();
    value.ok_or_else(|| mistake(name, &text, format_args!("set it to an integer from {least} to {most}")))
}

fn choice<const N: usize>(name: &str, choices: [&'static str; N]) -> anyhow::Result<&'static str> {
    one_of(name, "", choices, |text| text)
}

/// The first of `choices` where none is set; `place` says for what they are all.
fn one_of<T: Copy, const N: usize>(
    name: &str,
    place: &str,
    choices: [T; N],
    name_of: fn(T) -> &'static str,
) -> anyhow::Result<T> {
    let names = choices.map(name_of);
    let text = variable(name, names[0]);
    let found = choices.into_iter().find(|choice| name_of(*choice) == text);
    found.ok_or_else(|| mistake(name, &text, format_args!("{place}set it to one of {}", names.join(" "))))
}

fn mistake(name: &str, text: &str, remedy: impl Display) -> anyhow::Error {
    anyhow!("{name} is \"{text}\": {remedy}")
}
