use common::{App, Contents, Failure, LetPast, Table, limits};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER},
    http::response::Builder,
};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use tokio::time::timeout;

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";

pub struct Routes {
    pub app: App,
    pub contents: Contents,
}

type Answer = Result<Response<Full<Bytes>>, Failure>;

impl Routes {
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        self.route(request.map(LetPast::new)).await.unwrap_or_else(|failure| failed(&failure))
    }

    async fn route(&self, request: Request<LetPast<Incoming>>) -> Answer {
        let (head, body) = request.into_parts();
        let method = if head.method == Method::HEAD { "GET" } else { head.method.as_str() };
        match (method, head.uri.path()) {
            ("GET", "/") => json(StatusCode::OK, &self.app.identity()),
            ("GET", "/plain") => json(StatusCode::OK, &self.app.plain()),
            ("GET", "/html-template") => Ok(response(StatusCode::OK, HTML, self.app.hi()?)),
            ("POST", "/content") => {
                let body = read_json(&head.headers, body).await?;
                json(StatusCode::CREATED, &self.contents.create(&body).await?)
            }
            ("GET", "/content") => json(StatusCode::OK, &self.contents.list(head.uri.query().unwrap_or_default()).await?),
            ("GET", "/users") => json(StatusCode::OK, &self.contents.users().await?),
            ("POST", "/users") => {
                let body = read_json(&head.headers, body).await?;
                json(StatusCode::CREATED, &self.contents.add_user(&body).await?)
            }
            ("POST", "/tx") => {
                let body = read_json(&head.headers, body).await?;
                json(StatusCode::OK, &self.contents.transact(&body).await?)
            }
            ("GET", "/tx") => {
                let query = head.uri.query().unwrap_or_default();
                json(StatusCode::OK, &self.contents.transact_by_query(query).await?)
            }
            ("GET", "/openapi.json") => Ok(response(StatusCode::OK, JSON, self.contents.openapi())),
            ("GET", "/docs") => Ok(response(StatusCode::OK, HTML, self.contents.docs())),
            (method, path) => match (method, path.rsplit_once('/').ok_or(Failure::NotFound)?) {
                (_, (_, "")) => Err(Failure::NotFound),
                ("GET", ("/sqlite/random-5fields", size)) => self.random_rows(Table::Person5, size).await,
                ("GET", ("/sqlite/random-30fields", size)) => self.random_rows(Table::Person30, size).await,
                ("GET", ("/content", id)) => json(StatusCode::OK, &self.contents.read(&decoded(id)?).await?),
                ("PUT", ("/content", id)) => {
                    let body = read_json(&head.headers, body).await?;
                    json(StatusCode::OK, &self.contents.update(&decoded(id)?, &body).await?)
                }
                ("DELETE", ("/content", id)) => {
                    self.contents.remove(&decoded(id)?).await?;
                    Ok(built(Response::builder().status(StatusCode::NO_CONTENT), Bytes::new()))
                }
                _ => Err(Failure::NotFound),
            },
        }
    }

    async fn random_rows(&self, table: Table, size: &str) -> Answer {
        json(StatusCode::OK, &self.app.random_rows(table, &decoded(size)?).await?)
    }
}

fn decoded(segment: &str) -> Result<String, Failure> {
    let text = percent_decode_str(segment).decode_utf8().map_err(|error| Failure::BadRequest(error.to_string()))?;
    Ok(text.into_owned())
}

/// What was sent as JSON.
async fn read_json(headers: &HeaderMap, body: LetPast<Incoming>) -> Result<Bytes, Failure> {
    let header = |name: HeaderName| headers.get(name).map(HeaderValue::as_bytes);
    common::check_type(header(CONTENT_TYPE), header(CONTENT_ENCODING))?;
    match timeout(limits::BODY, Limited::new(body, limits::BODY_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Failure::TooLarge),
        _ => Err(Failure::NotJson),
    }
}

fn failed(failure: &Failure) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(failure.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, &failure.body()).expect("an error is JSON");
    if let Some(seconds) = failure.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(seconds));
    }
    response
}

fn json(status: StatusCode, body: &impl Serialize) -> Answer {
    Ok(response(status, JSON, serde_json::to_vec(body)?))
}

fn response(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    built(Response::builder().status(status).header(CONTENT_TYPE, content_type), body.into())
}

fn built(response: Builder, body: Bytes) -> Response<Full<Bytes>> {
    response.body(Full::new(body)).expect("the head is valid")
}
