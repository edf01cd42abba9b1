//! Parsing of access paths.

use num_bigint::BigInt;

use super::{AccessPath, AccessStep, is_identifier};
use crate::kernel::container::Bytes;
use crate::kernel::error::{Error, Result};
use crate::kernel::value::{DType, Device, Value};

/// Parses a printed path.
pub(super) fn parse(text: &str) -> Result<AccessPath> {
    let mut parser = Parser { text, at: 0 };
    parser.expect("<root>")?;
    let mut steps = Vec::new();
    while parser.at < text.len() {
        steps.push(parser.step()?);
    }
    Ok(AccessPath::from_steps(steps))
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.take(token) {
            return Ok(());
        }
        Err(self.fail(&format!("{token:?}")))
    }

    #[cold]
    fn fail(&self, expected: &str) -> Error {
        let got: String = self.rest().chars().take(20).collect();
        let got = if got.is_empty() {
            "the end".to_string()
        } else {
            format!("{got:?}")
        };
        Error::value_error(format!(
            "access path: expected {expected} at byte {}, got {got}",
            self.at
        ))
    }

    fn step(&mut self) -> Result<AccessStep> {
        if self.rest().starts_with("...") {
            return Err(self.fail("a step, since a path that was cut short cannot be read back,"));
        }
        if self.take(".") {
            if self.take("<missing:") {
                let name = self.name()?;
                self.expect(">")?;
                return Ok(AccessStep::AttrMissing(name));
            }
            return self.name().map(AccessStep::Attr);
        }
        if !self.take("[") {
            return Err(self.fail("a step: '.' or '['"));
        }
        let missing = self.take("<missing:");
        let key = self.key()?;
        if missing {
            self.expect(">")?;
        }
        self.expect("]")?;
        // A position and an integer key look alike; read as a position.
        let position = key.as_int().and_then(|number| usize::try_from(number).ok());
        Ok(match (position, missing) {
            (Some(position), false) => AccessStep::ArrayItem(position),
            (Some(position), true) => AccessStep::ArrayItemMissing(position),
            (None, false) => AccessStep::MapItem(key),
            (None, true) => AccessStep::MapItemMissing(key),
        })
    }

    fn name(&mut self) -> Result<String> {
        if self.rest().starts_with('"') {
            return self.string();
        }
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let name = &rest[..end.unwrap_or(rest.len())];
        if !is_identifier(name) {
            return Err(self.fail("the name of a field"));
        }
        self.at += name.len();
        Ok(name.to_string())
    }

    fn key(&mut self) -> Result<Value> {
        if self.rest().starts_with('"') {
            return self.string().map(Value::from);
        }
        if self.take("b\"") {
            return self.bytes();
        }
        for (prefix, is_dtype) in [("dtype(", true), ("device(", false)] {
            if self.take(prefix) {
                let rest = self.rest();
                let end = rest.find(')').ok_or_else(|| self.fail("')'"))?;
                let value = if is_dtype {
                    rest[..end].parse::<DType>().map(Value::from)
                } else {
                    rest[..end].parse::<Device>().map(Value::from)
                };
                let value = value.map_err(|error| {
                    let message = error.message();
                    Error::value_error(format!("access path: {message} at byte {}", self.at))
                })?;
                self.at += end + 1;
                return Ok(value);
            }
        }
        let rest = self.rest();
        let token = &rest[..rest.find([']', '>']).unwrap_or(rest.len())];
        let value = match token {
            "None" => Some(Value::NONE),
            "True" => Some(Value::from(true)),
            "False" => Some(Value::from(false)),
            "inf" | "-inf" | "NaN" => token.parse::<f64>().ok().map(Value::from),
            _ if !token.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) => {
                None
            }
            _ => match token.parse::<BigInt>() {
                Ok(number) => Some(Value::from(number)),
                Err(_) => token.parse::<f64>().ok().map(Value::from),
            },
        };
        let expected = "a key: a number, a string, bytes, a dtype, a device, True, False or None \
                        (an object as key cannot be read back)";
        let value = value.ok_or_else(|| self.fail(expected))?;
        self.at += token.len();
        Ok(value)
    }

    /// A string in Rust's syntax.
    fn string(&mut self) -> Result<String> {
        self.expect("\"")?;
        let mut result = String::new();
        loop {
            let rest = self.rest();
            let Some(next) = rest.chars().next() else {
                return Err(self.fail("'\"' (a string that was cut short cannot be read back)"));
            };
            self.at += next.len_utf8();
            match next {
                '"' => return Ok(result),
                '\\' => result.push(self.escaped()?),
                other => result.push(other),
            }
        }
    }

    fn escaped(&mut self) -> Result<char> {
        let simple = [
            ("n", '\n'),
            ("r", '\r'),
            ("t", '\t'),
            ("0", '\0'),
            ("\\", '\\'),
            ("\"", '"'),
            ("'", '\''),
        ];
        if let Some((_, meant)) = simple.into_iter().find(|(token, _)| self.take(token)) {
            return Ok(meant);
        }
        let escape = self.rest().strip_prefix("u{").and_then(|rest| {
            let (digits, _) = rest.split_once('}')?;
            let number = u32::from_str_radix(digits, 16).ok()?;
            Some((digits.len() + 3, char::from_u32(number)?))
        });
        let (length, meant) = escape.ok_or_else(|| self.fail("an escape sequence"))?;
        self.at += length;
        Ok(meant)
    }

    /// The rest of a byte string.
    fn bytes(&mut self) -> Result<Value> {
        let mut result = Vec::new();
        loop {
            let rest = self.rest();
            let Some(next) = rest.bytes().next().filter(u8::is_ascii) else {
                return Err(self.fail("'\"' (bytes that were cut short cannot be read back)"));
            };
            self.at += 1;
            match next {
                b'"' => return Ok(Bytes::from(result).into()),
                b'\\' if self.take("x") => {
                    let digits = self.rest().get(..2);
                    let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                    result.push(byte.ok_or_else(|| self.fail("two hexadecimal digits"))?);
                    self.at += 2;
                }
                b'\\' => {
                    let meant = self.escaped()?;
                    result.push(u8::try_from(meant).map_err(|_| self.fail("a byte"))?);
                }
                other => result.push(other),
            }
        }
    }
}
