//! The running passes of this thread, with the data of every run.

use std::cell::{Cell, RefCell};

use isoform::functions::global_function;
use isoform::{Error, Obj, Ref, Result, export};

use super::root;
use crate::ir::{DiagnosticContext, IRModule};

struct Frame {
    root: Ref<Obj>,
    /// The copy of the root on which a pass over functions works.
    copy: Option<Ref<Obj>>,
    diagnostics: Option<Ref<DiagnosticContext>>,
}

thread_local! {
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
    /// True if a propagating error has been written as a reproducer.
    static REPORTED: Cell<bool> = const { Cell::new(false) };
    /// The number of passes that run natively inside one another.
    static NESTED: Cell<usize> = const { Cell::new(0) };
    /// How often messages were asked for.
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// The running passes of a thread.
#[derive(Default)]
pub(super) struct ThreadPasses {
    frames: Vec<Frame>,
    reported: bool,
    nested: usize,
    asked: u64,
}

impl ThreadPasses {
    /// Exchanges the running passes with those of this thread.
    pub(super) fn exchange(&mut self) {
        FRAMES.with_borrow_mut(|frames| std::mem::swap(frames, &mut self.frames));
        self.reported = REPORTED.replace(self.reported);
        self.nested = NESTED.replace(self.nested);
        self.asked = ASKED.replace(self.asked);
    }
}

/// The maximal number of natively nested passes: every pass takes a part of the native
/// stack. Passes of nested sequences do not count.
pub(super) const MOST_NESTED: usize = 200;

/// The error for a pass nested deeper.
pub(super) fn too_deep(name: &str) -> Error {
    Error::new(
        isoform::errors::ErrorKind::Recursion,
        format!(
            "pass '{name}' would run inside of {MOST_NESTED} other passes; look for one that \
             requires itself, follows itself with `after`, or runs itself"
        ),
    )
}

/// A pass running natively inside of other passes.
pub(super) struct Nested(());

impl Nested {
    /// Fails if too many passes are nested.
    pub(super) fn begin(name: &str) -> Result<Nested> {
        if NESTED.get() == MOST_NESTED {
            return Err(too_deep(name));
        }
        NESTED.set(NESTED.get() + 1);
        Ok(Nested(()))
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        NESTED.set(NESTED.get() - 1);
    }
}

/// A run of a pass: during the run, messages of the thread belong to the pass.
pub(super) struct Running(());

impl Running {
    /// Begins the run of a pass on a program.
    pub(super) fn begin(root: &Ref<Obj>) -> Running {
        let frame = Frame {
            root: root.clone(),
            copy: None,
            diagnostics: None,
        };
        FRAMES.with_borrow_mut(|frames| frames.push(frame));
        Running(())
    }

    /// Shows the messages of the run.
    pub(super) fn render(&self) -> Result<()> {
        let made = FRAMES.with_borrow(|frames| frames.last()?.diagnostics.clone());
        made.map_or(Ok(()), |diagnostics| {
            DiagnosticContext::render(&diagnostics)
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Destructors may run passes, so the frame outlives the borrow.
        let ended = FRAMES.with_borrow_mut(Vec::pop);
        drop(ended);
        if depth() == 0 {
            REPORTED.set(false);
        }
    }
}

/// Notes the working copy of the innermost running pass.
pub(super) fn works_on(copy: &Ref<Obj>) {
    FRAMES.with_borrow_mut(|frames| {
        if let Some(frame) = frames.last_mut() {
            frame.copy = Some(copy.clone());
        }
    });
}

/// The original program of a running pass's working copy, and true if the copy still
/// has the same contents. Any other object is its own original.
pub(super) fn original(object: &Ref<Obj>) -> Result<(Ref<Obj>, bool)> {
    let copied_of = |copy: &Ref<Obj>| {
        FRAMES.with_borrow(|frames| {
            let is_copy = |frame: &&Frame| frame.copy.as_ref().is_some_and(|it| it.same_as(copy));
            frames
                .iter()
                .rev()
                .find(is_copy)
                .map(|frame| frame.root.clone())
        })
    };
    let mut object = object.clone();
    // A pass may have run another pass on its copy.
    while let Some(root) = copied_of(&object) {
        if !root::are_same(&object, &root)? {
            return Ok((object, false));
        }
        object = root;
    }
    Ok((object, true))
}

/// The number of running passes in this thread, one inside the other.
pub(super) fn depth() -> usize {
    FRAMES.with_borrow(Vec::len)
}

/// How often the passes of this thread have asked for their messages, which show the program
/// and are not part of a result.
pub(super) fn asked_for_messages() -> u64 {
    ASKED.get()
}

/// Notes that a pass has ended well: a propagating error has been handled.
pub(super) fn ended_well() {
    REPORTED.set(false);
}

/// True for the first call since the outermost pass began, or since a pass ended well.
pub(super) fn report_once() -> bool {
    !REPORTED.replace(true)
}

/// The name of the function that returns the renderer of messages; a host language
/// registers the function.
const RENDERER: &str = "diagnostics.GetRenderer";

/// The messages of the innermost running pass, shown at the end of the pass. An error
/// among the messages becomes the error of the pass.
///
/// # Errors
///
/// `RuntimeError` outside of passes, `TypeError` if the program is not an
/// [`IRModule`], which holds the source texts.
pub fn diagnostics() -> Result<Ref<DiagnosticContext>> {
    ASKED.set(ASKED.get() + 1);
    let innermost_frame = FRAMES.with_borrow(|frames| {
        let frame = frames.last()?;
        Some((frame.root.clone(), frame.diagnostics.clone()))
    });
    let Some((root, diagnostics)) = innermost_frame else {
        let message = "there are messages only while a pass runs";
        return Err(Error::new(isoform::errors::ErrorKind::Runtime, message));
    };
    if let Some(diagnostics) = diagnostics {
        return Ok(diagnostics);
    }
    let got = root.type_info().key();
    let module = root.cast::<IRModule>().map_err(|_| {
        Error::type_error(format!(
            "messages belong to a program with source texts: expected ir.IRModule, got {got}"
        ))
    })?;
    let mut diagnostics = DiagnosticContext::new(&module);
    if let Ok(renderer) = global_function(RENDERER) {
        let renderer = renderer.call(&[])?;
        diagnostics = diagnostics.with_renderer(Some(renderer.extract()?));
    }
    FRAMES.with_borrow_mut(|frames| {
        if let Some(frame) = frames.last_mut() {
            frame.diagnostics = Some(diagnostics.clone());
        }
    });
    Ok(diagnostics)
}

/// The messages of the innermost running pass; None outside of passes.
#[export("passes.diagnostics")]
fn diagnostics_or_none() -> Result<Option<Ref<DiagnosticContext>>> {
    match depth() {
        0 => Ok(None),
        _ => diagnostics().map(Some),
    }
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![diagnostics_or_none]
}
