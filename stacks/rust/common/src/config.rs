use std::{env, fmt::Display, io, ops::RangeInclusive};

use anyhow::{anyhow, bail};

/// Everything that is set from outside, by environment variables.
pub struct Config {
    /// The name of the server, which is that of its binary.
    pub server: &'static str,
    pub host: String,
    pub port: u16,
    pub db_file: String,
    pub driver: Driver,
}

/// What reads the SQLite database.
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
            driver: one_of("SQLITE_DRIVER", drivers)?,
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

fn one_of(name: &str, drivers: [Driver; 2]) -> anyhow::Result<Driver> {
    let names = drivers.map(Driver::name);
    let text = variable(name, names[0]);
    let found = drivers.into_iter().find(|driver| driver.name() == text);
    found.ok_or_else(|| mistake(name, &text, format_args!("on rust set it to one of {}", names.join(" "))))
}

fn mistake(name: &str, text: &str, remedy: impl Display) -> anyhow::Error {
    anyhow!("{name} is \"{text}\": {remedy}")
}
