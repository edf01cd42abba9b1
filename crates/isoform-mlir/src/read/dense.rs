//! Literals of many numbers.
//!
//! The type follows the literal, so the literal is skipped first and read when its type is
//! known. Elements become bytes at once.

use std::ops::Range;

use isoform::values::Bytes;
use isoform::{Array, Value};

use super::Reader;
use super::cursor::Cursor;
use super::fault::{Fault, Read, refuse};
use super::hex::hex_bytes;
use super::lexer::{Kind, Token};
use super::numbers::{Element, Literal, Numeric, shape_of, text_value};
use super::values::{Object, Step, done};
use crate::nodes::{
    DenseArrayAttr, DenseAttr, DenseStringsAttr, IntegerType, SparseAttr, TensorType,
};

/// The elements of a literal.
enum Elements {
    /// The bytes of numbers.
    Numbers(Element, Vec<u8>),
    Strings(Vec<Value>),
}

impl Elements {
    /// No elements of a type so far.
    fn new(ty: &Object) -> Elements {
        Element::of(ty).map_or(Elements::Strings(Vec::new()), |element| {
            Elements::Numbers(element, Vec::new())
        })
    }

    fn clear(&mut self) {
        match self {
            Elements::Numbers(_, bytes) => bytes.clear(),
            Elements::Strings(values) => values.clear(),
        }
    }
}

/// A literal and its elements.
struct Dense {
    elements: Elements,
    /// The lengths of the lists by depth; None for a single element without a list, which is
    /// the value of all elements.
    shape: Option<Vec<i64>>,
}

impl<'t> Reader<'t> {
    /// Skips a literal, up to `>` or a comma outside of brackets; returns its range.
    pub(super) fn skip_literal(&mut self) -> Read<Range<usize>> {
        let start = self.cursor.token.start;
        let mut depth = 0_usize;
        loop {
            match self.cursor.token.kind {
                Kind::Mark(b'[' | b'(') => depth += 1,
                Kind::Mark(b']' | b')') if depth > 0 => depth -= 1,
                Kind::Mark(b',') if depth > 0 => {}
                Kind::Mark(b'>' | b',') if depth == 0 => return Ok(start..self.cursor.last_end),
                Kind::Mark(b'-') | Kind::Integer | Kind::Hex | Kind::Float | Kind::String => {}
                Kind::Word if self.cursor.is_word("true") || self.cursor.is_word("false") => {}
                _ => return Err(self.cursor.unexpected("an element of the literal, or '>'")),
            }
            self.cursor.take()?;
        }
    }

    /// Skips a literal that is not empty.
    pub(super) fn skip_elements(&mut self) -> Read<Range<usize>> {
        if self.cursor.is(b',') || self.cursor.is(b'>') {
            return Err(self.cursor.unexpected("an element of the literal"));
        }
        self.skip_literal()
    }

