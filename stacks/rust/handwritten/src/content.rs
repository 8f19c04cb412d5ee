//! Content items in a SQLite file that has the table already.

use std::env;

use chrono::{SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sqlx::{
    FromRow,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous},
};
use ulid::Ulid;

pub const CREATE: &str = "INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
pub const READ: &str = "SELECT * FROM content WHERE id = ?";
pub const UPDATE: &str =
    "UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ?
    RETURNING *";
pub const REMOVE: &str = "DELETE FROM content WHERE id = ?";
pub const LIST: &str = "SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?";

/// Any JSON, as it was sent.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct Data(pub Box<RawValue>);

impl TryFrom<String> for Data {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        RawValue::from_string(text).map(Data)
    }
}

#[derive(Deserialize)]
pub struct Draft {
    pub title: String,
    pub body: String,
    pub author: String,
    pub status: String,
    pub data: Data,
}

#[derive(FromRow, Serialize)]
pub struct Content {
    pub id: String,
    pub title: String,
    pub body: String,
    pub author: String,
    pub status: String,
    #[sqlx(try_from = "String")]
    pub data: Data,
    pub created_at: String,
    pub updated_at: String,
}

impl From<Draft> for Content {
    fn from(Draft { title, body, author, status, data }: Draft) -> Self {
        let created_at = now();
        let updated_at = created_at.clone();
        Self { id: Ulid::generate().to_string(), title, body, author, status, data, created_at, updated_at }
    }
}

#[derive(Serialize)]
pub struct Page {
    items: Vec<Content>,
    next: Option<String>,
}

impl Page {
    /// Of one item more than it may have, where there are more.
    pub fn new(mut items: Vec<Content>, limit: usize) -> Self {
        let more = items.len() > limit;
        items.truncate(limit);
        Self { next: items.last().filter(|_| more).map(|last| last.id.clone()), items }
    }
}

#[derive(Deserialize)]
pub struct Query {
    #[serde(default)]
    pub after: String,
    pub limit: usize,
}

pub fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// None where no file is named.
pub fn file() -> Option<String> {
    env::var("CONTENT_FILE").ok()
}

pub fn open(file: &str) -> SqlitePool {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("cache_size", "-16000");
    SqlitePoolOptions::new().max_connections(1).connect_lazy_with(options) // SQLite has one writer
}

pub async fn create(pool: &SqlitePool, draft: Draft) -> Content {
    let content = Content::from(draft);
    let insert = sqlx::query(CREATE)
        .bind(&content.id)
        .bind(&content.title)
        .bind(&content.body)
        .bind(&content.author)
        .bind(&content.status)
        .bind(content.data.0.get())
        .bind(&content.created_at)
        .bind(&content.updated_at);
    insert.execute(pool).await.expect("a new row");
    content
}

pub async fn read(pool: &SqlitePool, id: &str) -> Option<Content> {
    sqlx::query_as(READ).bind(id).fetch_optional(pool).await.expect("a row or none")
}

pub async fn update(pool: &SqlitePool, id: &str, draft: Draft) -> Option<Content> {
    let update = sqlx::query_as(UPDATE)
        .bind(draft.title)
        .bind(draft.body)
        .bind(draft.author)
        .bind(draft.status)
        .bind(draft.data.0.get())
        .bind(now())
        .bind(id);
    update.fetch_optional(pool).await.expect("a row or none")
}

pub async fn remove(pool: &SqlitePool, id: &str) -> bool {
    sqlx::query(REMOVE).bind(id).execute(pool).await.expect("it may delete").rows_affected() > 0
}

pub async fn list(pool: &SqlitePool, Query { after, limit }: Query) -> Page {
    let most = i64::try_from(limit).expect("a limit") + 1;
    let items = sqlx::query_as(LIST).bind(after).bind(most).fetch_all(pool).await.expect("rows");
    Page::new(items, limit)
}
