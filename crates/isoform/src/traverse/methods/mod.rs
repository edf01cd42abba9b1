//! Visits in which each node has a method that may wait for the results of other nodes.
//!
//! A [`Methods`] defines the methods and the results: the functions of a
//! [`NodeFunctor`](crate::traverse::NodeFunctor), or the classes of a host language. The
//! engine (`run.rs`) has the stack, the remembered results, the hooks of types
//! (`hooked.rs`), and the bindings on which results depend (`scopes.rs`). Visits whose callbacks never wait are in `walker.rs` and
//! `mapper.rs`.

mod hooked;
mod run;
mod scopes;

use std::fmt;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use scopes::Scopes;

use super::parts::Children;
use crate::kernel::error::Error;
use crate::kernel::hooks::TraversalHooks;
use crate::kernel::object::native::is_plain;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::path::AccessStep;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;

pub use run::{result_of, result_of_call};

/// The methods of one visit, and the types of their results.
pub trait Methods: Sized {
    /// A result in its remembered form.
    type Answer;
    /// A result in the form expected by the waiting method.
    type Reply;
    /// A method that waits for results.
    type Waiting;
    /// The error of a method.
    type Error: From<Error> + Into<Error>;

    /// Lends the memory of the visit. `body` must not run methods.
    fn memory<T>(&self, body: impl FnOnce(&mut Memory<Self::Answer>) -> T) -> T;

    /// Converts a result for the asking method. Must not run methods.
    fn reply(&self, answer: &Self::Answer) -> Self::Reply;

    /// True if an object is a plain value: a string, bytes or a large number.
    fn is_plain(&self, object: &Ref<Obj>) -> bool {
        is_plain(object.type_index())
    }

    /// The result for a value other than an object, or for a plain object.
    ///
    /// # Errors
    ///
    /// Whatever ends the visit.
    fn plain(&self, value: Value) -> Outcome<Self::Reply, Self>;

    /// Calls the method for a node.
    ///
    /// # Errors
    ///
    /// Those of the method.
    fn call(&self, node: &Value, region: RegionKind) -> Outcome<Call<Self>, Self>;

    /// Resumes the method of a node: the first time without a reply, then with
    /// the result for the value it asked for.
    ///
    /// # Errors
    ///
    /// Those of the method.
    fn resume(
        &self,
        waiting: &mut Self::Waiting,
        node: &Value,
        region: RegionKind,
        reply: Option<Result<Self::Reply, Self::Error>>,
    ) -> Outcome<Resumed<Self>, Self>;

    /// The result for a value without a method, from the results for its children.
    ///
    /// # Errors
    ///
    /// Whatever prevents it.
    fn combine(
        &self,
        children: &Children,
        replies: Vec<Self::Reply>,
    ) -> Result<Self::Answer, Self::Error>;

    /// The kind of hook responsible for nodes without a method.
    fn hooks(&self) -> Hooks {
        Hooks::None
    }

    /// The result returned by a hook, or the recorded replacement of a variable.
    fn answer_of(&self, value: Value) -> Self::Answer;

    /// The replacement represented by a result, if any.
    fn replacement(_reply: Self::Reply) -> Option<Value> {
        None
    }

    /// How long results are remembered.
    fn retention(&self) -> Retention {
        Retention::Visit
    }

    /// True if the steps to an error are recorded in the memory.
    fn is_located(&self, _error: &Self::Error) -> bool {
        false
    }

    /// Runs code that only reads values.
    fn reading<T>(&self, body: impl FnOnce() -> T) -> T {
        body()
    }
}

/// The result of a step, or the reason for its absence.
pub type Outcome<T, M> = Result<T, Stop<<M as Methods>::Error>>;

/// The reason why a visit ends early.
#[derive(Debug)]
pub enum Stop<E> {
    /// An error, which waiting methods may catch.
    Error(E),
    /// The value ending the whole visit, returned by a method or hook.
    End(Value),
}

