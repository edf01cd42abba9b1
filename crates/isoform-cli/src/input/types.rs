//! The origin of node types that a file names and this program does not declare: modules of
//! the project's settings, and whatever the host of the command finds.
//!
//! Nothing is asked before a file names an unknown type, so that commands start quickly.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use isoform::plumbing::sketches::is_known;
use isoform::types::registered_types;

use crate::config::Module;
use crate::imports::{Find, Import};
use crate::output::Failure;

/// See the [module](self).
#[derive(Clone, Default)]
pub(crate) struct TypeSources(Option<Arc<Sources>>);

/// The parts of [`TypeSources`].
pub(crate) struct Sources {
    pub(crate) import: Option<Import>,
    pub(crate) find: Option<Find>,
    /// True if the types of this program are declared in Rust alone.
    pub(crate) is_own: bool,
    pub(crate) state: Mutex<State>,
}

/// The progress of a search.
#[derive(Default)]
pub(crate) struct State {
    /// The modules that have not been imported yet.
    pub(crate) modules: Vec<Module>,
    /// The failure of one of them.
    pub(crate) failure: Option<Failure>,
    /// The keys that have been searched for.
    pub(crate) asked: HashSet<String>,
    pub(crate) notes: Vec<String>,
}

impl TypeSources {
    pub(crate) fn new(sources: Sources) -> Self {
        TypeSources(Some(Arc::new(sources)))
    }

    /// Imports all modules of the settings. Without a host of Python, it does nothing.
    pub(crate) fn import_all(&self) -> Result<(), Failure> {
        let Some(sources) = &self.0 else {
            return Ok(());
        };
        sources.import_until(&mut sources.lock(), || false)
    }

    /// Searches for types with these keys; true if one of them is known now.
    pub(crate) fn declare(&self, keys: &[String]) -> Result<bool, Failure> {
        let Some(sources) = &self.0 else {
            return Ok(false);
        };
        // Other threads with the same types wait here, and then find them.
        let mut state = sources.lock();
        let unknown = || keys.iter().filter(|key| !is_known(key));
        let before = unknown().count();
        sources.import_until(&mut state, || unknown().next().is_none())?;
        let new: Vec<String> = unknown()
            .filter(|key| !state.asked.contains(*key))
            .cloned()
            .collect();
        if let Some(find) = &sources.find
            && !new.is_empty()
        {
            let notes = find(&new);
            state.notes.extend(notes);
            state.asked.extend(new);
        }
        // All may be known already, thanks to another thread.
        Ok(before == 0 || unknown().count() < before)
    }

    /// The notes of all searches, which are told once.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        let sources = self.0.as_deref();
        sources.map_or_else(Vec::new, |sources| {
            std::mem::take(&mut sources.lock().notes)
        })
    }

    /// Advice on how to make unknown types with these keys known.
    pub(crate) fn hint(&self, keys: &[String]) -> &'static str {
        if keys.iter().any(|key| has_declared_dialect(key)) {
            return LATER;
        }
        match self.0.as_deref() {
            Some(sources) if sources.is_own => OWN,
            Some(sources) if sources.import.is_some() => IMPORT,
            _ => NO_HOST,
        }
    }
}

/// True if a type is known whose key differs in the last part only.
fn has_declared_dialect(key: &str) -> bool {
    let dialect = |key: &str| key.rsplit_once('.').map(|(dialect, _)| dialect.to_owned());
    let types = registered_types();
    let mut known = types.iter().filter(|known| !known.is_builtin());
    dialect(key).is_some() && known.any(|known| dialect(known.key()) == dialect(key))
}

const LATER: &str = "the module that declares the other types of this dialect is imported; a class that was renamed since needs aliases, see docs/evolution.md";
const IMPORT: &str = "if a Python module declares this type, name the module: `--import MODULE`, or import = [\"MODULE\"] under [tool.isoform] in pyproject.toml";
const NO_HOST: &str = "if a Python module declares this type, name the module: `python -m isoform --import MODULE ...`";
const OWN: &str = "this program registers its node types in Rust, and this type is not among them";

impl Sources {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Imports modules in order until `is_enough`.
    fn import_until(&self, state: &mut State, is_enough: impl Fn() -> bool) -> Result<(), Failure> {
        let Some(import) = &self.import else {
            return Ok(());
        };
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        while !is_enough() && !state.modules.is_empty() {
            let module = state.modules.remove(0);
            if let Err(text) = import(&module.name, &module.folder) {
                let file = module.folder.join("pyproject.toml");
                let mut failure = Failure::of_text(text);
                let place = format!("import of '{}' for {}", module.name, file.display());
                failure.message = format!("{place}: {}", failure.message);
                state.failure = Some(failure.clone());
                return Err(failure);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for TypeSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypeSources")
            .field("is_some", &self.0.is_some())
            .finish()
    }
}
