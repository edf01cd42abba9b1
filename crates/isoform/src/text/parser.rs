//! Parses values, with an explicit stack.
//!
//! A value is built once all its parts are built. A value with a reference to a name
//! defined further down waits until the end (`settle`).

use std::borrow::Cow;

use hashbrown::HashMap;

use super::TextReadOptions;
use super::fault::Fault;
use super::lexer::Lexer;
use super::literals::{self, Kinds, Literal};
use super::scopes::{Bindings, Clash, Scopes, Use};
use super::spelling;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::builder::ObjectBuilder;
use crate::kernel::types::check::SchemaChecker;
use crate::kernel::types::file_field_hint;
use crate::kernel::types::singletons::Recall;
use crate::kernel::value::Value;

/// Why parsing ends.
pub(super) enum ParseFailure {
    /// Something is wrong with the text.
    Fault(Box<Fault>),
    /// An error of user code or of the host, passed on unchanged.
    Foreign(Error),
}

impl From<Box<Fault>> for ParseFailure {
    fn from(fault: Box<Fault>) -> Self {
        ParseFailure::Fault(fault)
    }
}

pub(super) type Parsed<T> = std::result::Result<T, ParseFailure>;

/// The state of parsing one text.
pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    options: TextReadOptions,
    stack: Vec<OpenValue>,
    /// The finished parts of all open values.
    parts: Vec<Part>,
    numbers: HashMap<&'a str, u32, rapidhash::fast::RandomState>,
    pub(super) names: Vec<Name<'a>>,
    pub(super) scopes: Scopes,
    /// Values that wait for names.
    pub(super) pending: Vec<PendingValue>,
    pub(super) keys: HashMap<Cow<'a, str>, u32, rapidhash::fast::RandomState>,
    pub(super) types: Vec<Type>,
    pub(super) fitter: SchemaChecker,
    pub(super) singletons: Recall,
    /// Of the whole text: single definitions are short.
    poll: Poll,
}

/// A name that has occurred.
pub(super) struct Name<'a> {
    /// With its sigil.
    pub(super) text: &'a str,
    bindings: Bindings,
}

/// A value, or a placeholder for a future value.
#[derive(Clone)]
pub(super) enum Slot {
    Value(Value),
    /// A position in the list of waiting values.
    Pending(u32),
}

/// The field of a value that is read only for the names that it defines.
pub(super) const UNKNOWN_FIELD: u32 = u32::MAX;

/// A part of a value.
pub(super) struct Part {
    /// The field, in an object.
    pub(super) field: u32,
    /// Its start.
    pub(super) at: usize,
    pub(super) slot: Slot,
}

/// A value that waits for names.
pub(super) struct PendingValue {
    pub(super) what: PendingKind,
    pub(super) at: usize,
    pub(super) state: State,
}

pub(super) enum PendingKind {
    /// The value with this name, and the number of its definition.
    Name(u32, Option<u32>),
    Value(Kinds, Vec<Part>),
}

pub(super) enum State {
    New,
    /// Its parts are being built.
    Open,
    Built(Value),
}

/// A value that is being read.
struct OpenValue {
    what: Opened,
    at: usize,
    /// The start of its parts.
    base: usize,
}

enum Opened {
    Value {
        kinds: Kinds,
        /// The field being read, and its start.
        field: u32,
        field_at: usize,
    },
    /// The definition of a name; `is_line` outside of other values.
    Definition { name: u32, is_line: bool },
}

/// The way to make objects of a declared type.
pub(super) struct Type {
    pub(super) filler: ObjectBuilder,
    pub(super) is_singleton: bool,
    pub(super) is_scope: bool,
    pub(super) name_field: Option<usize>,
}

/// The value of a text.
///
/// # Errors
///
/// As [`from_text`](super::from_text).
pub(super) fn parse(text: &str, options: TextReadOptions) -> Result<Value> {
    let mut parser = Parser {
        lexer: Lexer::new(text),
        options,
        stack: Vec::new(),
        parts: Vec::new(),
        numbers: HashMap::default(),
        names: Vec::new(),
        scopes: Scopes::new(),
        pending: Vec::new(),
        keys: HashMap::default(),
        types: Vec::new(),
        fitter: SchemaChecker::default(),
        singletons: Recall::default(),
        poll: Poll::default(),
    };
    let result = parser.document().and_then(|root| parser.settle(root));
    result.map_err(|stop| match stop {
        ParseFailure::Fault(fault) => fault.into_error(text),
        ParseFailure::Foreign(error) => error,
    })
}

