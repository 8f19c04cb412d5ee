//! What shared/content/schema.ts says of bodies, in the words of ajv, which validates them in the other servers.

use std::sync::LazyLock;

use regex::Regex;
use serde_bytes::ByteBuf;
use serde_json::value::RawValue;

use super::json;
use crate::{
    Failure,
    transaction::{DELTAS, IDS, Transfer},
};

/// How deep `data` may be nested.
const MAX_DEPTH: usize = 64;

const NEW_CONTENT: [&str; 6] = ["id", "title", "body", "author", "status", "data"];
const DRAFT: [&str; 5] = ["title", "body", "author", "status", "data"];
const NEEDED: [&str; 3] = ["title", "body", "author"];
const STATUSES: [&str; 3] = ["draft", "published", "archived"];
const USER: [&str; 2] = ["name", "email"];
const TRANSFER: [&str; 4] = ["aid", "tid", "bid", "delta"];

static ULID: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[0-7][0-9A-HJKMNP-TV-Z]{25}$").expect("the pattern is valid"));

/// What a client says of a content.
pub struct Draft {
    pub title: String,
    pub body: String,
    pub author: String,
    pub status: String,
    /// JSON text.
    pub data: String,
}

pub struct NewUser {
    pub name: String,
    pub email: String,
}

/// A draft, and the id if one is said.
pub fn new_content(body: &RawValue) -> Result<(Option<String>, Draft), Failure> {
    let said = Said::read(body, &NEW_CONTENT, &NEEDED)?;
    Ok((said.id()?, said.draft()?))
}

pub fn draft(body: &RawValue) -> Result<Draft, Failure> {
    Said::read(body, &DRAFT, &NEEDED)?.draft()
}

pub fn new_user(body: &RawValue) -> Result<NewUser, Failure> {
    let said = Said::read(body, &USER, &USER)?;
    Ok(NewUser { name: said.text("name", 200)?, email: said.text("email", 200)? })
}

pub fn transfer(body: &RawValue) -> Result<Transfer, Failure> {
    let said = Said::read(body, &TRANSFER, &TRANSFER)?;
    let id = |name| said.whole(name, IDS);
    Ok(Transfer { aid: id("aid")?, tid: id("tid")?, bid: id("bid")?, delta: said.whole("delta", DELTAS)? })
}

pub fn is_ulid(text: &str) -> bool {
    ULID.is_match(text)
}

/// The members of a body.
struct Said<'a>(Vec<(ByteBuf, &'a RawValue)>);

impl<'a> Said<'a> {
    fn read(body: &'a RawValue, properties: &[&str], required: &[&str]) -> Result<Self, Failure> {
        let said = Self(json::object(body).ok_or_else(|| invalid("the body must be object"))?);
        if let Some(name) = required.iter().find(|name| said.get(name).is_none()) {
            return Err(invalid(format!("the body must have required property '{name}'")));
        }
        let is_known = |key: &[u8]| properties.iter().any(|name| name.as_bytes() == key);
        if let Some((key, _)) = said.0.iter().find(|(key, _)| !is_known(key)) {
            let key = String::from_utf8_lossy(key);
            return Err(invalid(format!("the body must NOT have additional properties {key}")));
        }
        Ok(said)
    }

    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find_map(|(key, value)| (key.as_slice() == name.as_bytes()).then_some(*value))
    }

    /// Fields are validated in the order of the schema.
    fn draft(&self) -> Result<Draft, Failure> {
        Ok(Draft {
            title: self.text("title", 200)?,
            body: self.text("body", 50_000)?,
            author: self.text("author", 200)?,
            status: self.status()?,
            data: self.data()?,
        })
    }

    fn id(&self) -> Result<Option<String>, Failure> {
        let Some(json) = self.get("id") else { return Ok(None) };
        let id = json::string(json).ok_or_else(|| invalid("id must be string"))?;
        let id = String::from_utf8(id).ok().filter(|id| is_ulid(id));
        id.map(Some).ok_or_else(|| invalid(format!("id must match pattern \"{}\"", ULID.as_str())))
    }

    fn whole(&self, name: &str, (least, most): (i32, i32)) -> Result<i32, Failure> {
        let number = self.get(name).and_then(|json| json.get().parse::<f64>().ok());
        let number = number.filter(|number| number.fract() == 0.0);
        let number = number.ok_or_else(|| invalid(format!("{name} must be integer")))?;
        if number < least.into() {
            return Err(invalid(format!("{name} must be >= {least}")));
        }
        if number > most.into() {
            return Err(invalid(format!("{name} must be <= {most}")));
        }
        Ok(number as i32)
    }

    /// A string that every store can keep.
    fn text(&self, name: &str, most: usize) -> Result<String, Failure> {
        let text = self.get(name).and_then(json::string).ok_or_else(|| invalid(format!("{name} must be string")))?;
        if text.iter().filter(|byte| !is_continuation(**byte)).count() > most {
            return Err(invalid(format!("{name} must NOT have more than {most} characters")));
        }
        if text.is_empty() {
            return Err(invalid(format!("{name} must NOT have fewer than 1 characters")));
        }
        let text = String::from_utf8(text).ok().filter(|text| !text.contains('\0'));
        text.ok_or_else(|| invalid(format!(r#"{name} must match pattern "^[^\u0000\ud800-\udfff]*$""#)))
    }

    fn status(&self) -> Result<String, Failure> {
        let Some(json) = self.get("status") else { return Ok("draft".into()) };
        let said = json::string(json);
        let found = STATUSES.into_iter().find(|status| said.as_deref() == Some(status.as_bytes()));
        found.map(String::from).ok_or_else(|| invalid("status must be equal to one of the allowed values"))
    }

    fn data(&self) -> Result<String, Failure> {
        let Some(json) = self.get("data") else { return Ok("null".into()) };
        json::stringify(json, MAX_DEPTH)
            .ok_or_else(|| invalid(format!("data must not be nested more than {MAX_DEPTH} deep")))
    }
}

/// Whether a byte is one of a character, but not its first.
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::Invalid(message.into())
}
