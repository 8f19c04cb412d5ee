use std::sync::LazyLock;

use regex::bytes::Regex;
use serde_json::value::RawValue;

use crate::Failure;

/// Without a charset that some would decode, and others take for UTF-8.
static JSON_TYPE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^(?i-u)application/json\s*(;\s*charset="?utf-8"?\s*)?$"#).expect("the pattern is valid"));

/// Looks at Content-Type and Content-Encoding before a body is read.
///
/// # Errors
/// Where the body is not said to be JSON.
pub fn check_type(content_type: Option<&[u8]>, content_encoding: Option<&[u8]>) -> Result<(), Failure> {
    let is_json = content_type.is_some_and(|content_type| JSON_TYPE.is_match(content_type));
    let is_encoded = content_encoding.is_some_and(|encoding| !encoding.is_empty());
    if is_json && !is_encoded { Ok(()) } else { Err(Failure::NotTyped) }
}

/// U+FFFD for what is not UTF-8 in it.
pub fn parse(bytes: &[u8]) -> Result<Box<RawValue>, Failure> {
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|_| Failure::NotJson)
}