impl<'a> Parser<'a> {
    /// The definitions and the value of the whole text.
    fn document(&mut self) -> Parsed<Slot> {
        let mut root = None;
        while let Some(byte) = self.lexer.peek()? {
            let position = self.lexer.position();
            if Lexer::is_name(Some(byte)) {
                let name = self.lexer.name()?;
                if self.lexer.eat(b'=')? {
                    self.define(name, position, true);
                    self.value()?;
                    continue;
                }
                self.lexer.go_to(position);
            }
            if root.is_some() {
                let expected = "a definition or the end of the text";
                return Err(self.lexer.unexpected(expected).into());
            }
            root = Some(self.value()?);
        }
        match root {
            Some(root) => Ok(root),
            None => Err(self.lexer.unexpected("a value").into()),
        }
    }

    /// Takes one value with all its parts.
    fn value(&mut self) -> Parsed<Slot> {
        let mut done = self.begin(false)?;
        loop {
            self.poll.step_outside().map_err(ParseFailure::Foreign)?;
            done = match done {
                None => self.advance(true)?,
                Some(slot) if self.stack.is_empty() => return Ok(slot),
                Some(slot) => self.accept(slot)?,
            };
        }
    }

    /// Reads the start of a value; returns None for a value with parts, left open.
    #[inline]
    fn begin(&mut self, is_key: bool) -> Parsed<Option<Slot>> {
        loop {
            let byte = self.lexer.peek()?;
            let position = self.lexer.position();
            if Lexer::is_name(byte) {
                let name = self.lexer.name()?;
                // After a key, the colon belongs to the map.
                if !is_key && self.lexer.eat(b':')? {
                    self.define(name, position, false);
                    continue;
                }
                return self.refer(name, position).map(Some);
            }
            return match literals::take(&mut self.lexer, byte)? {
                Literal::Value(value) => Ok(Some(Slot::Value(value))),
                Literal::Open(kinds) => {
                    self.open(kinds, position);
                    Ok(None)
                }
                Literal::Object(key) => {
                    let ty = self.type_number(key, position)?;
                    let name = match self.stack.last() {
                        Some(OpenValue {
                            what: Opened::Definition { name, .. },
                            ..
                        }) => Some(*name),
                        _ => None,
                    };
                    if self.types[ty as usize].is_scope {
                        self.scopes.open();
                    }
                    self.open(Kinds::Object(ty, name), position);
                    Ok(None)
                }
                Literal::Hooked(key) => {
                    let ty = self.type_number(key, position)?;
                    self.hooked(ty, position)
                        .map(|value| Some(Slot::Value(value)))
                }
            };
        }
    }

    fn open(&mut self, kinds: Kinds, at: usize) {
        self.stack.push(OpenValue {
            what: Opened::Value {
                kinds,
                field: 0,
                field_at: at,
            },
            at,
            base: self.parts.len(),
        });
    }

    /// Opens the definition of a name.
    fn define(&mut self, name: &'a str, at: usize, is_line: bool) {
        let name = self.name_number(name);
        self.stack.push(OpenValue {
            what: Opened::Definition { name, is_line },
            at,
            base: self.parts.len(),
        });
    }

