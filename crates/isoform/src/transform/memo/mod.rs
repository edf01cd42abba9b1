//! Memoised passes: the result for a function is kept under everything that it depends on.
//!
//! | file | job |
//! |---|---|
//! | `key.rs` | the digest of everything that a result depends on |
//! | `pairs.rs` | the objects of a function that correspond to those of an equal one |
//! | `relink.rs` | a kept result in terms of the function and program at hand |

mod key;
mod pairs;
mod relink;

use super::cache::{Cache, Memo};
use super::nodes::Pass;
use crate::files::{from_bytes, to_bytes};
use crate::kernel::container::{Array, Str};
use crate::kernel::error::Result;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;

/// One run of a memoised pass over a program.
pub(super) struct Run<'a> {
    memo: &'a Memo,
    cache: &'a Cache,
    root: &'a Ref<Obj>,
    program: key::Program<'a>,
}

impl<'a> Run<'a> {
    /// The run on a program with these functions. O(functions).
    pub(super) fn new(
        (memo, cache): (&'a Memo, &'a Cache),
        functions: &'a [(Str, Ref<Obj>)],
        root: &'a Ref<Obj>,
    ) -> Self {
        Run {
            memo,
            cache,
            root,
            program: key::Program::new(root, functions),
        }
    }

    /// The result for a function: the kept one, or a new one.
    ///
    /// A value that cannot be written to bytes, such as a function of the core in a
    /// field, is never kept.
    pub(super) fn result(
        &self,
        pass: &Pass,
        function: &Ref<Obj>,
        compute: impl FnOnce() -> Result<Value>,
    ) -> Result<Value> {
        let Some(key) = key::of(pass, self.memo, function, &self.program)? else {
            return compute();
        };
        if let Some(bytes) = self.cache.find(&key)
            && let Some(result) = read(&bytes, function, self.root)
        {
            return Ok(result.into());
        }
        let result = compute()?;
        if let Some(new) = result.as_object() {
            let entry = match new.same_as(function) {
                true => Value::NONE,
                // The function as well: what both have in common is the caller's own.
                false => Array::from([Value::from(function), result.clone()]).into(),
            };
            if let Ok(bytes) = to_bytes(&entry) {
                self.cache.keep(&key, bytes);
            }
        }
        Ok(result)
    }
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
