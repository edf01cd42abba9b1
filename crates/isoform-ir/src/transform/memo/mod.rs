//! Memoised passes: the result for a function is kept under everything that it depends on.
//!
//! | file | job |
//! |---|---|
//! | `key.rs` | the digest of everything that a result depends on |
//! | `settings.rs` | what is the same for all functions: options, context, state of the pass |
//! | `kept.rs` | what stands for a function in a digest, kept from run to run |
//! | `pairs.rs` | the objects of a function that correspond to those of an equal one |
//! | `names.rs` | the same for plain values that comparison ignores |
//! | `relink.rs` | a kept result in terms of the function and program at hand |
//!
//! A kept result is used only with a proof that the function from which it was computed
//! is equal to the function at hand, object by object (`pairs.rs`); without the proof,
//! the result is computed again.

mod kept;
mod key;
mod names;
mod pairs;
mod relink;
mod settings;

pub(super) use settings::Settings;

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use super::cache::{Cache, Memo};
use super::frames;
use super::nodes::Pass;
use crate::ir::{GlobalVar, IRModule};
use isoform::files::{from_bytes, to_bytes};
use isoform::traverse::{Sharing, WalkOptions, WalkResult};
use isoform::types::{Kind, RegionKind};
use isoform::{Array, Obj, Ref, Result, Str, Value};

/// One run of a memoised pass over a program.
pub(super) struct Run<'a> {
    memo: &'a Memo,
    cache: &'a Cache,
    settings: Settings,
    root: &'a Ref<Obj>,
    program: key::Program<'a>,
}

impl<'a> Run<'a> {
    /// The run on a program with these functions. O(functions).
    pub(super) fn new(
        (memo, cache): (&'a Memo, &'a Cache),
        settings: Settings,
        functions: &'a [(Str, Ref<Obj>)],
        root: &'a Ref<Obj>,
    ) -> Self {
        Run {
            memo,
            cache,
            settings,
            root,
            program: key::Program::new(root, functions),
        }
    }

    /// The result for a function: the kept one, or a new one.
    ///
    /// A value that cannot be written to bytes, such as a function of the core in a
    /// field, is never kept; neither is one that refers to a variable of the program that
    /// its function does not have, and one whose pass asked for its messages. `fits` says
    /// whether a result may be one of the pass.
    ///
    /// # Errors
    ///
    /// `ValueError` if the pass changes what it says it depends on.
    pub(super) fn result(
        &self,
        pass: &Pass,
        (position, function): (usize, &Ref<Obj>),
        fits: impl Fn(&Value) -> bool,
        compute: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        let Some(key) = key::of(
            pass,
            self.memo,
            &self.settings,
            (position, function),
            &self.program,
        )?
        else {
            return compute();
        };
        if let Some(bytes) = self.cache.find(&key)?
            && let Some(result) = read(&bytes, function, self.root)
        {
            let result = Value::from(result);
            if fits(&result) {
                return Ok(result);
            }
        }
        let messages = frames::asked_for_messages();
        let result = compute()?;
        self.settings.check_unchanged(pass, self.memo)?;
        if frames::asked_for_messages() != messages {
            return Ok(result);
        }
        if let Some(new) = result.as_object() {
            let entry = if new.same_as(function) {
                Value::NONE
            } else if !is_self_contained(new, function, self.root)? {
                return Ok(result);
            } else {
                // The function as well: what both have in common is the caller's own.
                Array::from([Value::from(function), result.clone()]).into()
            };
            if let Ok(bytes) = to_bytes(&entry) {
                self.cache.keep(&key, bytes)?;
            }
        }
        Ok(result)
    }
}

type Idents = HashSet<u64, RandomState>;

/// True if the variables of a result are bound in it, or occur in the function, or can be
/// found in the program by their names. Linear in both.
fn is_self_contained(result: &Ref<Obj>, function: &Ref<Obj>, root: &Ref<Obj>) -> Result<bool> {
    let options = WalkOptions::default().include_ignored(true);
    let is_var = |object: &Ref<Obj>| object.type_info().kind() == Kind::Var;
    let has_names = root.isa::<IRModule>();
    let (mut used, mut bound) = (Idents::default(), Idents::default());
    let apart = options.sharing(Sharing::OncePerRegion);
    apart.walk_objects(result, |object: &Ref<Obj>, region| {
        if is_var(object) && !(has_names && object.isa::<GlobalVar>()) {
            match region {
                RegionKind::Use => used.insert(object.identity()),
                _ => bound.insert(object.identity()),
            };
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    used.retain(|var| !bound.contains(var));
    if !used.is_empty() {
        options.walk_objects(function, |object: &Ref<Obj>, _| {
            used.remove(&object.identity());
            Ok(WalkResult::<()>::Advance)
        })?;
    }
    Ok(used.is_empty())
}

/// The result of an entry; None for one that does not help.
fn read(bytes: &[u8], function: &Ref<Obj>, root: &Ref<Obj>) -> Option<Ref<Obj>> {
    let entry = from_bytes(bytes).ok()?;
    if entry.is_none() {
        return Some(function.clone());
    }
    let entry = entry.as_array()?;
    let [old, result] = entry.values() else {
        return None;
    };
    let pairs = pairs::of(old.as_object()?, function)?;
    relink::relinked(result, &pairs, root)
}
