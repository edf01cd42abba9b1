//! Structural equality, mismatch, hash, digest and keys.
//!
//! | file | job |
//! |---|---|
//! | `equal/` | equality and first mismatch: one walk, with an optional recorder |
//! | `hash/` | hash and digest: one walk, mixed into 64 bits by `sink.rs` or a digest by `digest.rs` |
//! | `effects/`, `equal/skip.rs` | the effects of comparing an object with itself, for skips |
//! | `bindings.rs` | the bound variables and dag nodes; scopes, shadowing, rollback |
//! | `scope.rs` | regions |
//! | `levels.rs` | scope levels, and the dependencies of remembered results |
//! | `environments.rs` | results looked up by the bindings of a node's own free variables |
//! | `level_set.rs` | the set of levels that a result depends on |
//! | `memo.rs` | proven pairs of shared nodes, as classes of a union-find |
//! | `var_numbering.rs` | the names of bound objects in a hash, also inside custom hashes |
//! | `mismatch.rs` | why two values differ, for people |
//! | `open.rs` | objects that have been entered and not yet left |
//! | `key.rs`, `snapshots.rs` | a value at one moment, as a key of hash tables |
//! | `hash/cache.rs`, `hash/cache_policy.rs` | hashes of parts, kept for keys and for `incremental.rs` |
//! | `plain_values.rs` | values without parts, which need no frame, and their contributions to hashes |
//! | `classes/` | the classes of all subterms; duplicates and interning |
//! | `blocks/` | repeated blocks of dataflow graphs |
//! | `declaration.rs` | the digest of a declaration, made of digests of values |
//! | `diff/` | all differences of two values, patches, and alignment of dataflow graphs |
//!
//! All walks have explicit stacks. Compared objects are never written to, so any number
//! of threads may compare the same objects.
//!
//! Absent: comparison by address or allocation order; time limits; recursion, except
//! through custom hooks, whose depth is limited.

mod bindings;
mod blocks;
mod classes;
mod declaration;
mod diff;
mod digest;
mod effects;
mod environments;
mod equal;
mod fingerprint;
mod hash;
mod hole;
pub(crate) mod ident_map;
mod incremental;
mod key;
pub(crate) mod leaf;
mod level_set;
mod levels;
mod memo;
mod mismatch;
mod open;
mod plain_values;
mod scope;
mod sink;
mod snapshots;
mod var_numbering;

pub use blocks::{RepeatedBlock, repeated_blocks};
pub use classes::{
    Class, ClassCosts, ClassOptions, Duplicate, SubtermClasses, duplicates, intern, subterm_classes,
};
pub use declaration::declaration_digest;
pub use diff::{
    Change, ChangeKind, Conflict, DiffCosts, DiffOptions, Difference, Hunk, IgnoreChange, Merge,
    PairReason, Patch, Place, PlacePaths, Resolution, align_words, diff, merge,
};
pub(crate) use diff::{Edit, Keyed, New, Source, Splice, check_of, named_fields, write_place};
pub use digest::Digest;
pub(crate) use equal::{Filled, FilledPair};
pub use fingerprint::{structural_digest, structural_hash};
pub use hole::Guard;
pub(crate) use hole::{Hole, HoleTable, variable};
pub use incremental::IncrementalHasher;
pub use mismatch::{ExistingPair, HoleRefusal, Mismatch, MismatchReason};

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use equal::{Engine, Frame, Holes, Tables};
use mismatch::FirstDifference;
use scope::Region;
use snapshots::Snapshots;

use crate::kernel::error::Result;
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::raw_value::BorrowedValue;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::path::AccessPath;
use crate::kernel::value::Value;
use crate::traverse::recycle;

