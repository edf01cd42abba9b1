//! Programs around passes, as text.

use std::cell::RefCell;

use isoform::functions::Function;
use isoform::{Array, Obj, Ref, Result, Str, export};

use super::diff::changes_text;
use crate::transform::info::PassInfo;
use crate::transform::instrument::{Instrument, PassInstrument};
use crate::transform::root::script;

/// The passes selected for printing.
#[derive(Clone, Debug, Default)]
pub enum PassFilter {
    /// None of them.
    #[default]
    Nothing,
    /// Those with these names.
    Named(Vec<String>),
    /// All of them.
    All,
}

impl PassFilter {
    fn includes(&self, name: &str) -> bool {
        match self {
            PassFilter::Nothing => false,
            PassFilter::Named(names) => names.iter().any(|known| known == name),
            PassFilter::All => true,
        }
    }
}

type Sink = dyn Fn(&str) -> Result<()> + Send + Sync;

/// Options of an instrument for printing programs.
///
/// ```
/// use isoform_ir::transform::PassContextRef;
/// use isoform_ir::transform::PassRef;
/// use std::sync::{Arc, Mutex};
/// use isoform_ir::transform::instruments::{PassFilter, Printing};
/// use isoform_ir::transform::{ContextOptions, make_pass};
/// use isoform::{Obj, Ref};
///
/// isoform_ir::transform::register()?;
/// let text = Arc::new(Mutex::new(String::new()));
/// let out = Arc::clone(&text);
/// let printing = Printing::default().after(PassFilter::All).instrument(move |piece| {
///     out.lock().expect("nobody panics").push_str(piece);
///     Ok(())
/// });
/// let ctx = ContextOptions::default().instrument(&printing).make()?;
/// ctx.within(|| make_pass("PrintIR", [])?.run(&Ref::new(Obj {})))?;
/// assert!(text.lock().expect("nobody panics").starts_with("Print IR after: PrintIR\n"));
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Printing {
    before: PassFilter,
    after: PassFilter,
    changes: PassFilter,
    describes: bool,
}

impl Printing {
    /// Sets the passes before which to print the program.
    #[must_use]
    pub fn before(mut self, which: PassFilter) -> Self {
        self.before = which;
        self
    }

    /// Sets the passes after which to print the program.
    #[must_use]
    pub fn after(mut self, which: PassFilter) -> Self {
        self.after = which;
        self
    }

    /// Sets the passes after which to print the changed functions, as a unified diff; a
    /// pass without changes prints nothing. A change made by a nested pass, for example
    /// in a sequence, counts for the nested pass only.
    #[must_use]
    pub fn changes(mut self, which: PassFilter) -> Self {
        self.changes = which;
        self
    }

    /// Sets whether to print the whole description of a pass instead of its name.
    #[must_use]
    pub fn describes(mut self, describes: bool) -> Self {
        self.describes = describes;
        self
    }

    /// Returns the instrument; the instrument writes to `sink`.
    pub fn instrument(
        self,
        sink: impl Fn(&str) -> Result<()> + Send + Sync + 'static,
    ) -> Ref<PassInstrument> {
        let options = self;
        PassInstrument::of(Printer {
            options,
            sink: Box::new(sink),
        })
    }
}

struct Printer {
    options: Printing,
    sink: Box<Sink>,
}

/// A running pass under observation.
struct Watched {
    /// The observing instrument.
    place: usize,
    /// The program at the beginning of the pass, or at the end of the last pass inside.
    last: Ref<Obj>,
    /// The changes so far by the pass itself.
    own: String,
}

thread_local! {
    /// The running passes, for all instruments of this kind.
    static WATCHED: RefCell<Vec<Watched>> = const { RefCell::new(Vec::new()) };
}

