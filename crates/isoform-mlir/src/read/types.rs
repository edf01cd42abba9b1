//! Types.

use isoform::Value;

use super::Reader;
use super::cursor::text_of;
use super::fault::{Fault, Read};
use super::lexer::{Kind, continues_word, skip_space};
use super::values::{Frame, Object, Step, Want};
use crate::nodes::{
    AffineDim, AffineMapAttr, ComplexType, FloatType, FunctionType, IndexType, IntegerAttr,
    IntegerType, MemRefType, NoneType, StridedAttr, TensorType, TupleType, UnrankedMemRefType,
    UnrankedTensorType, VectorType,
};

/// The largest width of an integer type.
const MAX_WIDTH: i64 = 16_777_215;

/// The length up to which types and attributes are looked up by their text.
const KNOWN_LENGTH: usize = 160;

/// A memref whose layout and memory space are being read.
pub(super) struct MemRef {
    dims: Vec<Value>,
    element: Object,
    details: Vec<Object>,
}

impl<'t> Reader<'t> {
    pub(super) fn begin_type(&mut self) -> Read<Step<'t>> {
        let token = self.cursor.token;
        match token.kind {
            Kind::Word => self.begin_word_type(),
            Kind::Type => self.begin_dialect(token),
            Kind::Mark(b'(') => {
                self.cursor.take()?;
                if self.cursor.eat(b')')? {
                    return self.begin_results(Vec::new());
                }
                Ok(Step::Open(Frame::Inputs(Vec::new()), Want::Type))
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
            let start = token.start;
            let open = self.unsettled;
            self.frames.push(Frame::Remember { start, end, open });
        }
        self.begin_new_type(word)
    }

