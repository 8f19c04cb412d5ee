//! The benchmark's server in Rocket.

use std::process::ExitCode;

use common::{App, Config, Driver, ErrorBody, Failure, Greeting, Row, Table, limits};
use rocket::{
    Build, Request, Rocket, State, catch, catchers,
    config::{Ident, LogLevel, Shutdown},
    fairing::AdHoc,
    get,
    http::Status,
    response::{self, Responder, content::RawHtml},
    routes,
    serde::json::Json,
    shield::Shield,
    uri,
};

#[rocket::main]
async fn main() -> ExitCode {
    common::run(async {
        let config = Config::read(env!("CARGO_PKG_NAME"), [Driver::Sqlx, Driver::Rusqlite])?;
        let app = App::open(&config, None, "rocket", "rocket").await?;
        // Rocket takes an address and listens itself, and says less where it cannot.
        let at = common::listen(&config).await?.local_addr()?;
        let settings = rocket::Config {
            address: at.ip(),
            port: at.port(),
            ident: Ident::none(),
            ip_header: None,
            keep_alive: limits::IDLE.as_secs() as u32,
            log_level: LogLevel::Off,
            shutdown: Shutdown { ctrlc: false, signals: [].into(), grace: 3, mercy: 1, ..Shutdown::default() },
            ..rocket::Config::release_default()
        };
        let rocket = rocket(settings, app).ignite().await?;
        let shutdown = rocket.shutdown();
        rocket::tokio::spawn(async {
            common::ended().await;
            shutdown.notify()
        });
        rocket.launch().await?;
        Ok(())
    })
    .await
}

fn rocket(settings: rocket::Config, app: App) -> Rocket<Build> {
    rocket::custom(settings)
        .attach(Shield::new())
        .attach(AdHoc::on_request("As others", |request, _| Box::pin(async move { as_others(request) })))
        .manage(app)
        .mount("/", routes![identity, plain, html_template, random_5fields, random_30fields])
        .register("/", catchers![other])
}

/// Rocket overlooks empty segments of a path; no route of the others has any.
fn as_others(request: &mut Request) {
    let path = request.uri().path();
    if path != "/" && path.as_str().split('/').skip(1).any(str::is_empty) {
        request.set_uri(uri!("/not-found"));
    }
}

#[get("/")]
fn identity(app: &State<App>) -> Json<common::Identity<'_>> {
    Json(app.identity())
}

#[get("/plain")]
fn plain(app: &State<App>) -> Json<Greeting> {
    Json(app.plain())
}

#[get("/html-template")]
fn html_template(app: &State<App>) -> Result<RawHtml<String>, Failed> {
    Ok(RawHtml(app.hi()?))
}

#[get("/sqlite/random-5fields/<size>")]
async fn random_5fields(app: &State<App>, size: &str) -> Result<Json<Vec<Row>>, Failed> {
    Ok(Json(app.random_rows(Table::Person5, size).await?))
}

#[get("/sqlite/random-30fields/<size>")]
async fn random_30fields(app: &State<App>, size: &str) -> Result<Json<Vec<Row>>, Failed> {
    Ok(Json(app.random_rows(Table::Person30, size).await?))
}

/// What Rocket answers itself.
#[catch(default)]
fn other(status: Status, _: &Request) -> Json<ErrorBody> {
    Json(ErrorBody { error: status.reason_lossy().to_lowercase() })
}

struct Failed(Failure);

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl<'r> Responder<'r, 'static> for Failed {
    fn respond_to(self, request: &'r Request<'_>) -> response::Result<'static> {
        (Status::new(self.0.status()), Json(self.0.body())).respond_to(request)
    }
}
