//! The benchmark's server in Rocket.

use std::process::ExitCode;

use rocket::{
    Build, Request, Rocket, State, catch, catchers,
    config::{Ident, LogLevel, Shutdown},
    fairing::AdHoc,
    get,
    http::Status,
    response::content::RawHtml,
    routes,
    serde::json::{Json, Value},
    shield::Shield,
    uri,
};
use servers::{App, Config, ErrorBody, Failure, GREETING, Greeting, Person5, Person30, limits};

#[rocket::main]
async fn main() -> ExitCode {
    servers::run(async {
        let config = Config::read(env!("CARGO_BIN_NAME"))?;
        let app = App::open(&config, "rocket", "rocket").await?;
        // Listens once to report errors, because Rocket, which listens itself, says less about them.
        let at = servers::listen(&config).await?.local_addr()?;
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
            servers::ended().await;
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
        .attach(AdHoc::on_request("no empty segments", |request, _| Box::pin(async move { no_empty_segments(request) })))
        .manage(app)
        .mount("/", routes![identity, plain, html_template, random_5fields, random_30fields])
        .register("/", catchers![other])
}

/// Rocket ignores empty segments of a path; the other servers answer 404.
fn no_empty_segments(request: &mut Request) {
    let path = request.uri().path();
    if path != "/" && path.as_str().split('/').skip(1).any(str::is_empty) {
        request.set_uri(uri!("/not-found"));
    }
}

#[get("/")]
fn identity(app: &State<App>) -> Value {
    app.identity()
}

#[get("/plain")]
fn plain() -> Json<Greeting> {
    Json(GREETING)
}

#[get("/html-template")]
fn html_template(app: &State<App>) -> Result<RawHtml<String>, Failure> {
    Ok(RawHtml(app.hi()?))
}

#[get("/sqlite/random-5fields/<size>")]
async fn random_5fields(app: &State<App>, size: &str) -> Result<Json<Vec<Person5>>, Failure> {
    Ok(Json(app.random_rows(size).await?))
}

#[get("/sqlite/random-30fields/<size>")]
async fn random_30fields(app: &State<App>, size: &str) -> Result<Json<Vec<Person30>>, Failure> {
    Ok(Json(app.random_rows(size).await?))
}

/// Answers errors of Rocket itself.
#[catch(default)]
fn other(status: Status, _: &Request) -> Json<ErrorBody> {
    Json(ErrorBody { error: status.reason_lossy().to_lowercase() })
}
