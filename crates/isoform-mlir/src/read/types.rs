//! Types.

use isoform::{Array, Value};

use super::Reader;
use super::cursor::text_of;
use super::fault::{Fault, Read, refuse};
use super::lexer::{Kind, continues_word, skip_space};
use super::values::{Object, Step, Want, done, open, open_last};
use crate::nodes::{
    AffineDim, AffineMapAttr, ComplexType, FloatType, FunctionType, IndexType, IntegerAttr,
    IntegerType, MemRefType, NoneType, StridedAttr, TensorType, TupleType, UnrankedMemRefType,
    UnrankedTensorType, VectorType,
};

/// The largest width of an integer type.
const MAX_WIDTH: i64 = 16_777_215;

/// The length up to which types and attributes are looked up by their text.
const KNOWN_LENGTH: usize = 160;

impl<'t> Reader<'t> {
    pub(super) fn begin_type(&mut self) -> Read<Step<'t>> {
        let token = self.cursor.token;
        match token.kind {
            Kind::Word => self.begin_word_type(),
            Kind::Type => self.begin_dialect(token),
            Kind::Mark(b'(') => {
                self.cursor.take()?;
                self.open_list(Want::Type, b')', Reader::begin_results)
            }
            _ => Err(self.cursor.unexpected("a type")),
        }
    }

    /// A type that begins with a word: known by its text, or read.
    fn begin_word_type(&mut self) -> Read<Step<'t>> {
        let token = self.cursor.token;
        let text = self.cursor.text;
        let word = self.cursor.slice(token);
        if text.get(token.end) != Some(&b'<') {
            if let Some(known) = self.known.get(word) {
                let known = known.clone();
                self.cursor.take()?;
                return Ok(Step::Done(known));
            }
            return self.begin_new_type(word);
        }
        if let Some(end) = end_of_short(text, token.end) {
            if let Some(known) = self.known.get(&text[token.start..end]) {
                let known = known.clone();
                self.cursor.jump(end)?;
                return Ok(Step::Done(known));
            }
            let unsettled = self.unsettled;
            self.rests.push(Box::new(move |reader, ty| {
                if reader.unsettled == unsettled && reader.cursor.last_end == end {
                    reader.known.insert(&text[token.start..end], ty.clone());
                }
                Ok(Step::Done(ty))
            }));
        }
        self.begin_new_type(word)
    }

    fn begin_new_type(&mut self, word: &'t [u8]) -> Read<Step<'t>> {
        if let Some(simple) = simple_type(word) {
            let token = self.cursor.take()?;
            let simple = simple.map_err(|message| Fault::new(token, message))?;
            self.known.insert(word, simple.clone());
            return Ok(Step::Done(simple));
        }
        if !matches!(
            word,
            b"tensor" | b"vector" | b"memref" | b"complex" | b"tuple"
        ) {
            return Err(self.cursor.unexpected("a type"));
        }
        self.cursor.take()?;
        self.cursor.expect(b'<')?;
        match word {
            b"complex" => open_last(Want::Type, b'>', ComplexType::new),
            b"tuple" => self.open_list(Want::Type, b'>', |_, types| done(TupleType::new(types))),
            b"vector" => {
                let (dims, scalable) = self.read_dims()?;
                let dims: Option<Vec<i64>> = dims.into_iter().collect();
                let Some(dims) = dims else {
                    return Err(self
                        .cursor
                        .unexpected("a vector without dynamic dimensions"));
                };
                open_last(Want::Type, b'>', |element| {
                    VectorType::new(dims, scalable, element)
                })
            }
            _ if self.cursor.is(b'*') => {
                let x = skip_space(self.cursor.text, self.cursor.token.end);
                if self.cursor.text.get(x) != Some(&b'x') {
                    self.cursor.take()?;
                    return Err(self.cursor.unexpected("'x' after '*'"));
                }
                self.cursor.jump(x + 1)?;
                if word == b"tensor" {
                    return open_last(Want::Type, b'>', UnrankedTensorType::new);
                }
                open(Want::Type, |reader, element| {
                    if !reader.cursor.eat(b',')? {
                        reader.cursor.expect(b'>')?;
                        return done(UnrankedMemRefType::new(element, None));
                    }
                    open_last(Want::Attribute, b'>', |space| {
                        UnrankedMemRefType::new(element, memory_space(space))
                    })
                })
            }
            _ => {
                let (dims, scalable) = self.read_dims()?;
                if !scalable.is_empty() {
                    return Err(self.cursor.unexpected("dimensions without '['"));
                }
                let dims = dims.into_iter();
                let dims: Array = dims
                    .map(|dim| dim.map_or(Value::NONE, Value::from))
                    .collect();
                if word == b"memref" {
                    return open(Want::Type, |reader, element| {
                        reader.begin_memref(dims, element, Vec::new())
                    });
                }
                open(Want::Type, |reader, element| {
                    if !reader.cursor.eat(b',')? {
                        reader.cursor.expect(b'>')?;
                        return done(TensorType::new(dims, element, None));
                    }
                    open_last(Want::Attribute, b'>', |encoding| {
                        TensorType::new(dims, element, encoding)
                    })
                })
            }
        }
    }

    /// Reads `4x?x`: None for a dynamic dimension. The second list is empty if no
    /// dimension is scalable.
    ///
    /// This reads bytes: as tokens, `0x3x` would be a hexadecimal number.
    fn read_dims(&mut self) -> Read<(Vec<Option<i64>>, Vec<bool>)> {
        let text = self.cursor.text;
        let (mut dims, mut scalable) = (Vec::new(), Vec::new());
        let mut at = self.cursor.token.start;
        // The position after a character that must be next.
        let after = |at: usize, mark: u8, message: &str| match skip_space(text, at) {
            at if text.get(at) == Some(&mark) => Ok(at + 1),
            at => refuse(at..at + 1, message),
        };
        loop {
            let mut start = skip_space(text, at);
            let is_scalable = text.get(start) == Some(&b'[');
            if is_scalable {
                start = skip_space(text, start + 1);
            }
            let digits = text.get(start..).unwrap_or_default().iter();
            let mut end = start + digits.take_while(|byte| byte.is_ascii_digit()).count();
            if end > start {
                let number = std::str::from_utf8(&text[start..end]).unwrap_or_default();
                let message = "expected a dimension of at most 63 bits";
                dims.push(Some(
                    number
                        .parse()
                        .map_err(|_| Fault::new(start..end, message))?,
                ));
            } else if text.get(start) == Some(&b'?') {
                dims.push(None);
                end += 1;
            } else {
                break;
            }
            if is_scalable {
                end = after(end, b']', "expected ']' after a scalable dimension")?;
            }
            scalable.push(is_scalable);
            at = after(end, b'x', "expected 'x' after a dimension")?;
        }
        self.cursor.jump(at)?;
        if !scalable.contains(&true) {
            scalable.clear();
        }
        Ok((dims, scalable))
    }

    /// The results of a function type, from the arrow on.
    fn begin_results(&mut self, inputs: Vec<Object>) -> Read<Step<'t>> {
        self.cursor.expect_kind(Kind::Arrow, "'->'")?;
        if !self.cursor.eat(b'(')? {
            return open(Want::Type, |_, result| {
                done(FunctionType::new(inputs, [result]))
            });
        }
        self.open_list(Want::Type, b')', |_, results| {
            done(FunctionType::new(inputs, results))
        })
    }

    /// The layout and the memory space of a memref, of which some are read.
    fn begin_memref(
        &mut self,
        dims: Array,
        element: Object,
        mut details: Vec<Object>,
    ) -> Read<Step<'t>> {
        if details.len() < 2 && self.cursor.eat(b',')? {
            return open(Want::Attribute, |reader, detail| {
                details.push(detail);
                reader.begin_memref(dims, element, details)
            });
        }
        self.cursor.expect(b'>')?;
        let mut details = details.into_iter();
        let (layout, space) = match (details.next(), details.next()) {
            (Some(only), None) if is_layout(&only) => (Some(only), None),
            (only, None) => (None, only),
            (layout, space) => (layout, space),
        };
        let layout = layout.filter(|layout| !is_identity(layout, dims.len()));
        let space = space.and_then(memory_space);
        done(MemRefType::new(dims, element, layout, space))
    }
}

