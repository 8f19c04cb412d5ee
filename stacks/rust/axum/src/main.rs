//! The benchmark's server in axum.

mod content;

use std::{process::ExitCode, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, State, rejection::PathRejection},
    http::{StatusCode, header::RETRY_AFTER},
    response::{Html, IntoResponse, Response},
    routing::any,
    serve::ListenerExt,
};
use common::{App, Client, Config, Contents, Driver, Failure, Row, StoreConfig, Table};

#[tokio::main]
async fn main() -> ExitCode {
    common::run(async {
        let config = Config::read(env!("CARGO_PKG_NAME"), [Driver::Sqlx, Driver::Rusqlite])?;
        let store = StoreConfig::read(config.driver, [Client::SqlxPostgres, Client::TokioPostgres])?;
        let app = Arc::new(App::open(&config, Some(&store), "axum", "axum").await?);
        let contents = Arc::new(Contents::open(store).await?);
        let listener = common::listen(&config).await?.tap_io(|stream| drop(stream.set_nodelay(true)));
        let router = router(app).merge(content::routes(contents.clone()));
        axum::serve(listener, router).with_graceful_shutdown(common::ended()).await?;
        contents.close().await;
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

async fn random_rows(State(app): State<Arc<App>>, table: Table, size: Segment) -> Result<Json<Vec<Row>>, Failed> {
    Ok(Json(app.random_rows(table, &decoded(size)?).await?))
}

async fn not_found() -> Failed {
    Failed(Failure::NotFound)
}

/// The last segment of the path.
type Segment = Result<Path<String>, PathRejection>;

fn decoded(segment: Segment) -> Result<String, Failure> {
    let Path(text) = segment.map_err(|rejection| Failure::BadRequest(rejection.body_text()))?;
    Ok(text)
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
        let retry_after = self.0.retry_after().map(|seconds| [(RETRY_AFTER, seconds)]);
        (status, retry_after, Json(self.0.body())).into_response()
    }
}
