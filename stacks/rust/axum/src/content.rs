//! The content API.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, FromRequest, RawQuery, Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{CONTENT_ENCODING, CONTENT_TYPE},
    },
    middleware::map_request,
    response::{Html, IntoResponse},
    routing::any,
};
use common::{Balance, Content, Contents, Failure, LetPast, Page, User, limits};
use tokio::time::timeout;

use crate::{Failed, Segment, decoded, not_found};

pub fn routes(contents: Arc<Contents>) -> Router {
    Router::new()
        .route("/content", any(not_found).get(list).post(create))
        .route("/content/{id}", any(not_found).get(read).put(update).delete(remove))
        .route("/users", any(not_found).get(users).post(add_user))
        .route("/tx", any(not_found).get(transact_by_query).post(transact))
        .route("/openapi.json", any(not_found).get(openapi))
        .route("/docs", any(not_found).get(|State(contents): Store| async move { Html(contents.docs()) }))
        .layer(DefaultBodyLimit::max(limits::BODY_BYTES))
        .layer(map_request(let_past))
        .with_state(contents)
}

type Store = State<Arc<Contents>>;

async fn create(State(contents): Store, JsonBody(body): JsonBody) -> Result<(StatusCode, Json<Content>), Failed> {
    Ok((StatusCode::CREATED, Json(contents.create(&body).await?)))
}

async fn list(State(contents): Store, RawQuery(query): RawQuery) -> Result<Json<Page>, Failed> {
    Ok(Json(contents.list(&query.unwrap_or_default()).await?))
}

async fn read(State(contents): Store, id: Segment) -> Result<Json<Content>, Failed> {
    Ok(Json(contents.read(&decoded(id)?).await?))
}

async fn update(State(contents): Store, id: Segment, JsonBody(body): JsonBody) -> Result<Json<Content>, Failed> {
    Ok(Json(contents.update(&decoded(id)?, &body).await?))
}

async fn remove(State(contents): Store, id: Segment) -> Result<StatusCode, Failed> {
    contents.remove(&decoded(id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn users(State(contents): Store) -> Result<Json<Vec<User>>, Failed> {
    Ok(Json(contents.users().await?))
}

async fn add_user(State(contents): Store, JsonBody(body): JsonBody) -> Result<(StatusCode, Json<User>), Failed> {
    Ok((StatusCode::CREATED, Json(contents.add_user(&body).await?)))
}

async fn transact(State(contents): Store, JsonBody(body): JsonBody) -> Result<Json<Balance>, Failed> {
    Ok(Json(contents.transact(&body).await?))
}

async fn transact_by_query(State(contents): Store, RawQuery(query): RawQuery) -> Result<Json<Balance>, Failed> {
    Ok(Json(contents.transact_by_query(&query.unwrap_or_default()).await?))
}

async fn openapi(State(contents): Store) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], contents.openapi())
}

async fn let_past(request: Request) -> Request {
    request.map(|body| Body::new(LetPast::new(body)))
}

/// What was sent as JSON.
struct JsonBody(Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = Failed;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failed> {
        check_type(request.headers())?;
        match timeout(limits::BODY, Bytes::from_request(request, state)).await {
            Ok(Ok(body)) => Ok(Self(body)),
            Ok(Err(rejection)) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(Failure::TooLarge.into()),
            _ => Err(Failure::NotJson.into()),
        }
    }
}

fn check_type(headers: &HeaderMap) -> Result<(), Failure> {
    let header = |name: HeaderName| headers.get(name).map(HeaderValue::as_bytes);
    common::check_type(header(CONTENT_TYPE), header(CONTENT_ENCODING))
}
