use serde::Serialize;

/// Why a request is not answered with 2xx.
#[derive(Debug)]
pub enum Failure {
    /// The request is at fault: the status of the answer, and what is wrong.
    Refused(u16, String),
    NotFound,
    /// The same request may succeed a little later.
    Unavailable,
    /// Postgres undid the transaction because of a conflict with others.
    RolledBack,
    /// There are no tables of pgbench.
    NoTables,
    Internal(anyhow::Error),
}

/// The JSON of any answer other than 2xx.
#[derive(Serialize)]
pub struct ErrorBody {
    pub error: String,
}

impl Failure {
    /// Of a body that serde cannot read: 422 if it is JSON.
    pub fn body(error: &serde_json::Error) -> Self {
        Self::Refused(if error.is_data() { 422 } else { 400 }, error.to_string())
    }

    pub fn status(&self) -> u16 {
        match self {
            Self::Refused(status, _) => *status,
            Self::NotFound => 404,
            Self::Unavailable | Self::RolledBack | Self::NoTables => 503,
            Self::Internal(_) => 500,
        }
    }

    /// The header Retry-After, in seconds.
    pub fn retry_after(&self) -> Option<&'static str> {
        (self.status() == 503).then_some("1")
    }

    /// What a client is told. What only the operator can mend goes to stderr.
    pub fn answer(&self) -> ErrorBody {
        let error = match self {
            Self::Refused(_, reason) => reason.clone(),
            Self::NotFound => "not found".into(),
            Self::Unavailable | Self::RolledBack => "the store cannot be reached".into(),
            Self::NoTables => {
                eprintln!("DATABASE_URL has no tables of pgbench: make them with: bun createdb.ts --tpcb");
                "the store cannot be reached".into()
            }
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
