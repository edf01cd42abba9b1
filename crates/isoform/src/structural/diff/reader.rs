//! Reads a value into tables.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::super::plain_values;
use super::super::sink::Fast;
use super::options::{Ignored, aligns_by_fields};
use super::shared_rows::SharedRows;
use super::tables::{
    Cell, HAS_DAGS, HAS_DEFS, HAS_IDENTITY, HAS_SINGLETONS, HAS_VARS, IGNORED, INHERITED,
    IS_DEFINED, IS_HOOKED, IS_IGNORED, Marks, Node, OPEN, Tables, can_change, empty_rows,
};
use crate::kernel::error::Result;
use crate::kernel::mixing::Mixing;
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::class::Payload;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{Fields, ObjRef, PartRef};
use crate::kernel::pages::Pages;
use crate::kernel::path::AccessPath;
use crate::kernel::types::region::RegionKind;
use crate::kernel::types::{FieldFlag, Kind};
use crate::kernel::value::Value;
use crate::structural::CompareOptions;
use crate::traverse::cursor::{Cursor, Part, View, cyclic, path_of};

impl Tables {
    /// The tables of a value. O(n) for n distinct objects and their parts.
    ///
    /// # Errors
    ///
    /// `ValueError` with the path for a value that contains itself, and for more than
    /// four billion parts; errors of custom hashes.
    pub(super) fn of(value: &Value, options: CompareOptions, ignored: &Ignored) -> Result<Self> {
        let (tables, _) = Tables::read(value, options, ignored, 0, 0, None)?;
        Ok(tables)
    }

    /// The tables of both sides. The left table has about as many objects as `seen`.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub(super) fn of_both(
        [left, right]: [&Value; 2],
        options: CompareOptions,
        ignored: &Ignored,
        seen: usize,
    ) -> Result<[Tables; 2]> {
        let (left, marks) = Tables::read(left, options, ignored, seen, 2 * seen, None)?;
        // Objects in fields left out have rows without any mention in other rows.
        let known = ignored.is_empty().then(|| SharedRows::new(&left, marks));
        let (nodes, cells) = (left.nodes.len(), left.cells.len());
        let (right, _) = Tables::read(right, options, ignored, nodes, cells, known)?;
        Ok([left, right])
    }

    fn read(
        value: &Value,
        options: CompareOptions,
        ignored: &Ignored,
        nodes: usize,
        cells: usize,
        known: Option<SharedRows<'_>>,
    ) -> Result<(Self, Marks)> {
        let (tables, marks, outcome) = access::traversing(|section| {
            let mut reader = Reader::new(options, ignored, known);
            reader.tables.nodes.reserve(nodes);
            reader.tables.cells.reserve(cells);
            let outcome = reader.run(section, value);
            // The tables leave the section, because dropping values may run foreign code.
            (reader.tables, reader.marks, outcome)
        });
        outcome?;
        Ok((tables, marks))
    }
}

/// An open object: a node with the number of its next field, or a container with the
/// last cursor. A cursor per node would be copied around with the node.
struct Frame<'a> {
    fields: Fields<'a>,
    next: usize,
    /// The start of the object's parts among the pending parts.
    base: usize,
    region: RegionKind,
    /// The region of fields without a flag that sets a region.
    inner: RegionKind,
    is_container: bool,
    is_marked: bool,
}

struct Reader<'a, 'o> {
    tables: Tables,
    options: CompareOptions,
    ignored: &'o Ignored,
    known: Option<SharedRows<'o>>,
    sink: Fast<false>,
    frames: Vec<Frame<'a>>,
    /// The cursors of the open containers.
    cursors: Vec<Cursor<'a>>,
    pending: Vec<Cell>,
    /// An object with one owner is met once, and needs no mark.
    marks: Marks,
    /// The nodes of long strings and tensors are values, whose hash is computed once.
    words: HashMap<u64, u64, RandomState>,
    poll: Poll,
}

impl<'a, 'o> Reader<'a, 'o> {
    fn new(options: CompareOptions, ignored: &'o Ignored, known: Option<SharedRows<'o>>) -> Self {
        let (nodes, cells) = empty_rows();
        Reader {
            tables: Tables {
                nodes,
                cells,
                root: Cell::plain(Value::NONE, 0),
                has_dags: false,
            },
            options,
            ignored,
            known,
            sink: Fast(Mixing::of_process()),
            frames: Vec::new(),
            cursors: Vec::new(),
            pending: Vec::new(),
            marks: Pages::default(),
            words: HashMap::default(),
            poll: Poll::default(),
        }
    }

