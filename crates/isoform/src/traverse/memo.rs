//! The results of objects, by identity number.

use super::rewrite::Outcome;
use crate::kernel::pages::{Pages, empty};

/// Results of objects; an object is open between entering and leaving.
#[derive(Default)]
pub struct Results {
    /// The index in `results` plus one; zero for an unvisited object.
    positions: Pages<u32, 256>,
    /// None while the object is open.
    results: Vec<Option<Outcome>>,
}

impl Results {
    /// Looks up the result of an object. Returns None for an unknown object and
    /// `Some(None)` for an open object.
    #[inline]
    pub fn found(&mut self, ident: u64) -> Option<Option<&Outcome>> {
        let position = self.positions.get(ident)?.checked_sub(1)?;
        self.results.get(position as usize).map(Option::as_ref)
    }

    /// As [`found`](Self::found), for an owner.
    pub(crate) fn get(&mut self, ident: u64) -> Option<Option<Outcome>> {
        self.found(ident).map(Option::<&Outcome>::cloned)
    }

    /// Notes that the result of an object is being computed.
    pub fn open(&mut self, ident: u64) {
        *self.entry(ident) = None;
    }

    /// Notes the result of an object.
    pub fn set(&mut self, ident: u64, result: Outcome) {
        *self.entry(ident) = Some(result);
    }

    /// Forgets all objects, keeping part of the memory.
    pub(crate) fn clear(&mut self) {
        self.positions.clear();
        empty(&mut self.results);
    }

    /// Forgets an object.
    pub(crate) fn forget(&mut self, ident: u64) {
        *self.positions.word(ident) = 0;
    }

    fn entry(&mut self, ident: u64) -> &mut Option<Outcome> {
        let position = self.positions.word(ident);
        if *position == 0 {
            self.results.push(None);
            // More than four billion shared objects do not fit into memory.
            *position = self.results.len() as u32;
        }
        let at = *position as usize - 1;
        &mut self.results[at]
    }
}
