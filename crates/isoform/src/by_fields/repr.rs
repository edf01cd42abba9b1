//! The full text of a value, in the style of a host language's `repr`.
//!
//! Text for messages is shorter and defined in `display`.
//!
//! The text is linear in the number of distinct objects.

use std::fmt::Write;
use std::rc::Rc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::kernel::error::Result;
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynRepr};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::view::PartRef;
use crate::kernel::pages::Pages;
use crate::kernel::spell::{Style, spell};
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::cursor::{Cursor, Part, View};

/// The texts of objects defined by a host language's own classes.
///
/// The texts defined by types are in [`DynRepr`].
pub trait ReprHooks {
    /// The text of an object of a declared type; None selects the text of the object's
    /// type.
    fn repr(&self, object: &Ref<Obj>) -> Option<Result<String>> {
        let _ = object;
        None
    }
}

/// No type has hooks.
impl ReprHooks for () {}

/// Limits on the text of a value; unlimited by default.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct ReprOptions {
    /// The maximum number of bytes of text, without the `...` at the cut.
    pub max_length: Option<usize>,
    /// The maximum nesting of objects and containers.
    pub max_depth: Option<usize>,
}

impl ReprOptions {
    /// Sets the maximum number of bytes of text.
    #[must_use]
    pub fn max_length(mut self, max_length: usize) -> Self {
        self.max_length = Some(max_length);
        self
    }

    /// Sets the maximum nesting of objects and containers.
    #[must_use]
    pub fn max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = Some(max_depth);
        self
    }

    /// [`repr()`] with these options, and with the texts of a host language's
    /// own classes, or `&()`.
    ///
    /// # Errors
    ///
    /// Whatever a hook returns; `RecursionError` if hooks of types nest too deeply.
    pub fn repr(self, value: impl Into<Value>, hooks: &dyn ReprHooks) -> Result<String> {
        let value = value.into();
        let parts = Arena::default();
        Writer::new(self, hooks, &parts).write(&value)
    }
}

/// Returns the text of a value.
///
/// * Objects: the result of their type's [hook](crate::hooks::DynRepr), or
///   `key(field=value, ...)`, without the fields that
///   [`FieldDef::repr`](crate::types::FieldDef::repr) hides.
/// * Arrays `(1, 2)`, lists `[1, 2]`, maps and dicts `{"a": 1}`.
/// * Strings and bytes in double quotes, escaped as in Python; floats as the shortest
///   text that reads back as the same float.
/// * `...` if a value contains itself, or if the options cut the text short.
/// * A shared object with a text longer than [`REPEATED_LENGTH`] is written once, as
///   `#1=text`, and as `#1#` at its other places. Shorter texts are repeated. The text
///   is therefore linear in the number of distinct objects. Inside the text of a hook
///   there are no labels: long texts are repeated there up to [`REPEATED_TOTAL`] bytes
///   in all, and then replaced by `key(...)`.
///
/// Depth is limited by memory only, except for hooks, which nest at most
/// [`MAX_HOOK_DEPTH`](crate::hooks::MAX_HOOK_DEPTH) levels deep. If a hook fails, the
/// hook's error replaces the text; [`ReprOptions::repr`] reports the error.
///
/// ```
/// use isoform::{Array, Value};
/// use isoform::objects::repr;
/// let list = Value::from([Value::from(1.0), Value::from("a\n"), Array::from([1i64]).into()]);
/// assert_eq!(repr(&list), r#"(1.0, "a\n", (1,))"#);
/// ```
pub fn repr(value: impl Into<Value>) -> String {
    repr_of(&value.into())
}

fn repr_of(value: &Value) -> String {
    let parts = Arena::default();
    let mut writer = Writer::new(ReprOptions::default(), &(), &parts);
    writer.shows_errors = true;
    // Errors are shown in the text instead.
    writer.write(value).unwrap_or_default()
}

/// Texts of shared objects up to this many bytes are repeated.
pub const REPEATED_LENGTH: usize = 80;

/// Inside the texts of hooks, longer texts are repeated up to this many bytes
/// in all.
pub const REPEATED_TOTAL: usize = 1 << 16;

