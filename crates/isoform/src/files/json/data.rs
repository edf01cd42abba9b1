//! JSON data inside a graph: metadata, and the output of hooks for an object.
//!
//! The data are a tree and become a [`Value`]: null is None, arrays are arrays, objects
//! are maps with strings as keys.

use num_bigint::BigInt;

use super::lexer::Lexer;
use super::scalars::{MAX_DIGITS, push_big, push_float, push_string};
use crate::kernel::container::{Array, Contents, Map};
use crate::kernel::display;
use crate::kernel::error::{Error, Result};
use crate::kernel::value::{Value, ValueRef};

/// The maximum nesting of data, and the maximum number of digits of a number: converting
/// a number takes time quadratic in its digits.
const MAX_DEPTH: usize = 1000;
/// Appends data to JSON text.
///
/// # Errors
///
/// `TypeError` for values that are not JSON data; `ValueError` if data nests more than
/// 1000 levels deep or has a number of more than 100,000 digits.
pub(crate) fn write_data(data: &Value, out: &mut String) -> Result<()> {
    let mut stack = Vec::new();
    let mut next = Some(data.clone());
    loop {
        if let Some(value) = next.take() {
            write_one(&value, out, &mut stack)?;
        }
        let Some((open, position)) = stack.last_mut() else {
            return Ok(());
        };
        let separator = if *position == 0 { "" } else { "," };
        match open {
            Contents::Items(array) => match array.get(*position) {
                Some(item) => {
                    out.push_str(separator);
                    next = Some(item.clone());
                }
                None => out.push(']'),
            },
            Contents::Entries(map) => match map.reference().entry(*position) {
                Some((key, value)) => {
                    out.push_str(separator);
                    let text = key.as_str().ok_or_else(|| not_data("str as a key", key))?;
                    push_string(text, out);
                    out.push(':');
                    next = Some(value.clone());
                }
                None => out.push('}'),
            },
        }
        *position += 1;
        if next.is_none() {
            stack.pop();
        }
    }
}

fn write_one(value: &Value, out: &mut String, stack: &mut Vec<(Contents, usize)>) -> Result<()> {
    let Some(open) = value.contents() else {
        match value.view() {
            ValueRef::None => out.push_str("null"),
            ValueRef::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
            ValueRef::Int(number) => out.push_str(itoa::Buffer::new().format(number)),
            ValueRef::BigInt(number) => return push_big(number, out),
            ValueRef::Float(number) => push_float(number, out),
            ValueRef::Str(text) => push_string(text, out),
            _ => return Err(not_data("JSON data", value)),
        }
        return Ok(());
    };
    if stack.len() >= MAX_DEPTH {
        return Err(Error::value_error(format!(
            "JSON data nests more than {MAX_DEPTH} deep"
        )));
    }
    out.push(match open {
        Contents::Items(_) => '[',
        Contents::Entries(_) => '{',
    });
    stack.push((open, 0));
    Ok(())
}

fn not_data(expected: &str, value: &Value) -> Error {
    Error::type_error(format!(
        "expected {expected}, got {}: {}",
        value.type_name(),
        display::short(value, display::KEY_BUDGET)
    ))
}

/// The data in a complete JSON text.
///
/// # Errors
///
/// `ValueError` with the position in the text.
pub fn read_data(text: &str) -> Result<Value> {
    let mut lexer = Lexer::new(text);
    let value = parse(&mut lexer)?;
    match lexer.peek() {
        None => Ok(value),
        Some(_) => Err(lexer.unexpected("the end of the text")),
    }
}

/// The data at a position of a text, and the end of the data.
///
/// # Errors
///
/// `ValueError` with the position in the text.
pub(crate) fn read_data_at(text: &str, start: usize) -> Result<(Value, usize)> {
    let mut lexer = Lexer::new(text);
    lexer.go_to(start);
    let value = parse(&mut lexer)?;
    Ok((value, lexer.position()))
}

