//! The same routes as directly as the documentation of each framework has them: what `./bench.sh tax` compares the servers with.

mod content;

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
    use super::{
        GREETING, Greeting,
        content::{self, Content, Draft, Page},
        hi, open, port, random5, random30,
    };
    use axum::{
        Json, Router,
        extract::{Path, Query, State},
        http::StatusCode,
        response::Html,
        routing::get,
        serve::ListenerExt,
    };
    use sqlx::sqlite::SqlitePool;
    use tokio::net::TcpListener;

    async fn create(State(pool): State<SqlitePool>, Json(draft): Json<Draft>) -> (StatusCode, Json<Content>) {
        (StatusCode::CREATED, Json(content::create(&pool, draft).await))
    }

    async fn read(State(pool): State<SqlitePool>, Path(id): Path<String>) -> Result<Json<Content>, StatusCode> {
        content::read(&pool, &id).await.map(Json).ok_or(StatusCode::NOT_FOUND)
    }

    async fn update(
        State(pool): State<SqlitePool>,
        Path(id): Path<String>,
        Json(draft): Json<Draft>,
    ) -> Result<Json<Content>, StatusCode> {
        content::update(&pool, &id, draft).await.map(Json).ok_or(StatusCode::NOT_FOUND)
    }

    async fn remove(State(pool): State<SqlitePool>, Path(id): Path<String>) -> StatusCode {
        if content::remove(&pool, &id).await { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
    }

    async fn list(State(pool): State<SqlitePool>, Query(query): Query<content::Query>) -> Json<Page> {
        Json(content::list(&pool, query).await)
    }

    #[tokio::main]
    pub async fn serve() {
        let router = Router::new()
            .route("/", get(async || Json(Greeting { message: "axum" })))
            .route("/plain", get(async || Json(GREETING)))
            .route("/html-template", get(async || Html(hi())))
            .route("/sqlite/random-5fields/{size}", get(async |State(pool), Path(size)| Json(random5(&pool, size).await)))
            .route("/sqlite/random-30fields/{size}", get(async |State(pool), Path(size)| Json(random30(&pool, size).await)))
            .with_state(open().await);
        let router = match content::file() {
            Some(file) => router.merge(
                Router::new()
                    .route("/content", get(list).post(create))
                    .route("/content/{id}", get(read).put(update).delete(remove))
                    .with_state(content::open(&file)),
            ),
            None => router,
        };
        let listener = TcpListener::bind(("127.0.0.1", port())).await.expect("PORT");
        axum::serve(listener.tap_io(|stream| drop(stream.set_nodelay(true))), router).await.expect("it ends by a signal");
    }
}

mod actix {
    use super::{
        GREETING, Greeting, Person5, Person30,
        content::{self, Content, Draft, Page},
        hi, open, port, random5, random30,
    };
    use actix_web::{
        App, HttpResponse, HttpServer, delete,
        error::ErrorNotFound,
        get, post, put,
        web::{Data, Html, Json, Path, Query},
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

    /// Of content items.
    struct Contents(SqlitePool);

    #[post("/content")]
    async fn create(contents: Data<Contents>, draft: Json<Draft>) -> HttpResponse {
        HttpResponse::Created().json(content::create(&contents.0, draft.into_inner()).await)
    }

    #[get("/content/{id}")]
    async fn read(contents: Data<Contents>, id: Path<String>) -> actix_web::Result<Json<Content>> {
        content::read(&contents.0, &id).await.map(Json).ok_or_else(|| ErrorNotFound("not found"))
    }

    #[put("/content/{id}")]
    async fn update(contents: Data<Contents>, id: Path<String>, draft: Json<Draft>) -> actix_web::Result<Json<Content>> {
        let updated = content::update(&contents.0, &id, draft.into_inner()).await;
        updated.map(Json).ok_or_else(|| ErrorNotFound("not found"))
    }

    #[delete("/content/{id}")]
    async fn remove(contents: Data<Contents>, id: Path<String>) -> HttpResponse {
        if content::remove(&contents.0, &id).await { HttpResponse::NoContent() } else { HttpResponse::NotFound() }.finish()
    }

    #[get("/content")]
    async fn list(contents: Data<Contents>, query: Query<content::Query>) -> Json<Page> {
        Json(content::list(&contents.0, query.into_inner()).await)
    }

    #[actix_web::main]
    pub async fn serve() -> std::io::Result<()> {
        let pool = Data::new(open().await);
        let contents = content::file().map(|file| Data::new(Contents(content::open(&file))));
        let new_app = move || {
            let app = App::new().app_data(pool.clone()).configure(|routes| {
                if let Some(contents) = contents.clone() {
                    routes.app_data(contents).service((create, read, update, remove, list));
                }
            });
            app.service(root).service(plain).service(html_template).service(random_5fields).service(random_30fields)
        };
        HttpServer::new(new_app).tcp_nodelay(true).bind(("127.0.0.1", port()))?.run().await
    }
}

mod hyper {
    use super::{
        GREETING, Greeting, Person5, Person30,
        content::{self, CREATE, Content, Data, Draft, LIST, Page, READ, REMOVE, UPDATE},
        hi, port,
    };
    use http_body_util::{BodyExt, Full};
    use hyper::{
        Method, Request, Response, StatusCode,
        body::{Bytes, Incoming},
        header::CONTENT_TYPE,
        server::conn::http1,
        service::service_fn,
    };
    use hyper_util::rt::{TokioIo, TokioTimer};
    use r2d2_sqlite::SqliteConnectionManager;
    use rand::RngExt;
    use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
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

