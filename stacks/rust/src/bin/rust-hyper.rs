//! The benchmark's server in hyper, without a framework.

use std::{convert::Infallible, process::ExitCode, sync::Arc};

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
    service::service_fn,
};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use servers::{App, Config, Failure, GREETING, Person5, Person30, Table, Transfer, limits};
use tokio::time::timeout;

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";

type Answer = Response<Full<Bytes>>;

#[tokio::main]
async fn main() -> ExitCode {
    servers::run(async {
        let config = Config::read(env!("CARGO_BIN_NAME"))?;
        let app = Arc::new(App::open(&config, "hyper", "hyper").await?);
        let listener = servers::listen(&config).await?;
        let service = service_fn(move |request| {
            let app = app.clone();
            async move { Ok::<_, Infallible>(route(&app, request).await.unwrap_or_else(failed)) }
        });
        servers::serve(listener, service).await;
        Ok(())
    })
    .await
}

async fn route(app: &App, request: Request<Incoming>) -> Result<Answer, Failure> {
    let path = request.uri().path();
    // hyper sends no body to HEAD.
    match (request.method(), path) {
        (&Method::GET | &Method::HEAD, "/") => json(&app.identity()),
        (&Method::GET | &Method::HEAD, "/plain") => json(&GREETING),
        (&Method::GET | &Method::HEAD, "/html-template") => Ok(response(HTML, app.hi()?)),
        (&Method::GET | &Method::HEAD, _) => match path.rsplit_once('/') {
            Some(("/sqlite/random-5fields", size)) if !size.is_empty() => random_rows::<Person5>(app, size).await,
            Some(("/sqlite/random-30fields", size)) if !size.is_empty() => random_rows::<Person30>(app, size).await,
            _ => Err(Failure::NotFound),
        },
        (&Method::POST, "/tx") => json(&app.transact(read_transfer(request).await?).await?),
        _ => Err(Failure::NotFound),
    }
}

async fn random_rows<T: Table>(app: &App, size: &str) -> Result<Answer, Failure> {
    json(&app.random_rows::<T>(&percent_decode_str(size).decode_utf8_lossy()).await?)
}

async fn read_transfer(request: Request<Incoming>) -> Result<Transfer, Failure> {
    let refused = |status: u16, reason: &str| Failure::Refused(status, reason.into());
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !content_type.starts_with(JSON) {
        return Err(refused(415, "the body must be of content-type application/json"));
    }
    let body = Limited::new(request.into_body(), limits::BODY_BYTES).collect();
    match timeout(limits::REQUEST, body).await {
        Ok(Ok(body)) => serde_json::from_slice(&body.to_bytes()).map_err(|error| Failure::body(&error)),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(refused(413, "the body is too large")),
        Ok(Err(error)) => Err(refused(400, &error.to_string())),
        Err(_) => Err(refused(408, "the body has not come in time")),
    }
}

fn json(body: &impl Serialize) -> Result<Answer, Failure> {
    Ok(response(JSON, serde_json::to_vec(body)?))
}

fn response(content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn failed(failure: Failure) -> Answer {
    let mut response = json(&failure.answer()).expect("an error is JSON");
    *response.status_mut() = StatusCode::from_u16(failure.status()).expect("a failure has a status");
    if let Some(seconds) = failure.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(seconds));
    }
    response
}
