//! Functors: a result for each node, made of the results of what it consists
//! of.

use std::cell::RefCell;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::cursor::cyclic;
use super::dispatch::Dispatch;
use super::options::ChildOptions;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;

type Compute<'f, C, R> = Box<dyn Fn(&mut C, &Ref<Obj>, &Results<'_, R>) -> Result<R> + 'f>;
type Ahead<'f, C, R> = Box<dyn Fn(&mut C, &Ref<Obj>) -> Result<Before<R>> + 'f>;

/// Computes a result for each node of a value by the function for its class:
/// an evaluator, a printer, a translation.
///
/// The nodes below a node come first, and its function asks for their results
/// with [`Results::of`]. A class without a function has that of the nearest
/// class it extends; nodes for which there is none have no result. A result is
/// computed once for a node, however many ways lead to it. `C` is what the
/// functions work on besides.
///
/// ```
/// use isoform::dialect::pto::{Add, ConstInt, DataType, Expr, Min};
/// use isoform::Ref;
/// use isoform::traverse::NodeFunctor;
///
/// let value = NodeFunctor::new()
///     .on(|_: &mut (), op: &Ref<ConstInt>, _| Ok(op.value))
///     .on(|_, op: &Ref<Add>, of| Ok(of.of(&op.left)? + of.of(&op.right)?))
///     .on(|_, op: &Ref<Min>, of| Ok(*of.of(&op.left)?.min(of.of(&op.right)?)));
/// let number = |n| ConstInt::new(n, DataType::Int64);
/// let mut sum: Ref<Expr> = number(1).upcast();
/// for _ in 0..20 {
///     sum = Add::new(&sum, &sum, DataType::Int64).upcast().upcast();
/// }
/// assert_eq!(value.compute(&mut (), &sum)?, 1 << 20);
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct NodeFunctor<'f, C, R> {
    compute: Dispatch<Compute<'f, C, R>>,
    before: Dispatch<Ahead<'f, C, R>>,
}

/// The preparation of a node before its function is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Before<R> {
    /// All nodes below it are computed first. What happens by default.
    Children,
    /// Nothing: the nodes below it are computed as its function asks for them,
    /// and what it does not ask for is not. The function is called once more
    /// for each result that it had to wait for, from its beginning.
    OnRequest,
    /// This is the result, and the function is not called.
    Result(R),
}

impl<'f, C, R> NodeFunctor<'f, C, R> {
    /// A functor without functions.
    pub fn new() -> Self {
        NodeFunctor {
            compute: Dispatch::new(),
            before: Dispatch::new(),
        }
    }

    /// Sets the function for nodes of a class.
    #[must_use]
    pub fn on<T: Node>(
        self,
        function: impl Fn(&mut C, &Ref<T>, &Results<'_, R>) -> Result<R> + 'f,
    ) -> Self {
        let function = move |context: &mut C, node: &Ref<Obj>, of: &Results<'_, R>| match node
            .downcast_ref()
        {
            Some(node) => function(context, node, of),
            None => Err(unknown(node)),
        };
        self.on_type(T::type_index(), function)
    }

    /// [`on`](Self::on) for a type that is declared at run time.
    #[must_use]
    pub fn on_type(
        mut self,
        ty: TypeIndex,
        function: impl Fn(&mut C, &Ref<Obj>, &Results<'_, R>) -> Result<R> + 'f,
    ) -> Self {
        self.compute.insert(ty, Box::new(function));
        self
    }

    /// Sets what decides, before anything below a node of a class is computed,
    /// how that is done.
    #[must_use]
    pub fn before<T: Node>(
        mut self,
        function: impl Fn(&mut C, &Ref<T>) -> Result<Before<R>> + 'f,
    ) -> Self {
        let function = move |context: &mut C, node: &Ref<Obj>| match node.downcast_ref() {
            Some(node) => function(context, node),
            None => Ok(Before::Children),
        };
        self.before.insert(T::type_index(), Box::new(function));
        self
    }

    /// The result for a node. Depth is limited by memory only. Linear in the
    /// number of objects and of the references between them, and of the results
    /// that functions wait for.
    ///
    /// # Errors
    ///
    /// Those of the functions; `TypeError` for a node without a function whose
    /// result is asked for, `ValueError` for a node that contains itself.
    pub fn compute<T: Node>(&self, context: &mut C, root: &Ref<T>) -> Result<R> {
        let root = root.as_object();
        let mut run = Run {
            known: HashMap::default(),
            stack: Vec::new(),
        };
        run.enter(self, context, root)?;
        let mut poll = Poll::default();
        while let Some(frame) = run.stack.last_mut() {
            poll.step_outside()?;
            if let Some(below) = frame.below.pop() {
                run.enter(self, context, &below)?;
            } else {
                run.finish(self, context)?;
            }
        }
        match run.known.remove(&root.identity()) {
            Some(Known::Result(result)) => Ok(result),
            _ => Err(unknown(root)),
        }
    }
}

impl<C, R> Default for NodeFunctor<'_, C, R> {
    fn default() -> Self {
        NodeFunctor::new()
    }
}

impl<C, R> std::fmt::Debug for NodeFunctor<'_, C, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NodeFunctor").field(&self.compute).finish()
    }
}

