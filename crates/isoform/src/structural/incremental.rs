//! Hashes and digests of programs that are edited step by step.

use super::fingerprint::{Walked, walk};
use super::hash::{HashTables, TablesOf};
use super::portable::Portable;
use super::sink::{Fast, Sink};
use super::snapshots::Watch;
use super::{CompareOptions, Digest};
use crate::kernel::error::Result;
use crate::kernel::mixing::Mixing;
use crate::kernel::value::Value;

/// Hashes a program again and again while it is edited, each time at the cost of the edit.
///
/// It remembers the hashes of parts, and a part that it meets again as the same object is
/// not visited. An edit that copies the objects on the path to a change, as all rewrites
/// of this library do, so costs O(depth × arity) instead of O(n). The results are those of
/// [`structural_hash`](crate::structural_hash) and
/// [`structural_digest`](crate::structural_digest).
///
/// Parts count in which no variable from around them is met first: functions, closed
/// expressions, functions of a module although they call each other by name, and parts that
/// use at most 64 variables which were met before and have the same names as in the earlier
/// walk. So in an open program with `map_free_vars`, or inside of a large function, the paths
/// to where each variable is met first are visited again, too.
/// Dag nodes in a part must be met in a scope of the part, as those of a function are, and
/// nowhere else. A write to any mutable object makes it forget the parts that can change.
///
/// It remembers at most 262,144 parts for hashes and as many for digests, each of 80 and
/// 104 bytes in a table that is up to half empty, and 16 bytes for each variable from around
/// it. It forgets all of them if there are more, and the parts that use numbered variables
/// from around them if these are half as many. It keeps no object alive.
///
/// ```
/// use isoform::compare::IncrementalHasher;
/// use isoform::{Array, Value, structural_digest, structural_hash};
///
/// let mut hasher = IncrementalHasher::default();
/// let large = Array::from((0..1000).collect::<Vec<i64>>());
/// for step in 0..3 {
///     let program: Value = Array::from(vec![large.clone().into(), Value::from(step)]).into();
///     assert_eq!(hasher.hash(&program)?, structural_hash(&program)?);
///     assert_eq!(hasher.digest(&program)?, structural_digest(&program)?);
/// }
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Default)]
pub struct IncrementalHasher {
    options: CompareOptions,
    hashes: Option<Box<TablesOf<Fast<true>>>>,
    digests: Option<Box<TablesOf<Portable<true>>>>,
}

impl IncrementalHasher {
    /// A hasher with these options, which remembers nothing yet.
    pub fn new(options: CompareOptions) -> Self {
        IncrementalHasher {
            options,
            ..IncrementalHasher::default()
        }
    }

    /// The structural hash of a value.
    ///
    /// # Errors
    ///
    /// As [`structural_hash`](crate::structural_hash).
    pub fn hash(&mut self, value: impl Into<Value>) -> Result<u64> {
        let sink = || Fast::<true>(Mixing::FIXED);
        self.options.again(&value.into(), sink, &mut self.hashes)
    }

    /// The structural digest of a value.
    ///
    /// # Errors
    ///
    /// As [`structural_digest`](crate::structural_digest).
    pub fn digest(&mut self, value: impl Into<Value>) -> Result<Digest> {
        let sink = Portable::<true>::default;
        let bytes = self.options.again(&value.into(), sink, &mut self.digests)?;
        Ok(Digest::new(bytes))
    }

    /// Forgets everything, and frees the memory.
    pub fn clear(&mut self) {
        (self.hashes, self.digests) = (None, None);
    }
}

impl CompareOptions {
    /// Walks with tables that remember.
    fn again<S: Sink>(
        self,
        value: &Value,
        sink: impl Fn() -> S,
        known: &mut Option<Box<TablesOf<S>>>,
    ) -> Result<S::Hash> {
        // A custom hash may panic; then the tables are gone, and nothing else is lost.
        let tables = known.take().unwrap_or_else(|| Box::new(HashTables::new()));
        let (result, tables): (Walked<S::Hash>, _) =
            walk(value, self, None, Watch::of_dates, sink, tables);
        *known = Some(tables);
        result.map(|(hash, _)| hash)
    }
}
