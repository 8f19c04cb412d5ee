use std::fmt::Display;

use serde::Serialize;

use crate::limits;

/// Why a request is not answered with 2xx.
#[derive(Debug)]
pub enum Failure {
    BadRequest(String),
    NotJson,
    NotFound,
    /// There is a content of this id.
    Conflict(String),
    TooLarge,
    NotTyped,
    /// JSON, but not as the schema has it.
    Invalid(String),
    Internal(anyhow::Error),
    /// The same request may succeed a little later.
    Unavailable,
    /// Nothing is left of a transaction, as others were in its way.
    Undone,
    /// There are no tables of pgbench.
    NoTables,
    /// A balance would leave its type.
    TooMuch,
    Full,
}

/// The JSON of any other answer than 2xx.
#[derive(Serialize)]
pub struct ErrorBody {
    pub error: String,
}

impl Failure {
    pub fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) | Self::NotJson => 400,
            Self::NotFound => 404,
            Self::Conflict(_) | Self::TooMuch => 409,
            Self::TooLarge => 413,
            Self::NotTyped => 415,
            Self::Invalid(_) => 422,
            Self::Internal(_) => 500,
            Self::Unavailable | Self::Undone | Self::NoTables => 503,
            Self::Full => 507,
        }
    }

    /// The header Retry-After, in seconds.
    pub fn retry_after(&self) -> Option<&'static str> {
        (self.status() == 503).then_some("1")
    }

    /// What a client is told. The cause of a 500 goes to stderr only.
    pub fn body(&self) -> ErrorBody {
        let error = match self {
            Self::BadRequest(message) | Self::Invalid(message) => message.clone(),
            Self::NotJson => "the body is not valid JSON".into(),
            Self::NotFound => "not found".into(),
            Self::Conflict(id) => format!("there is a content {id} already"),
            Self::TooLarge => format!("the body is larger than {} bytes", limits::BODY_BYTES),
            Self::NotTyped => "the body must be of content-type application/json in UTF-8, not compressed".into(),
            Self::Internal(cause) => {
                eprintln!("{cause:#}");
                "internal error".into()
            }
            Self::NoTables => {
                eprintln!("DATABASE_URL has no tables of pgbench: make them with: bun createdb.ts --tpcb");
                Self::Unavailable.body().error
            }
            Self::Unavailable | Self::Undone => "the store cannot be reached".into(),
            Self::TooMuch => "a balance would be too large".into(),
            Self::Full => "the store is full".into(),
        };
        ErrorBody { error }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(cause: E) -> Self {
        Self::Internal(cause.into())
    }
}

/// Reads an integer from 1 to `most` as it is usually written: without a sign or zeros before it.
pub fn integer(name: &str, text: &str, most: usize) -> Result<usize, Failure> {
    let value = text.parse().ok().filter(|value| (1..=most).contains(value) && !text.starts_with(['0', '+']));
    value.ok_or_else(|| bad_request(name, format_args!("an integer from 1 to {most}"), text))
}

/// Says what a part of a URL must be.
pub fn bad_request(name: &str, what: impl Display, text: &str) -> Failure {
    let quoted = serde_json::Value::from(text);
    Failure::BadRequest(format!("{name} must be {what}, not {quoted}"))
}
