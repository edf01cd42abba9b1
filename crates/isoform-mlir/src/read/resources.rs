//! The section of a file with the contents of `dense_resource`, and their settlement.

use hashbrown::HashMap;
use isoform::values::Bytes;
use isoform::{Map, Str};
use rapidhash::fast::RandomState;

use super::Reader;
use super::fault::{Fault, Read, refuse};
use super::hex::hex_string;
use super::lexer::Kind;

/// The dialect whose resources `dense_resource` names.
const BUILTIN: &str = "builtin";

/// The blobs of a file.
#[derive(Default)]
pub(super) struct Resources {
    /// Alignment and contents of the builtin dialect's blobs, by key.
    pub(super) builtin: HashMap<Str, (i64, Bytes), RandomState>,
    /// The contents of other dialects' blobs.
    pub(super) other: HashMap<Str, Map<Str, Bytes>, RandomState>,
}

impl Reader<'_> {
    /// Reads `{-# … #-}`.
    pub(super) fn read_resources(&mut self) -> Read<()> {
        self.cursor.take()?;
        if self.cursor.token.kind == Kind::CloseResources {
            self.cursor.take()?;
            return Ok(());
        }
        loop {
            let at = self.cursor.token;
            let part = self.read_key("'dialect_resources' or 'external_resources'")?;
            let is_dialect = part == "dialect_resources";
            if !is_dialect && part != "external_resources" {
                let message =
                    format!("expected 'dialect_resources' or 'external_resources', got '{part}'");
                return refuse(at, message);
            }
            self.cursor.expect(b':')?;
            self.read_entries("the name of a dialect or tool", |reader, owner| {
                reader.read_entries("the key of a resource", |reader, key| {
                    if is_dialect {
                        reader.read_blob(&owner, key)
                    } else {
                        reader.skip_external()
                    }
                })
            })?;
            if !self.cursor.eat(b',')? {
                break;
            }
        }
        let expected = "',' or '#-}'";
        self.cursor.expect_kind(Kind::CloseResources, expected)?;
        Ok(())
    }

    /// Reads `{key: value, …}`, where the last comma may be superfluous.
    fn read_entries(
        &mut self,
        expected: &str,
        mut read: impl FnMut(&mut Self, Str) -> Read<()>,
    ) -> Read<()> {
        self.cursor.expect(b'{')?;
        while !self.cursor.is(b'}') {
            let key = self.read_key(expected)?;
            self.cursor.expect(b':')?;
            read(self, key)?;
            if !self.cursor.eat(b',')? {
                break;
            }
        }
        self.cursor.expect(b'}')?;
        Ok(())
    }

    /// The contents of a resource of a dialect.
    fn read_blob(&mut self, dialect: &Str, key: Str) -> Read<()> {
        let token = self
            .cursor
            .expect_kind(Kind::String, "the bytes of the resource")?;
        let fault = |message: &str| Fault::new(token, message);
        let bytes = hex_string(self.cursor.slice(token))
            .filter(|bytes| bytes.len() >= 4)
            .ok_or_else(|| fault("expected \"0x\", four bytes of alignment and the contents"))?;
        let (alignment, contents) = bytes.split_at(4);
        let alignment = alignment.iter().rev();
        let alignment = alignment.fold(0_i64, |sum, &byte| sum << 8 | i64::from(byte));
        let contents = Bytes::from(contents.to_vec());
        let is_new = if dialect.as_str() == BUILTIN {
            self.resources
                .builtin
                .insert(key, (alignment, contents))
                .is_none()
        } else {
            let blobs = self.resources.other.entry(dialect.clone()).or_default();
            blobs.insert(key, contents).is_none()
        };
        if is_new {
            Ok(())
        } else {
            Err(fault("expected one resource of this key"))
        }
    }

    /// A value for a tool, which is not a part of the program.
    fn skip_external(&mut self) -> Read<()> {
        let is_bool = self.cursor.is_word("true") || self.cursor.is_word("false");
        if self.cursor.token.kind != Kind::String && !is_bool {
            return Err(self.cursor.unexpected("a string, 'true' or 'false'"));
        }
        self.cursor.take()?;
        Ok(())
    }
}
