//! Digests of blocks: equal for the same block of another program, in every process.
//!
//! A digest covers, for each item of the block in order, the form of the item and its
//! edges. An edge to an item of the block is the distance to the item; all other edges
//! are parameters and look the same.

use super::Block;
use super::items::{Form, Items, Token, Word};
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::object::access::Poll;
use crate::structural::digest::Digest;

/// Separates the digests of blocks from all others.
const CONTEXT: &str = "isoform 2026-11-30 block of dataflow nodes, format 1";

/// The names of the words of some items.
pub(super) struct Names<'i> {
    items: &'i Items,
    words: Vec<Option<[u8; 32]>>,
}

impl<'i> Names<'i> {
    /// Names all words. Linear in the distinct shapes and the distinct parts of nodes.
    ///
    /// # Errors
    ///
    /// Errors of custom hashes.
    pub(super) fn of(items: &'i Items) -> Result<Names<'i>> {
        let mut words: Vec<Option<[u8; 32]>> = Vec::new();
        let mut poll = Poll::default();
        for form in items.forms() {
            poll.step_outside()?;
            // A shape consists of words that are older.
            let name = match form {
                None => None,
                Some(Form::Plain(value)) => match Items::PART_OPTIONS.digest(value) {
                    Err(error) if error.kind() == ErrorKind::Type => None,
                    digest => Some(*digest?.as_bytes()),
                },
                Some(Form::Shape(tokens)) => name_of_shape(tokens, &words),
            };
            words.push(name);
        }
        Ok(Names { items, words })
    }

    /// The digest of a block; None if a part of the block cannot be hashed.
    pub(super) fn of_block(&self, block: &Block) -> Option<Digest> {
        let start = *block.starts.first()? as usize;
        let run = start..start + block.length;
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        for item in run.clone() {
            hasher.update(&name_of(self.items.words[item], &self.words)?);
            let edges = self.items.edges(item);
            hasher.update(&(edges.len() as u64).to_le_bytes());
            for edge in edges {
                let target = edge.item as usize;
                let (position, definition) = if run.contains(&target) {
                    ((target - start) as u64 + 1, edge.definition)
                } else {
                    (0, 0)
                };
                hasher.update(&position.to_le_bytes());
                hasher.update(&definition.to_le_bytes());
            }
        }
        Some(Digest::new(*hasher.finalize().as_bytes()))
    }
}

fn name_of(word: Word, words: &[Option<[u8; 32]>]) -> Option<[u8; 32]> {
    *words.get(word as usize)?
}

fn name_of_shape(tokens: &[Token], words: &[Option<[u8; 32]>]) -> Option<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    for token in tokens {
        match token {
            Token::Object(index) => {
                hasher.update(&[1]);
                hasher.update(&Items::type_name(*index));
            }
            Token::Plain(word) => {
                hasher.update(&[2]);
                hasher.update(&name_of(*word, words)?);
            }
            Token::Part(word) => {
                hasher.update(&[3]);
                hasher.update(&name_of(*word, words)?);
            }
            Token::Item => drop(hasher.update(&[4])),
            Token::Use => drop(hasher.update(&[5])),
            Token::Definition => drop(hasher.update(&[6])),
        }
    }
    Some(*hasher.finalize().as_bytes())
}
