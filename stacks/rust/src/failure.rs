use actix_web::{HttpResponse, ResponseError};
use axum::{Json, http, response::IntoResponse};
use rocket::response::Responder;
use serde::Serialize;
use strum::Display;

/// Why the answer to a request is not 2xx.
#[derive(Debug, Display)]
pub enum Failure {
    /// The request is wrong: the status of the answer, and what is wrong.
    Refused(u16, String),
    NotFound,
    /// The same request may succeed a little later.
    Unavailable,
    /// Postgres rolled the transaction back because of a conflict.
    RolledBack,
    /// The database has no tables of pgbench.
    NoTables,
    Internal(anyhow::Error),
}

/// The JSON of any answer other than 2xx.
#[derive(Serialize)]
pub struct ErrorBody {
    pub error: String,
}

impl Failure {
    /// The failure for a body that serde cannot read: 422 if it is JSON, otherwise 400.
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

    /// The body for the client. A cause that only the operator can fix goes to stderr.
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

impl ResponseError for Failure {
    fn status_code(&self) -> actix_web::http::StatusCode {
        actix_web::http::StatusCode::from_u16(self.status()).expect("a failure has a status")
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        if let Some(seconds) = self.retry_after() {
            response.insert_header((actix_web::http::header::RETRY_AFTER, seconds));
        }
        response.json(self.answer())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> axum::response::Response {
        let status = http::StatusCode::from_u16(self.status()).expect("a failure has a status");
        let retry_after = self.retry_after().map(|seconds| [(http::header::RETRY_AFTER, seconds)]);
        (status, retry_after, Json(self.answer())).into_response()
    }
}

impl<'r> Responder<'r, 'static> for Failure {
    fn respond_to(self, request: &'r rocket::Request<'_>) -> rocket::response::Result<'static> {
        let body = rocket::serde::json::Json(self.answer());
        (rocket::http::Status::new(self.status()), body).respond_to(request)
    }
}
