//! Hashes and digests of programs that are edited step by step.

use super::digest::Portable;
use super::fingerprint::{Walked, walk};
use super::hash::{HashTables, TablesOf};
use super::sink::{Fast, Sink};
use super::snapshots::Watch;
use super::{CompareOptions, Digest};
use crate::kernel::error::Result;
use crate::kernel::mixing::Mixing;
use crate::kernel::value::Value;

/// Hashes a program again and again while the program is edited, at the cost of the
/// edit.
///
/// The hasher remembers the hashes of parts and does not visit a part again that it
/// meets as the same object. An edit that copies the objects on the path to a change,
/// as all rewrites of this library do, costs O(depth × arity) instead of O(n). The
/// results equal the results of [`structural_hash`](crate::structural_hash) and
/// [`structural_digest`](crate::structural_digest).
///
/// A part counts if no variable from around the part is met first inside. Examples are
/// functions, closed expressions, and functions of a module although they call each
/// other by name. Parts also count that use at most 64 variables met before, if these
/// variables have the same names as in the earlier walk. In an open program with
/// `map_free_vars`, or inside of a large function, the paths to the first occurrences
/// of variables are therefore visited again, too. Dag nodes in a part must be met in a
/// scope of the part, as the dag nodes of a function are, and nowhere else. A write to
/// any mutable object makes the hasher forget the parts that can change.
///
/// The hasher remembers at most 262,144 parts for hashes and as many for digests. A
/// part takes 80 or 104 bytes in a table that is up to half empty, and 16 bytes for
/// each variable from around the part. The hasher forgets all parts beyond that number.
/// Beyond half of that number, the hasher forgets the parts that use numbered variables
/// from around them. No object is kept alive.
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
    /// Returns a hasher with these options and an empty memory.
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

    /// Forgets all parts, and frees the memory.
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
        // A custom hash may panic; then only the tables are lost.
        let tables = known.take().unwrap_or_else(|| Box::new(HashTables::new()));
        let (result, tables): (Walked<S::Hash>, _) =
            walk(value, self, None, Watch::of_dates, sink, tables);
        *known = Some(tables);
        result.map(|(hash, _)| hash)
    }
}