/// The results of nodes, as the function of a node sees them.
pub struct Results<'a, R> {
    known: &'a AllKnown<R>,
    wanted: RefCell<Option<Ref<Obj>>>,
}

impl<R> Results<'_, R> {
    /// The result of a node below. O(1).
    ///
    /// # Errors
    ///
    /// `TypeError` for a node without a function. When the result is not known
    /// so far, an error that the function is to return: it is called again when
    /// the node was computed.
    pub fn of<T: Node>(&self, node: &Ref<T>) -> Result<&R> {
        let node = node.as_object();
        match self.known.get(&node.identity()) {
            Some(Known::Result(result)) => Ok(result),
            Some(Known::Nothing) => Err(unknown(node)),
            Some(Known::Open) | None => {
                *self.wanted.borrow_mut() = Some(node.clone());
                let name = node.type_info().key();
                Err(Error::value_error(format!("{name}: not computed so far")))
            }
        }
    }
}

impl<R> std::fmt::Debug for Results<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results").finish_non_exhaustive()
    }
}

/// The state of a node.
enum Known<R> {
    /// It is being computed.
    Open,
    /// No function was set for its type.
    Nothing,
    Result(R),
}

/// The states of nodes, by identity.
type AllKnown<R> = HashMap<u64, Known<R>, RandomState>;

struct Frame {
    node: Ref<Obj>,
    /// The nodes to compute first, the next one last.
    below: Vec<Ref<Obj>>,
}

struct Run<R> {
    known: AllKnown<R>,
    stack: Vec<Frame>,
}

impl<R> Run<R> {
    fn enter<C>(
        &mut self,
        functor: &NodeFunctor<'_, C, R>,
        context: &mut C,
        node: &Ref<Obj>,
    ) -> Result<()> {
        match self.known.get(&node.identity()) {
            Some(Known::Open) => return Err(cyclic(node.borrowed())),
            Some(_) => return Ok(()),
            None => {}
        }
        let before = match functor.before.get(node.type_index()) {
            Some(before) => before(context, node)?,
            None => Before::Children,
        };
        let below = match before {
            Before::Children => nodes_below(node),
            Before::OnRequest => Vec::new(),
            Before::Result(result) => {
                self.known.insert(node.identity(), Known::Result(result));
                return Ok(());
            }
        };
        self.known.insert(node.identity(), Known::Open);
        self.stack.push(Frame {
            node: node.clone(),
            below,
        });
        Ok(())
    }

    /// Calls the function of the last node, which may ask for another one.
    fn finish<C>(&mut self, functor: &NodeFunctor<'_, C, R>, context: &mut C) -> Result<()> {
        let Some(frame) = self.stack.last_mut() else {
            return Ok(());
        };
        let node = frame.node.clone();
        let Some(function) = functor.compute.get(node.type_index()) else {
            self.known.insert(node.identity(), Known::Nothing);
            self.stack.pop();
            return Ok(());
        };
        let results = Results {
            known: &self.known,
            wanted: RefCell::default(),
        };
        match (function(context, &node, &results), results.wanted.take()) {
            (Ok(result), _) => {
                self.known.insert(node.identity(), Known::Result(result));
                self.stack.pop();
            }
            (Err(_), Some(wanted)) => frame.below.push(wanted),
            (Err(error), None) => return Err(error),
        }
        Ok(())
    }
}

/// The nodes below a node, through containers, the first one last.
fn nodes_below(node: &Ref<Obj>) -> Vec<Ref<Obj>> {
    let options = ChildOptions::default().keys(false);
    let mut found = Vec::new();
    // A list may contain itself, and any container may occur several times.
    let mut seen = HashSet::new();
    let children = options.children_of(&node.into());
    let mut stack: Vec<Value> = children.iter(RegionKind::Use).map(|it| it.value).collect();
    stack.reverse();
    while let Some(value) = stack.pop() {
        let Some(object) = value.as_object() else {
            continue;
        };
        if !object.type_info().is_builtin() {
            found.push(object.clone());
        } else if seen.insert(object.identity()) {
            let children = options.children_of(&value);
            let first = stack.len();
            stack.extend(children.iter(RegionKind::Use).map(|it| it.value));
            stack[first..].reverse();
        }
    }
    found.reverse();
    found
}

#[cold]
fn unknown(node: &Ref<Obj>) -> Error {
    let key = node.type_info().key();
    Error::type_error(format!(
        "{key}: expected a function for the type or one that it extends, got none"
    ))
}
