//! Builds values with references to names defined further down in a text.

use super::lexer::Lexed;
use super::parser::{ParseFailure, Parsed, Parser, Part, PendingKind, Slot, State};
use super::spelling::Sigil;
use crate::kernel::object::access::Poll;
use crate::kernel::value::Value;

impl Parser<'_> {
    /// Builds all waiting values, and returns the value of the text.
    ///
    /// Each value is examined at most twice: to find the missing parts, and for the
    /// build. The stack holds at most one entry for each reference in the text.
    pub(super) fn settle(&mut self, root: Slot) -> Parsed<Value> {
        let mut poll = Poll::default();
        let mut stack = Vec::new();
        for first in 0..self.pending.len() as u32 {
            stack.push(first);
            while let Some(&number) = stack.last() {
                poll.step_outside().map_err(ParseFailure::Foreign)?;
                if let State::Built(_) = self.pending[number as usize].state {
                    stack.pop();
                    continue;
                }
                let count = stack.len();
                self.missing(number, &mut stack)?;
                if stack.len() == count {
                    self.build_pending(number)?;
                    stack.pop();
                } else {
                    self.pending[number as usize].state = State::Open;
                }
            }
        }
        Ok(self.settled(&root))
    }

    /// Adds the values to be built before a waiting value.
    fn missing(&self, number: u32, stack: &mut Vec<u32>) -> Lexed<()> {
        let pending = &self.pending[number as usize];
        let mut add = |slot: &Slot| {
            let Slot::Pending(part) = *slot else {
                return Ok(());
            };
            match self.pending[part as usize].state {
                State::Built(_) => {}
                State::New if part != number => stack.push(part),
                State::New | State::Open => {
                    let part = &self.pending[part as usize];
                    let mut fault = self.lexer.fault(part.at, "the value is part of itself");
                    fault.end = part.at;
                    if let PendingKind::Name(name, _) = part.what {
                        let text = self.names[name as usize].text;
                        fault.message = format!("{text} is part of itself");
                        fault.end += text.len();
                    }
                    return Err(fault);
                }
            }
            Ok(())
        };
        match &pending.what {
            PendingKind::Name(name, definition) => {
                if let Some(definition) = definition {
                    return add(&self.scopes.definitions[*definition as usize]);
                }
                let name = &self.names[*name as usize];
                let is_constant = name.text.bytes().next().and_then(Sigil::of);
                let why = match is_constant {
                    Some(Sigil::Constant) => ": the section with the constants is missing",
                    _ => "",
                };
                let what = format!("{} is not defined{why}", name.text);
                let mut fault = self.lexer.fault(pending.at, &what);
                fault.end = pending.at + name.text.len();
                Err(fault)
            }
            PendingKind::Value(_, parts) => parts.iter().try_for_each(|part| add(&part.slot)),
        }
    }

    fn build_pending(&mut self, number: u32) -> Parsed<()> {
        let pending = &mut self.pending[number as usize];
        let position = pending.at;
        let value = match &mut pending.what {
            PendingKind::Name(_, Some(definition)) => {
                let definition = self.scopes.definitions[*definition as usize].clone();
                self.settled(&definition)
            }
            PendingKind::Name(_, None) => Value::NONE,
            PendingKind::Value(kinds, parts) => {
                let (kinds, parts) = (*kinds, std::mem::take(parts));
                let parts: Vec<Part> = parts
                    .into_iter()
                    .map(|part| {
                        let value = self.settled(&part.slot);
                        part.settled(value)
                    })
                    .collect();
                self.build(kinds, parts.into_iter(), position)?
            }
        };
        self.pending[number as usize].state = State::Built(value);
        Ok(())
    }

    /// The value of a built slot.
    fn settled(&self, slot: &Slot) -> Value {
        match slot {
            Slot::Value(value) => value.clone(),
            Slot::Pending(number) => match &self.pending[*number as usize].state {
                State::Built(value) => value.clone(),
                State::New | State::Open => Value::NONE,
            },
        }
    }
}
