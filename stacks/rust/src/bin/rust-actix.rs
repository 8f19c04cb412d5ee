//! The benchmark's server in Actix Web.

use std::process::ExitCode;

use actix_web::{
    HttpRequest, HttpServer, ResponseError,
    error::JsonPayloadError,
    http::Method,
    web::{self, Data, Html, Json, JsonConfig, Path, ServiceConfig},
};
use servers::{App, Balance, Config, Failure, GRACE, GREETING, Person5, Person30, Table, Transfer, limits};

#[actix_web::main]
async fn main() -> ExitCode {
    servers::run(async {
        let config = Config::read(env!("CARGO_BIN_NAME"))?;
        let app = Data::new(App::open(&config, "actix", "actix-web").await?);
        HttpServer::new(move || actix_web::App::new().app_data(app.clone()).configure(mount))
            .client_request_timeout(limits::HEADERS)
            .keep_alive(limits::IDLE)
            .tcp_nodelay(true)
            .shutdown_signal(servers::ended())
            .shutdown_timeout(GRACE.as_secs())
            .listen(servers::listen(&config).await?.into_std()?)?
            .run()
            .await?;
        Ok(())
    })
    .await
}

fn mount(routes: &mut ServiceConfig) {
    routes.app_data(JsonConfig::default().limit(limits::BODY_BYTES).error_handler(refused));
    for method in [Method::GET, Method::HEAD] {
        let read = || web::method(method.clone());
        routes
            .route("/", read().to(async |app: Data<App>| Json(app.identity())))
            .route("/plain", read().to(async || Json(GREETING)))
            .route("/html-template", read().to(html_template))
            .route("/sqlite/random-5fields/{size}", read().to(random_rows::<Person5>))
            .route("/sqlite/random-30fields/{size}", read().to(random_rows::<Person30>));
    }
    routes.route("/tx", web::post().to(transact)).default_service(web::to(not_found));
}

async fn html_template(app: Data<App>) -> Result<Html, Failure> {
    Ok(Html::new(app.hi()?))
}

async fn random_rows<T: Table>(app: Data<App>, size: Path<String>) -> Result<Json<Vec<T>>, Failure> {
    Ok(Json(app.random_rows(&size).await?))
}

async fn transact(app: Data<App>, Json(transfer): Json<Transfer>) -> Result<Json<Balance>, Failure> {
    Ok(Json(app.transact(transfer).await?))
}

async fn not_found() -> Result<(), Failure> {
    Err(Failure::NotFound)
}

/// Answers a body that `Json` cannot read.
fn refused(error: JsonPayloadError, _: &HttpRequest) -> actix_web::Error {
    match &error {
        JsonPayloadError::Deserialize(error) => Failure::body(error),
        JsonPayloadError::ContentType => Failure::Refused(415, error.to_string()),
        _ => Failure::Refused(error.status_code().as_u16(), error.to_string()),
    }
    .into()
}
