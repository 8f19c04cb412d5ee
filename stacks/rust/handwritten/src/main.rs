//! The same routes as directly as the documentation of each framework has them: what `./bench.sh tax` compares the servers with.

use std::{env, thread::available_parallelism};

use askama::Template;
use rand::RngExt;
use serde::Serialize;
use sqlx::{
    FromRow,
    sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteRow},
};

#[derive(FromRow, Serialize)]
struct Person5 {
    id: i64,
    first_name: String,
    last_name: String,
    email: String,
    phone: String,
    created_at: String,
}

#[derive(FromRow, Serialize)]
struct Person30 {
    id: i64,
    first_name: String,
    last_name: String,
    email: String,
    phone: String,
    date_of_birth: String,
    gender: String,
    address: String,
    city: String,
    state: String,
    zip_code: String,
    country: String,
    occupation: String,
    company: String,
    salary: f64,
    education_level: String,
    marital_status: String,
    number_of_children: i64,
    height_cm: f64,
    weight_kg: f64,
    blood_type: String,
    eye_color: String,
    hair_color: String,
    favorite_color: String,
    hobbies: String,
    languages: String,
    social_security_number: String,
    passport_number: String,
    driver_license: String,
    emergency_contact: String,
    created_at: String,
}

#[derive(Serialize)]
struct Greeting {
    message: &'static str,
}

const GREETING: Greeting = Greeting { message: "Hello, world!" };

#[derive(Template)]
#[template(path = "hi.html")]
struct Hi<'a> {
    name: &'a str,
}

fn hi() -> String {
    Hi { name: "Ben" }.render().expect("it has no loops")
}

fn port() -> u16 {
    env::var("PORT").expect("PORT").parse().expect("PORT")
}

async fn open() -> SqlitePool {
    let file = env::var("DB_FILE").unwrap_or("data.db".into());
    let options = SqliteConnectOptions::new().filename(file).read_only(true).pragma("cache_size", "-16000");
    let cores = available_parallelism().map_or(1, usize::from);
    let pool = SqlitePoolOptions::new().max_connections(u32::try_from(cores).unwrap_or(1));
    pool.connect_with(options).await.expect("DB_FILE")
}

async fn random5(pool: &SqlitePool, size: usize) -> Vec<Person5> {
    random_rows(pool, "SELECT * FROM person5 WHERE id = ?", size).await
}

async fn random30(pool: &SqlitePool, size: usize) -> Vec<Person30> {
    random_rows(pool, "SELECT * FROM person30 WHERE id = ?", size).await
}

async fn random_rows<T>(pool: &SqlitePool, by_id: &'static str, size: usize) -> Vec<T>
where
    T: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
{
    let mut connection = pool.acquire().await.expect("a connection");
    let mut rows = Vec::with_capacity(size);
    for _ in 0..size {
        let id: i64 = rand::rng().random_range(1..=100_000);
        rows.push(sqlx::query_as(by_id).bind(id).fetch_one(&mut *connection).await.expect("a row"));
    }
    rows
}

fn main() {
    match env::args().nth(1).as_deref() {
        Some("actix") => actix::serve().expect("PORT"),
        Some("rocket") => rocket::serve(),
        _ => axum::serve(),
    }
}

mod axum {
    use super::{GREETING, Greeting, hi, open, port, random5, random30};
    use axum::{
        Json, Router,
        extract::{Path, State},
        response::Html,
        routing::get,
        serve::ListenerExt,
    };
    use tokio::net::TcpListener;

    #[tokio::main]
    pub async fn serve() {
        let router = Router::new()
            .route("/", get(async || Json(Greeting { message: "axum" })))
            .route("/plain", get(async || Json(GREETING)))
            .route("/html-template", get(async || Html(hi())))
            .route("/sqlite/random-5fields/{size}", get(async |State(pool), Path(size)| Json(random5(&pool, size).await)))
            .route("/sqlite/random-30fields/{size}", get(async |State(pool), Path(size)| Json(random30(&pool, size).await)))
            .with_state(open().await);
        let listener = TcpListener::bind(("127.0.0.1", port())).await.expect("PORT");
        axum::serve(listener.tap_io(|stream| drop(stream.set_nodelay(true))), router).await.expect("it ends by a signal");
    }
}

mod actix {
    use super::{GREETING, Greeting, Person5, Person30, hi, open, port, random5, random30};
    use actix_web::{
        App, HttpServer, get,
        web::{Data, Html, Json, Path},
    };
    use sqlx::sqlite::SqlitePool;

    #[get("/")]
    async fn root() -> Json<Greeting> {
        Json(Greeting { message: "actix" })
    }

    #[get("/plain")]
    async fn plain() -> Json<Greeting> {
        Json(GREETING)
    }

    #[get("/html-template")]
    async fn html_template() -> Html {
        Html::new(hi())
    }

    #[get("/sqlite/random-5fields/{size}")]
    async fn random_5fields(pool: Data<SqlitePool>, size: Path<usize>) -> Json<Vec<Person5>> {
        Json(random5(&pool, *size).await)
    }

    #[get("/sqlite/random-30fields/{size}")]
    async fn random_30fields(pool: Data<SqlitePool>, size: Path<usize>) -> Json<Vec<Person30>> {
        Json(random30(&pool, *size).await)
    }

    #[actix_web::main]
    pub async fn serve() -> std::io::Result<()> {
        let pool = Data::new(open().await);
        let new_app = move || {
            let app = App::new().app_data(pool.clone());
            app.service(root).service(plain).service(html_template).service(random_5fields).service(random_30fields)
        };
        HttpServer::new(new_app).tcp_nodelay(true).bind(("127.0.0.1", port()))?.run().await
    }
}

mod rocket {
    use super::{GREETING, Greeting, Person5, Person30, hi, open, port, random5, random30};
    use rocket::{Config, State, config::LogLevel, get, response::content::RawHtml, routes, serde::json::Json};
    use sqlx::sqlite::SqlitePool;

    #[get("/")]
    fn root() -> Json<Greeting> {
        Json(Greeting { message: "rocket" })
    }

    #[get("/plain")]
    fn plain() -> Json<Greeting> {
        Json(GREETING)
    }

    #[get("/html-template")]
    fn html_template() -> RawHtml<String> {
        RawHtml(hi())
    }

    #[get("/sqlite/random-5fields/<size>")]
    async fn random_5fields(pool: &State<SqlitePool>, size: usize) -> Json<Vec<Person5>> {
        Json(random5(pool, size).await)
    }

    #[get("/sqlite/random-30fields/<size>")]
    async fn random_30fields(pool: &State<SqlitePool>, size: usize) -> Json<Vec<Person30>> {
        Json(random30(pool, size).await)
    }

    #[rocket::main]
    pub async fn serve() {
        let config = Config { port: port(), log_level: LogLevel::Off, ..Config::release_default() };
        let routes = routes![root, plain, html_template, random_5fields, random_30fields];
        rocket::custom(config).manage(open().await).mount("/", routes).launch().await.expect("PORT");
    }
}