    fn name_number(&mut self, text: &'a str) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            let bindings = Bindings::default();
            self.names.push(Name { text, bindings });
        }
        number
    }

    /// The value of a name.
    #[inline]
    fn refer(&mut self, text: &'a str, at: usize) -> Parsed<Slot> {
        let number = self.name_number(text);
        let bindings = &mut self.names[number as usize].bindings;
        match self.scopes.refer(bindings) {
            Use::Definition(definition) => Ok(self.scopes.definitions[definition as usize].clone()),
            Use::Later => {
                let value = self.pending.len() as u32;
                self.scopes.wait(bindings, value);
                Ok(self.wait(PendingKind::Name(number, None), at))
            }
            Use::Ambiguous => {
                let what = format!("{text} is defined in several scopes, and in none around here");
                let mut fault = self.lexer.fault(at, &what);
                fault.end = at + text.len();
                Err(fault.into())
            }
        }
    }

    fn wait(&mut self, what: PendingKind, at: usize) -> Slot {
        let state = State::New;
        self.pending.push(PendingValue { what, at, state });
        Slot::Pending(self.pending.len() as u32 - 1)
    }

    /// Advances in the value on top of the stack; returns a finished value, or None if a
    /// part with parts has begun.
    fn advance(&mut self, is_first: bool) -> Parsed<Option<Slot>> {
        let Some(OpenValue {
            what: Opened::Value { kinds, .. },
            base,
            ..
        }) = self.stack.last()
        else {
            return Ok(None);
        };
        let (kinds, base) = (*kinds, *base);
        let close = match kinds {
            Kinds::Container(container) => container.text[1].as_bytes()[0],
            Kinds::Object(..) => b')',
        };
        let is_mapping = matches!(kinds, Kinds::Container(container) if container.is_mapping());
        let is_value = is_mapping && !(self.parts.len() - base).is_multiple_of(2);
        if is_value {
            self.lexer.expect(b':')?;
            return self.begin(false);
        }
        if !self.lexer.more(is_first, close)? {
            return self.close().map(Some);
        }
        match kinds {
            Kinds::Object(ty, _) => self.begin_item(ty),
            Kinds::Container(_) => self.begin(is_mapping),
        }
    }

    /// Takes the start of a field, or of a definition between fields.
    #[inline]
    fn begin_item(&mut self, ty: u32) -> Parsed<Option<Slot>> {
        let byte = self.lexer.peek()?;
        let position = self.lexer.position();
        if Lexer::is_name(byte) {
            let name = self.lexer.name()?;
            self.lexer.expect(b'=')?;
            self.define(name, position, true);
            return self.begin(false);
        }
        let name = match byte {
            Some(b'"') => self.lexer.string()?,
            _ => Cow::Borrowed(self.lexer.word()),
        };
        if self.lexer.position() == position {
            let close = "a field, a definition or ')'";
            return Err(self.lexer.unexpected(close).into());
        }
        let info = self.types[ty as usize].filler.info();
        let number = match info.field_index_in_file(&name) {
            Some(index) => index as u32,
            None if self.options.ignore_unknown_fields => UNKNOWN_FIELD,
            None => {
                let key = info.key();
                let hint = file_field_hint(info, &name);
                let what = format!("{key} has no field '{}'{hint}", spelling::shown(&name));
                return Err(self.lexer.fault(position, &what).into());
            }
        };
        self.lexer.expect(b'=')?;
        self.lexer.peek()?;
        if let Some(OpenValue {
            what: Opened::Value {
                field, field_at, ..
            },
            ..
        }) = self.stack.last_mut()
        {
            *field = number;
            *field_at = self.lexer.position();
        }
        self.begin(false)
    }

    /// Passes a finished value to the top of the stack.
    #[inline]
    fn accept(&mut self, slot: Slot) -> Parsed<Option<Slot>> {
        let Some(open) = self.stack.last() else {
            return Ok(Some(slot));
        };
        match open.what {
            Opened::Value {
                field, field_at, ..
            } => {
                self.parts.push(Part {
                    field,
                    at: field_at,
                    slot,
                });
                self.advance(false)
            }
            Opened::Definition { name, is_line } => {
                let position = open.at;
                self.stack.pop();
                let Name { text, bindings } = &mut self.names[name as usize];
                let waiting = match self.scopes.define(bindings, slot.clone()) {
                    Ok(waiting) => waiting,
                    Err(clash) => {
                        let why = match clash {
                            Clash::Twice => "defined twice",
                            Clash::Used => {
                                "defined again where it is used above; give it another name"
                            }
                        };
                        let what = format!("{text} is {why}");
                        let mut fault = self.lexer.fault(position, &what);
                        fault.end = position + text.len();
                        return Err(fault.into());
                    }
                };
                let definition = self.scopes.definitions.len() as u32 - 1;
                for value in waiting {
                    self.pending[value as usize].what = PendingKind::Name(name, Some(definition));
                }
                if is_line && !self.stack.is_empty() {
                    return self.advance(false);
                }
                Ok(Some(slot))
            }
        }
    }

    /// Ends the value on top of the stack.
    fn close(&mut self) -> Parsed<Slot> {
        let Some(OpenValue {
            what: Opened::Value { kinds, .. },
            base,
            at,
        }) = self.stack.pop()
        else {
            return Ok(Slot::Value(Value::NONE));
        };
        if let Kinds::Object(ty, _) = kinds
            && self.types[ty as usize].is_scope
        {
            self.scopes.close();
        }
        let waits = |part: &Part| matches!(part.slot, Slot::Pending(_));
        if self.parts[base..].iter().any(waits) {
            let parts = self.parts.drain(base..).collect();
            return Ok(self.wait(PendingKind::Value(kinds, parts), at));
        }
        // Taken out for the duration of the call, which does not return here.
        let mut parts = std::mem::take(&mut self.parts);
        let value = self.build(kinds, parts.drain(base..), at);
        self.parts = parts;
        value.map(Slot::Value)
    }
}

impl Slot {
    /// The finished value; available once all pending values are built.
    pub(super) fn into_value(self) -> Value {
        match self {
            Slot::Value(value) => value,
            Slot::Pending(_) => Value::NONE,
        }
    }
}

impl Part {
    /// The part with its value instead of the placeholder.
    pub(super) fn settled(self, value: Value) -> Part {
        Part {
            slot: Slot::Value(value),
            ..self
        }
    }
}
