//! Records the functions changed by every pass.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use isoform::{Array, Error, Obj, Ref, Result, Str, export};

use crate::transform::info::PassInfo;
use crate::transform::instrument::{Instrument, PassInstrument};
use crate::transform::root::changed;

/// The functions changed by one run of a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedFunctions {
    /// The name of the pass.
    pub pass: String,
    /// The names of the replaced functions.
    pub changed: Vec<String>,
    /// The names of the added functions.
    pub added: Vec<String>,
    /// The names of the removed functions.
    pub removed: Vec<String>,
}

/// Records the changed functions of every pass, in the order in which passes end.
/// Entering a context forgets earlier records.
///
/// O(functions) for every pass with changes.
#[derive(Default)]
pub struct Changes(Mutex<Vec<ChangedFunctions>>);

thread_local! {
    /// The inputs of the running passes, for all instruments of this kind.
    static INPUTS: RefCell<Vec<(usize, Ref<Obj>)>> = const { RefCell::new(Vec::new()) };
}

impl Changes {
    /// Returns an instrument that records changes.
    pub fn instrument() -> Ref<PassInstrument> {
        PassInstrument::of(Changes::default())
    }

    /// Returns the records so far.
    pub fn recorded(&self) -> Vec<ChangedFunctions> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn place(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn input(&self) -> Option<Ref<Obj>> {
        INPUTS.with_borrow_mut(|inputs| {
            let position = inputs
                .iter()
                .rposition(|(place, _)| *place == self.place())?;
            Some(inputs.remove(position).1)
        })
    }
}

impl Instrument for Changes {
    fn enter(&self) -> Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        Ok(())
    }

    fn before(&self, root: &Ref<Obj>, _info: &Ref<PassInfo>) -> Result<()> {
        INPUTS.with_borrow_mut(|inputs| inputs.push((self.place(), root.clone())));
        Ok(())
    }

    fn after(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        let Some(input) = self.input() else {
            return Ok(());
        };
        let mut changes = ChangedFunctions {
            pass: info.name.to_string(),
            changed: Vec::new(),
            added: Vec::new(),
            removed: Vec::new(),
        };
        for (name, before, after) in changed(&input, root)? {
            let list = match (before, after) {
                (None, _) => &mut changes.added,
                (_, None) => &mut changes.removed,
                _ => &mut changes.changed,
            };
            list.push(name.to_string());
        }
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(changes);
        Ok(())
    }

    fn failed(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) {
        drop(self.input());
    }
}

#[export("instrument.changes")]
fn changes_exported() -> Ref<PassInstrument> {
    Changes::instrument()
}

/// The name of a pass, and the names of changed, added and removed functions.
type Row = (Str, Array<Str>, Array<Str>, Array<Str>);

/// For every pass: its name and the names of changed, added and removed functions.
#[export("instrument.recorded_changes")]
fn recorded_exported(instrument: &Ref<PassInstrument>) -> Result<Vec<Row>> {
    let changes: &Changes = instrument
        .content()
        .ok_or_else(|| Error::type_error("expected an instrument that records changes"))?;
    let names = |names: Vec<String>| Array::from(names.iter().map(Str::from).collect::<Vec<_>>());
    let row = |found: ChangedFunctions| {
        let ChangedFunctions {
            pass,
            changed,
            added,
            removed,
        } = found;
        (pass.into(), names(changed), names(added), names(removed))
    };
    Ok(changes.recorded().into_iter().map(row).collect())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![changes_exported, recorded_exported]
}
