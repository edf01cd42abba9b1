//! Aliases of types, attributes and locations.

use std::ops::Range;
use std::rc::Rc;

use hashbrown::HashMap;
use isoform::Array;
use rapidhash::fast::RandomState;

use super::Reader;
use super::fault::{Read, refuse};
use super::lexer::{Kind, Token};
use super::values::{Object, Want};

/// The aliases that are defined so far.
#[derive(Default)]
pub(super) struct Aliases<'t> {
    /// The number of an alias, by its name with the sigil.
    numbers: HashMap<&'t [u8], usize, RandomState>,
    pub(super) all: Vec<Alias>,
}

pub(super) struct Alias {
    pub(super) value: Object,
    /// The definition.
    pub(super) range: Range<usize>,
    /// True if the value refers to symbols or resources.
    pub(super) is_unsettled: bool,
    /// The tokens of the definition and their spaces, once a body has asked for them.
    pub(super) tokens: Option<(Array, Rc<[u8]>)>,
}

impl Aliases<'_> {
    /// The number of an alias.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        self.numbers.get(name).copied()
    }
}

impl<'t> Reader<'t> {
    /// Reads `#name = attribute` or `!name = type`.
    pub(super) fn read_alias(&mut self) -> Read<()> {
        let token = self.cursor.take()?;
        let name = self.cursor.slice(token);
        if name.contains(&b'.') {
            return refuse(token, "expected the name of an alias without dots");
        }
        if self.aliases.find(name).is_some() {
            let name = String::from_utf8_lossy(name);
            return refuse(token, format!("expected one definition of {name}"));
        }
        self.cursor.expect(b'=')?;
        let start = self.cursor.token.start;
        let unsettled = self.unsettled;
        let want = if token.kind == Kind::Type {
            Want::Type
        } else {
            Want::Attribute
        };
        let value = self.value(want)?;
        let alias = Alias {
            value,
            range: start..self.cursor.last_end,
            is_unsettled: self.unsettled != unsettled,
            tokens: None,
        };
        self.aliases.numbers.insert(name, self.aliases.all.len());
        self.aliases.all.push(alias);
        Ok(())
    }

    /// The value of the alias that a token names.
    pub(super) fn aliased(&mut self, token: Token) -> Read<Object> {
        let name = self.cursor.slice(token);
        match self.aliases.find(name) {
            Some(number) => {
                let alias = &self.aliases.all[number];
                self.unsettled += usize::from(alias.is_unsettled);
                Ok(alias.value.clone())
            }
            None => {
                let name = String::from_utf8_lossy(name);
                let message = format!("expected an alias that is defined before, got {name}");
                refuse(token, message)
            }
        }
    }
}