    /// One connection, as SQLite has one writer.
    fn open_contents(file: &str) -> Pool {
        let manager = SqliteConnectionManager::file(file).with_init(|connection| {
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "normal")?;
            connection.pragma_update(None, "cache_size", -16_000)
        });
        Pool::builder().max_size(1).build(manager).expect("CONTENT_FILE")
    }

    async fn using<T: Send + 'static>(
        pool: Pool,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> T {
        let work = move || work(&pool.get().expect("a connection"));
        spawn_blocking(work).await.expect("no panic").expect("no failure")
    }

    fn found(content: Option<Content>) -> Answer {
        content.map_or_else(missing, |content| json(&content))
    }

    fn missing() -> Answer {
        with(StatusCode::NOT_FOUND, json(&Greeting { message: "not found" }))
    }

    fn with(status: StatusCode, mut answer: Answer) -> Answer {
        *answer.status_mut() = status;
        answer
    }

    async fn draft(request: Request<Incoming>) -> Draft {
        let body = request.into_body().collect().await.expect("a body").to_bytes();
        serde_json::from_slice(&body).expect("a draft")
    }

    async fn contents(pool: Pool, request: Request<Incoming>) -> Answer {
        let id = request.uri().path().trim_start_matches("/content").trim_start_matches('/').to_owned();
        match *request.method() {
            Method::POST => {
                let content = Content::from(draft(request).await);
                let insert = move |connection: &Connection| {
                    let Content { id, title, body, author, status, data, created_at, updated_at } = &content;
                    let values = params![id, title, body, author, status, data.0.get(), created_at, updated_at];
                    connection.prepare_cached(CREATE)?.execute(values)?;
                    Ok(content)
                };
                with(StatusCode::CREATED, json(&using(pool, insert).await))
            }
            Method::PUT => {
                let Draft { title, body, author, status, data } = draft(request).await;
                let update = move |connection: &Connection| {
                    let values = params![title, body, author, status, data.0.get(), content::now(), id];
                    let mut statement = connection.prepare_cached(UPDATE)?;
                    let rows: rusqlite::Result<Vec<_>> = statement.query_map(values, to_content)?.collect();
                    Ok(rows?.pop())
                };
                found(using(pool, update).await)
            }
            Method::DELETE => {
                let remove = move |connection: &Connection| connection.prepare_cached(REMOVE)?.execute([id]);
                if using(pool, remove).await == 0 { missing() } else { with(StatusCode::NO_CONTENT, answer(JSON, "")) }
            }
            _ if id.is_empty() => {
                let query = request.uri().query().unwrap_or_default();
                let value = |name| query.split('&').find_map(|pair| pair.strip_prefix(name)).unwrap_or_default();
                let (after, limit) = (value("after=").to_owned(), value("limit=").parse().expect("a limit"));
                let list = move |connection: &Connection| {
                    let mut statement = connection.prepare_cached(LIST)?;
                    let rows = statement.query_map(params![after, limit as i64 + 1], to_content)?;
                    Ok(Page::new(rows.collect::<rusqlite::Result<_>>()?, limit))
                };
                json(&using(pool, list).await)
            }
            _ => {
                let read = |connection: &Connection| connection.prepare_cached(READ)?.query_row([id], to_content).optional();
                found(using(pool, read).await)
            }
        }
    }

    fn to_content(row: &Row) -> rusqlite::Result<Content> {
        Ok(Content {
            id: row.get(0)?,
            title: row.get(1)?,
            body: row.get(2)?,
            author: row.get(3)?,
            status: row.get(4)?,
            data: Data::try_from(row.get::<_, String>(5)?).expect("JSON"),
            created_at: row.get(6)?,
            updated_at: row.get(7)?,
        })
    }

    async fn route(pool: Pool, path: &str) -> Answer {
        match path.split('/').collect::<Vec<_>>()[1..] {
            [""] => json(&Greeting { message: "hyper" }),
            ["plain"] => json(&GREETING),
            ["html-template"] => answer("text/html; charset=utf-8", hi()),
            ["sqlite", "random-5fields", size] => random(pool, "SELECT * FROM person5 WHERE id = ?", size, person5).await,
            ["sqlite", "random-30fields", size] => random(pool, "SELECT * FROM person30 WHERE id = ?", size, person30).await,
            _ => missing(),
        }
    }

    #[tokio::main]
    pub async fn serve() {
        let pool = open();
        let file = content::file().map(|file| open_contents(&file));
        let listener = TcpListener::bind(("127.0.0.1", port())).await.expect("PORT");
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            drop(stream.set_nodelay(true));
            let (pool, file) = (pool.clone(), file.clone());
            let service = service_fn(move |request: Request<_>| {
                let (pool, file) = (pool.clone(), file.clone());
                async move {
                    Ok::<_, Infallible>(match file {
                        Some(file) if request.uri().path().starts_with("/content") => contents(file, request).await,
                        _ => route(pool, request.uri().path()).await,
                    })
                }
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