    /// The attribute of a literal and a type.
    pub(super) fn dense(&mut self, literal: Range<usize>, ty: Object) -> Read<Step<'t>> {
        let fault = |message: &str| Fault::new(literal.clone(), message);
        let Some((dims, element)) = shape_of(&ty) else {
            return Err(fault(
                "expected the type of a tensor or vector after a dense literal",
            ));
        };
        let Some(dims) = dims else {
            return Err(fault("expected a static shape after a dense literal"));
        };
        let dense = self.read_literal(literal.clone(), element, Some(&dims))?;
        if let Some(shape) = &dense.shape {
            let is_empty = dims.contains(&0) && shape.contains(&0);
            if *shape != dims && !is_empty {
                return Err(fault(&format!(
                    "expected a literal of the shape {dims:?} of its type, got {shape:?}"
                )));
            }
        }
        let mut elements = dense.elements;
        if dims.contains(&0) {
            // A literal may have an element that no place of the tensor holds.
            elements.clear();
        }
        Ok(Step::Done(attribute(elements, ty)))
    }

    pub(super) fn sparse(
        &mut self,
        indices: Range<usize>,
        values: Range<usize>,
        ty: Object,
    ) -> Read<Step<'t>> {
        let place = indices.start..values.end;
        let Some((Some(dims), element)) = shape_of(&ty) else {
            let message = "expected the type of a tensor with a static shape";
            return refuse(place, message);
        };
        let index: Object = IntegerType::new(64, "signless").into_object();
        let rank = dims.len() as i64;
        let places = self.read_literal(indices, &index, None)?;
        let contents = self.read_literal(values, element, None)?;
        let shape = places.shape.unwrap_or_else(|| vec![1, rank]);
        let count = shape.first().copied().unwrap_or_default();
        let lengths = contents.shape.unwrap_or_else(|| vec![count]);
        let is_empty = count == 0 && lengths == [0];
        let is_index = shape == [count, rank] || (shape == [count] && rank == 1);
        if !is_empty && (!is_index || lengths != [count]) {
            let message = format!(
                "expected {rank} indices for each element, and as many elements as indices"
            );
            return refuse(place, message);
        }
        let places = attribute(places.elements, tensor(&shape, &index));
        let mut elements = contents.elements;
        if is_empty {
            elements.clear();
        }
        let contents = attribute(elements, tensor(&lengths, element));
        done(SparseAttr::new(ty, places, contents))
    }

    /// Reads the literal in a range; `dims` is the shape of the type.
    fn read_literal(&self, range: Range<usize>, ty: &Object, dims: Option<&[i64]>) -> Read<Dense> {
        let mut cursor = Cursor::at(&self.cursor.text[..range.end], range.start)?;
        let mut elements = Elements::new(ty);
        let mut shape = None;
        match (cursor.token.kind, &mut elements) {
            (Kind::End, _) => shape = Some(vec![0]),
            (Kind::String, Elements::Numbers(element, bytes)) => {
                let count = dims.map(|dims| dims.iter().copied().fold(1, i64::saturating_mul));
                *bytes = hex_bytes(&cursor, cursor.token, *element, count)?;
                cursor.take()?;
            }
            (Kind::Mark(b'['), _) => shape = Some(read_lists(&mut cursor, &mut elements)?),
            _ => read_element(&mut cursor, &mut elements)?,
        }
        cursor.expect_kind(Kind::End, "the end of the literal")?;
        Ok(Dense { elements, shape })
    }

    /// `array<type: elements>`, after the type.
    pub(super) fn read_dense_array(&mut self, at: Token, ty: Object) -> Read<Step<'t>> {
        let is_listed = match Numeric::of(&ty) {
            Some(Numeric::Float(_)) => true,
            Some(Numeric::Integer { width, .. }) => {
                ty.isa::<IntegerType>() && (width == 1 || width % 8 == 0)
            }
            None => false,
        };
        let Some(element) = Element::of(&ty).filter(|_| is_listed) else {
            let message = "expected an array of i1, of integers of whole bytes or of floats";
            return refuse(at.end..self.cursor.last_end, message);
        };
        let mut bytes = Vec::new();
        if !self.cursor.eat(b'>')? {
            self.cursor.expect(b':')?;
            while {
                if element.is_bool() && self.cursor.token.kind != Kind::Word {
                    return Err(self.cursor.unexpected("'true' or 'false'"));
                }
                read_number(&mut self.cursor, element.number, &mut bytes)?;
                self.cursor.goes_on(b'>')?
            } {}
        }
        done(DenseArrayAttr::new(ty, bytes))
    }
}

fn tensor(shape: &[i64], element: &Object) -> Object {
    let dims: Array = shape.iter().map(|&size| Value::from(size)).collect();
    TensorType::new(dims, element, None).into_object()
}

