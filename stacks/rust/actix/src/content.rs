//! The content API.

use std::pin::Pin;

use actix_web::{
    FromRequest, HttpRequest, HttpResponse, delete, dev,
    http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue},
    post, put, routes,
    rt::time::timeout,
    web::{Bytes, Data, Html, Json, Path, Payload, ServiceConfig},
};
use common::{Balance, Content, Contents, Failure, Page, User, limits};

use crate::Failed;

pub fn mount(routes: &mut ServiceConfig) {
    routes
        .service(create)
        .service(list)
        .service(read)
        .service(update)
        .service(remove)
        .service(users)
        .service(add_user)
        .service(transact)
        .service(transact_by_query)
        .service(openapi)
        .service(docs);
}

#[post("/content")]
async fn create(contents: Data<Contents>, JsonBody(body): JsonBody) -> Result<HttpResponse, Failed> {
    Ok(HttpResponse::Created().json(contents.create(&body).await?))
}

#[routes]
#[get("/content")]
#[head("/content")]
async fn list(contents: Data<Contents>, request: HttpRequest) -> Result<Json<Page>, Failed> {
    Ok(Json(contents.list(request.query_string()).await?))
}

#[routes]
#[get("/content/{id}")]
#[head("/content/{id}")]
async fn read(contents: Data<Contents>, id: Path<String>) -> Result<Json<Content>, Failed> {
    Ok(Json(contents.read(&id).await?))
}

#[put("/content/{id}")]
async fn update(contents: Data<Contents>, id: Path<String>, JsonBody(body): JsonBody) -> Result<Json<Content>, Failed> {
    Ok(Json(contents.update(&id, &body).await?))
}

#[delete("/content/{id}")]
async fn remove(contents: Data<Contents>, id: Path<String>) -> Result<HttpResponse, Failed> {
    contents.remove(&id).await?;
    Ok(HttpResponse::NoContent().finish())
}

#[routes]
#[get("/users")]
#[head("/users")]
async fn users(contents: Data<Contents>) -> Result<Json<Vec<User>>, Failed> {
    Ok(Json(contents.users().await?))
}

#[post("/users")]
async fn add_user(contents: Data<Contents>, JsonBody(body): JsonBody) -> Result<HttpResponse, Failed> {
    Ok(HttpResponse::Created().json(contents.add_user(&body).await?))
}

#[post("/tx")]
async fn transact(contents: Data<Contents>, JsonBody(body): JsonBody) -> Result<Json<Balance>, Failed> {
    Ok(Json(contents.transact(&body).await?))
}

#[routes]
#[get("/tx")]
#[head("/tx")]
async fn transact_by_query(contents: Data<Contents>, request: HttpRequest) -> Result<Json<Balance>, Failed> {
    Ok(Json(contents.transact_by_query(request.query_string()).await?))
}

#[routes]
#[get("/openapi.json")]
#[head("/openapi.json")]
async fn openapi(contents: Data<Contents>) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(contents.openapi())
}

#[routes]
#[get("/docs")]
#[head("/docs")]
async fn docs(contents: Data<Contents>) -> Html {
    Html::new(contents.docs())
}

/// What was sent as JSON.
struct JsonBody(Bytes);

impl FromRequest for JsonBody {
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Failed>>>>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let header = |name: HeaderName| request.headers().get(name).map(HeaderValue::as_bytes);
        let checked = common::check_type(header(CONTENT_TYPE), header(CONTENT_ENCODING));
        let payload = Payload::from_request(request, payload);
        Box::pin(async move {
            checked?;
            let payload = payload.await.map_err(|_| Failure::NotJson)?;
            match timeout(limits::BODY, payload.to_bytes_limited(limits::BODY_BYTES)).await {
                Ok(Ok(Ok(body))) => Ok(Self(body)),
                Ok(Err(_)) => Err(Failure::TooLarge.into()),
                _ => Err(Failure::NotJson.into()),
            }
        })
    }
}
