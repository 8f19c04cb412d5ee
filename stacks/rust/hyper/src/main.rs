//! The benchmark's server in hyper alone.

use std::{convert::Infallible, pin::pin, process::ExitCode, sync::Arc, time::Duration};

use common::{App, Config, Driver, Failure, Table, limits};
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::CONTENT_TYPE,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> ExitCode {
    common::run(async {
        let config = Config::read(env!("CARGO_PKG_NAME"), [Driver::Rusqlite, Driver::Sqlx])?;
        let app = Arc::new(App::open(&config, "hyper", "hyper").await?);
        serve(common::listen(&config).await?, app).await;
        Ok(())
    })
    .await
}

/// Serves until the server is told to end, then until all connections have ended.
async fn serve(listener: TcpListener, app: Arc<App>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits::HEADERS).max_header_size(limits::HEADER_BYTES);
    let graceful = GracefulShutdown::new();
    let mut ended = pin!(common::ended());
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    eprintln!("{error}"); // such as too many open files
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    continue;
                }
            },
            () = &mut ended => break,
        };
        drop(stream.set_nodelay(true));
        let app = app.clone();
        let service = service_fn(move |request| {
            let app = app.clone();
            async move { Ok::<_, Infallible>(answer(&app, &request).await.unwrap_or_else(|failure| failed(&failure))) }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move { drop(connection.await) }); // of a client that went away
    }
    drop(listener);
    graceful.shutdown().await;
}

async fn answer(app: &App, request: &Request<Incoming>) -> Result<Response<Full<Bytes>>, Failure> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Failure::NotFound);
    }
    match request.uri().path() {
        "/" => json(StatusCode::OK, &app.identity()),
        "/plain" => json(StatusCode::OK, &app.plain()),
        "/html-template" => Ok(response(StatusCode::OK, "text/html; charset=utf-8", app.hi()?.into())),
        path => {
            let (table, size) = table_and_size(path).ok_or(Failure::NotFound)?;
            let size = percent_decode_str(size).decode_utf8().map_err(|error| Failure::BadRequest(error.to_string()))?;
            json(StatusCode::OK, &app.random_rows(table, &size).await?)
        }
    }
}

fn table_and_size(path: &str) -> Option<(Table, &str)> {
    let (table, size) = match path.strip_prefix("/sqlite/random-")?.split_once('/')? {
        ("5fields", size) => (Table::Person5, size),
        ("30fields", size) => (Table::Person30, size),
        _ => return None,
    };
    (!size.is_empty() && !size.contains('/')).then_some((table, size))
}

fn failed(failure: &Failure) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(failure.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json(status, &failure.body()).expect("an error is JSON")
}

fn json(status: StatusCode, body: &impl Serialize) -> Result<Response<Full<Bytes>>, Failure> {
    Ok(response(status, "application/json", serde_json::to_vec(body)?.into()))
}

fn response(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let response = Response::builder().status(status).header(CONTENT_TYPE, content_type);
    response.body(Full::new(body)).expect("the header is valid")
}
