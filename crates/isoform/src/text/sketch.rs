//! The types of a text without their declarations.

use super::lexer::{Lexed, Lexer};
use super::literals::{self, Kinds, Literal};
use crate::files::json::read_data_at;
use crate::kernel::error::Error;
use crate::kernel::types::Schema;
use crate::kernel::types::stand_ins::TypeSketch;

/// The types of a text, as far as the text describes them, up to a fault in its words, which is
/// the second part; reading finds other faults. O(n).
pub fn type_sketches(text: &str) -> (Vec<TypeSketch>, Option<Error>) {
    let mut sketcher = Sketcher {
        lexer: Lexer::new(text),
        types: Vec::new(),
        open: Vec::new(),
    };
    let fault = sketcher.run().err();
    (sketcher.types, fault.map(|fault| fault.into_error(text)))
}

struct Sketcher<'a> {
    lexer: Lexer<'a>,
    types: Vec<TypeSketch>,
    /// The values that are open: the type of an object, and None for a container.
    open: Vec<Option<usize>>,
}

impl<'a> Sketcher<'a> {
    fn run(&mut self) -> Lexed<()> {
        // True at the start of a field of an object.
        let mut is_item = false;
        // The name that is defined by the next value.
        let mut label: Option<&'a str> = None;
        while let Some(byte) = self.lexer.peek()? {
            let position = self.lexer.position();
            match byte {
                b',' | b'=' | b':' => {
                    self.lexer.go_to(position + 1);
                    is_item = byte == b',' && matches!(self.open.last(), Some(Some(_)));
                    continue;
                }
                b')' | b']' | b'}' => {
                    self.lexer.go_to(position + 1);
                    self.open.pop();
                    is_item = false;
                    continue;
                }
                _ => {}
            }
            if Lexer::is_name(Some(byte)) {
                let name = self.lexer.name()?;
                // Otherwise it refers to a value.
                label = matches!(self.lexer.peek()?, Some(b'=' | b':')).then_some(name);
                is_item = false;
                continue;
            }
            if std::mem::take(&mut is_item) {
                self.field(byte)?;
                continue;
            }
            let label = label.take();
            match literals::take(&mut self.lexer, Some(byte))? {
                Literal::Value(_) => {}
                Literal::Open(Kinds::Container(_) | Kinds::Object(..)) => self.open.push(None),
                Literal::Object(key) => {
                    let ty = self.number(&key);
                    let digits = |label: &str| label[1..].bytes().all(|b| b.is_ascii_digit());
                    self.types[ty].is_named |= label.is_some_and(|label| !digits(label));
                    self.open.push(Some(ty));
                    is_item = true;
                }
                Literal::Hooked(key) => {
                    let ty = self.number(&key);
                    self.types[ty].is_hooked = true;
                    let start = self.lexer.position();
                    let (_, end) = read_data_at(self.lexer.text(), start)
                        .map_err(|error| self.lexer.fault(start, error.message()))?;
                    self.lexer.go_to(end);
                }
            }
        }
        Ok(())
    }

    /// Takes the name of a field.
    fn field(&mut self, byte: u8) -> Lexed<()> {
        let start = self.lexer.position();
        let name = match byte {
            b'"' => self.lexer.string()?,
            _ => self.lexer.word().into(),
        };
        if self.lexer.position() == start {
            return Err(self.lexer.unexpected("a field, a definition or ')'"));
        }
        if let Some(&Some(ty)) = self.open.last() {
            self.types[ty].add(&name, Schema::Any);
        }
        self.lexer.expect(b'=')
    }

    fn number(&mut self, key: &str) -> usize {
        let known = self.types.iter().position(|ty| ty.key == key);
        known.unwrap_or_else(|| {
            self.types.push(TypeSketch::new(key));
            self.types.len() - 1
        })
    }
}
