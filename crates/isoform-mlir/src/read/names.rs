//! Names of values and blocks, by scope.
//!
//! A name is visible in the region of its definition and in the regions inside, before the
//! definition, too. Names that are visible at one place are different, so one table holds
//! the visible names, and a region removes its own at the end.
//!
//! A use without a visible definition waits. Regions have numbers in the order of their
//! beginnings; a definition in a region is the one for the uses that wait in regions with
//! its number or a higher one, because those regions are inside. These uses are the last in
//! the list of the name.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::Reader;
use super::fault::{Read, refuse};
use super::lexer::{Kind, Token};
use super::locations::Place;
use super::records::{BlockRecord, Id, Span, UNKNOWN, ValueRecord};

/// Values of one definition.
#[derive(Clone, Copy)]
struct Group {
    first: Id,
    count: Id,
}

/// A use that waits for a definition.
struct Waiting {
    /// The position in the operands.
    operand: Id,
    number: Id,
    region: Id,
    token: Token,
}

/// The visible names, and the uses that wait.
#[derive(Default)]
pub(super) struct Names<'t> {
    visible: HashMap<&'t [u8], Group, RandomState>,
    waiting: HashMap<&'t [u8], Vec<Waiting>, RandomState>,
}

/// A region that is being read.
pub(super) struct OpenRegion<'t> {
    pub(super) id: Id,
    /// The block that is being read.
    pub(super) block: Option<Id>,
    pub(super) blocks: Vec<Id>,
    /// The names that end with the region.
    names: Vec<&'t [u8]>,
    labels: HashMap<&'t [u8], Label, RandomState>,
}

/// A block that has a name.
struct Label {
    block: Id,
    is_defined: bool,
    token: Token,
}

impl OpenRegion<'_> {
    pub(super) fn new(id: Id) -> Self {
        OpenRegion {
            id,
            block: None,
            blocks: Vec::new(),
            names: Vec::new(),
            labels: HashMap::default(),
        }
    }
}

impl<'t> Reader<'t> {
    /// Reads a use, `%name` or `%name#1`, as an operand.
    pub(super) fn read_use(&mut self) -> Read<()> {
        let token = self
            .cursor
            .expect_kind(Kind::Value, "a value, such as %0")?;
        let name = self.cursor.slice(token);
        let mut number = 0;
        let next = self.cursor.token;
        if next.kind == Kind::Attribute {
            let digits = &self.cursor.slice(next)[1..];
            let text = std::str::from_utf8(digits).unwrap_or_default();
            number = match text.parse::<Id>() {
                Ok(number) if digits.iter().all(u8::is_ascii_digit) => number,
                _ => return Err(self.cursor.unexpected("the number of a result")),
            };
            self.cursor.take()?;
        }
        let operand = self.records.operands.len() as Id;
        if let Some(&group) = self.names.visible.get(name) {
            let value = self.numbered(group, number, token)?;
            self.records.operands.push(value);
            return Ok(());
        }
        let region = self.region().id;
        let waiting = self.names.waiting.entry(name).or_default();
        waiting.push(Waiting {
            operand,
            number,
            region,
            token,
        });
        self.records.operands.push(UNKNOWN);
        Ok(())
    }

    fn numbered(&self, group: Group, number: Id, token: Token) -> Read<Id> {
        if number < group.count {
            return Ok(group.first + number);
        }
        let name = String::from_utf8_lossy(self.cursor.slice(token));
        let message = match group.count {
            1 => format!("expected {name} with one result, got result #{number}"),
            count => format!("expected one of the {count} results of {name}, got #{number}"),
        };
        refuse(token, message)
    }

    /// Defines `count` values, under the name of the token if there is a token.
    pub(super) fn define(&mut self, token: Option<Token>, count: Id) -> Read<Id> {
        let first = self.records.values.len() as Id;
        let region = self.region().id;
        let name = token.map_or(&[][..], |token| &self.cursor.slice(token)[1..]);
        if self.records.values.len() + count as usize > self.cursor.text.len() {
            let at = token.map_or(0, |token| token.start);
            let message = format!("expected a type for each of the {count} results");
            return refuse(at..at, message);
        }
        for number in 0..count {
            self.records.values.push(ValueRecord {
                ty: None,
                name,
                number: (count > 1).then_some(number),
                place: Place::None,
                region,
                is_forward: false,
                is_unsettled: false,
            });
        }
        if let Some(token) = token {
            self.publish(token, Group { first, count })?;
        }
        Ok(first)
    }

