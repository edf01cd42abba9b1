//! Functors: a result for each node, made of the results of its parts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::cursor::{Cursor, Part, View};
use super::dispatch::Dispatch;
use super::methods::{self, Call, Memory, Methods, Outcome, Resumed, Retention, Stop};
use super::parts::Children;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::object::view::PartRef;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;

type Compute<'f, C, R> = Box<dyn Fn(&mut C, &Ref<Obj>, &Results<'_, R>) -> Result<R> + 'f>;
type Ahead<'f, C, R> = Box<dyn Fn(&mut C, &Ref<Obj>) -> Result<Before<R>> + 'f>;

/// Computes a result for each node of a value by the function for the node's class: an
/// evaluator, a printer, a translation.
///
/// The nodes below a node come first, and the node's function asks for their results
/// with [`Results::of`]. A class without a function inherits the function of the
/// nearest ancestor that has a function; nodes without any function have no result. `C` is
/// additional data for the functions.
///
/// A result is computed once for a node, however many ways lead to the node, while the
/// variables in the node keep their bindings: under another binder, a node with its variable
/// is computed again. See [`memo`](Self::memo) for functions that depend on more.
///
/// ```
/// use isoform_pto::{Add, ConstInt, DataType, Expr, Min};
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
    retention: Retention,
}

/// The preparation of a node before its function is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Before<R> {
    /// Computes all nodes below first. The default.
    Children,
    /// Computes no node in advance. The function asks for the needed results, and no
    /// other nodes are computed. After each missing result, the function is called
    /// again from its beginning, and has the results that it asked for before.
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
            retention: Retention::Bindings,
        }
    }

    /// Sets whether results are remembered; true by default.
    ///
    /// Without memory, each request computes a result, which can be exponential in the number
    /// of shared nodes. Two kinds of functors need it: interpreters that compute one node
    /// several times under one binding, such as calls, loops and mutable variables, and
    /// functors whose results depend on more than the node, the results that its function asks
    /// for, and facts about the variables in the node that only functions of their binders
    /// change.
    #[must_use]
    pub fn memo(mut self, memo: bool) -> Self {
        self.retention = if memo {
            Retention::Bindings
        } else {
            Retention::Request
        };
        self
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

    /// [`on`](Self::on) for a type declared at run time.
    #[must_use]
    pub fn on_type(
        mut self,
        ty: TypeIndex,
        function: impl Fn(&mut C, &Ref<Obj>, &Results<'_, R>) -> Result<R> + 'f,
    ) -> Self {
        self.compute.insert(ty, Box::new(function));
        self
    }

    /// Sets the function deciding about the preparation of a class's nodes, called
    /// before the nodes below.
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

    /// The result for a node. Depth is limited by memory only. Linear in the number of
    /// objects, of the references between them, and of the results awaited by
    /// functions, as long as each variable is bound once.
    ///
    /// # Errors
    ///
    /// Errors of the functions; `TypeError` for a requested node without a function,
    /// `ValueError` for a node that contains itself.
    pub fn compute<T: Node>(&self, context: &mut C, root: &Ref<T>) -> Result<R> {
        let run = Run {
            functor: self,
            context: RefCell::new(context),
            memory: RefCell::default(),
        };
        let root = root.as_object();
        let reply = match methods::result_of(&run, &root.into(), RegionKind::Use, None) {
            Ok(reply) => reply,
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::End(_)) => return Err(unknown(root)),
        };
        // The memory is the other owner.
        drop(run);
        match Rc::into_inner(reply) {
            Some(NodeState::Result(result)) => Ok(result),
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

/// The results of nodes, as seen by the function of a node.
pub struct Results<'a, R> {
    waiting: &'a Waiting<R>,
    /// The number of requests that were answered by earlier ones.
    asked: Cell<usize>,
    /// The node of the function.
    from: u64,
    known: &'a Memory<Rc<NodeState<R>>>,
    /// The first node without a result, and the number of requests answered before.
    wanted: RefCell<Option<(usize, Ref<Obj>)>>,
}

impl<R> Results<'_, R> {
    /// The result of a node below. O(1).
    ///
    /// # Errors
    ///
    /// `TypeError` for a node without a function. For a result still missing, an error
    /// to be returned by the function: the function is called again after the
    /// computation of the node.
    pub fn of<T: Node>(&self, node: &Ref<T>) -> Result<&R> {
        let node = node.as_object();
        let ident = node.identity();
        let state = self.waiting.children.get(&ident);
        let state = state.or_else(|| self.earlier(ident));
        match state.or_else(|| self.known.current(self.from, ident)) {
            Some(state) => match &**state {
                NodeState::Result(result) => Ok(result),
                NodeState::Nothing => Err(unknown(node)),
            },
            None => {
                let mut wanted = self.wanted.borrow_mut();
                wanted.get_or_insert_with(|| (self.asked.get(), node.clone()));
                let name = node.type_info().key();
                Err(Error::value_error(format!("{name}: not computed so far")))
            }
        }
    }
}

impl<R> Results<'_, R> {
    /// The answer to this request in an earlier call of the function.
    fn earlier(&self, ident: u64) -> Option<&Rc<NodeState<R>>> {
        let position = self.asked.get();
        let (asked, state) = self.waiting.replies.get(position)?;
        (*asked == ident).then(|| {
            self.asked.set(position + 1);
            state
        })
    }
}

impl<R> std::fmt::Debug for Results<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results").finish_non_exhaustive()
    }
}

/// The state of a computed node.
enum NodeState<R> {
    /// No function was set for its type.
    Nothing,
    Result(R),
}

