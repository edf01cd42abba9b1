//! The digest of everything that the result of a pass depends on.

use std::cell::OnceCell;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::files::to_bytes;
use crate::kernel::container::{Array, Bytes, Str};
use crate::kernel::error::Result;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;
use crate::structural::{CompareOptions, Digest};
use crate::transform::cache::Memo;
use crate::transform::nodes::Pass;
use crate::transform::root::{Root, Signature};

/// The version of the form of keys and entries.
const VERSION: i64 = 1;

/// A program, with what the keys of its functions have in common.
pub(super) struct Program<'a> {
    root: &'a Ref<Obj>,
    functions: HashMap<&'a str, &'a Ref<Obj>, RandomState>,
    /// The digest of the whole program, once it is needed; None inside if it has none.
    digest: OnceCell<Option<Digest>>,
}

impl<'a> Program<'a> {
    pub(super) fn new(root: &'a Ref<Obj>, functions: &'a [(Str, Ref<Obj>)]) -> Self {
        let functions = functions.iter().map(|(name, function)| (&**name, function));
        Program {
            root,
            functions: functions.collect(),
            digest: OnceCell::new(),
        }
    }
}

/// The digest of a value whose free variables are mapped; None if it has none.
fn digest(value: Value) -> Option<Digest> {
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    options.digest(value).ok()
}

/// The key; None if a part has no digest.
///
/// # Errors
///
/// Errors of the function that returns what the pass reads, and of the root.
pub(super) fn of(
    pass: &Pass,
    memo: &Memo,
    function: &Ref<Obj>,
    program: &Program<'_>,
) -> Result<Option<[u8; 32]>> {
    let exact = match memo.ignores {
        true => Value::NONE,
        false => match to_bytes(&function.into()) {
            Ok(bytes) => Bytes::from(bytes).into(),
            Err(_) => return Ok(None),
        },
    };
    let reads = match &memo.reads {
        Some(reads) => reads.call(&[function.into(), program.root.into()])?,
        None => Value::NONE,
    };
    let Some(callees) = callees(memo, function, program)? else {
        return Ok(None);
    };
    let parts: [Value; 9] = [
        VERSION.into(),
        function.type_info().key().into(),
        (&pass.info.name).into(),
        (&memo.version).into(),
        pass.options.snapshot().into(),
        function.into(),
        exact,
        callees,
        reads,
    ];
    let found = digest(Array::from(parts).into());
    Ok(found.map(|found| *found.as_bytes()))
}

/// The signatures of the functions that a function calls; the digest of the whole program
/// if its type does not say which ones these are. None if the program has none.
fn callees(memo: &Memo, function: &Ref<Obj>, program: &Program<'_>) -> Result<Option<Value>> {
    let Some(seen) = program.root.implements_nearest::<dyn Root>() else {
        // The program is the function itself.
        return Ok(Some(Value::NONE));
    };
    let Some(names) = seen.callees(function)? else {
        let known = program.digest.get_or_init(|| digest(program.root.into()));
        return Ok(known.map(|known| Bytes::from(known.as_bytes().to_vec()).into()));
    };
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let signature = match program.functions.get(&*name) {
            None => Value::NONE,
            Some(callee) => match callee.implements_nearest::<dyn Signature>() {
                Some(callee) => callee.signature()?,
                None => (*callee).into(),
            },
        };
        let name = match memo.ignores {
            true => Value::NONE,
            false => name.into(),
        };
        found.push(Value::from([name, signature]));
    }
    Ok(Some(Array::from(found).into()))
}