    /// Makes a name visible, and settles the uses that wait for it.
    fn publish(&mut self, token: Token, group: Group) -> Read<()> {
        let name = self.cursor.slice(token);
        let region = self.region().id;
        if self.names.visible.insert(name, group).is_some() {
            let shown = String::from_utf8_lossy(name);
            let message = format!("expected a name that is not visible here, got {shown} again");
            return refuse(token, message);
        }
        self.region_mut().names.push(name);
        while let Some(waiting) = self.names.waiting.get_mut(name)
            && waiting.last().is_some_and(|last| last.region >= region)
            && let Some(last) = waiting.pop()
        {
            if waiting.is_empty() {
                self.names.waiting.remove(name);
            }
            let value = self.numbered(group, last.number, last.token)?;
            self.records.operands[last.operand as usize] = value;
            self.records.values[value as usize].is_forward = true;
        }
        Ok(())
    }

    /// The block of a name, as a successor.
    pub(super) fn read_successor(&mut self) -> Read<()> {
        let token = self
            .cursor
            .expect_kind(Kind::Block, "a block, such as ^bb1")?;
        if self.cursor.is(b'(') {
            return Err(self.cursor.unexpected(
                "',' or ']', since the values for a successor are operands in the generic form",
            ));
        }
        let block = self.block_named(token);
        self.records.successors.push(block);
        Ok(())
    }

    fn block_named(&mut self, token: Token) -> Id {
        let name = self.cursor.slice(token);
        if let Some(label) = self.region().labels.get(name) {
            return label.block;
        }
        let block = self.records.blocks.len() as Id;
        self.records.blocks.push(BlockRecord {
            name: &name[1..],
            ..BlockRecord::default()
        });
        let label = Label {
            block,
            is_defined: false,
            token,
        };
        self.region_mut().labels.insert(name, label);
        block
    }

    /// Begins the block of a label.
    pub(super) fn define_block(&mut self, token: Token) -> Read<Id> {
        let block = self.block_named(token);
        let name = self.cursor.slice(token);
        let region = self.region_mut();
        if let Some(label) = region.labels.get_mut(name) {
            if label.is_defined {
                let shown = String::from_utf8_lossy(name);
                let message = format!("expected one block {shown} in the region");
                return refuse(token, message);
            }
            label.is_defined = true;
        }
        region.blocks.push(block);
        region.block = Some(block);
        Ok(block)
    }

    /// The block for the next operation; an entry block without a label if there is none.
    pub(super) fn current_block(&mut self) -> Id {
        if let Some(block) = self.region().block {
            return block;
        }
        let block = self.records.blocks.len() as Id;
        self.records.blocks.push(BlockRecord::default());
        let region = self.region_mut();
        region.blocks.push(block);
        region.block = Some(block);
        block
    }

    /// Ends the names of a region.
    pub(super) fn end_names(&mut self, region: &OpenRegion<'t>) -> Read<()> {
        let missing = region.labels.values().filter(|label| !label.is_defined);
        if let Some(label) = missing.min_by_key(|label| label.token.start) {
            let shown = self.cursor.shown(label.token);
            let message = format!("expected a block of the region, got {shown}");
            return refuse(label.token, message);
        }
        for name in &region.names {
            self.names.visible.remove(name);
        }
        Ok(())
    }

    /// Refuses uses that still wait at the end of the file.
    pub(super) fn check_waiting(&self) -> Read<()> {
        let waiting = self.names.waiting.values().flatten();
        match waiting.min_by_key(|waiting| waiting.token.start) {
            None => Ok(()),
            Some(&Waiting { token, .. }) => {
                let shown = self.cursor.shown(token);
                refuse(
                    token,
                    format!("expected a value that is defined, got {shown}"),
                )
            }
        }
    }

    /// The arguments of a block, from the parenthesis on.
    pub(super) fn read_arguments(&mut self, block: Id) -> Read<()> {
        let start = self.records.values.len() as Id;
        self.cursor.expect(b'(')?;
        self.list(b')', |reader| {
            let expected = "an argument, such as %arg0";
            let token = reader.cursor.expect_kind(Kind::Value, expected)?;
            let value = reader.define(Some(token), 1)?;
            reader.cursor.expect(b':')?;
            reader.read_argument_type(value)
        })?;
        let end = self.records.values.len() as Id;
        self.records.blocks[block as usize].arguments = Span { start, end };
        Ok(())
    }
}