/// A node whose function waits.
struct Waiting<R> {
    /// The nodes to compute first, the next node last.
    below: Vec<Ref<Obj>>,
    /// The results of these nodes.
    children: HashMap<u64, Rc<NodeState<R>>, RandomState>,
    /// The requests of the function, in their order, with the results. They stay as they were:
    /// the function begins again after each of them, and bindings may have changed since.
    replies: Vec<(u64, Rc<NodeState<R>>)>,
    /// The node whose result comes next.
    next: Next,
}

/// The next result.
enum Next {
    Child(u64),
    /// The answer to the request after this number of others.
    Reply(usize, u64),
}

/// One computation.
struct Run<'r, 'f, C, R> {
    functor: &'r NodeFunctor<'f, C, R>,
    context: RefCell<&'r mut C>,
    memory: RefCell<Memory<Rc<NodeState<R>>>>,
}

impl<C, R> Methods for Run<'_, '_, C, R> {
    type Answer = Rc<NodeState<R>>;
    type Reply = Rc<NodeState<R>>;
    type Waiting = Waiting<R>;
    type Error = Error;

    fn memory<T>(&self, body: impl FnOnce(&mut Memory<Rc<NodeState<R>>>) -> T) -> T {
        body(&mut self.memory.borrow_mut())
    }

    fn reply(&self, answer: &Rc<NodeState<R>>) -> Rc<NodeState<R>> {
        answer.clone()
    }

    fn retention(&self) -> Retention {
        self.functor.retention
    }

    /// A function asking for a string gets the error for a missing function.
    fn is_plain(&self, _object: &Ref<Obj>) -> bool {
        false
    }

    fn plain(&self, value: Value) -> Outcome<Rc<NodeState<R>>, Self> {
        Ok(self.answer_of(value))
    }

    fn call(&self, node: &Value, _region: RegionKind) -> Outcome<Call<Self>, Self> {
        let Some(object) = node.as_object() else {
            return Ok(Call::Answer(Rc::new(NodeState::Nothing)));
        };
        let before = match self.functor.before.get(object.type_index()) {
            Some(before) => before(&mut self.context.borrow_mut(), object)?,
            None => Before::Children,
        };
        let below = match before {
            Before::Children => nodes_below(node),
            Before::OnRequest => Vec::new(),
            Before::Result(result) => {
                return Ok(Call::Answer(Rc::new(NodeState::Result(result))));
            }
        };
        Ok(Call::Waiting(Waiting {
            below,
            children: HashMap::default(),
            replies: Vec::new(),
            next: Next::Reply(0, 0),
        }))
    }

    /// Calls the function of a node; the function may ask for another node.
    fn resume(
        &self,
        waiting: &mut Waiting<R>,
        node: &Value,
        _region: RegionKind,
        reply: Option<Result<Rc<NodeState<R>>>>,
    ) -> Outcome<Resumed<Self>, Self> {
        if let Some(state) = reply.transpose()? {
            match waiting.next {
                Next::Child(ident) => drop(waiting.children.insert(ident, state)),
                Next::Reply(number, ident) => {
                    waiting.replies.truncate(number);
                    waiting.replies.push((ident, state));
                }
            }
        }
        let functions = &self.functor.compute;
        let (wanted, next) = match waiting.below.pop() {
            Some(child) => {
                let ident = child.identity();
                (child, Next::Child(ident))
            }
            None => {
                let Some((object, function)) = node
                    .as_object()
                    .and_then(|object| Some((object, functions.get(object.type_index())?)))
                else {
                    return Ok(Resumed::Answer(Rc::new(NodeState::Nothing)));
                };
                let results = Results {
                    waiting,
                    asked: Cell::new(0),
                    from: object.identity(),
                    known: &self.memory.borrow(),
                    wanted: RefCell::default(),
                };
                let result = function(&mut self.context.borrow_mut(), object, &results);
                match (result, results.wanted.take()) {
                    (Ok(result), _) => {
                        return Ok(Resumed::Answer(Rc::new(NodeState::Result(result))));
                    }
                    (Err(_), Some((number, wanted))) => {
                        let next = Next::Reply(number, wanted.identity());
                        (wanted, next)
                    }
                    (Err(error), None) => return Err(Stop::Error(error)),
                }
            }
        };
        waiting.next = next;
        Ok(Resumed::Ask(wanted.into()))
    }

    fn combine(&self, _children: &Children, _replies: Vec<Self::Reply>) -> Result<Self::Answer> {
        Ok(Rc::new(NodeState::Nothing))
    }

    fn answer_of(&self, _value: Value) -> Rc<NodeState<R>> {
        Rc::new(NodeState::Nothing)
    }
}

/// The nodes below a node, through containers, the first node last.
fn nodes_below(node: &Value) -> Vec<Ref<Obj>> {
    let mut nodes = Vec::new();
    // A list may contain itself, and any container may occur several times.
    let mut seen = HashSet::new();
    access::reading(|section| {
        let root = Part::alone(node, RegionKind::Use);
        let mut cursors: Vec<Cursor<'_>> = Vec::new();
        if let PartRef::Object(object) = root.met {
            cursors.extend(Cursor::open(section, object, root, View::Compared));
        }
        while let Some(cursor) = cursors.last_mut() {
            let Some(part) = cursor.next(section) else {
                cursors.pop();
                continue;
            };
            let PartRef::Object(object) = part.met else {
                continue;
            };
            if part.is_key {
                continue;
            }
            if !object.info().is_builtin() {
                nodes.push(object.to_ref());
            } else if seen.insert(object.ident()) {
                cursors.extend(Cursor::open(section, object, part, View::Compared));
            }
        }
    });
    nodes.reverse();
    nodes
}

#[cold]
fn unknown(node: &Ref<Obj>) -> Error {
    let key = node.type_info().key();
    Error::type_error(format!(
        "{key}: expected a function for the type or one that it extends, got none"
    ))
}