type Reused = (Box<Tables>, Vec<Frame<'static>>);

thread_local! {
    // Taken during a comparison, so a comparison inside a hook gets separate
    // tables.
    static REUSED: RefCell<Option<Reused>> = const { RefCell::new(None) };
    static VISITS: Cell<u64> = const { Cell::new(0) };
    static VISITS_ALL: Cell<bool> = const { Cell::new(false) };
}

/// The number of pairs or objects that the last comparison, hash or digest of
/// this thread visited; the measure of the complexity tests.
pub fn last_visit_count() -> u64 {
    VISITS.get()
}

/// Runs a function whose comparisons visit every pair, even of identical objects: for
/// tests that compare the results.
#[doc(hidden)]
pub fn visiting_everything<T>(body: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            VISITS_ALL.set(self.0);
        }
    }
    let _restore = Restore(VISITS_ALL.replace(true));
    body()
}

/// The parts of a value that a comparison, hash or digest takes into account.
///
/// The methods are the functions of this module with these options.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CompareOptions {
    /// The whole value is a definition region: free variables are equal up to
    /// renaming (also known as `enable_auto_mapping`).
    pub map_free_vars: bool,
    /// Tensors are compared by dtype and shape only.
    pub skip_tensor_content: bool,
}

/// Two roots and the settings of their comparison.
#[derive(Clone, Copy)]
struct Comparison<'v> {
    left: &'v Value,
    right: &'v Value,
    snapshots: (Option<Snapshots<'v>>, Option<Snapshots<'v>>),
    options: CompareOptions,
}

impl Comparison<'_> {
    /// Runs a walk with this thread's tables.
    fn with_engine<T>(
        self,
        body: impl for<'a> FnOnce(&mut Section, &mut Engine<'a>, &'a Value, &'a Value) -> T,
    ) -> T {
        access::traversing(|section| self.with_engine_in_section(section, body))
    }

    fn with_engine_in_section<T>(
        self,
        section: &mut Section,
        body: impl for<'a> FnOnce(&mut Section, &mut Engine<'a>, &'a Value, &'a Value) -> T,
    ) -> T {
        let (tables, stack) = REUSED
            .with(|cell| cell.borrow_mut().take())
            .unwrap_or_default();
        let arena = Arena::default();
        let mut engine = Engine::new(&arena, self.options, self.snapshots, tables, recycle(stack));
        let result = body(section, &mut engine, self.left, self.right);
        VISITS.set(engine.visits);
        let (tables, stack) = engine.into_tables();
        let reused = (tables, recycle(stack));
        REUSED.with(|cell| *cell.borrow_mut() = Some(reused));
        result
    }

    fn equal(self) -> Result<bool> {
        if self.left.as_object().is_none() && self.right.as_object().is_none() {
            VISITS.set(0);
            return Ok(leaf::plain_equal(self.left, self.right));
        }
        if let (Some(l), Some(r)) = (self.left.object_ref(), self.right.object_ref())
            && matches!(self.snapshots, (None, None))
            && let Some(equal) = access::reading(|section| leaf::childless_equal(section, l, r))
        {
            VISITS.set(1);
            return Ok(equal);
        }
        let region = Region::root(self.options.map_free_vars);
        let result = self.with_skips(|section, engine, l, r| {
            let result = engine.compare::<false>(section, l, r, region);
            let result = result.map_err(|error| (error, engine.own_error));
            (result, engine.is_in_doubt())
        });
        match result {
            Ok(equal) => Ok(equal),
            // Repeating the walk with the recorder yields the path.
            Err((error, true)) => self
                .recorded()
                .map(|mismatch| mismatch.is_none())
                .and(Err(error)),
            Err((error, false)) => Err(error),
        }
    }

    /// Runs a walk that skips objects shared by both sides, and if the result is in
    /// doubt, a second walk that visits every pair.
    fn with_skips<T>(
        self,
        body: impl for<'a> Fn(&mut Section, &mut Engine<'a>, &'a Value, &'a Value) -> (T, bool),
    ) -> T {
        if VISITS_ALL.get() {
            return self.with_engine(body).0;
        }
        let (result, in_doubt) = self.with_engine(|section, engine, l, r| {
            engine.allow_skips();
            body(section, engine, l, r)
        });
        if !in_doubt {
            return result;
        }
        let visits = VISITS.get();
        let (result, _) = self.with_engine(body);
        VISITS.set(visits + VISITS.get());
        result
    }

    fn recorded(self) -> Result<Option<FirstDifference>> {
        let region = Region::root(self.options.map_free_vars);
        self.with_skips(|section, engine, l, r| {
            let equal = engine.compare::<true>(section, l, r, region);
            let found = equal.map(|equal| if equal { None } else { engine.found.take() });
            let in_doubt = engine.is_in_doubt()
                || matches!(&found, Ok(Some(found)) if engine.may_be_told_otherwise(found));
            (found, in_doubt)
        })
    }

    /// The place where the recorded walk made a binding.
    fn place_of(self, binding: u32) -> Option<(AccessPath, AccessPath)> {
        let region = Region::root(self.options.map_free_vars);
        let (_, watched) = self.with_engine(|section, engine, l, r| {
            engine.watch = Some(binding);
            // The outcome is known; only the place is needed. The outcome leaves the
            // section, because dropping an error of a hook may run foreign code.
            let outcome = engine.compare::<true>(section, l, r, region);
            (outcome, engine.watched.take())
        });
        let watched = watched?;
        Some((
            AccessPath::from_steps(watched.0),
            AccessPath::from_steps(watched.1),
        ))
    }

    fn explain(self) -> Result<Option<Mismatch>> {
        let Some(difference) = self.recorded()? else {
            return Ok(None);
        };
        let made = difference
            .binding
            .and_then(|binding| self.place_of(binding));
        Ok(Some(Mismatch::new(difference, made)))
    }
}

