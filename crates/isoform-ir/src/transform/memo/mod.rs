//! Memoised passes: the cache keeps the result for a function under a key with every
//! influence on the result.
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
//! A kept result is used only with a proof that the original function of the result
//! equals the present function, object by object (`pairs.rs`). Without the proof, the
//! pass computes the result again.

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
        memo: &'a Memo,
        cache: &'a Cache,
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

    /// Returns the kept result for a function, or computes the result.
    ///
    /// A value is never kept if writing it to bytes fails, for example because of a
    /// function of the core in a field. Values with variables of the program from
    /// outside of the function are not kept, and results of passes that asked for their
    /// messages are not kept either. `fits` returns whether the pass could have
    /// returned a result.
    ///
    /// # Errors
    ///
    /// `ValueError` if the pass changes its declared state.
    pub(super) fn result(
        &self,
        pass: &Pass,
        position: usize,
        function: &Ref<Obj>,
        fits: impl Fn(&Value) -> bool,
        compute: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        let Some(key) = key::of(
            pass,
            self.memo,
            &self.settings,
            position,
            function,
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
                // Includes the function: parts common to both are the caller's own.
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

/// The result of an entry; None for an unusable entry.
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
