//! Errors and their paths.

use super::super::sink::Sink;
use super::{Hasher, Job};
use crate::kernel::error::{Error, ErrorKind};
use crate::kernel::path::{AccessPath, AccessStep};

impl<S: Sink> Hasher<'_, S> {
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind, text: String) -> Error {
        Error::new(kind, text).at(AccessPath::from_steps(self.steps()))
    }

    #[cold]
    pub(super) fn error_below(
        &self,
        kind: ErrorKind,
        text: String,
        step: Option<AccessStep>,
    ) -> Error {
        let steps = self.steps().into_iter().chain(step).collect();
        Error::new(kind, text).at(AccessPath::from_steps(steps))
    }

    /// The path of the object to which the frames lead.
    pub(super) fn steps(&self) -> Vec<AccessStep> {
        let mut steps = Vec::new();
        for frame in &self.stack {
            let Some(position) = frame.next.checked_sub(1) else {
                continue;
            };
            let position = position as usize;
            match frame.job {
                Job::Fields | Job::LastField => {
                    let info = frame.object.info();
                    if let Some(slot) = info.visited.get(position) {
                        let name = info.fields()[slot.field as usize].name();
                        steps.push(AccessStep::Attr(name.to_string()));
                    }
                }
                Job::Items => steps.push(AccessStep::ArrayItem(position)),
                Job::Entries => {
                    let entry = self.tables.orders.get(frame.extra as usize + position);
                    let map = frame.object.entries();
                    if let (Some(&entry), Some(map)) = (entry, map)
                        && let Some((key, _)) = map.entry(entry as usize)
                    {
                        steps.push(AccessStep::MapItem(key.clone()));
                    }
                }
                _ => {}
            }
        }
        steps
    }
}
