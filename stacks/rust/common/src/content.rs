//! The content API.

mod body;
mod json;
mod schema;

use chrono::{SecondsFormat, Utc};
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;
use sqlx::FromRow;
use tokio::sync::OnceCell;
use ulid::Ulid;

use crate::{
    Failure, StoreConfig,
    config::Place,
    failure,
    store::{self, Store},
    transaction::{self, Balance},
};

pub use body::check_type;
pub use schema::{Draft, NewUser};

/// What is answered to /openapi.json and /docs, made by openapi.ts, which build.sh calls.
const OPENAPI: &str = include_str!("../../build/openapi.json");
const OPENAPI_POSTGRES: &str = include_str!("../../build/openapi-postgres.json");
const DOCS: &str = include_str!("../../build/docs.html");
const DOCS_POSTGRES: &str = include_str!("../../build/docs-postgres.html");

/// Most items in a page of `GET /content`, how many without `limit`, and most users of `GET /users`.
const MAX_LIMIT: usize = 100;
const LIMIT: &str = "20";
const USERS: i64 = 100;

/// One item as it is stored and answered, times in ISO 8601, UTC.
#[derive(FromRow, Serialize)]
pub struct Content {
    pub id: String,
    pub title: String,
    pub body: String,
    pub author: String,
    pub status: String,
    /// JSON text.
    #[serde(serialize_with = "as_json")]
    pub data: String,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(FromRow, Serialize)]
pub struct User {
    pub id: i64,
    pub name: String,
    pub email: String,
}

/// An answer to `GET /content`; `next` is null where there is no further one.
#[derive(Serialize)]
pub struct Page {
    items: Vec<Content>,
    next: Option<String>,
}

/// What the handlers of the content API do; a server only mounts them. A `body` is that of a request of the right type.
pub struct Contents {
    config: StoreConfig,
    store: OnceCell<Box<dyn Store>>,
}

impl Contents {
    /// Opens the store, unless that is to be done when it is first used.
    ///
    /// # Errors
    /// In one line, where the store cannot be opened.
    pub async fn open(config: StoreConfig) -> anyhow::Result<Self> {
        let contents = Self { config, store: OnceCell::new() };
        if contents.config.at_start {
            contents.opened().await?;
        }
        Ok(contents)
    }

    pub async fn close(&self) {
        if let Some(store) = self.store.get() {
            store.close().await;
        }
    }

    /// # Errors
    /// Where the body is not as the schema has it, there is one of its id, or the store fails.
    pub async fn create(&self, body: &[u8]) -> Result<Content, Failure> {
        let (id, Draft { title, body, author, status, data }) = schema::new_content(&body::parse(body)?)?;
        let id = id.unwrap_or_else(|| Ulid::generate().to_string());
        let now = now();
        let content = Content { id, title, body, author, status, data, created_at: now.clone(), updated_at: now };
        self.store().await?.create(content).await
    }

    /// # Errors
    /// Where there is none, and where the store fails.
    pub async fn read(&self, id: &str) -> Result<Content, Failure> {
        let id = checked(id)?;
        self.store().await?.read(id).await?.ok_or(Failure::NotFound)
    }

    /// # Errors
    /// Where the body is not as the schema has it, there is none, or the store fails.
    pub async fn update(&self, id: &str, body: &[u8]) -> Result<Content, Failure> {
        let body = body::parse(body)?;
        let id = checked(id)?;
        let draft = schema::draft(&body)?;
        self.store().await?.update(id, draft, now()).await?.ok_or(Failure::NotFound)
    }

    /// # Errors
    /// Where there is none, and where the store fails.
    pub async fn remove(&self, id: &str) -> Result<(), Failure> {
        let id = checked(id)?;
        let removed = self.store().await?.remove(id).await?;
        removed.then_some(()).ok_or(Failure::NotFound)
    }

    /// A page of contents in the order of their ids, as the query of the URL asks for it.
    ///
    /// # Errors
    /// Where that asks for none, and where the store fails.
    pub async fn list(&self, query: &str) -> Result<Page, Failure> {
        let parameter = |name: &str| {
            let mut parameters = form_urlencoded::parse(query.as_bytes());
            parameters.find_map(|(key, value)| (key == name).then_some(value))
        };
        let limit = parameter("limit");
        let limit = failure::integer("limit", limit.as_deref().unwrap_or(LIMIT), MAX_LIMIT)?;
        let after = parameter("after").unwrap_or_default().into_owned();
        if !after.is_empty() && !schema::is_ulid(&after) {
            return Err(failure::bad_request("after", "a ULID", &after));
        }
        // One more than asked for tells whether there is a next page.
        let mut items = self.store().await?.list(after, limit as i64 + 1).await?;
        let is_last = items.len() <= limit;
        items.truncate(limit);
        let next = items.last().filter(|_| !is_last).map(|content| content.id.clone());
        Ok(Page { items, next })
    }

    /// The first users.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn users(&self) -> Result<Vec<User>, Failure> {
        self.store().await?.users(USERS).await
    }

    /// # Errors
    /// Where the body is not as the schema has it, and where the store fails.
    pub async fn add_user(&self, body: &[u8]) -> Result<User, Failure> {
        let user = schema::new_user(&body::parse(body)?)?;
        self.store().await?.add_user(user).await
    }

    /// # Errors
    /// Where the body is not as the schema has it, names none that there is, or the store fails or is not Postgres.
    pub async fn transact(&self, body: &[u8]) -> Result<Balance, Failure> {
        self.need_postgres()?;
        let transfer = schema::transfer(&body::parse(body)?)?;
        transaction::transact(self.store().await?, transfer).await
    }

    /// The same, as the query of the URL has it.
    ///
    /// # Errors
    /// As those of [`Contents::transact`].
    pub async fn transact_by_query(&self, query: &str) -> Result<Balance, Failure> {
        self.need_postgres()?;
        let transfer = transaction::of_query(query)?;
        transaction::transact(self.store().await?, transfer).await
    }

    /// The description of all endpoints, in JSON.
    pub fn openapi(&self) -> &'static str {
        if self.is_on_postgres() { OPENAPI_POSTGRES } else { OPENAPI }
    }

    /// The same as a page.
    pub fn docs(&self) -> &'static str {
        if self.is_on_postgres() { DOCS_POSTGRES } else { DOCS }
    }

    fn need_postgres(&self) -> Result<(), Failure> {
        self.is_on_postgres().then_some(()).ok_or(Failure::NotFound)
    }

    fn is_on_postgres(&self) -> bool {
        matches!(self.config.place, Place::Postgres(_))
    }

    async fn store(&self) -> Result<&dyn Store, Failure> {
        self.opened().await.map_err(|error| {
            eprintln!("{error:#}");
            Failure::Unavailable
        })
    }

    /// Where it cannot be opened, the next call tries again.
    async fn opened(&self) -> anyhow::Result<&dyn Store> {
        let store = self.store.get_or_try_init(|| store::open(&self.config.place)).await?;
        Ok(store.as_ref())
    }
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn checked(id: &str) -> Result<String, Failure> {
    if schema::is_ulid(id) { Ok(id.into()) } else { Err(failure::bad_request("id", "a ULID", id)) }
}

fn as_json<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let json: &RawValue = serde_json::from_str(text).map_err(S::Error::custom)?;
    json.serialize(serializer)
}
