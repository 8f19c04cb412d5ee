//! The benchmark's server in axum.

use std::{process::ExitCode, sync::Arc};

use axum::{
    Json, Router,
    extract::{
        DefaultBodyLimit, Path, State,
        rejection::{JsonRejection, PathRejection},
    },
    http::StatusCode,
    response::Html,
    routing::{get, post},
};
use hyper_util::service::TowerToHyperService;
use servers::{App, Balance, Config, Failure, GREETING, Person5, Person30, Table, Transfer, limits};
use tower_http::timeout::TimeoutLayer;

#[tokio::main]
async fn main() -> ExitCode {
    servers::run(async {
        let config = Config::read(env!("CARGO_BIN_NAME"))?;
        let app = Arc::new(App::open(&config, "axum", "axum").await?);
        servers::serve(servers::listen(&config).await?, TowerToHyperService::new(router(app))).await;
        Ok(())
    })
    .await
}

fn router(app: Arc<App>) -> Router {
    let timeout = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, limits::REQUEST);
    Router::new()
        .route("/", get(async |State(app): Shared| Json(app.identity())))
        .route("/plain", get(async || Json(GREETING)))
        .route("/html-template", get(html_template))
        .route("/sqlite/random-5fields/{size}", get(random_rows::<Person5>))
        .route("/sqlite/random-30fields/{size}", get(random_rows::<Person30>))
        .route("/tx", post(transact).layer((timeout, DefaultBodyLimit::max(limits::BODY_BYTES))))
        .fallback(not_found)
        .method_not_allowed_fallback(not_found)
        .with_state(app)
}

type Shared = State<Arc<App>>;

async fn html_template(State(app): Shared) -> Result<Html<String>, Failure> {
    Ok(Html(app.hi()?))
}

async fn random_rows<T: Table>(
    State(app): Shared,
    size: Result<Path<String>, PathRejection>,
) -> Result<Json<Vec<T>>, Failure> {
    let Path(size) = size.map_err(|rejection| refused(rejection.status(), rejection.body_text()))?;
    Ok(Json(app.random_rows(&size).await?))
}

async fn transact(State(app): Shared, transfer: Result<Json<Transfer>, JsonRejection>) -> Result<Json<Balance>, Failure> {
    let Json(transfer) = transfer.map_err(|rejection| refused(rejection.status(), rejection.body_text()))?;
    Ok(Json(app.transact(transfer).await?))
}

async fn not_found() -> Failure {
    Failure::NotFound
}

fn refused(status: StatusCode, reason: String) -> Failure {
    Failure::Refused(status.as_u16(), reason)
}