    fn run(&mut self, section: &mut Section, root: &'a Value) -> Result<()> {
        self.part(section, Part::alone(root, RegionKind::Use))?;
        loop {
            self.poll.step(section)?;
            let Some(frame) = self.frames.last_mut() else {
                break;
            };
            if frame.is_container {
                let cursor = self.cursors.last_mut();
                match cursor.and_then(|cursor| cursor.next(section)) {
                    Some(part) => self.part(section, part)?,
                    None => {
                        self.cursors.pop();
                        self.close(section)?;
                    }
                }
                continue;
            }
            // Fields without objects need no separate step.
            let part = loop {
                let Some((slot, loaded)) = frame.fields.get(section, frame.next) else {
                    break None;
                };
                frame.next += 1;
                let mut word = 0;
                match plain_values::add_loaded(&mut self.sink, &mut word, loaded) {
                    Some(object) => break Some((object, frame.inner.of_field(slot.flag))),
                    None => self.pending.push(Cell::plain(loaded.to_value(), word)),
                }
            };
            match part {
                Some((object, region)) => self.meet(section, object, region)?,
                None => self.close(section)?,
            }
        }
        if let Some(root) = self.pending.pop() {
            self.tables.root = root;
        }
        Ok(())
    }

    fn part(&mut self, section: &mut Section, part: Part<'a>) -> Result<()> {
        match part.met {
            PartRef::Object(object) => self.meet(section, object, part.region),
            PartRef::Plain(value) => {
                let value = value.to_value();
                let mut word = 0;
                plain_values::add_inline(&mut self.sink, &mut word, &value);
                self.pending.push(Cell::plain(value, word));
                Ok(())
            }
        }
    }

