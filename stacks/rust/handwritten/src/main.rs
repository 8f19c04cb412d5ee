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
        Some("hyper") => hyper::serve(),
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

mod hyper {
    use super::{GREETING, Greeting, Person5, Person30, hi, port};
    use http_body_util::Full;
    use hyper::{
        Request, Response, StatusCode, body::Bytes, header::CONTENT_TYPE, server::conn::http1, service::service_fn,
    };
    use hyper_util::rt::{TokioIo, TokioTimer};
    use r2d2_sqlite::SqliteConnectionManager;
    use rand::RngExt;
    use rusqlite::{OpenFlags, Row};
    use serde::Serialize;
    use std::{convert::Infallible, env, thread::available_parallelism};
    use tokio::{net::TcpListener, task::spawn_blocking};

    type Pool = r2d2::Pool<SqliteConnectionManager>;
    type Answer = Response<Full<Bytes>>;

    const JSON: &str = "application/json";

    fn open() -> Pool {
        let file = env::var("DB_FILE").unwrap_or("data.db".into());
        let manager = SqliteConnectionManager::file(file)
            .with_flags(OpenFlags::SQLITE_OPEN_READ_ONLY)
            .with_init(|connection| connection.pragma_update(None, "cache_size", -16_000));
        let cores = available_parallelism().map_or(1, usize::from);
        Pool::builder().max_size(u32::try_from(cores).unwrap_or(1)).build(manager).expect("DB_FILE")
    }

    fn answer(kind: &'static str, body: impl Into<Bytes>) -> Answer {
        Response::builder().header(CONTENT_TYPE, kind).body(Full::new(body.into())).expect("a header")
    }

    fn json(value: &impl Serialize) -> Answer {
        answer(JSON, serde_json::to_vec(value).expect("it has no maps"))
    }

    /// Of rows that are read on a thread that may block.
    async fn random<T, F>(pool: Pool, by_id: &'static str, size: &str, person: F) -> Answer
    where
        T: Send + Serialize + 'static,
        F: Fn(&Row) -> rusqlite::Result<T> + Send + 'static,
    {
        let size: usize = size.parse().expect("a size");
        let read = move || {
            let connection = pool.get().expect("a connection");
            let mut statement = connection.prepare_cached(by_id)?;
            (0..size).map(|_| statement.query_one([rand::rng().random_range(1..=100_000)], &person)).collect()
        };
        let rows: rusqlite::Result<Vec<T>> = spawn_blocking(read).await.expect("no panic");
        json(&rows.expect("rows"))
    }

    async fn route(pool: Pool, path: &str) -> Answer {
        match path.split('/').collect::<Vec<_>>()[1..] {
            [""] => json(&Greeting { message: "hyper" }),
            ["plain"] => json(&GREETING),
            ["html-template"] => answer("text/html; charset=utf-8", hi()),
            ["sqlite", "random-5fields", size] => random(pool, "SELECT * FROM person5 WHERE id = ?", size, person5).await,
            ["sqlite", "random-30fields", size] => random(pool, "SELECT * FROM person30 WHERE id = ?", size, person30).await,
            _ => {
                let mut missing = json(&Greeting { message: "not found" });
                *missing.status_mut() = StatusCode::NOT_FOUND;
                missing
            }
        }
    }

    #[tokio::main]
    pub async fn serve() {
        let pool = open();
        let listener = TcpListener::bind(("127.0.0.1", port())).await.expect("PORT");
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            drop(stream.set_nodelay(true));
            let pool = pool.clone();
            let service = service_fn(move |request: Request<_>| {
                let pool = pool.clone();
                async move { Ok::<_, Infallible>(route(pool, request.uri().path()).await) }
            });
            let mut http = http1::Builder::new();
            let connection = http.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move { drop(connection.await) }); // of a client that went away
        }
    }

    fn person5(row: &Row) -> rusqlite::Result<Person5> {
        Ok(Person5 {
            id: row.get(0)?,
            first_name: row.get(1)?,
            last_name: row.get(2)?,
            email: row.get(3)?,
            phone: row.get(4)?,
            created_at: row.get(5)?,
        })
    }

    fn person30(row: &Row) -> rusqlite::Result<Person30> {
        Ok(Person30 {
            id: row.get(0)?,
            first_name: row.get(1)?,
            last_name: row.get(2)?,
            email: row.get(3)?,
            phone: row.get(4)?,
            date_of_birth: row.get(5)?,
            gender: row.get(6)?,
            address: row.get(7)?,
            city: row.get(8)?,
            state: row.get(9)?,
            zip_code: row.get(10)?,
            country: row.get(11)?,
            occupation: row.get(12)?,
            company: row.get(13)?,
            salary: row.get(14)?,
            education_level: row.get(15)?,
            marital_status: row.get(16)?,
            number_of_children: row.get(17)?,
            height_cm: row.get(18)?,
            weight_kg: row.get(19)?,
            blood_type: row.get(20)?,
            eye_color: row.get(21)?,
            hair_color: row.get(22)?,
            favorite_color: row.get(23)?,
            hobbies: row.get(24)?,
            languages: row.get(25)?,
            social_security_number: row.get(26)?,
            passport_number: row.get(27)?,
            driver_license: row.get(28)?,
            emergency_contact: row.get(29)?,
            created_at: row.get(30)?,
        })
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
