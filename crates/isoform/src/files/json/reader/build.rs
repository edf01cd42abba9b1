//! Values from noted nodes, once all nodes are known.

use super::{HOOKED, LITERAL, Node, NodeKind, Note, Noted, Reader, Unfinished};
use crate::files::node_reader::ReadFailure;
use crate::kernel::container::ContainerType;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::value::Value;

impl Reader<'_> {
    /// Builds all noted nodes, in the order of the text except for nodes referring to
    /// later nodes, and checks an unfinished last node.
    pub(super) fn build_all(&mut self) -> Result<()> {
        let mut poll = Poll::default();
        for number in 0..self.nodes.len() {
            poll.step_outside()?;
            let Node::Noted(noted) = self.nodes[number] else {
                continue;
            };
            match self.build(number as u32, noted)? {
                Some(value) => self.nodes[number] = Node::Built(value),
                None => {
                    self.missing.clear();
                    self.waiting.push(number as u32);
                }
            }
        }
        if let Some(Unfinished {
            kind,
            first,
            complete,
        }) = self.unfinished
        {
            let (number, end) = (self.nodes.len() as u32, self.notes.len());
            let noted = Noted { kind, first, end };
            if complete {
                self.build(number, noted)?;
            } else if let NodeKind::Object(plan) = kind {
                self.set_fields(number, plan, noted)?;
            }
        }
        Ok(())
    }

    /// Builds the nodes referring to later nodes.
    ///
    /// Each node is looked at twice: to find its missing parts, and after their build.
    /// The stack holds at most one entry for each reference in the text.
    pub(super) fn settle(&mut self) -> Result<()> {
        for first in std::mem::take(&mut self.waiting) {
            let mut stack = vec![first];
            while let Some(&number) = stack.last() {
                let noted = match self.nodes.get(number as usize) {
                    Some(Node::Noted(noted) | Node::Open(noted)) => *noted,
                    _ => {
                        stack.pop();
                        continue;
                    }
                };
                if let Some(value) = self.build(number, noted)? {
                    self.nodes[number as usize] = Node::Built(value);
                    stack.pop();
                    continue;
                }
                self.nodes[number as usize] = Node::Open(noted);
                for part in std::mem::take(&mut self.missing) {
                    match self.nodes.get(part as usize) {
                        Some(Node::Open(_)) => {
                            let cycle = Error::value_error("the node is part of itself");
                            return Err(self.at_noted(number, noted.kind, &cycle));
                        }
                        Some(_) => stack.push(part),
                        None => {
                            let count = self.nodes.len();
                            let outside = Error::value_error(format!(
                                "node {part} is referred to, and there are {count} nodes"
                            ));
                            return Err(self.at_noted(number, noted.kind, &outside));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Builds a noted node; returns None after listing missing parts in `missing`.
    #[inline]
    fn build(&mut self, number: u32, noted: Noted) -> Result<Option<Value>> {
        match noted.kind {
            NodeKind::Object(plan) => self.build_object(number, plan, noted),
            kind @ NodeKind::Container(index) => {
                let built = self.container(number, index, noted);
                built.map_err(|error| self.at_noted(number, kind, &error))
            }
            // Nothing else has parts to wait for.
            _ => Ok(Some(Value::NONE)),
        }
    }

    #[inline]
    fn build_object(&mut self, number: u32, plan: u32, noted: Noted) -> Result<Option<Value>> {
        if let Some(&Note {
            field: HOOKED,
            number: data,
        }) = self.notes.get(noted.first)
            && noted.first < noted.end
        {
            return self.hooked(number, plan, data).map(Some);
        }
        if !self.set_fields(number, plan, noted)? {
            return Ok(None);
        }
        let ty = &mut self.plans[plan as usize].ty;
        let built = self.built.finish(ty, number as usize);
        built
            .map(Some)
            .map_err(|error| self.at_noted(number, noted.kind, &error))
    }

    /// Sets the fields of an object; returns false, without setting any field, if parts
    /// are missing.
    #[inline]
    fn set_fields(&mut self, number: u32, plan: u32, noted: Noted) -> Result<bool> {
        let ty = &mut self.plans[plan as usize].ty;
        let mut complete = true;
        for &note in &self.notes[noted.first..noted.end] {
            let value = if note.field & LITERAL != 0 {
                self.literals[note.number as usize].clone()
            } else {
                match self.nodes.get_mut(note.number as usize) {
                    Some(Node::Built(value)) => self.built.layout.part(note.number as usize, value),
                    _ => {
                        self.missing.push(note.number);
                        complete = false;
                        continue;
                    }
                }
            };
            let position = (note.field & !LITERAL) as usize;
            if let Err(error) = self.built.set(ty, position, value) {
                return Err(self.at_noted(number, noted.kind, &error));
            }
        }
        if !complete {
            ty.reset();
        }
        Ok(complete)
    }

    #[cold]
    fn hooked(&mut self, number: u32, plan: u32, data: u32) -> Result<Value> {
        let data = std::mem::take(&mut self.literals[data as usize]);
        match self.plans[plan as usize].ty.make(&data) {
            Ok(object) => Ok(object),
            Err(ReadFailure::Hook(error)) => Err(error),
            Err(ReadFailure::Fault(error)) => {
                Err(self.at_noted(number, NodeKind::Object(plan), &error))
            }
        }
    }

    fn container(&mut self, number: u32, index: TypeIndex, noted: Noted) -> Result<Option<Value>> {
        self.parts.clear();
        for note in &self.notes[noted.first..noted.end] {
            match self.nodes.get_mut(note.number as usize) {
                Some(Node::Built(value)) => {
                    let part = self.built.layout.part(note.number as usize, value);
                    self.parts.push(part);
                }
                _ => self.missing.push(note.number),
            }
        }
        if !self.missing.is_empty() {
            self.parts.clear();
            return Ok(None);
        }
        let container = self
            .built
            .layout
            .fill(number as usize, index, &mut self.parts);
        container.map(Some)
    }

    /// An error about a noted node.
    #[cold]
    fn at_noted(&mut self, number: u32, kind: NodeKind, error: &Error) -> Error {
        let key = match kind {
            NodeKind::Object(plan) => self.plans[plan as usize].ty.info().key(),
            NodeKind::Container(index) => ContainerType::of(index).map_or("", |row| row.json),
            _ => "",
        };
        self.current = (number, Some(key.into()));
        self.at_node(error)
    }
}
