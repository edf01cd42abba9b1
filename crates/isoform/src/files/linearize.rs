//! A value as a list of nodes, with every node after its parts.
//!
//! Equal plain values are one node; each object is one node, however often visited, to
//! keep sharing. The root is the last node.

use hashbrown::HashMap;

use crate::kernel::container::{ContainerType, ShapeObj, TensorObj};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::class::Payload;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::pages::Pages;
use crate::kernel::types::singletons;
use crate::kernel::types::{Kind, RegionKind};
use crate::kernel::value::{Value, ValueRef, canonical_float_bits};
use crate::traverse::cursor::{Cursor, Part, View, cyclic, path_of};

/// Receives nodes. Each call writes one node, numbered by the count of earlier calls;
/// `parts` are the numbers of the node's parts.
pub(crate) trait Sink {
    /// True for a sink that leaves parts out, by [`is_full`](Sink::is_full).
    const IS_LIMITED: bool = false;
    /// True if there is no room for another part; asked once for each part.
    fn is_full(&mut self) -> bool {
        false
    }
    /// Writes the node that takes the place of all parts that are left out.
    fn ellipsis(&mut self) -> Result<()> {
        Ok(())
    }
    /// A value without parts: plain, a shape or a tensor.
    fn plain(&mut self, value: ValueRef<'_>) -> Result<()>;
    /// An array or list, or the keys and values of a map or dict in turn.
    fn container(&mut self, container: &ContainerType, parts: &[u32], number: u32);
    /// An object of a declared type; `parts` are its fields that are not
    /// [inline](crate::kernel::object::field::Inline), parents' first.
    fn object(
        &mut self,
        section: &mut Section,
        object: ObjRef<'_>,
        parts: &[u32],
        number: u32,
    ) -> Result<()>;
    /// The data returned by a hook for an object of this type.
    fn hooked(&mut self, info: &'static TypeInfo, data: &Value) -> Result<()>;
    /// A function or an opaque object. Returns false, writing nothing, if the format
    /// has no node for the value.
    fn other(&mut self, value: &Value) -> Result<bool> {
        let _ = value;
        Ok(false)
    }
}

/// Sends the nodes of a value to a sink; the last one is the value itself.
///
/// Linear in the number of distinct objects, with 56 bytes per level of depth.
///
/// # Errors
///
/// With the path: `TypeError` for values that cannot be written and
/// `ValueError` for a cycle; any error of the sink or a hook.
pub(crate) fn linearize<S: Sink>(root: &Value, sink: &mut S) -> Result<u32> {
    let mut walk = Linearizer {
        sink,
        stack: Vec::new(),
        parts: Vec::new(),
        count: 0,
        marks: Pages::default(),
        words: HashMap::default(),
        texts: HashMap::default(),
        singletons: Vec::new(),
        ellipsis: None,
    };
    access::traversing(|section| {
        walk.run(section, root)?;
        if !walk.singletons.is_empty() {
            singletons::remember(&walk.singletons)?;
        }
        Ok(walk.count)
    })
}

/// An open object.
struct Frame<'a> {
    cursor: Cursor<'a>,
    /// The start of its parts' numbers.
    base: u32,
}

/// Marks of objects: zero means unknown, [`OPEN`] on the stack, and anything
/// else is a node's number plus [`DONE`].
const OPEN: u32 = 1;
const DONE: u32 = 2;
const PAGE: usize = 16;

struct Linearizer<'a, 's, S> {
    sink: &'s mut S,
    stack: Vec<Frame<'a>>,
    /// Numbers of the finished parts of all open objects.
    parts: Vec<u32>,
    count: u32,
    marks: Pages<u32, PAGE>,
    /// The nodes of inline plain values.
    words: HashMap<(u64, u64), u32, rapidhash::fast::RandomState>,
    /// The nodes of longer plain values.
    texts: HashMap<Value, u32, rapidhash::fast::RandomState>,
    singletons: Vec<ObjRef<'a>>,
    /// The node of the parts that are left out, if there are any.
    ellipsis: Option<u32>,
}

impl<'a, S: Sink> Linearizer<'a, '_, S> {
    fn run(&mut self, section: &mut Section, root: &'a Value) -> Result<()> {
        self.meet(section, Part::alone(root, RegionKind::Use))?;
        let mut poll = Poll::default();
        loop {
            poll.step(section)?;
            if S::IS_LIMITED && self.leaves_rest() {
                self.close(section)?;
                continue;
            }
            let Some(frame) = self.stack.last_mut() else {
                return Ok(());
            };
            match frame.cursor.next(section) {
                Some(part) => self.meet(section, part)?,
                None => self.close(section)?,
            }
        }
    }