impl<E> From<E> for Stop<E> {
    fn from(error: E) -> Self {
        Stop::Error(error)
    }
}

/// The result of calling the method for a node.
#[derive(Debug)]
pub enum Call<M: Methods> {
    /// The result for the node.
    Answer(M::Answer),
    /// The method is to be resumed.
    Waiting(M::Waiting),
    /// There is no method: the hook of the type is called, or the children are
    /// visited.
    Children,
}

/// The result of resuming a method.
pub enum Resumed<M: Methods> {
    /// The result for its node.
    Answer(M::Answer),
    /// The method waits for the result for a value.
    Ask(Value),
    /// The method waits for the result of another, already called method for its node.
    Call(Outcome<Call<M>, M>),
}

impl<M: Methods> fmt::Debug for Resumed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resumed").finish_non_exhaustive()
    }
}

/// The kind of hook responsible for nodes without a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hooks {
    /// None.
    None,
    /// [`DynVisit`](crate::hooks::DynVisit).
    Visit,
    /// [`DynMutate`](crate::hooks::DynMutate).
    Mutate,
}

/// How long the result of a node is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retention {
    /// Not at all: each request computes a result.
    Request,
    /// While the variables in the node have the same bindings (`scopes.rs`).
    Bindings,
    /// During the visit.
    Visit,
}

/// The results and other facts remembered by a visit.
#[derive(Debug)]
pub struct Memory<A> {
    /// The results of nodes by identity; None while a node is being visited.
    known: HashMap<u64, Option<A>, RandomState>,
    /// Replacements of uses of variables, whatever their method.
    uses: HashMap<u64, Value, RandomState>,
    /// The meanings of variables, for [`Retention::Bindings`].
    scopes: Scopes,
    /// The steps to an error, the last step first.
    way: Vec<AccessStep>,
    /// True if the frame that is given up next raised the last error.
    is_here: bool,
    /// The hooks set before the beginning of the visit.
    hooks: TraversalHooks,
}

impl<A> Default for Memory<A> {
    /// The memory of a visit that begins.
    fn default() -> Self {
        Memory {
            known: HashMap::default(),
            uses: HashMap::default(),
            scopes: Scopes::default(),
            way: Vec::new(),
            is_here: false,
            hooks: TraversalHooks::current(),
        }
    }
}

impl<A> Memory<A> {
    /// The result of a node, given by identity; None for a node not visited to its end.
    /// O(1).
    pub fn answer(&self, ident: u64) -> Option<&A> {
        self.known.get(&ident)?.as_ref()
    }

    /// The result of a node for the method of the node `from`, both given by identity; None
    /// for a node not visited to its end, and unless no binding changed since then. O(1).
    pub fn current(&self, from: u64, ident: u64) -> Option<&A> {
        let answer = self.answer(ident);
        answer.filter(|_| self.scopes.is_current(from, ident))
    }

    /// Sets the result of a node from this call on, and returns the previous result.
    pub fn set(&mut self, ident: u64, answer: A) -> Option<A> {
        self.known.insert(ident, Some(answer))?
    }

    /// Sets the replacement of a variable's uses from this call on, and returns the
    /// previous replacement.
    pub fn set_use(&mut self, ident: u64, value: Value) -> Option<Value> {
        self.uses.insert(ident, value)
    }

    /// Begins the way to an error with the step, if any, from the node whose visit fails.
    pub fn begin_path(&mut self, step: Option<AccessStep>) {
        self.way.clear();
        self.way.extend(step);
    }

    /// Begins the way to an error that a resumed method raised, whatever it had asked for.
    pub fn begin_path_here(&mut self) {
        self.way.clear();
        self.is_here = true;
    }

    /// The steps to the last error, as far as [recorded](Methods::is_located).
    pub fn path(&self) -> Vec<AccessStep> {
        self.way.iter().rev().cloned().collect()
    }
}
