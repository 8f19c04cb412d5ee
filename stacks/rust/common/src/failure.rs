use serde::Serialize;

/// Why a request is not answered with 200.
#[derive(Debug)]
pub enum Failure {
    BadRequest(String),
    NotFound,
    Internal(anyhow::Error),
}

/// The JSON of any other answer than 200.
#[derive(Serialize)]
pub struct ErrorBody {
    pub error: String,
}

impl Failure {
    pub fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) => 400,
            Self::NotFound => 404,
            Self::Internal(_) => 500,
        }
    }

    /// What a client is told. The cause of a 500 goes to stderr only.

    pub fn body(&self) -> ErrorBody {
        let error = match self {
            Self::BadRequest(message) => message.clone(),
            Self::NotFound => "not found".into(),
            Self::Internal(cause) => {
                eprintln!("{cause:#}");
                "internal error".into()
            }
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
    value.ok_or_else(|| {
        let quoted = serde_json::Value::from(text);
        Failure::BadRequest(format!("{name} must be an integer from 1 to {most}, not {quoted}"))
    })
}
