//! The machine that reads types, attributes and locations, however deep they nest.
//!
//! A value with parts opens a [`Frame`] for what is read so far, and names the kind of the
//! next part. A complete part goes to the frame on top, which takes the next part or is
//! complete itself. The frames are on the heap, so depth takes no native stack.

use isoform::{Map, Obj, Ref, Str, Value};

use super::Reader;
use super::bodies::Body;
use super::fault::Read;
use super::lexer::Token;
use super::types::MemRef;

/// A type, an attribute or a location.
pub(super) type Object = Ref<Obj>;

/// The kind of a part.
#[derive(Clone, Copy)]
pub(super) enum Want {
    Type,
    Attribute,
    Location,
    /// The type or attribute of a dialect inside of a body.
    Inner(Token),
    /// The tokens of an alias, by its number.
    AliasTokens(usize),
}

/// The next step of reading a value.
pub(super) enum Step<'t> {
    /// The value is complete.
    Done(Object),
    /// The value needs a part.
    Open(Frame<'t>, Want),
}

/// A value whose next part is being read.
pub(super) enum Frame<'t> {
    /// Keeps a type under its text.
    Remember {
        start: usize,
        end: usize,
        open: usize,
    },
    Complex,
    Tuple(Vec<Object>),
    Inputs(Vec<Object>),
    Results(Vec<Object>, Vec<Object>),
    Result(Vec<Object>),
    Vector(Vec<i64>, Vec<bool>),
    Tensor(Vec<Value>),
    Encoding(Vec<Value>, Object),
    UnrankedTensor,
    MemRef(Vec<Value>),
    MemRefDetail(Box<MemRef>),
    UnrankedMemRef,
    UnrankedMemRefSpace(Object),
    Number {
        token: Token,
        is_negative: bool,
    },
    String(Value),
    List(Vec<Object>),
    Dict {
        entries: Map<Str, Object>,
        key: Str,
        at: Token,
    },
    DenseArray {
        at: Token,
    },
    Dense {
        literal: (usize, usize),
    },
    Sparse {
        indices: (usize, usize),
        values: (usize, usize),
    },
    Resource(Str),
    Distinct {
        number: i64,
        at: usize,
    },
    Body(Box<Body<'t>>),
    DialectType {
        attribute: Object,
    },
    LocationAttribute,
    NameLocation(Value),
    Callee,
    Caller(Object),
    Metadata,
    Fused(Option<Object>, Vec<Object>),
}

impl<'t> Reader<'t> {
    /// Reads a value of the wanted kind.
    pub(super) fn value(&mut self, want: Want) -> Read<Object> {
        let bottom = self.frames.len();
        let mut step = self.begin(want)?;
        loop {
            match step {
                Step::Open(frame, want) => {
                    self.frames.push(frame);
                    step = self.begin(want)?;
                }
                Step::Done(value) if self.frames.len() > bottom => match self.frames.pop() {
                    Some(frame) => step = self.resume(frame, value)?,
                    None => return Ok(value),
                },
                Step::Done(value) => return Ok(value),
            }
        }
    }

    fn begin(&mut self, want: Want) -> Read<Step<'t>> {
        match want {
            Want::Type => self.begin_type(),
            Want::Attribute => self.begin_attribute(),
            Want::Location => self.begin_location(),
            Want::Inner(token) => self.begin_inner(token),
            Want::AliasTokens(number) => self.begin_alias_tokens(number),
        }
    }

    /// Continues a value with a part that is complete.
    fn resume(&mut self, frame: Frame<'t>, part: Object) -> Read<Step<'t>> {
        match frame {
            Frame::Body(mut body) => {
                self.add_part(&mut body, part)?;
                self.read_body(body)
            }
            Frame::Number { .. }
            | Frame::String(_)
            | Frame::List(_)
            | Frame::Dict { .. }
            | Frame::DenseArray { .. }
            | Frame::Dense { .. }
            | Frame::Sparse { .. }
            | Frame::Resource(_)
            | Frame::Distinct { .. }
            | Frame::DialectType { .. }
            | Frame::LocationAttribute => self.resume_attribute(frame, part),
            Frame::NameLocation(_)
            | Frame::Callee
            | Frame::Caller(_)
            | Frame::Metadata
            | Frame::Fused(..) => self.resume_location(frame, part),
            _ => self.resume_type(frame, part),
        }
    }
}