impl Printer {
    fn print(&self, when: &str, root: &Ref<Obj>, info: &PassInfo) -> Result<()> {
        let text = script(root)?;
        let text = text.trim_end();
        (self.sink)(&if self.options.describes {
            format!("{} Running Pass: {info}{text}\n\n", capitalised(when))
        } else {
            format!("Print IR {when}: {}\n{text}\n\n", info.name)
        })
    }

    fn place(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn watches(&self) -> bool {
        !matches!(self.options.changes, PassFilter::Nothing)
    }

    /// Notes the changes of the innermost watched pass up to this program.
    fn note(&self, program: &Ref<Obj>) -> Result<()> {
        let place = self.place();
        let last = WATCHED.with_borrow(|watched| {
            let mut inwards = watched.iter().rev();
            inwards
                .find(|entry| entry.place == place)
                .map(|entry| entry.last.clone())
        });
        let Some(last) = last else {
            return Ok(());
        };
        // Printing runs code of types, so not while the list is borrowed.
        let changes = changes_text(&last, program)?;
        WATCHED.with_borrow_mut(|watched| {
            let mut inwards = watched.iter_mut().rev();
            if let Some(entry) = inwards.find(|entry| entry.place == place) {
                entry.own.push_str(&changes);
                entry.last = program.clone();
            }
        });
        Ok(())
    }

    fn end(&self) -> Option<Watched> {
        WATCHED.with_borrow_mut(|watched| {
            let position = watched.iter().rposition(|one| one.place == self.place())?;
            Some(watched.remove(position))
        })
    }

    /// Continues the pass around the ended pass from the result.
    fn go_on(&self, program: &Ref<Obj>) {
        WATCHED.with_borrow_mut(|watched| {
            let mut inwards = watched.iter_mut().rev();
            if let Some(one) = inwards.find(|one| one.place == self.place()) {
                one.last = program.clone();
            }
        });
    }
}

fn capitalised(when: &str) -> &'static str {
    match when {
        "before" => "Before",
        _ => "After",
    }
}

impl Instrument for Printer {
    fn name(&self) -> String {
        "PassPrintingInstrument".to_owned()
    }

    fn before(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        if self.options.before.includes(&info.name) {
            self.print("before", root, info)?;
        }
        if self.watches() {
            self.note(root)?;
            let watched = Watched {
                place: self.place(),
                last: root.clone(),
                own: String::new(),
            };
            WATCHED.with_borrow_mut(|all| all.push(watched));
        }
        Ok(())
    }

    fn after(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        if self.watches() {
            self.note(root)?;
            let ended = self.end();
            self.go_on(root);
            if let Some(Watched { own, .. }) = ended
                && !own.is_empty()
                && self.options.changes.includes(&info.name)
            {
                (self.sink)(&format!("Changed by pass: {}\n{own}\n", info.name))?;
            }
        }
        if self.options.after.includes(&info.name) {
            self.print("after", root, info)?;
        }
        Ok(())
    }

    fn failed(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) {
        if self.watches() {
            drop(self.end());
        }
    }
}

/// The passes selected by a list of names; all passes without a list.
fn which(names: Option<Array<Str>>) -> PassFilter {
    match names {
        None => PassFilter::All,
        Some(names) => PassFilter::Named(names.iter().map(Str::to_string).collect()),
    }
}

/// Makes an instrument that prints programs with a function of a text. The lists name
/// passes; None selects all passes.
#[export("instrument.printing")]
fn printing_exported(
    before: Option<Array<Str>>,
    after: Option<Array<Str>>,
    changes: Option<Array<Str>>,
    describes: bool,
    sink: Function,
) -> Ref<PassInstrument> {
    let options = Printing {
        before: which(before),
        after: which(after),
        changes: which(changes),
        describes,
    };
    options.instrument(move |text| sink.call(&[Str::from(text).into()]).map(drop))
}

#[export("instrument.changes_text")]
fn changes_text_exported(old: &Ref<Obj>, new: &Ref<Obj>) -> Result<String> {
    changes_text(old, new)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![printing_exported, changes_text_exported]
}
