//! Values of the metadata.

use isoform::values::Bytes;
use isoform::{Array, Str, Value};

use super::cursor::Cursor;

/// The number of levels of nested lists. Files in use have one level, or two.
const MAX_DEPTH: usize = 32;

/// A type of a value in the metadata.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64,
}

impl Kind {
    /// The types by their numbers.
    const ALL: [Kind; 13] = [
        Kind::U8,
        Kind::I8,
        Kind::U16,
        Kind::I16,
        Kind::U32,
        Kind::I32,
        Kind::F32,
        Kind::Bool,
        Kind::String,
        Kind::Array,
        Kind::U64,
        Kind::I64,
        Kind::F64,
    ];

    fn read(cursor: &mut Cursor<'_>) -> Result<Kind, String> {
        let number = cursor.u32()?;
        let kind = usize::try_from(number)
            .ok()
            .and_then(|number| Kind::ALL.get(number));
        kind.copied().ok_or_else(|| {
            format!(
                "expected a type of value from 0 to {}, got {number}",
                Kind::ALL.len() - 1
            )
        })
    }

    /// The number of bytes that a value of this type takes at least.
    fn min_size(self) -> usize {
        match self {
            Kind::U8 | Kind::I8 | Kind::Bool => 1,
            Kind::U16 | Kind::I16 => 2,
            Kind::U32 | Kind::I32 | Kind::F32 => 4,
            Kind::U64 | Kind::I64 | Kind::F64 | Kind::String => 8,
            Kind::Array => 12,
        }
    }
}

/// A list whose items are being read.
struct OpenList {
    kind: Kind,
    left: usize,
    items: Vec<Value>,
}

impl OpenList {
    fn read(cursor: &mut Cursor<'_>) -> Result<OpenList, String> {
        let kind = Kind::read(cursor)?;
        let count = cursor.u64()?;
        let left = cursor
            .count(count, kind.min_size())
            .map_err(|problem| format!("the length of a list: {problem}"))?;
        // Lists in lists could claim the rest of the file several times, so space is
        // taken only for items that exist.
        let items = Vec::new();
        Ok(OpenList { kind, left, items })
    }
}

/// Reads the type of a value, and the value. O(bytes).
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Value, String> {
    let kind = Kind::read(cursor)?;
    if kind != Kind::Array {
        return scalar(cursor, kind);
    }
    let mut outer: Vec<OpenList> = Vec::new();
    let mut list = OpenList::read(cursor)?;
    loop {
        if list.left == 0 {
            let value = Value::from(Array::<Value>::from(list.items));
            match outer.pop() {
                Some(parent) => list = parent,
                None => return Ok(value),
            }
            list.items.push(value);
            continue;
        }
        list.left -= 1;
        if list.kind != Kind::Array {
            list.items.push(scalar(cursor, list.kind)?);
            continue;
        }
        if outer.len() + 1 >= MAX_DEPTH {
            return Err(format!(
                "expected at most {MAX_DEPTH} lists inside of each other, got more"
            ));
        }
        let inner = OpenList::read(cursor)?;
        outer.push(std::mem::replace(&mut list, inner));
    }
}

/// A value that is not a list.
fn scalar(cursor: &mut Cursor<'_>, kind: Kind) -> Result<Value, String> {
    Ok(match kind {
        Kind::U8 => i64::from(u8::from_le_bytes(cursor.array()?)).into(),
        Kind::I8 => i64::from(i8::from_le_bytes(cursor.array()?)).into(),
        Kind::U16 => i64::from(u16::from_le_bytes(cursor.array()?)).into(),
        Kind::I16 => i64::from(i16::from_le_bytes(cursor.array()?)).into(),
        Kind::U32 => u32::from_le_bytes(cursor.array()?).into(),
        Kind::I32 => i32::from_le_bytes(cursor.array()?).into(),
        Kind::U64 => u64::from_le_bytes(cursor.array()?).into(),
        Kind::I64 => i64::from_le_bytes(cursor.array()?).into(),
        Kind::F32 => f64::from(f32::from_le_bytes(cursor.array()?)).into(),
        Kind::F64 => f64::from_le_bytes(cursor.array()?).into(),
        Kind::Bool => match cursor.array()? {
            [0] => false.into(),
            [1] => true.into(),
            [byte] => return Err(format!("expected 0 or 1 for a bool, got {byte}")),
        },
        Kind::String => {
            let bytes = cursor.string()?;
            // Vocabularies contain parts of characters, whose bytes are kept.
            match std::str::from_utf8(bytes) {
                Ok(text) => Str::from(text).into(),
                Err(_) => Bytes::from(bytes.to_vec()).into(),
            }
        }
        Kind::Array => return Err("expected a value, got a list".to_owned()),
    })
}
