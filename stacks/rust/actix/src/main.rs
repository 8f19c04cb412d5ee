//! The benchmark's server in Actix Web.

mod content;

use std::{fmt, process::ExitCode};

use actix_web::{
    HttpResponse, HttpServer, ResponseError,
    http::{StatusCode, header::RETRY_AFTER},
    routes,
    web::{Data, Html, Json, Path, ServiceConfig, to},
};
use common::{App, Client, Config, Contents, Driver, Failure, GRACE, Greeting, Row, StoreConfig, Table, limits};

#[actix_web::main]
async fn main() -> ExitCode {
    common::run(async {
        let config = Config::read(env!("CARGO_PKG_NAME"), [Driver::Sqlx, Driver::Rusqlite])?;
        let store = StoreConfig::read(config.driver, [Client::SqlxPostgres, Client::TokioPostgres])?;
        let app = Data::new(App::open(&config, Some(&store), "actix", "actix-web").await?);
        let contents = Data::new(Contents::open(store).await?);
        let used = contents.clone();
        let new_app = move || actix_web::App::new().app_data(app.clone()).app_data(used.clone()).configure(mount);
        HttpServer::new(new_app)
            .client_request_timeout(limits::HEADERS)
            .keep_alive(limits::IDLE)
            .tcp_nodelay(true)
            .shutdown_signal(common::ended())
            .shutdown_timeout(GRACE.as_secs())
            .bind((config.host.as_str(), config.port))
            .map_err(|error| config.refused(&error))?
            .run()
            .await?;
        contents.close().await;
        Ok(())
    })
    .await
}

fn mount(routes: &mut ServiceConfig) {
    routes
        .service(identity)
        .service(plain)
        .service(html_template)
        .service(random_5fields)
        .service(random_30fields)
        .configure(content::mount)
        .default_service(to(not_found));
}

#[routes]
#[get("/")]
#[head("/")]
async fn identity(app: Data<App>) -> HttpResponse {
    HttpResponse::Ok().json(app.identity())
}

#[routes]
#[get("/plain")]
#[head("/plain")]
async fn plain(app: Data<App>) -> Json<Greeting> {
    Json(app.plain())
}

#[routes]
#[get("/html-template")]
#[head("/html-template")]
async fn html_template(app: Data<App>) -> Result<Html, Failed> {
    Ok(Html::new(app.hi()?))
}

#[routes]
#[get("/sqlite/random-5fields/{size}")]
#[head("/sqlite/random-5fields/{size}")]
async fn random_5fields(app: Data<App>, size: Path<String>) -> Result<Json<Vec<Row>>, Failed> {
    Ok(Json(app.random_rows(Table::Person5, &size).await?))
}

#[routes]
#[get("/sqlite/random-30fields/{size}")]
#[head("/sqlite/random-30fields/{size}")]
async fn random_30fields(app: Data<App>, size: Path<String>) -> Result<Json<Vec<Row>>, Failed> {
    Ok(Json(app.random_rows(Table::Person30, &size).await?))
}

async fn not_found() -> Result<HttpResponse, Failed> {
    Err(Failed(Failure::NotFound))
}

#[derive(Debug)]
struct Failed(Failure);

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl ResponseError for Failed {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        if let Some(seconds) = self.0.retry_after() {
            response.insert_header((RETRY_AFTER, seconds));
        }
        response.json(self.0.body())
    }
}