/// A template with holes, and the value to match.
#[derive(Clone, Copy)]
pub(crate) struct Matching<'v> {
    pub(crate) template: &'v Value,
    pub(crate) value: &'v Value,
    pub(crate) holes: &'v Arc<HoleTable>,
    pub(crate) options: CompareOptions,
}

impl<'v> Matching<'v> {
    /// Returns the contents of the holes; None if the value does not match.
    ///
    /// # Errors
    ///
    /// As [`structural_equal`], and the errors of guards.
    pub(crate) fn run(self) -> Result<Option<Filled>> {
        self.with_engine(|section, engine, l, r, region| {
            let equal = engine.compare::<true>(section, l, r, region)?;
            Ok(equal.then(|| engine.filled()))
        })
    }

    /// Returns the first difference that prevents a match.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub(crate) fn explain(self) -> Result<Option<Mismatch>> {
        let found = self.with_engine(|section, engine, l, r, region| {
            let equal = engine.compare::<true>(section, l, r, region)?;
            Ok(if equal { None } else { engine.found.take() })
        })?;
        let Some(difference) = found else {
            return Ok(None);
        };
        let made = match difference.binding {
            None => None,
            Some(binding) => self.with_engine(|section, engine, l, r, region| {
                engine.watch = Some(binding);
                let outcome = engine.compare::<true>(section, l, r, region);
                outcome.map(|_| engine.watched.take())
            })?,
        };
        let path = AccessPath::from_steps;
        let made = made.map(|(left, right)| (path(left), path(right)));
        Ok(Some(Mismatch::new(difference, made)))
    }

    fn with_engine<T>(
        self,
        body: impl for<'a> FnOnce(
            &mut Section,
            &mut Engine<'a>,
            &'a Value,
            &'a Value,
            Region,
        ) -> Result<T>,
    ) -> Result<T> {
        let comparison = Comparison {
            left: self.template,
            right: self.value,
            snapshots: (None, None),
            options: self.options,
        };
        let region = Region::root(self.options.map_free_vars);
        comparison.with_engine(|section, engine, l, r| {
            engine.holes = Some(Holes::new(self.holes.clone()));
            body(section, engine, l, r, region)
        })
    }
}