    /// Adds the number of the part's node to the parts: now, or when the part
    /// is closed, which is on the stack until then.
    #[inline(always)]
    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<()> {
        if S::IS_LIMITED && self.sink.is_full() {
            return self.leave_out();
        }
        let object = match part.met {
            PartRef::Object(object) => object,
            PartRef::Plain(value) => return self.inline_value(&value.to_value()),
        };
        let info = object.info();
        let class = info.class();
        if !class.has_parts() {
            return self.leaf_object(object);
        }
        // An object with one owner is reached only once, unless a hook adds an owner. A
        // cycle is entered at an object with two owners, or leads through lists and
        // dicts, which may change in the meantime.
        let marked = object.is_shared() || class.is_mutable();
        if marked && self.met_before(object)? {
            return Ok(());
        }
        let is_node = matches!(class, Payload::Plain | Payload::Node);
        if is_node && (info.references.is_empty() || info.file_hooks().is_some()) {
            return self.finish(section, object, self.parts.len(), marked);
        }
        self.open(section, object, part, marked)
    }

    /// Puts the ellipsis in the place of a part.
    #[cold]
    fn leave_out(&mut self) -> Result<()> {
        if let Some(number) = self.ellipsis {
            self.parts.push(number);
            return Ok(());
        }
        self.sink.ellipsis()?;
        self.ellipsis = Some(self.number()?);
        Ok(())
    }

    /// True in a container whose last element, or last key and value, is left out: all
    /// further ones would be, too.
    fn leaves_rest(&self) -> bool {
        let (Some(ellipsis), Some(frame)) = (self.ellipsis, self.stack.last()) else {
            return false;
        };
        let Some(container) = frame.cursor.object().info().container() else {
            return false;
        };
        match &self.parts[frame.base as usize..] {
            parts if container.is_mapping() => {
                parts.len().is_multiple_of(2) && parts.ends_with(&[ellipsis, ellipsis])
            }
            parts => parts.last() == Some(&ellipsis),
        }
    }

    /// Returns true for a finished node; otherwise marks the object as open.
    #[inline]
    fn met_before(&mut self, object: ObjRef<'a>) -> Result<bool> {
        let mark = self.marks.word(object.ident());
        match *mark {
            0 => {
                *mark = OPEN;
                Ok(false)
            }
            OPEN => Err(self.here(cyclic(object))),
            done => {
                self.parts.push(done - DONE);
                Ok(true)
            }
        }
    }