/// The type that a word alone denotes; the inner error is a message.
fn simple_type(word: &[u8]) -> Option<Result<Object, String>> {
    let (signedness, digits) = match word {
        [b'i', digits @ ..] => ("signless", digits),
        [b's', b'i', digits @ ..] => ("signed", digits),
        [b'u', b'i', digits @ ..] => ("unsigned", digits),
        _ => ("", &[][..]),
    };
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        return Some(match text_of(digits).parse::<i64>() {
            Ok(width) if width <= MAX_WIDTH => {
                Ok(IntegerType::new(width, signedness).into_object())
            }
            _ => Err(format!(
                "expected an integer type of at most {MAX_WIDTH} bits"
            )),
        });
    }
    match word {
        b"index" => Some(Ok(IndexType::new().into_object())),
        b"none" => Some(Ok(NoneType::new().into_object())),
        _ => {
            let name = text_of(word);
            super::floats::Format::named(&name)?;
            Some(Ok(FloatType::new(name).into_object()))
        }
    }
}

/// The end of the brackets that open at a position, if they close soon and hold nothing
/// whose meaning depends on its place.
pub(super) fn end_of_short(text: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0;
    let window = &text[open..text.len().min(open + KNOWN_LENGTH)];
    let mut previous = 0;
    for (offset, &byte) in window.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if previous == b'-' => {}
            b'>' | b')' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return (byte == b'>').then_some(open + offset + 1);
                }
            }
            b' ' | b',' | b':' | b'?' | b'*' | b'+' | b'-' | b'!' | b'#' | b'=' => {}
            _ if continues_word(byte) => {}
            _ => return None,
        }
        previous = byte;
    }
    None
}

fn is_layout(attribute: &Object) -> bool {
    attribute.isa::<AffineMapAttr>() || attribute.isa::<StridedAttr>()
}

/// True for the map that leaves indices of this rank as they are.
fn is_identity(layout: &Object, rank: usize) -> bool {
    let Some(map) = layout.downcast_ref::<AffineMapAttr>() else {
        return false;
    };
    let is_kept = |(position, result): (usize, &Object)| {
        let dim = result.downcast_ref::<AffineDim>();
        dim.is_some_and(|dim| usize::try_from(dim.position) == Ok(position))
    };
    let is_square = usize::try_from(map.dims) == Ok(rank) && map.results.len() == rank;
    is_square && map.symbols == 0 && map.results.iter().enumerate().all(is_kept)
}

/// The memory space, unless it is the default.
fn memory_space(attribute: Object) -> Option<Object> {
    let integer = attribute.downcast_ref::<IntegerAttr>();
    let is_default = integer.is_some_and(|integer| {
        integer.value.as_int() == Some(0) || integer.value.as_bool() == Some(false)
    });
    (!is_default).then_some(attribute)
}
