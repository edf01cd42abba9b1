//! The start of a value: a literal, or the opening of something with parts.

use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine};
use num_bigint::BigInt;

use super::lexer::{Lexed, Lexer};
use super::spelling::{DEVICE, FUNCTION, TENSOR, VOID, VOID_NAME, shown};
use super::tensor::Element;
use crate::kernel::container::{Bytes, ContainerType, Shape, Tensor};
use crate::kernel::error::ErrorKind;
use crate::kernel::types::global_function;
use crate::kernel::value::{DType, Device, Value};

/// More decimal digits would take quadratic time; larger numbers are written
/// in base 16.
const MAX_DIGITS: usize = 10_000;

/// The kinds of values with parts.
#[derive(Clone, Copy)]
pub(super) enum Kinds {
    Container(&'static ContainerType),
    /// An object of a type, and its name in a definition.
    Object(u32, Option<u32>),
}

/// The possible starts of a value.
pub(super) enum Literal<'a> {
    /// All of it.
    Value(Value),
    /// A container, up to its bracket.
    Open(Kinds),
    /// An object of the type with this key, up to its parenthesis.
    Object(Cow<'a, str>),
    /// A type key and its `!`: data of a hook follows.
    Hooked(Cow<'a, str>),
}

/// Reads the start of a value, with `byte` as its first byte.
#[inline]
pub(super) fn take<'a>(lexer: &mut Lexer<'a>, byte: Option<u8>) -> Lexed<Literal<'a>> {
    let position = lexer.position();
    match byte {
        Some(bracket @ (b'[' | b'{')) => match container("", bracket) {
            Some(container) => Ok(open(lexer, container)),
            None => Err(lexer.unexpected("a value")),
        },
        Some(b'"') => {
            let text = lexer.string()?;
            Ok(match lexer.byte() {
                Some(b'(') => {
                    lexer.go_to(lexer.position() + 1);
                    Literal::Object(text)
                }
                Some(b'!') => {
                    lexer.go_to(lexer.position() + 1);
                    Literal::Hooked(text)
                }
                _ => Literal::Value(text.as_ref().into()),
            })
        }
        Some(b'0'..=b'9' | b'-') => number(lexer).map(Literal::Value),
        Some(b'<') => {
            let what = "text in angle brackets cannot be read back";
            Err(lexer.fault(position, what))
        }
        Some(b'.') => Err(lexer.fault(
            position,
            "something was left out here when the text was printed",
        )),
        Some(_) => word(lexer, position),
        None => Err(lexer.unexpected("a value")),
    }
}

/// Takes the bracket of a container.
fn open<'a>(lexer: &mut Lexer<'a>, container: &'static ContainerType) -> Literal<'a> {
    lexer.go_to(lexer.position() + 1);
    Literal::Open(Kinds::Container(container))
}

/// The type of containers whose text starts with this word and bracket.
#[inline]
fn container(word: &str, bracket: u8) -> Option<&'static ContainerType> {
    ContainerType::ALL.into_iter().find(|container| {
        let start = container.text[0].as_bytes();
        start.split_last() == Some((&bracket, word.as_bytes()))
    })
}

fn word<'a>(lexer: &mut Lexer<'a>, position: usize) -> Lexed<Literal<'a>> {
    let word = lexer.dotted_word();
    if word.is_empty() {
        return Err(lexer.unexpected("a value"));
    }
    match (lexer.byte(), word) {
        (Some(b'('), TENSOR) => {
            lexer.expect(b'(')?;
            tensor(lexer, position).map(Literal::Value)
        }
        (Some(b'('), DEVICE) => {
            let (name, start) = argument(lexer)?;
            let device: Result<Device, _> = name.parse();
            match device {
                Ok(device) => Ok(Literal::Value(device.into())),
                Err(error) => Err(lexer.fault(start, error.message())),
            }
        }
        (Some(b'('), FUNCTION) => {
            let (name, start) = argument(lexer)?;
            match global_function(&name) {
                Ok(function) => Ok(Literal::Value(function.into())),
                Err(error) => Err(lexer.fault(start, error.message())),
            }
        }
        (Some(b'('), key) => {
            lexer.go_to(lexer.position() + 1);
            Ok(Literal::Object(Cow::Borrowed(key)))
        }
        (Some(b'!'), key) => {
            lexer.go_to(lexer.position() + 1);
            Ok(Literal::Hooked(Cow::Borrowed(key)))
        }
        (Some(b'['), "Shape") => Ok(Literal::Value(Shape::from(ints(lexer)?).into())),
        (Some(b'"'), "b") => Ok(Literal::Value(Bytes::from(lexer.bytes()?).into())),
        (bracket, word) => match bracket.and_then(|bracket| container(word, bracket)) {
            Some(container) => Ok(open(lexer, container)),
            None => plain_word(lexer, word, position).map(Literal::Value),
        },
    }
}

fn plain_word(lexer: &Lexer<'_>, word: &str, at: usize) -> Lexed<Value> {
    Ok(match word {
        "None" => Value::NONE,
        "True" => true.into(),
        "False" => false.into(),
        "nan" => f64::NAN.into(),
        "inf" => f64::INFINITY.into(),
        VOID_NAME => VOID.into(),
        _ => match word.parse::<DType>() {
            Ok(dtype) => dtype.into(),
            Err(_) => {
                let what = format!(
                    "expected a value, got the word '{}', which is not a dtype and has no '('",
                    shown(word)
                );
                return Err(lexer.fault(at, &what));
            }
        },
    })
}

