//! Statements at several places: fully checked at the first place, and checked only for
//! differences at the other places.

use std::rc::Rc;

use hashbrown::HashSet;

use super::state::{Checker, Record, Summary, Task};
use crate::operands::statements;
use crate::*;
use isoform::host::Place;
use isoform::{Error, Obj, Ref};

impl Checker<'_> {
    /// Begins to record the requirements of a statement.
    pub(super) fn begin_record(&mut self, ident: u64) {
        self.records.push(Record {
            mark: self.scopes.mark(),
            loops: self.loops,
            bodies: self.bodies.len(),
            first_use: self.uses.len(),
            first_definition: self.definitions.len(),
            diverged: std::mem::take(&mut self.diverged),
            jump: usize::MAX,
            yielded: None,
        });
        self.tasks.push(Task::EndRecord(ident));
    }

    pub(super) fn end_record(&mut self, ident: u64) {
        let Some(record) = self.records.pop() else {
            return;
        };
        let definitions = self.definitions.split_off(record.first_definition);
        let own: HashSet<u64> = definitions.iter().map(|var| var.identity()).collect();
        let mut seen = HashSet::new();
        let mut uses = self.uses.split_off(record.first_use);
        uses.retain(|var| !own.contains(&var.identity()) && seen.insert(var.identity()));
        if let Some(outer) = self.records.last_mut() {
            outer.jump = outer.jump.min(record.jump);
            if outer.bodies == record.bodies && record.yielded.is_some() {
                outer.yielded = record.yielded.clone();
            }
            self.uses.extend(uses.iter().cloned());
            self.definitions.extend(definitions.iter().cloned());
        }
        let summary = Summary {
            uses,
            definitions,
            values: self.scopes.since(record.mark).to_vec(),
            diverged: self.diverged,
            jumps: record.jump <= record.loops,
            yielded: record.yielded,
        };
        self.diverged |= record.diverged;
        self.summaries.insert(ident, Rc::new(summary));
    }

    /// Checks a statement again at another place.
    pub(super) fn replay(&mut self, summary: &Summary, stmt: &Ref<Stmt>, place: Place, tail: bool) {
        let recording = !self.records.is_empty();
        for var in &summary.uses {
            if let Some(error) = self.check_use(var) {
                self.fail(place, &stmt.span, error);
            }
        }
        let mut again = None;
        for var in &summary.definitions {
            // Variables defined on some paths only remain without a value.
            let before = self.scopes.note(var.identity(), place, &self.places);
            again = again.or_else(|| Some((var, before?)));
        }
        if let Some((var, before)) = again
            && !self.options.allow_redefinition
        {
            let text = format!(
                "variable '{}' is defined again, after {}, by a statement that occurs at both places",
                var.name_hint,
                self.places.path(before)
            );
            self.fail(place, &stmt.span, Error::value_error(text));
        }
        for var in &summary.values {
            self.scopes.assume(*var);
        }
        if recording {
            self.uses.extend(summary.uses.iter().cloned());
            self.definitions.extend(summary.definitions.iter().cloned());
        }
        if summary.jumps {
            self.jump(self.loops, stmt, place);
        }
        if let Some(yielded) = &summary.yielded {
            self.yielded(yielded, place, tail);
        }
        self.diverged |= summary.diverged;
    }
}

/// Returns the statements with nested statements at several places of a value.
pub(super) fn repeated(root: &Ref<Obj>) -> HashSet<u64> {
    let mut found = HashSet::new();
    let mut met = HashSet::new();
    let mut stack = statements(root);
    while let Some(stmt) = stack.pop() {
        let below = statements(&stmt);
        // The stack and the parent's field are two owners.
        if stmt.owners() > 2 && !below.is_empty() && !met.insert(stmt.identity()) {
            found.insert(stmt.identity());
            continue;
        }
        stack.extend(below);
    }
    found
}
