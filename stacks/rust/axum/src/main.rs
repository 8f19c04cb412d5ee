//! The benchmark's server in axum.

use std::{process::ExitCode, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, State, rejection::PathRejection},
    http::StatusCode,
    response::{Html, IntoResponse, Response},
    routing::any,
    serve::ListenerExt,
};
use common::{App, Config, Driver, Failure, Row, Table};

#[tokio::main]
async fn main() -> ExitCode {
    common::run(async {
        let config = Config::read(env!("CARGO_PKG_NAME"), [Driver::Sqlx, Driver::Rusqlite])?;
        let app = Arc::new(App::open(&config, "axum", "axum").await?);
        let listener = common::listen(&config).await?.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router(app)).with_graceful_shutdown(common::ended()).await?;
        Ok(())
    })
    .await
}

/// `any(not_found)`, since for `get` alone other methods are answered with an Allow header.
fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", any(not_found).get(|State(app): State<Arc<App>>| async move { Json(app.identity()).into_response() }))
        .route("/plain", any(not_found).get(|State(app): State<Arc<App>>| async move { Json(app.plain()) }))
        .route("/html-template", any(not_found).get(html_template))
        .route("/sqlite/random-5fields/{size}", any(not_found).get(|app, size| random_rows(app, Table::Person5, size)))
        .route("/sqlite/random-30fields/{size}", any(not_found).get(|app, size| random_rows(app, Table::Person30, size)))
        .fallback(not_found)
        .with_state(app)
}

async fn html_template(State(app): State<Arc<App>>) -> Result<Html<String>, Failed> {
    Ok(Html(app.hi()?))
}

async fn random_rows(
    State(app): State<Arc<App>>,
    table: Table,
    size: Result<Path<String>, PathRejection>,
) -> Result<Json<Vec<Row>>, Failed> {
    let Path(size) = size.map_err(|rejection| Failure::BadRequest(rejection.body_text()))?;
    Ok(Json(app.random_rows(table, &size).await?))
}

async fn not_found() -> Failed {
    Failed(Failure::NotFound)
}

struct Failed(Failure);

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self.0.body())).into_response()
    }
}