/// A container with elements still to be read.
enum Partial {
    Items(Vec<Value>),
    /// The last value is the key of the value being read.
    Entries(Map, Value),
}

/// Takes one value of JSON data.
pub(super) fn parse(lexer: &mut Lexer<'_>) -> Result<Value> {
    let mut stack: Vec<Partial> = Vec::new();
    loop {
        let mut done = match begin(lexer)? {
            Begin::Value(value) => value,
            Begin::Open(partial) => {
                if stack.len() >= MAX_DEPTH {
                    return Err(lexer.fail(&format!("JSON data nests more than {MAX_DEPTH} deep")));
                }
                stack.push(partial);
                continue;
            }
        };
        loop {
            let Some(open) = stack.last_mut() else {
                return Ok(done);
            };
            let more = match open {
                Partial::Items(items) => {
                    items.push(done);
                    lexer.more(false, b']')?
                }
                Partial::Entries(map, key) => {
                    map.insert(key.clone(), done);
                    let more = lexer.more(false, b'}')?;
                    if more {
                        *key = take_key(lexer, map)?;
                    }
                    more
                }
            };
            if more {
                break;
            }
            done = match stack.pop() {
                Some(Partial::Items(items)) => Array::from(items).into(),
                Some(Partial::Entries(map, _)) => map.into(),
                None => Value::NONE,
            };
        }
    }
}

enum Begin {
    Value(Value),
    Open(Partial),
}

fn begin(lexer: &mut Lexer<'_>) -> Result<Begin> {
    let value = match lexer.peek() {
        Some(b'"') => lexer.string()?.as_ref().into(),
        Some(b'[') => {
            lexer.expect(b'[')?;
            if lexer.more(true, b']')? {
                return Ok(Begin::Open(Partial::Items(Vec::new())));
            }
            Array::<Value>::new().into()
        }
        Some(b'{') => {
            lexer.expect(b'{')?;
            let map = Map::new();
            if lexer.more(true, b'}')? {
                let key = take_key(lexer, &map)?;
                return Ok(Begin::Open(Partial::Entries(map, key)));
            }
            map.into()
        }
        Some(b't' | b'f') => lexer.bool()?.into(),
        Some(b'n') if lexer.word("null") => Value::NONE,
        Some(b'N' | b'I') => lexer.float()?.into(),
        Some(b'-' | b'0'..=b'9') => number(lexer)?,
        _ => return Err(lexer.unexpected("a JSON value")),
    };
    Ok(Begin::Value(value))
}

fn take_key(lexer: &mut Lexer<'_>, map: &Map) -> Result<Value> {
    let key = Value::from(lexer.string()?.as_ref());
    if map.contains_key(&key) {
        return Err(lexer.fail(&format!("the key {key:?} occurs twice in an object")));
    }
    lexer.expect(b':')?;
    Ok(key)
}

fn number(lexer: &mut Lexer<'_>) -> Result<Value> {
    let start = lexer.position();
    if lexer.word("-Infinity") {
        return Ok(f64::NEG_INFINITY.into());
    }
    let number = lexer.number()?;
    if !number.is_integer {
        lexer.go_to(start);
        return Ok(lexer.float()?.into());
    }
    match number.digits.parse::<i64>() {
        Ok(small) => Ok(small.into()),
        Err(_) => big(number.digits).ok_or_else(|| lexer.fail(&too_many_digits())),
    }
}

/// A large number from its digits, with or without a sign; None for too many digits or
/// other characters.
pub(super) fn big(digits: &str) -> Option<Value> {
    let plain = digits.strip_prefix('-').unwrap_or(digits);
    let fine = (1..=MAX_DIGITS).contains(&plain.len()) && plain.bytes().all(|b| b.is_ascii_digit());
    let number = fine.then(|| digits.parse::<BigInt>().ok()).flatten()?;
    Some(Value::from_bigint(number))
}

fn too_many_digits() -> String {
    format!("expected an int of at most {MAX_DIGITS} digits")
}