/// A piece of text still to write.
enum Todo<'a> {
    Text(&'static str),
    Value(PartRef<'a>),
    /// The remaining parts of an object or container; true after the first part.
    Parts(Cursor<'a>, bool),
    /// The end of an object or container.
    End(u32),
}

/// An object already or partly written.
struct ObjectSpan {
    start: usize,
    /// None until the object is written.
    end: Option<usize>,
    /// The number used in references to it.
    label: Option<usize>,
}

struct Writer<'a, 'h> {
    options: ReprOptions,
    hooks: &'h dyn ReprHooks,
    /// Owners of the values passed in by hooks.
    parts: &'a Arena,
    /// True if the error of a hook is shown in the text.
    shows_errors: bool,
    /// The texts around the current text, each waiting for a hook that asked for the
    /// text of a part.
    outer: Vec<Page>,
    /// The texts given to hooks, by identity number, to write each part only once.
    texts: HashMap<u64, Rc<str>, RandomState>,
    /// The number of bytes given to hooks again.
    repeated: usize,
    page: Page,
    todo: Vec<Todo<'a>>,
    depth: usize,
    poll: Poll,
}

/// One text, and the objects in it.
#[derive(Default)]
struct Page {
    out: String,
    /// The index in `met` plus one, by identity number.
    positions: Pages<u32, 256>,
    met: Vec<ObjectSpan>,
    /// Positions in `met` of labelled objects, by label.
    labels: Vec<u32>,
}

impl<'a, 'h> Writer<'a, 'h> {
    fn new(options: ReprOptions, hooks: &'h dyn ReprHooks, parts: &'a Arena) -> Self {
        Writer {
            options,
            hooks,
            parts,
            shows_errors: false,
            outer: Vec::new(),
            texts: HashMap::default(),
            repeated: 0,
            page: Page::default(),
            todo: Vec::new(),
            depth: 0,
            poll: Poll::default(),
        }
    }

    fn write(mut self, value: &'a Value) -> Result<String> {
        self.todo.push(Todo::Value(PartRef::of(value)));
        access::traversing(|section| self.run(section, 0))?;
        Ok(self.finish())
    }

    /// Writes everything scheduled above a height.
    fn run(&mut self, section: &mut Section, floor: usize) -> Result<()> {
        while self.todo.len() > floor
            && let Some(todo) = self.todo.pop()
        {
            // A text that shows errors can only indicate in itself that it ended early.
            if !self.shows_errors {
                self.poll.step(section)?;
            }
            if self.is_full() {
                return Ok(());
            }
            match todo {
                Todo::Text(text) => self.page.out.push_str(text),
                Todo::Value(value) => self.value(section, value)?,
                Todo::Parts(cursor, started) => self.next_part(section, cursor, started),
                Todo::End(met) => {
                    self.depth -= 1;
                    self.page.met[met as usize].end = Some(self.page.out.len());
                }
            }
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        let limit = self.options.max_length;
        limit.is_some_and(|limit| self.page.out.len() > limit)
    }

    fn finish(self) -> String {
        let limit = self.options.max_length.unwrap_or(usize::MAX);
        let mut result = self.labelled();
        if result.len() > limit {
            let mut end = limit;
            while !result.is_char_boundary(end) {
                end -= 1;
            }
            result.truncate(end);
            result.push_str("...");
        }
        result
    }

    /// The text with its labels inserted.
    fn labelled(self) -> String {
        if self.page.labels.is_empty() {
            return self.page.out;
        }
        let mut starts: Vec<(usize, usize)> = self
            .page
            .met
            .iter()
            .filter_map(|met| Some((met.start, met.label?)))
            .collect();
        starts.sort_unstable();
        let mut result = String::with_capacity(self.page.out.len() + 8 * starts.len());
        let mut written = 0;
        for (start, label) in starts {
            result.push_str(&self.page.out[written..start]);
            // Writing to a string cannot fail.
            let _ = write!(result, "#{label}=");
            written = start;
        }
        result.push_str(&self.page.out[written..]);
        result
    }

    /// Writes the start of an open value's next part.
    fn next_part(&mut self, section: &Section, mut cursor: Cursor<'a>, started: bool) {
        let Some(part) = cursor.next(section) else {
            return;
        };
        let field = cursor.field(cursor.position() - 1);
        if field.is_some_and(|field| !field.is_shown()) {
            self.todo.push(Todo::Parts(cursor, started));
            return;
        }
        let is_value_of_key = cursor.entries().is_some() && !part.is_key;
        if is_value_of_key {
            self.page.out.push_str(": ");
        } else if started {
            self.page.out.push_str(", ");
        }
        if let Some(field) = field {
            self.page.out.push_str(field.name());
            self.page.out.push('=');
        }
        self.todo.push(Todo::Parts(cursor, true));
        self.todo.push(Todo::Value(part.met));
    }

    fn value(&mut self, section: &mut Section, met: PartRef<'a>) -> Result<()> {
        let part = Part {
            met,
            region: RegionKind::Use,
            is_key: false,
        };
        let opened = met.object().and_then(|object| {
            let cursor = Cursor::open(section, object, part, View::Declared)?;
            Some((object, cursor))
        });
        let value = &met.to_value();
        let Some((object, cursor)) = opened else {
            if !spell(value.view(), Style::Repr, &mut self.page.out) {
                let _ = write!(self.page.out, "{}()", value.type_name());
            }
            return Ok(());
        };
        let container = object.info().container();
        let is_node = container.is_none();
        let [open, close] = match container.map_or(["(", ")"], |container| container.repr) {
            // Python writes a tuple of one element with a comma, to tell the tuple from
            // the element in parentheses.
            ["(", _] if !is_node && cursor.len() == 1 => ["(", ",)"],
            brackets => brackets,
        };
        let ident = object.ident();
        if self.refer(ident, value) || !self.outer.is_empty() && self.refer_outside(ident, value) {
            return Ok(());
        }
        if self
            .options
            .max_depth
            .is_some_and(|limit| self.depth >= limit)
        {
            self.page.out.push_str("...");
            return Ok(());
        }
        let met = self.page.met.len() as u32;
        let start = self.page.out.len();
        if is_node {
            let hooks = self.hooks;
            if let Some(text) = access::outside(section, || hooks.repr(object.as_ref())) {
                self.page.out.push_str(&text?);
                return Ok(());
            }
            if object.info().hooks.repr.get().is_some() {
                return self.ask(section, object.as_ref(), ident);
            }
            self.page.out.push_str(object.info().key());
        }
        self.page.met.push(ObjectSpan {
            start,
            end: None,
            label: None,
        });
        *self.page.positions.word(ident) = met + 1;
        self.depth += 1;
        self.page.out.push_str(open);
        self.todo.push(Todo::End(met));
        self.todo.push(Todo::Text(close));
        self.todo.push(Todo::Parts(cursor, false));
        Ok(())
    }

    /// Writes the result of the hook of an object's type.
    fn ask(&mut self, section: &mut Section, object: &Ref<Obj>, ident: u64) -> Result<()> {
        let info = object.type_info();
        let Some(hook) = info.hooks.repr.get() else {
            return Ok(());
        };
        let met = self.page.met.len() as u32;
        self.page.met.push(ObjectSpan {
            start: self.page.out.len(),
            end: None,
            label: None,
        });
        *self.page.positions.word(ident) = met + 1;
        self.depth += 1;
        let answer = hooks::run(section, DynRepr::NAME, info.key(), || {
            hook.call(object, &mut |part| {
                access::traversing(|section| self.part(section, part))
            })
        });
        self.depth -= 1;
        let text = match answer {
            Ok(text) => text,
            Err(error) if self.shows_errors => format!("<{}: {error}>", info.key()),
            Err(error) => return Err(error),
        };
        self.page.out.push_str(&text);
        self.page.met[met as usize].end = Some(self.page.out.len());
        Ok(())
    }

    /// The text of a part, for a hook.
    fn part(&mut self, section: &mut Section, part: &Value) -> Result<String> {
        let floor = self.todo.len();
        let depth = self.depth;
        self.outer.push(std::mem::take(&mut self.page));
        let kept = self.parts.keep_value(part);
        self.todo.push(Todo::Value(PartRef::of(kept)));
        let written = self.run(section, floor);
        self.todo.truncate(floor);
        self.depth = depth;
        let outer = self.outer.pop().unwrap_or_default();
        let text = std::mem::replace(&mut self.page, outer).out;
        written?;
        if let Some(object) = part.as_object()
            && !text.is_empty()
        {
            self.texts.insert(object.identity(), text.as_str().into());
        }
        Ok(text)
    }

    /// Like [`refer`](Self::refer), for an object met outside of this text.
    fn refer_outside(&mut self, ident: u64, value: &Value) -> bool {
        let mut found = None;
        for page in self.outer.iter_mut().rev() {
            let word = page.positions.get(ident).unwrap_or(0);
            let Some(position) = word.checked_sub(1) else {
                continue;
            };
            let met = &page.met[position as usize];
            let Some(end) = met.end else {
                self.page.out.push_str("...");
                return true;
            };
            found = Some(Rc::from(&page.out[met.start..end]));
            break;
        }
        let Some(text) = found.or_else(|| self.texts.get(&ident).cloned()) else {
            return false;
        };
        self.repeat(&text, value.type_name());
        true
    }

    /// Repeats the text of an object inside the text of a hook.
    fn repeat(&mut self, text: &str, name: &str) {
        if text.len() > REPEATED_LENGTH {
            self.repeated += text.len();
            if self.repeated > REPEATED_TOTAL {
                let _ = write!(self.page.out, "{name}(...)");
                return;
            }
        }
        self.page.out.push_str(text);
    }

    /// Writes a reference in place of an object written before. Returns false if the
    /// object has to be written in full.
    fn refer(&mut self, ident: u64, value: &Value) -> bool {
        let position = self
            .page
            .positions
            .get(ident)
            .and_then(|word| word.checked_sub(1));
        let Some(position) = position else {
            return false;
        };
        let met = &mut self.page.met[position as usize];
        let Some(end) = met.end else {
            self.page.out.push_str("...");
            return true;
        };
        if !self.outer.is_empty() {
            let text = self.page.out[met.start..end].to_string();
            self.repeat(&text, value.type_name());
            return true;
        }
        if end - met.start <= REPEATED_LENGTH {
            // The text in the output is complete, unless its depth was limited or the
            // text refers to an open object.
            let text = self.page.out[met.start..end].to_string();
            self.page.out.push_str(&text);
            return true;
        }
        let label = *met.label.get_or_insert_with(|| {
            self.page.labels.push(position);
            self.page.labels.len()
        });
        let _ = write!(self.page.out, "#{label}#");
        true
    }
}