/// A string in parentheses, and its start.
fn argument<'a>(lexer: &mut Lexer<'a>) -> Lexed<(Cow<'a, str>, usize)> {
    lexer.expect(b'(')?;
    lexer.peek()?;
    let start = lexer.position();
    let text = lexer.string()?;
    lexer.expect(b')')?;
    Ok((text, start))
}

fn number(lexer: &mut Lexer<'_>) -> Lexed<Value> {
    let position = lexer.position();
    let text = lexer.number();
    if let Ok(small) = text.parse::<i64>() {
        return check_digits(lexer, text, position).map(|()| small.into());
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let refuse = |what: &str| Err(lexer.fault(position, &format!("{what} '{}'", shown(text))));
    if let Some(hex) = digits.strip_prefix("0x") {
        let is_hex = !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = BigInt::parse_bytes(hex.as_bytes(), 16).filter(|_| is_hex);
        return match number {
            Some(number) if text.starts_with('-') => Ok(Value::from_bigint(-number)),
            Some(number) => Ok(Value::from_bigint(number)),
            None => refuse("expected hexadecimal digits, got"),
        };
    }
    check_digits(lexer, text, position)?;
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if digits.len() > MAX_DIGITS {
            return refuse("expected base 16 for an int of so many digits, got");
        }
        return match text.parse::<BigInt>() {
            Ok(number) => Ok(Value::from_bigint(number)),
            Err(_) => refuse("expected a number, got"),
        };
    }
    float(lexer, text, position).map(Value::from)
}

/// Rejects leading zeros, because several languages read them as octal.
fn check_digits(lexer: &Lexer<'_>, text: &str, at: usize) -> Lexed<()> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    match digits {
        [b'0', b'0'..=b'9', ..] => Err(lexer.fault(at, "a number must not start with zeros")),
        _ => Ok(()),
    }
}

fn float(lexer: &Lexer<'_>, text: &str, at: usize) -> Lexed<f64> {
    let refuse = |what: &str| Err(lexer.fault(at, &format!("{what} '{}'", shown(text))));
    if text == "-inf" {
        return Ok(f64::NEG_INFINITY);
    }
    // The standard parser accepts more spellings than this format.
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let has_spelling = digits.first().is_some_and(u8::is_ascii_digit)
        && digits
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    match text.parse::<f64>() {
        Ok(number) if has_spelling && number.is_finite() => Ok(number),
        Ok(_) if has_spelling => refuse("float out of range:"),
        _ => refuse("expected a number, got"),
    }
}

/// An integer of 64 bits.
fn int(lexer: &mut Lexer<'_>) -> Lexed<i64> {
    lexer.peek()?;
    let at = lexer.position();
    match number(lexer)?.as_int() {
        Some(number) => Ok(number),
        None => Err(lexer.fault(at, "expected an int of 64 bits")),
    }
}

/// Integers in brackets.
fn ints(lexer: &mut Lexer<'_>) -> Lexed<Vec<i64>> {
    let mut numbers = Vec::new();
    lexer.expect(b'[')?;
    while lexer.more(numbers.is_empty(), b']')? {
        numbers.push(int(lexer)?);
    }
    Ok(numbers)
}

/// A tensor; `Tensor(` has been taken.
fn tensor(lexer: &mut Lexer<'_>, position: usize) -> Lexed<Value> {
    lexer.peek()?;
    let start = lexer.position();
    let word = lexer.word();
    let dtype = plain_word(lexer, word, start)?;
    let Some(dtype) = dtype.as_dtype() else {
        return Err(lexer.fault(start, "expected the dtype of a tensor"));
    };
    lexer.expect(b',')?;
    let shape = ints(lexer)?;
    lexer.expect(b',')?;
    let data = match lexer.peek()? {
        Some(b'[') => elements(lexer, dtype)?,
        Some(b'.') => {
            let what = "the elements of the tensor were left out when the text was printed";
            return Err(lexer.fault(lexer.position(), what));
        }
        _ => base64(lexer)?,
    };
    lexer.expect(b')')?;
    match Tensor::new(dtype, shape, data) {
        Ok(tensor) => Ok(tensor.into()),
        Err(error) => Err(lexer.fault(position, error.message())),
    }
}

fn base64(lexer: &mut Lexer<'_>) -> Lexed<Vec<u8>> {
    let start = lexer.position();
    if lexer.word() != "b64" {
        lexer.go_to(start);
        return Err(lexer.unexpected("elements in brackets or b64\"...\""));
    }
    let text = lexer.string()?;
    BASE64_STANDARD.decode(text.as_bytes()).map_err(|error| {
        let what = format!("expected base 64: {error}");
        lexer.fault(start, &what)
    })
}

/// Elements as numbers.
fn elements(lexer: &mut Lexer<'_>, dtype: DType) -> Lexed<Vec<u8>> {
    let start = lexer.position();
    let Some(element) = Element::of(dtype) else {
        let what = format!("expected base 64 for elements of {dtype}");
        return Err(lexer.fault_of(ErrorKind::Value, start, &what));
    };
    let mut data = Vec::new();
    lexer.expect(b'[')?;
    let mut is_first = true;
    while lexer.more(is_first, b']')? {
        is_first = false;
        let byte = lexer.peek()?;
        let position = lexer.position();
        let value = match byte {
            Some(b'0'..=b'9' | b'-') => number(lexer)?,
            _ => {
                let word = lexer.word();
                plain_word(lexer, word, position)?
            }
        };
        if !element.append(&value, &mut data) {
            let what = format!("expected an element of {dtype}");
            return Err(lexer.fault(position, &what));
        }
    }
    Ok(data)
}
