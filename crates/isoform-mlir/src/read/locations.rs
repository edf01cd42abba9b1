//! Locations.

use hashbrown::HashSet;
use isoform::Value;
use isoform::compare::StructuralKey;

use super::Reader;
use super::fault::{Read, refuse};
use super::lexer::Kind;
use super::numbers::text_value;
use super::tokens::is_alias;
use super::values::{Object, Step, Want, done, open, open_last};
use crate::nodes::{CallSiteLocation, FileLocation, FusedLocation, NameLocation, UnknownLocation};

/// The location of an operation or an argument.
#[derive(Clone)]
pub(super) enum Place<'t> {
    None,
    Known(Object),
    /// An alias, which may be defined later, and its position.
    Alias(&'t [u8], usize),
}

impl<'t> Reader<'t> {
    /// Reads `loc(…)` if it is next.
    pub(super) fn read_place(&mut self) -> Read<Place<'t>> {
        if !self.cursor.is_call("loc", b'(') {
            return Ok(Place::None);
        }
        self.cursor.take()?;
        self.cursor.take()?;
        let token = self.cursor.token;
        let place = if token.kind == Kind::Attribute && is_alias(self.cursor.text, token) {
            self.cursor.take()?;
            Place::Alias(self.cursor.slice(token), token.start)
        } else {
            Place::Known(self.value(Want::Location)?)
        };
        self.cursor.expect(b')')?;
        Ok(place)
    }

    pub(super) fn begin_location(&mut self) -> Read<Step<'t>> {
        let token = self.cursor.token;
        match token.kind {
            Kind::String => {
                self.cursor.take()?;
                let name = text_value(self.cursor.string(token));
                if self.cursor.eat(b'(')? {
                    return open_last(Want::Location, b')', |child| NameLocation::new(name, child));
                }
                if self.cursor.eat(b':')? {
                    return self.file_location(name);
                }
                done(NameLocation::new(name, None))
            }
            Kind::Attribute => self.begin_dialect(token),
            Kind::Word => match self.cursor.slice(token) {
                b"unknown" => {
                    self.cursor.take()?;
                    done(UnknownLocation::new())
                }
                b"callsite" => {
                    self.cursor.take()?;
                    self.cursor.expect(b'(')?;
                    open(Want::Location, |reader, callee| {
                        reader.cursor.expect_word("at")?;
                        open_last(Want::Location, b')', |caller| {
                            CallSiteLocation::new(callee, caller)
                        })
                    })
                }
                b"fused" => {
                    self.cursor.take()?;
                    if self.cursor.eat(b'<')? {
                        return open(Want::Attribute, |reader, metadata| {
                            reader.cursor.expect(b'>')?;
                            reader.begin_fused(Some(metadata))
                        });
                    }
                    self.begin_fused(None)
                }
                _ => Err(self.cursor.unexpected("a location")),
            },
            _ => Err(self.cursor.unexpected("a location")),
        }
    }

    /// `line`, `line:column` or a range, after the file and a colon.
    fn file_location(&mut self, file: Value) -> Read<Step<'t>> {
        let line = self.cursor.expect_number("a line")?;
        let mut location = FileLocation::new(file, line);
        if self.cursor.eat(b':')? {
            let column = self.cursor.expect_number("a column")?;
            location = location.with_column(column);
        }
        if self.cursor.eat_word("to")? {
            let mut end_line = line;
            if self.cursor.is_number() {
                end_line = self.cursor.expect_number("a line")?;
            }
            location = location.with_end_line(end_line);
            if self.cursor.eat(b':')? {
                let end_column = self.cursor.expect_number("a column")?;
                location = location.with_end_column(end_column);
            }
        }
        done(location)
    }

    fn begin_fused(&mut self, metadata: Option<Object>) -> Read<Step<'t>> {
        self.cursor.expect(b'[')?;
        self.open_list(Want::Location, b']', |_, locations| {
            Ok(Step::Done(fused(metadata, locations)))
        })
    }

    /// The location that a place stands for, at the end of the text.
    pub(super) fn settle_place(&self, place: Place<'t>) -> Read<Option<Object>> {
        match place {
            Place::None => Ok(None),
            Place::Known(location) => Ok(Some(location)),
            Place::Alias(name, at) => match self.aliases.find(name) {
                Some(number) => Ok(Some(self.aliases.all[number].value.clone())),
                None => {
                    let shown = String::from_utf8_lossy(name);
                    let message = format!("expected a location that is defined, got {shown}");
                    refuse(at..at + name.len(), message)
                }
            },
        }
    }
}

/// Several locations, in the form to which MLIR reduces them: without repetitions and
/// unknown ones.
fn fused(metadata: Option<Object>, given: Vec<Object>) -> Object {
    let mut seen = HashSet::new();
    let mut locations: Vec<Object> = Vec::with_capacity(given.len());
    for location in given {
        let is_new = StructuralKey::new(&location).map_or(true, |key| seen.insert(key));
        if is_new && !location.isa::<UnknownLocation>() {
            locations.push(location);
        }
    }
    match (locations.len(), &metadata) {
        (0, None) => UnknownLocation::new().into_object(),
        (1, None) => locations.swap_remove(0),
        _ => FusedLocation::new(locations, metadata).into_object(),
    }
}
