//! The digest of every influence on the result of a pass.

use std::cell::{OnceCell, RefCell};

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::kept::{self, Summary, digest, exact};
use super::settings::Settings;
use crate::transform::cache::Memo;
use crate::transform::nodes::Pass;
use crate::transform::root::{Root, Signature};
use isoform::values::Bytes;
use isoform::{Array, Obj, Ref, Result, Str, Value};

/// The version of the form of keys and entries.
const VERSION: i64 = 5;

/// A program, with the common parts of the keys of its functions.
pub(super) struct Program<'a> {
    root: &'a Ref<Obj>,
    functions: &'a [(Str, Ref<Obj>)],
    by_name: HashMap<&'a str, &'a Ref<Obj>, RandomState>,
    /// The digest of the whole program, computed on demand; None inside without a
    /// digest.
    whole: OnceCell<Option<Value>>,
    /// The parts of keys for the functions called so far, by identity.
    callees: RefCell<HashMap<u64, Option<Summary>, RandomState>>,
}

impl<'a> Program<'a> {
    pub(super) fn new(root: &'a Ref<Obj>, functions: &'a [(Str, Ref<Obj>)]) -> Self {
        let by_name = functions.iter().map(|(name, function)| (&**name, function));
        Program {
            root,
            functions,
            by_name: by_name.collect(),
            whole: OnceCell::new(),
            callees: RefCell::default(),
        }
    }

    /// The part of a caller's key for a function: the summary of its signature, or of
    /// the whole function without a signature. None without a digest. Computed once for
    /// all callers.
    fn callee(&self, memo: &Memo, callee: &Ref<Obj>) -> Result<Option<Summary>> {
        if let Some(known) = self.callees.borrow().get(&callee.identity()) {
            return Ok(known.clone());
        }
        let found = match callee.implements_nearest::<dyn Signature>() {
            Some(signed) => Summary::of(memo, &signed.signature()?),
            None => kept::summary(memo, callee),
        };
        let mut callees = self.callees.borrow_mut();
        Ok(callees.entry(callee.identity()).or_insert(found).clone())
    }

    /// The digest of the program with its functions in order, as one value: the digest
    /// then covers the sharing of variables between the functions and with the program.
    fn whole(&self, memo: &Memo) -> Option<Value> {
        let known = self.whole.get_or_init(|| {
            let functions: Vec<Value> = self
                .functions
                .iter()
                .map(|(_, function)| function.into())
                .collect();
            let all = Value::from([Value::from(self.root), Array::from(functions).into()]);
            let exact = exact(memo, &all)?;
            let found = digest(Value::from([all, exact]))?;
            Some(Bytes::from(found.as_bytes().to_vec()).into())
        });
        known.clone()
    }
}

/// Numbers for variables, in the order of their occurrence in summaries: the numbers
/// tell which variables several summaries have in common.
#[derive(Default)]
struct Numbers(HashMap<u64, i64, RandomState>);

impl Numbers {
    fn part(&mut self, summary: &Summary) -> Value {
        let number = |var: &u64| {
            let next = self.0.len() as i64;
            Value::from(*self.0.entry(*var).or_insert(next))
        };
        let numbers: Vec<Value> = summary.variables.iter().map(number).collect();
        let digest = Bytes::from(summary.digest.to_vec());
        Value::from([Value::from(digest), Array::from(numbers).into()])
    }
}

/// The key; None if a part has no digest. `position` is the position of the function in
/// the program.
///
/// # Errors
///
/// Errors of the function that returns the reads of the pass, and of the root.
pub(super) fn of(
    pass: &Pass,
    memo: &Memo,
    settings: &Settings,
    position: usize,
    function: &Ref<Obj>,
    program: &Program<'_>,
) -> Result<Option<[u8; 32]>> {
    let reads = match &memo.reads {
        Some(reads) => reads.call(&[function.into(), program.root.into()])?,
        None => Value::NONE,
    };
    let own = if reads.is_none() && settings.is_plain {
        kept::summary(memo, function)
    } else {
        // The digest of one value tells which parts are the same objects.
        let part = if settings.is_plain {
            Value::NONE
        } else {
            settings.part.clone()
        };
        Summary::of(memo, &Value::from([Value::from(function), reads, part]))
    };
    let plain = if settings.is_plain {
        settings.part.clone()
    } else {
        Value::NONE
    };
    let Some(own) = own else {
        return Ok(None);
    };
    let mut numbers = Numbers::default();
    let own = numbers.part(&own);
    let Some(around) = around(memo, position, function, program, &mut numbers)? else {
        return Ok(None);
    };
    let seen = Value::from([own, around, plain]);
    let Some(exact) = exact(memo, &seen) else {
        return Ok(None);
    };
    let parts: [Value; 7] = [
        VERSION.into(),
        function.type_info().key().into(),
        (&pass.info.name).into(),
        (&memo.code).into(),
        (&memo.version).into(),
        seen,
        exact,
    ];
    let hash = digest(Array::from(parts).into());
    Ok(hash.map(|hash| *hash.as_bytes()))
}

/// The part of the program visible to a function: the signatures of the called
/// functions. If the type of the program cannot list the called functions: the whole
/// program and the position of the function. None if the program has no digest.
fn around(
    memo: &Memo,
    position: usize,
    function: &Ref<Obj>,
    program: &Program<'_>,
    numbers: &mut Numbers,
) -> Result<Option<Value>> {
    let seen = program.root.implements_nearest::<dyn Root>();
    let Some(seen) = seen.filter(|_| memo.reads.is_some()) else {
        // The pass does not see the program, or the program is the function itself.
        return Ok(Some(Value::NONE));
    };
    let Some(names) = seen.callees(function)? else {
        let whole = program.whole(memo);
        return Ok(whole.map(|whole| Value::from([whole, (position as i64).into()])));
    };
    let mut callees = Vec::with_capacity(names.len());
    for name in names {
        let callee = program.by_name.get(&*name);
        // A recursive call differs from a call of an equal function.
        let is_itself = callee.is_some_and(|callee| callee.same_as(function));
        let seen = match callee {
            None => Value::NONE,
            Some(callee) => match program.callee(memo, callee)? {
                None => return Ok(None),
                Some(seen) => numbers.part(&seen),
            },
        };
        let name = if memo.ignores {
            Value::NONE
        } else {
            name.into()
        };
        callees.push(Value::from([name, Value::from(is_itself), seen]));
    }
    Ok(Some(Array::from(callees).into()))
}