    #[inline]
    fn open(
        &mut self,
        section: &Section,
        object: ObjRef<'a>,
        part: Part<'a>,
        marked: bool,
    ) -> Result<()> {
        prefetch_ahead(object);
        let Ok(base) = u32::try_from(self.parts.len()) else {
            return Err(too_large());
        };
        let frame = |cursor: Cursor<'a>| Frame {
            cursor: cursor.with_mark(marked),
            base,
        };
        let view = View::References;
        if let Payload::Plain | Payload::Node = object.info().class() {
            self.stack.push(frame(Cursor::of_node(object, part, view)));
        } else {
            let cursor = Cursor::of_container(section, object, part, view);
            self.stack.extend(cursor.map(frame));
        }
        Ok(())
    }

    /// Leaves the object on top of the stack.
    #[inline]
    fn close(&mut self, section: &mut Section) -> Result<()> {
        let Some(Frame { cursor, base }) = self.stack.pop() else {
            return Ok(());
        };
        self.finish(section, cursor.object(), base as usize, cursor.marked)
    }

    /// Writes the node of an object with parts starting at `base`.
    #[inline]
    fn finish(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        base: usize,
        marked: bool,
    ) -> Result<()> {
        let info = object.info();
        let parts = &self.parts[base..];
        match info.class() {
            Payload::Plain | Payload::Node => match info.file_hooks() {
                None => {
                    if let Err(error) = self.sink.object(section, object, parts, self.count) {
                        return Err(self.here(error));
                    }
                    if info.kind == Kind::Singleton {
                        self.singletons.push(object);
                    }
                }
                Some(hooks) => {
                    let data = access::outside(section, || hooks.to_json.call(object.as_ref()))?;
                    if let Err(error) = self.sink.hooked(info, &data) {
                        return Err(self.here(error));
                    }
                }
            },
            _ => {
                if let Some(container) = info.container() {
                    self.sink.container(container, parts, self.count);
                }
            }
        }
        self.parts.truncate(base);
        let number = self.number()?;
        if marked {
            *self.marks.word(object.ident()) = number + DONE;
        }
        Ok(())
    }

    /// The number of the node just written, to become a part.
    #[inline]
    fn number(&mut self) -> Result<u32> {
        let number = self.count;
        // The largest marks must not overflow.
        if number >= u32::MAX - DONE {
            return Err(too_large());
        }
        self.count += 1;
        self.parts.push(number);
        Ok(number)
    }

    fn inline_value(&mut self, value: &Value) -> Result<()> {
        let (head, mut bits) = value.words();
        if value.as_float().is_some() {
            bits = canonical_float_bits(bits);
        }
        if let Some(&number) = self.words.get(&(head, bits)) {
            self.parts.push(number);
            return Ok(());
        }
        self.sink.plain(value.view())?;
        let number = self.number()?;
        self.words.insert((head, bits), number);
        Ok(())
    }

    /// Writes an object without children, of a type that is not declared.
    #[cold]
    #[inline(never)]
    fn leaf_object(&mut self, object: ObjRef<'a>) -> Result<()> {
        let value = Value::from_object(object.to_ref());
        match object.info().class() {
            Payload::Str | Payload::Bytes | Payload::BigInt => {
                if let Some(&number) = self.texts.get(&value) {
                    self.parts.push(number);
                    return Ok(());
                }
                if let Err(error) = self.sink.plain(value.view()) {
                    return Err(self.here(error));
                }
                let number = self.number()?;
                self.texts.insert(value, number);
                Ok(())
            }
            _ if object.downcast::<ShapeObj>().is_some()
                || object.downcast::<TensorObj>().is_some() =>
            {
                let number = self.marks.word(object.ident());
                if *number >= DONE {
                    self.parts.push(*number - DONE);
                    return Ok(());
                }
                self.sink.plain(value.view())?;
                let number = self.number()?;
                *self.marks.word(object.ident()) = number + DONE;
                Ok(())
            }
            _ => {
                let mark = *self.marks.word(object.ident());
                if mark >= DONE {
                    self.parts.push(mark - DONE);
                    return Ok(());
                }
                match self.sink.other(&value) {
                    Ok(true) => {
                        let number = self.number()?;
                        *self.marks.word(object.ident()) = number + DONE;
                        Ok(())
                    }
                    Ok(false) => {
                        let name = value.type_name();
                        let error = Error::type_error(format!(
                            "expected a value that can be written to a file, got {name}"
                        ));
                        Err(self.here(error))
                    }
                    Err(error) => Err(self.here(error)),
                }
            }
        }
    }

    /// Adds the path of the current child to an error.
    #[cold]
    fn here(&self, error: Error) -> Error {
        error.at(path_of(self.stack.iter().map(|frame| &frame.cursor)))
    }
}

#[cold]
fn too_large() -> Error {
    Error::value_error(format!(
        "expected a value of at most {} nodes",
        u32::MAX - DONE
    ))
}