/// Returns true if two values are structurally equal: the same up to renaming
/// of bound variables.
///
/// Linear in the number of distinct pairs of objects, in constant native stack.
///
/// # Errors
///
/// `TypeError` for a value that is not comparable, `ValueError` for a value that
/// contains itself, both with the access path; `RecursionError` if custom comparisons
/// nest too deeply; any error of a custom comparison.
///
/// ```
/// use isoform::{Array, structural_equal};
/// let a = Array::from(vec![1i64, 2]);
/// let b = Array::from(vec![1i64, 2]);
/// assert!(structural_equal(a, b)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_equal(left: impl Into<Value>, right: impl Into<Value>) -> Result<bool> {
    CompareOptions::default().equal(left, right)
}

/// [`CompareOptions::equal`] for two borrowed objects. Made for bindings, where
/// changing two reference counts is a good part of the cost of a small call.
///
/// # Errors
///
/// As [`structural_equal`].
#[inline]
pub fn objects_equal(left: &Ref<Obj>, right: &Ref<Obj>, options: CompareOptions) -> Result<bool> {
    let (left, right) = (BorrowedValue::of(left), BorrowedValue::of(right));
    let comparison = Comparison {
        left: left.get(),
        right: right.get(),
        snapshots: (None, None),
        options,
    };
    comparison.equal()
}

/// Returns the access paths of the first difference, or None if the values are
/// equal.
///
/// # Errors
///
/// As [`structural_equal`].
///
/// ```
/// use isoform::compare::first_structural_mismatch;
/// let (left, right) = first_structural_mismatch([1, 2], [1, 3])?.expect("they differ");
/// assert_eq!(left.to_string(), "<root>[1]");
/// assert_eq!(left, right);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn first_structural_mismatch(
    left: impl Into<Value>,
    right: impl Into<Value>,
) -> Result<Option<(AccessPath, AccessPath)>> {
    CompareOptions::default().first_mismatch(left, right)
}

/// Returns the first difference with both values and the reason, or None if the
/// values are equal.
///
/// # Errors
///
/// As [`structural_equal`].
pub fn explain_mismatch(
    left: impl Into<Value>,
    right: impl Into<Value>,
) -> Result<Option<Mismatch>> {
    CompareOptions::default().explain_mismatch(left, right)
}

impl CompareOptions {
    /// [`structural_equal`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_equal`].
    ///
    /// ```
    /// use isoform::{Node, Str};
    /// use isoform::compare::CompareOptions;
    ///
    /// /// A variable.
    /// #[derive(Node)]
    /// #[node(key = "doc.equal.Var", kind = var)]
    /// #[repr(C)]
    /// pub struct Var {
    ///     /// Not compared.
    ///     #[node(ignore)]
    ///     pub name: Str,
    /// }
    ///
    /// let (x, y) = (Var::new("x"), Var::new("y"));
    /// let renaming = CompareOptions { map_free_vars: true, ..Default::default() };
    /// assert!(renaming.equal([&x, &x], [&y, &y])?);
    /// assert!(!renaming.equal([&x, &x], [&x, &y])?);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn equal(self, left: impl Into<Value>, right: impl Into<Value>) -> Result<bool> {
        self.compare(left, right, |comparison| comparison.equal())
    }

    /// [`first_structural_mismatch`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_equal`].
    pub fn first_mismatch(
        self,
        left: impl Into<Value>,
        right: impl Into<Value>,
    ) -> Result<Option<(AccessPath, AccessPath)>> {
        let paths = |difference: FirstDifference| {
            let path = AccessPath::from_steps;
            (path(difference.left_steps), path(difference.right_steps))
        };
        self.compare(left, right, |comparison| {
            Ok(comparison.recorded()?.map(paths))
        })
    }

    /// [`explain_mismatch`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_equal`].
    pub fn explain_mismatch(
        self,
        left: impl Into<Value>,
        right: impl Into<Value>,
    ) -> Result<Option<Mismatch>> {
        self.compare(left, right, |comparison| comparison.explain())
    }

    fn compare<T>(
        self,
        left: impl Into<Value>,
        right: impl Into<Value>,
        answer: impl FnOnce(Comparison<'_>) -> T,
    ) -> T {
        let (left, right) = (left.into(), right.into());
        answer(Comparison {
            left: &left,
            right: &right,
            snapshots: (None, None),
            options: self,
        })
    }
}
