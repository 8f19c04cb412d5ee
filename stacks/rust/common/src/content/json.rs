//! Any JSON, as JavaScript reads and writes it: keys in its order, numbers as a float has them, halves of surrogate pairs. A
//! `serde_json::Value` has no such halves. Strings with them are read as bytes, which are UTF-8 but for three bytes for each.

use std::{fmt::Write, str};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_bytes::ByteBuf;
use serde_json::value::RawValue;

/// The members of an object in the order of JavaScript, None of any other JSON.
pub fn object(json: &RawValue) -> Option<Vec<(ByteBuf, &RawValue)>> {
    json.get().starts_with('{').then(|| members(json))
}

/// The bytes of a string, None of any other JSON.
pub fn string(json: &RawValue) -> Option<Vec<u8>> {
    json.get().starts_with('"').then(|| read::<ByteBuf>(json).into_vec())
}

/// What `JSON.stringify` writes, None where it is nested in more than so many levels.
pub fn stringify(json: &RawValue, levels: usize) -> Option<String> {
    let mut text = String::with_capacity(json.get().len());
    write(&mut text, json, levels)?;
    Some(text)
}

fn write(text: &mut String, json: &RawValue, levels: usize) -> Option<()> {
    match json.get().as_bytes()[0] {
        b'{' => {
            let levels = levels.checked_sub(1)?;
            text.push('{');
            for (i, (key, value)) in members(json).into_iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                write_string(text, &key);
                text.push(':');
                write(text, value, levels)?;
            }
            text.push('}');
        }
        b'[' => {
            let levels = levels.checked_sub(1)?;
            text.push('[');
            for (i, value) in read::<Vec<&RawValue>>(json).into_iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                write(text, value, levels)?;
            }
            text.push(']');
        }
        b'"' => write_string(text, &read::<ByteBuf>(json)),
        b'-' | b'0'..=b'9' => match json.get().parse::<f64>() {
            Ok(number) if number.is_finite() => text.push_str(ryu_js::Buffer::new().format_finite(number)),
            _ => text.push_str("null"),
        },
        _ => text.push_str(json.get()), // true, false, null
    }
    Some(())
}

fn write_string(text: &mut String, bytes: &[u8]) {
    text.push('"');
    let mut rest = bytes;
    loop {
        let valid = match str::from_utf8(rest) {
            Ok(valid) => valid,
            Err(error) => str::from_utf8(&rest[..error.valid_up_to()]).expect("it is valid up to there"),
        };
        let quoted = serde_json::to_string(valid).expect("a text is JSON");
        text.push_str(&quoted[1..quoted.len() - 1]);
        let Some(([_, second, third], after)) = rest[valid.len()..].split_first_chunk() else { break };
        let half = 0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f);
        write!(text, "\\u{half:x}").expect("a string can be written");
        rest = after;
    }
    text.push('"');
}

fn members(json: &RawValue) -> Vec<(ByteBuf, &RawValue)> {
    let mut members: Vec<_> = read::<IndexMap<_, _>>(json).into_iter().collect();
    members.sort_by_key(|(key, _): &(ByteBuf, _)| index(key));
    members
}

/// The number that a key is where it is the index of an array, which come first; a greater one of any other key.
fn index(key: &[u8]) -> u32 {
    let number = str::from_utf8(key).ok().and_then(|key| key.parse::<u32>().ok());
    number.filter(|number| number.to_string().as_bytes() == key).unwrap_or(u32::MAX)
}

fn read<'a, T: Deserialize<'a>>(json: &'a RawValue) -> T {
    serde_json::from_str(json.get()).expect("it was read before")
}