    #[inline]
    fn meet(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<()> {
        let info = object.info();
        if !info.class().has_parts() {
            let word = self.word_of(object, info);
            let value = Value::from_object(object.to_ref());
            self.pending.push(Cell::plain(value, word));
            return Ok(());
        }
        let is_marked = object.is_shared();
        if is_marked && self.is_known(section, object, region)? {
            return Ok(());
        }
        prefetch_ahead(object);
        let is_container = !matches!(info.class(), Payload::Plain | Payload::Node);
        let fields = if is_container {
            let part = Part::object(object, region);
            let cursor = Cursor::of_container(section, object, part, View::Compared);
            // Every class with parts has a cursor.
            let Some(cursor) = cursor else { return Ok(()) };
            self.cursors.push(cursor);
            Fields::none(object)
        } else {
            object.visited_with(info)
        };
        self.frames.push(Frame {
            fields,
            next: 0,
            base: self.pending.len(),
            region,
            inner: region.inside(info.kind == Kind::Var),
            is_container,
            is_marked,
        });
        Ok(())
    }

    /// The path to the part taken last.
    #[cold]
    fn path(&self, section: &Section) -> AccessPath {
        let mut containers = self.cursors.iter();
        let mut cursors = Vec::with_capacity(self.frames.len());
        for frame in &self.frames {
            if frame.is_container {
                cursors.extend(containers.next());
                continue;
            }
            let object = frame.fields.object();
            let part = Part::object(object, frame.region);
            let mut cursor = Cursor::of_node(object, part, View::Compared);
            while cursor.position() < frame.next && cursor.next(section).is_some() {}
            cursors.push(cursor);
        }
        path_of(cursors.iter())
    }

    /// True if an object was met before, on any side, which makes its node pending.
    /// Otherwise the object is marked as open.
    fn is_known(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<bool> {
        if let Some(rows) = &mut self.known
            && let Some(number) = rows.find(object)
        {
            self.take_over(section, number, region)?;
            return Ok(true);
        }
        let mark = self.marks.word(object.ident());
        match *mark {
            0 => {
                *mark = OPEN;
                Ok(false)
            }
            OPEN => Err(cyclic(object).at(self.path(section))),
            number => {
                self.meet_again(number - 1, region);
                Ok(true)
            }
        }
    }

    /// Adds a node with an existing row to the pending parts.
    #[inline]
    fn meet_again(&mut self, number: u32, region: RegionKind) {
        self.tables.meet_again(number, region);
        self.pending.push(Cell::node(number));
    }

    /// Adds a node of the other side to the pending parts: its row equals the result of
    /// reading the object again.
    fn take_over(&mut self, section: &mut Section, number: u32, region: RegionKind) -> Result<()> {
        let Some(known) = &mut self.known else {
            return Ok(());
        };
        let own = known.take_over(section, &mut self.poll, &mut self.tables, number, region)?;
        self.pending.push(Cell::node(own));
        Ok(())
    }

    /// Adds a node whose parts are the pending parts from `base` on, and makes the node
    /// pending.
    #[inline]
    fn add(&mut self, node: Node, base: usize) {
        let number = self.tables.nodes.len() as u32;
        self.tables.add(node);
        self.tables.cells.extend(self.pending.drain(base..));
        self.pending.push(Cell::node(number));
    }

    /// The hash of an object without parts.
    fn word_of(&mut self, object: ObjRef<'a>, info: &'static TypeInfo) -> u64 {
        if info.class() == Payload::Incomparable {
            return self.sink.0.fold(info.seed ^ object.ident());
        }
        if info.class() != Payload::Tensor {
            return plain_values::of_native(&mut self.sink, object, info, false);
        }
        if let Some(&word) = self.words.get(&object.ident()) {
            return word;
        }
        let skips = self.options.skip_tensor_content;
        let word = plain_values::of_native(&mut self.sink, object, info, skips);
        self.words.insert(object.ident(), word);
        word
    }

    #[inline]
    fn close(&mut self, section: &mut Section) -> Result<()> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let (object, base) = (frame.fields.object(), frame.base);
        let info = object.info();
        let (number, first) = self.tables.room()?;
        let mut node = self.node_of(section, object, info, base, first)?;
        if frame.region != RegionKind::Use && node.is_var() {
            node.flags |= IS_DEFINED;
        }
        if frame.is_marked {
            *self.marks.word(object.ident()) = number + 1;
        }
        self.add(node, base);
        Ok(())
    }

    fn node_of(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        base: usize,
        first: u32,
    ) -> Result<Node> {
        let is_declared = !info.is_builtin();
        let mut flags = 0;
        if is_declared {
            match info.kind {
                Kind::Var => flags |= HAS_VARS,
                Kind::Dag => flags |= HAS_IDENTITY | HAS_DAGS,
                Kind::Singleton => flags |= HAS_SINGLETONS,
                _ => {}
            }
        }
        if can_change(info) {
            flags |= HAS_IDENTITY;
        }
        let step = |acc: u64, word: u64| self.sink.0.fold(acc.rotate_left(5) ^ word);
        let mut shape = step(info.seed, (self.pending.len() - base) as u64);
        let mut skeleton = shape;
        let mut size = u64::from(is_declared);
        let mut own_size = size;
        if let Some(ignored) = self.ignored.fields_of(info) {
            for (cell, slot) in self.pending[base..].iter_mut().zip(&info.visited) {
                if ignored.contains(&(slot.field as usize)) {
                    *cell = Cell::ignored();
                }
            }
        }
        for (position, cell) in self.pending[base..].iter().enumerate() {
            if let Some(slot) = info.visited.get(position)
                && matches!(slot.flag, FieldFlag::Def | FieldFlag::DefSimple)
            {
                flags |= HAS_DEFS;
            }
            match cell.node_number() {
                Some(part) => {
                    let part = self.tables.node(part);
                    shape = step(shape, part.shape);
                    skeleton = step(skeleton, part.skeleton);
                    flags |= part.flags & INHERITED;
                    size = size.saturating_add(part.size);
                    if !part.has(HAS_DAGS) || !part.is_dag() {
                        own_size = own_size.saturating_add(part.own_size);
                    }
                }
                None => skeleton = step(skeleton, cell.word ^ PLAIN),
            }
        }
        if is_declared && info.kind == Kind::Var {
            // The fields of a variable belong to its definition.
            (size, own_size) = (1, 1);
        }
        if is_declared && info.kind == Kind::Singleton {
            // Singletons are equal only to themselves.
            skeleton = step(skeleton, object.ident());
            shape = skeleton;
        }
        if self.ignored.has_type(info) {
            flags |= IS_IGNORED;
            (shape, skeleton) = (IGNORED, IGNORED);
        }
        if info.has_structural_hooks() && !aligns_by_fields(info) {
            flags |= IS_HOOKED;
            let value = Value::from_object(object.to_ref());
            let options = CompareOptions {
                map_free_vars: true,
                ..self.options
            };
            let hash = access::outside(section, || options.hash(&value));
            // An object that cannot be hashed differs from every other object.
            skeleton = match hash {
                Ok(hash) => self.sink.0.fold(hash ^ info.seed),
                Err(error) if error.kind() == crate::kernel::error::ErrorKind::Type => {
                    self.sink.0.fold(object.ident() ^ info.seed)
                }
                Err(error) => return Err(error),
            };
            shape = info.seed;
        }
        Ok(Node {
            object: object.to_ref(),
            first,
            count: (self.pending.len() - base) as u32,
            shape,
            skeleton,
            size,
            own_size,
            type_index: info.index(),
            flags,
        })
    }
}

/// Sets apart values without parts from nodes.
const PLAIN: u64 = 0x5851_f42d_4c95_7f2d;
