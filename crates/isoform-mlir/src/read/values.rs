//! The machine that reads types, attributes and locations, however deep they nest.
//!
//! A value with parts names the kind of its next part, and leaves the rest of its reading
//! for when the part is complete; then it asks for another part or is complete itself. The
//! rests are on a stack of their own, so depth takes no native stack.

use isoform::{Obj, Ref};

use super::Reader;
use super::fault::Read;
use super::lexer::Token;

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

/// The rest of reading a value, after a part of it.
pub(super) type Rest<'t> = Box<dyn FnOnce(&mut Reader<'t>, Object) -> Read<Step<'t>> + 't>;

/// The next step of reading a value.
pub(super) enum Step<'t> {
    /// The value is complete.
    Done(Object),
    /// The value needs a part.
    Open(Want, Rest<'t>),
}

/// The step of a complete value.
pub(super) fn done<'t>(value: Ref<impl isoform::Node>) -> Read<Step<'t>> {
    Ok(Step::Done(value.into_object()))
}

/// The step of a value that needs a part.
pub(super) fn open<'t>(
    want: Want,
    rest: impl FnOnce(&mut Reader<'t>, Object) -> Read<Step<'t>> + 't,
) -> Read<Step<'t>> {
    Ok(Step::Open(want, Box::new(rest)))
}

/// The step of a value that needs a part and ends with a character after it.
pub(super) fn open_last<'t, N: isoform::Node>(
    want: Want,
    end: u8,
    make: impl FnOnce(Object) -> Ref<N> + 't,
) -> Read<Step<'t>> {
    open(want, move |reader, part| {
        reader.cursor.expect(end)?;
        done(make(part))
    })
}

/// The step of a value that needs at least one more part of a list.
fn open_next<'t>(
    want: Want,
    end: u8,
    mut parts: Vec<Object>,
    rest: impl FnOnce(&mut Reader<'t>, Vec<Object>) -> Read<Step<'t>> + 't,
) -> Read<Step<'t>> {
    open(want, move |reader, part| {
        parts.push(part);
        if reader.cursor.goes_on(end)? {
            return open_next(want, end, parts, rest);
        }
        rest(reader, parts)
    })
}

impl<'t> Reader<'t> {
    /// Begins a list of parts with commas between them, up to a closing character.
    pub(super) fn open_list(
        &mut self,
        want: Want,
        end: u8,
        rest: impl FnOnce(&mut Self, Vec<Object>) -> Read<Step<'t>> + 't,
    ) -> Read<Step<'t>> {
        if self.cursor.eat(end)? {
            return rest(self, Vec::new());
        }
        open_next(want, end, Vec::new(), rest)
    }

    /// Reads a list with commas, up to a closing character.
    pub(super) fn list<T>(
        &mut self,
        end: u8,
        mut read: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        let mut parts = Vec::new();
        if self.cursor.eat(end)? {
            return Ok(parts);
        }
        loop {
            parts.push(read(self)?);
            if !self.cursor.goes_on(end)? {
                return Ok(parts);
            }
        }
    }

    /// Reads a value of the wanted kind.
    pub(super) fn value(&mut self, want: Want) -> Read<Object> {
        let bottom = self.rests.len();
        let mut step = self.begin(want)?;
        loop {
            match step {
                Step::Open(want, rest) => {
                    self.rests.push(rest);
                    step = self.begin(want)?;
                }
                Step::Done(value) if self.rests.len() > bottom => match self.rests.pop() {
                    Some(rest) => step = rest(self, value)?,
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
}
