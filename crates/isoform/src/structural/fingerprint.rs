//! Hash and digest: the public functions.

use std::cell::RefCell;

use super::digest::Digest;
use super::digest::Portable;
use super::hash::{HashTables, Hasher, TablesOf};
use super::scope::Region;
use super::sink::{Fast, Sink};
use super::snapshots::{Snapshots, Watch};
use super::{CompareOptions, VISITS};
use crate::kernel::error::Result;
use crate::kernel::mixing::Mixing;
use crate::kernel::object::access;
use crate::kernel::object::arena::Arena;
use crate::kernel::object::moment::Version;
use crate::kernel::value::Value;

thread_local! {
    // Taken during a walk, so a walk inside a hook gets separate tables.
    static FAST: RefCell<Option<Box<HashTables<u64, u64>>>> = const { RefCell::new(None) };
}

/// A finished hash, and the moment of the hash if a key needs it and any part can
/// change.
pub(super) type Walked<Hash> = Result<(Hash, Option<Version>)>;

/// Walks with these tables and returns them for the next walk.
pub(super) fn walk<S: Sink>(
    value: &Value,
    options: CompareOptions,
    snapshots: Option<Snapshots<'_>>,
    watch: impl Fn() -> Watch,
    sink: impl Fn() -> S,
    tables: Box<TablesOf<S>>,
) -> (Walked<S::Hash>, Box<TablesOf<S>>) {
    access::traversing(|section| {
        let arena = Arena::default();
        let region = Region::root(options.map_free_vars);
        let mut hasher = Hasher::new(&arena, options, snapshots, watch(), sink(), tables);
        let mut result = hasher.whole(section, value, region);
        // At most once for each type with a custom hash, and once in doubt.
        while hasher.unplanned || hasher.parts.in_doubt && !hasher.parts.visits_all {
            // Kept hashes rely on the watches, even if the second walk fails.
            drop(hasher.watch.finish());
            let visits_all = hasher.parts.in_doubt || hasher.parts.visits_all;
            let tables = hasher.into_tables();
            hasher = Hasher::new(&arena, options, snapshots, watch(), sink(), tables);
            hasher.parts.visits_all = visits_all;
            result = hasher.whole(section, value, region);
        }
        VISITS.set(hasher.visits);
        let moment = hasher.watch.finish();
        (result.map(|out| (out, moment)), hasher.into_tables())
    })
}

/// Walks with the tables of this thread.
fn walk_fast<const KEYED: bool>(
    value: &Value,
    options: CompareOptions,
    snapshots: Option<Snapshots<'_>>,
    mixing: Mixing,
) -> Walked<u64> {
    let tables = FAST.with(|cell| cell.borrow_mut().take());
    let tables = tables.unwrap_or_else(|| Box::new(HashTables::new()));
    let sink = || Fast::<KEYED>(mixing);
    let (result, tables) = walk(value, options, snapshots, Watch::default, sink, tables);
    FAST.with(|cell| *cell.borrow_mut() = Some(tables));
    result
}

/// The hash of a value for tables of this process, and its moment if any part can
/// change.
pub(super) fn hash_of_moment(value: &Value) -> Result<(u64, Option<Version>)> {
    let (options, mixing) = (CompareOptions::default(), Mixing::of_process());
    let (mut hash, moment) = walk_fast::<true>(value, options, None, mixing)?;
    if let Some(moment) = &moment
        && !moment.is_now()
    {
        // A write happened in the meantime, maybe to an object already hashed.
        let snapshots = Some(Snapshots::watching(moment));
        hash = walk_fast::<true>(value, options, snapshots, mixing)?.0;
    }
    Ok((hash, moment))
}

/// The hash that [`hash_of_moment`] gives for the contents of a value at a moment.
pub(super) fn hash_at(value: &Value, moment: &Version) -> Result<u64> {
    let snapshots = Some(Snapshots::exact(moment));
    let mixing = Mixing::of_process();
    Ok(walk_fast::<true>(value, CompareOptions::default(), snapshots, mixing)?.0)
}

/// Returns the structural hash of a value, the same for equal values.
///
/// Free variables are hashed by identity. The hash is the same in every run of
/// a single-threaded program, but may change with the version of the library;
/// [`structural_digest`] does not.
///
/// Linear in the number of distinct objects, in constant native stack. A shared node
/// that uses a variable of an enclosing scope is visited once for each depth of scopes
/// around its places, since variables are named by distance (de Bruijn, 1972).
///
/// # Errors
///
/// `TypeError` for a value that is not comparable or a type with a custom equality but
/// no custom hash, `ValueError` for a value that contains itself, both with the access
/// path; `RecursionError` if custom hashes nest too deeply; any error of a custom hash.
///
/// ```
/// use isoform::structural_hash;
/// assert_eq!(structural_hash([1, 2])?, structural_hash([1, 2])?);
/// assert_ne!(structural_hash(1)?, structural_hash(1.0)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_hash(value: impl Into<Value>) -> Result<u64> {
    CompareOptions::default().hash(value)
}

/// Returns a portable name of a value, for use as a cache key. The name distinguishes
/// the same values as equality does, and its 32 bytes are the same on every machine and
/// in every version of the library with the same [format](Digest::FORMAT_VERSION).
///
/// Singletons are named by type and content, since another process has another object.
/// A type with a custom hash contributes the 64 bits returned by the hook, and a hook
/// may distinguish less than equality does (see
/// [`StructuralHash`](crate::hooks::StructuralHash)). The digest contains the keys of
/// types and the names of their compared fields in the order of visit: two declarations
/// of a type share digests only if keys and names agree.
///
/// Linear in the number of distinct objects and in the bytes of
/// tensors, which are streamed and never copied.
///
/// # Errors
///
/// As [`structural_hash`]; also `ValueError` with the path for a free variable without
/// `map_free_vars`, and for an unbound object as a map key: neither has a portable
/// name.
pub fn structural_digest(value: impl Into<Value>) -> Result<Digest> {
    CompareOptions::default().digest(value)
}

impl CompareOptions {
    /// [`structural_hash`] with these options; values that are equal under the
    /// same options have the same hash.
    ///
    /// # Errors
    ///
    /// As [`structural_hash`].
    pub fn hash(self, value: impl Into<Value>) -> Result<u64> {
        Ok(walk_fast::<false>(&value.into(), self, None, Mixing::FIXED)?.0)
    }

    /// [`structural_digest`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_digest`].
    pub fn digest(self, value: impl Into<Value>) -> Result<Digest> {
        let value = value.into();
        let tables = Box::new(HashTables::new());
        let sink = Portable::<false>::default;
        let (result, _) = walk(&value, self, None, Watch::default, sink, tables);
        Ok(Digest::new(result?.0))
    }
}