/// The attribute, with a single element if all are equal.
fn attribute(elements: Elements, ty: Object) -> Object {
    match elements {
        Elements::Numbers(element, mut bytes) => {
            let size = element.bytes();
            if size > 0 && bytes.len() > size {
                let (first, rest) = bytes.split_at(size);
                if rest.chunks(size).all(|element| element == first) {
                    bytes.truncate(size);
                }
            }
            DenseAttr::new(ty, Bytes::from(bytes)).into_object()
        }
        Elements::Strings(mut values) => {
            if values.windows(2).all(|pair| pair[0] == pair[1]) {
                values.truncate(1);
            }
            DenseStringsAttr::new(ty, values).into_object()
        }
    }
}

/// Reads nested lists; returns their lengths by depth.
fn read_lists(cursor: &mut Cursor<'_>, elements: &mut Elements) -> Read<Vec<i64>> {
    // For each open list its length so far, and for each depth the length of closed ones.
    let mut open: Vec<i64> = Vec::new();
    let mut shape: Vec<Option<i64>> = Vec::new();
    let mut leaf_depth = None;
    loop {
        if cursor.is(b'[') {
            cursor.take()?;
            open.push(0);
            if leaf_depth.is_some_and(|depth| open.len() > depth) {
                return Err(cursor.unexpected("an element, since its neighbours are elements"));
            }
            if shape.len() < open.len() {
                shape.push(None);
            }
            if !cursor.is(b']') {
                continue;
            }
        } else {
            if *leaf_depth.get_or_insert(open.len()) != open.len() {
                return Err(cursor.unexpected("a list, since its neighbours are lists"));
            }
            read_element(cursor, elements)?;
            if let Some(length) = open.last_mut() {
                *length += 1;
            }
        }
        // The end of an element or of an empty list.
        loop {
            if cursor.is(b',') && !open.is_empty() && open.last() != Some(&0) {
                cursor.take()?;
                break;
            }
            let end = cursor.token;
            cursor.expect(b']')?;
            let Some(length) = open.pop() else {
                return refuse(end, "expected the end of the literal");
            };
            if *shape[open.len()].get_or_insert(length) != length {
                let message = "expected a list as long as its neighbours";
                return refuse(end, message);
            }
            match open.last_mut() {
                Some(outer) => *outer += 1,
                None => return Ok(shape.into_iter().map(Option::unwrap_or_default).collect()),
            }
        }
    }
}

fn read_element(cursor: &mut Cursor<'_>, elements: &mut Elements) -> Read<()> {
    match elements {
        Elements::Strings(values) => {
            let expected = "a string, since the type has no numbers";
            let token = cursor.expect_kind(Kind::String, expected)?;
            values.push(text_value(cursor.string(token)));
        }
        Elements::Numbers(element, bytes) if element.is_complex => {
            cursor.expect(b'(')?;
            read_number(cursor, element.number, bytes)?;
            cursor.expect(b',')?;
            read_number(cursor, element.number, bytes)?;
            cursor.expect(b')')?;
        }
        Elements::Numbers(element, bytes) => read_number(cursor, element.number, bytes)?,
    }
    Ok(())
}

fn read_number(cursor: &mut Cursor<'_>, number: Numeric, bytes: &mut Vec<u8>) -> Read<()> {
    if cursor.token.kind == Kind::Word {
        let is_bool = matches!(number, Numeric::Integer { width: 1, .. });
        let is_true = cursor.is_word("true");
        if !is_bool || !(is_true || cursor.is_word("false")) {
            return Err(cursor.unexpected("a number"));
        }
        bytes.push(u8::from(is_true));
        cursor.take()?;
        return Ok(());
    }
    let is_negative = cursor.eat(b'-')?;
    let literal = Literal::next(cursor, is_negative)?;
    match number {
        Numeric::Integer { width, signedness } => {
            let bits = literal.integer_bits(width, signedness)?;
            bits.write(number.bytes(), bytes);
        }
        Numeric::Float(format) => {
            let bits = literal.float_bits(format)?.to_le_bytes();
            bytes.extend_from_slice(&bits[..number.bytes()]);
        }
    }
    cursor.take()?;
    Ok(())
}