    fn begin_new_type(&mut self, word: &'t [u8]) -> Read<Step<'t>> {
        if let Some(simple) = simple_type(word) {
            let token = self.cursor.take()?;
            let simple = simple.map_err(|message| Fault::new(token.start..token.end, message))?;
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
            b"complex" => Ok(Step::Open(Frame::Complex, Want::Type)),
            b"tuple" if self.cursor.eat(b'>')? => Ok(Step::Done(TupleType::new([]).into_object())),
            b"tuple" => Ok(Step::Open(Frame::Tuple(Vec::new()), Want::Type)),
            b"vector" => {
                let (dims, scalable) = self.read_dims()?;
                let dims = dims.into_iter().map(|dim| match dim {
                    Some(size) => Ok(size),
                    None => Err(self
                        .cursor
                        .unexpected("a vector without dynamic dimensions")),
                });
                let dims = dims.collect::<Read<Vec<i64>>>()?;
                Ok(Step::Open(Frame::Vector(dims, scalable), Want::Type))
            }
            _ => {
                let is_tensor = word == b"tensor";
                if self.cursor.is(b'*') {
                    let x = skip_space(self.cursor.text, self.cursor.token.end);
                    if self.cursor.text.get(x) != Some(&b'x') {
                        self.cursor.take()?;
                        return Err(self.cursor.unexpected("'x' after '*'"));
                    }
                    self.cursor.jump(x + 1)?;
                    let frame = if is_tensor {
                        Frame::UnrankedTensor
                    } else {
                        Frame::UnrankedMemRef
                    };
                    return Ok(Step::Open(frame, Want::Type));
                }
                let (dims, scalable) = self.read_dims()?;
                if !scalable.is_empty() {
                    return Err(self.cursor.unexpected("dimensions without '['"));
                }
                let dims = dims
                    .into_iter()
                    .map(|dim| dim.map_or(Value::NONE, Value::from));
                let dims = dims.collect();
                let frame = if is_tensor {
                    Frame::Tensor(dims)
                } else {
                    Frame::MemRef(dims)
                };
                Ok(Step::Open(frame, Want::Type))
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
        loop {
            let start = skip_space(text, at);
            let is_scalable = text.get(start) == Some(&b'[');
            let first = if is_scalable {
                skip_space(text, start + 1)
            } else {
                start
            };
            let mut end = match text.get(first) {
                Some(b'?') => {
                    dims.push(None);
                    first + 1
                }
                Some(byte) if byte.is_ascii_digit() => {
                    let digits = text[first..]
                        .iter()
                        .take_while(|byte| byte.is_ascii_digit());
                    let end = first + digits.count();
                    let number = std::str::from_utf8(&text[first..end]).unwrap_or_default();
                    let size = number.parse().map_err(|_| {
                        Fault::new(first..end, "expected a dimension of at most 63 bits")
                    })?;
                    dims.push(Some(size));
                    end
                }
                _ => break,
            };
            if is_scalable {
                end = skip_space(text, end);
                if text.get(end) != Some(&b']') {
                    return Err(Fault::new(
                        end..end + 1,
                        "expected ']' after a scalable dimension",
                    ));
                }
                end += 1;
            }
            scalable.push(is_scalable);
            let x = skip_space(text, end);
            if text.get(x) != Some(&b'x') {
                return Err(Fault::new(x..x + 1, "expected 'x' after a dimension"));
            }
            at = x + 1;
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
            return Ok(Step::Open(Frame::Result(inputs), Want::Type));
        }
        if self.cursor.eat(b')')? {
            return Ok(Step::Done(FunctionType::new(inputs, []).into_object()));
        }
        Ok(Step::Open(Frame::Results(inputs, Vec::new()), Want::Type))
    }

    pub(super) fn resume_type(&mut self, frame: Frame<'t>, part: Object) -> Read<Step<'t>> {
        let ty = match frame {
            Frame::Remember { start, end, open } => {
                if self.unsettled == open && self.cursor.last_end == end {
                    self.known
                        .insert(&self.cursor.text[start..end], part.clone());
                }
                part
            }
            Frame::Complex => {
                self.cursor.expect(b'>')?;
                ComplexType::new(part).into_object()
            }
            Frame::Tuple(mut types) => {
                types.push(part);
                if self.cursor.eat(b',')? {
                    return Ok(Step::Open(Frame::Tuple(types), Want::Type));
                }
                self.cursor.expect(b'>')?;
                TupleType::new(types).into_object()
            }
            Frame::Inputs(mut inputs) => {
                inputs.push(part);
                if self.cursor.eat(b',')? {
                    return Ok(Step::Open(Frame::Inputs(inputs), Want::Type));
                }
                self.cursor.expect(b')')?;
                return self.begin_results(inputs);
            }
            Frame::Results(inputs, mut results) => {
                results.push(part);
                if self.cursor.eat(b',')? {
                    return Ok(Step::Open(Frame::Results(inputs, results), Want::Type));
                }
                self.cursor.expect(b')')?;
                FunctionType::new(inputs, results).into_object()
            }
            Frame::Result(inputs) => FunctionType::new(inputs, [part]).into_object(),
            Frame::Vector(dims, scalable) => {
                self.cursor.expect(b'>')?;
                VectorType::new(dims, scalable, part).into_object()
            }
            Frame::Tensor(dims) => {
                if self.cursor.eat(b',')? {
                    return Ok(Step::Open(Frame::Encoding(dims, part), Want::Attribute));
                }
                self.cursor.expect(b'>')?;
                TensorType::new(dims, part, None).into_object()
            }
            Frame::Encoding(dims, element) => {
                self.cursor.expect(b'>')?;
                TensorType::new(dims, element, part).into_object()
            }
            Frame::UnrankedTensor => {
                self.cursor.expect(b'>')?;
                UnrankedTensorType::new(part).into_object()
            }
            Frame::MemRef(dims) => {
                let details = Vec::new();
                let memref = MemRef {
                    dims,
                    element: part,
                    details,
                };
                return self.continue_memref(Box::new(memref));
            }
            Frame::MemRefDetail(mut memref) => {
                memref.details.push(part);
                return self.continue_memref(memref);
            }
            Frame::UnrankedMemRef if self.cursor.eat(b',')? => {
                return Ok(Step::Open(
                    Frame::UnrankedMemRefSpace(part),
                    Want::Attribute,
                ));
            }
            Frame::UnrankedMemRef => {
                self.cursor.expect(b'>')?;
                UnrankedMemRefType::new(part, None).into_object()
            }
            Frame::UnrankedMemRefSpace(element) => {
                self.cursor.expect(b'>')?;
                UnrankedMemRefType::new(element, memory_space(part)).into_object()
            }
            _ => return Ok(Step::Done(part)),
        };
        Ok(Step::Done(ty))
    }

    fn continue_memref(&mut self, memref: Box<MemRef>) -> Read<Step<'t>> {
        if memref.details.len() < 2 && self.cursor.eat(b',')? {
            return Ok(Step::Open(Frame::MemRefDetail(memref), Want::Attribute));
        }
        self.cursor.expect(b'>')?;
        let MemRef {
            dims,
            element,
            details,
        } = *memref;
        let mut details = details.into_iter();
        let (layout, space) = match (details.next(), details.next()) {
            (Some(only), None) if is_layout(&only) => (Some(only), None),
            (only, None) => (None, only),
            (layout, space) => (layout, space),
        };
        let layout = layout.filter(|layout| !is_identity(layout, dims.len()));
        let space = space.and_then(memory_space);
        Ok(Step::Done(
            MemRefType::new(dims, element, layout, space).into_object(),
        ))
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
        let width = text_of(digits).parse::<i64>().ok();
        let width = width.filter(|&width| width <= MAX_WIDTH);
        let message = || format!("expected an integer type of at most {MAX_WIDTH} bits");
        return Some(match width {
            Some(width) => Ok(IntegerType::new(width, signedness).into_object()),
            None => Err(message()),
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
