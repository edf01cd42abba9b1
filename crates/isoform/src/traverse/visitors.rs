//! Visitors and mutators: functions looked up by the class of a node.
//!
//! The traversals are [`WalkOptions::walk`] and [`MapOptions::map`].

use super::dispatch::Dispatch;
use super::{InterruptCodec, MapOptions, WalkOptions, WalkOrder, WalkResult};
use crate::kernel::error::Result;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::value::Value;

type Enter<'f, C> = Box<dyn Fn(&mut C, &Ref<Obj>) -> Result<WalkResult> + 'f>;
type Leave<'f, C> = Box<dyn Fn(&mut C, &Ref<Obj>) -> Result<()> + 'f>;
type Rewrite<'f, C> = Box<dyn Fn(&mut C, &Ref<Obj>) -> Result<Option<Value>> + 'f>;

/// Visits the nodes of a value, each node by the function for its class.
///
/// A class without a function inherits the function of the nearest ancestor that has a
/// function; nodes without any function are visited through. Classes of users and
/// classes registered later are nodes like any other. `C` is the working data of the
/// functions.
///
/// ```
/// use isoform_pto::{Add, DataType, Expr, ScalarType, Var};
/// use isoform::Ref;
/// use isoform::traverse::{NodeVisitor, WalkResult};
///
/// let names = NodeVisitor::new()
///     .enter(|names: &mut Vec<String>, var: &Ref<Var>| {
///         names.push(var.name_hint.to_string());
///         Ok(WalkResult::Skip)
///     })
///     .leave(|names, _: &Ref<Expr>| Ok(names.push("end".to_owned())));
/// let int = ScalarType::new(DataType::Int64);
/// let (x, y) = (Var::new("x", &int), Var::new("y", &int));
/// let mut found = Vec::new();
/// names.visit(&mut found, Add::new(x, y, DataType::Int64))?;
/// assert_eq!(found, ["x", "end", "y", "end", "end"]);
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct NodeVisitor<'f, C> {
    enter: Dispatch<Enter<'f, C>>,
    leave: Dispatch<Leave<'f, C>>,
}

impl<'f, C> NodeVisitor<'f, C> {
    /// A visitor without functions.
    pub fn new() -> Self {
        NodeVisitor {
            enter: Dispatch::new(),
            leave: Dispatch::new(),
        }
    }

    /// Sets the function for nodes of a class, called before the nodes below. The
    /// function returns [`WalkResult::Advance`] to go on below its node,
    /// [`WalkResult::Skip`] to leave out the parts below, or [`WalkResult::Interrupt`]
    /// to end the visit.
    #[must_use]
    pub fn enter<T: Node>(
        self,
        function: impl Fn(&mut C, &Ref<T>) -> Result<WalkResult> + 'f,
    ) -> Self {
        let function = move |context: &mut C, node: &Ref<Obj>| match node.downcast_ref() {
            Some(node) => function(context, node),
            None => Ok(WalkResult::Advance),
        };
        self.enter_type(T::type_index(), function)
    }

    /// [`enter`](Self::enter) for a type declared at run time.
    #[must_use]
    pub fn enter_type(
        mut self,
        ty: TypeIndex,
        function: impl Fn(&mut C, &Ref<Obj>) -> Result<WalkResult> + 'f,
    ) -> Self {
        self.enter.insert(ty, Box::new(function));
        self
    }

    /// Sets the function for nodes of a class, called after the nodes below.
    #[must_use]
    pub fn leave<T: Node>(self, function: impl Fn(&mut C, &Ref<T>) -> Result<()> + 'f) -> Self {
        let function = move |context: &mut C, node: &Ref<Obj>| match node.downcast_ref() {
            Some(node) => function(context, node),
            None => Ok(()),
        };
        self.leave_type(T::type_index(), function)
    }

    /// [`leave`](Self::leave) for a type declared at run time.
    #[must_use]
    pub fn leave_type(
        mut self,
        ty: TypeIndex,
        function: impl Fn(&mut C, &Ref<Obj>) -> Result<()> + 'f,
    ) -> Self {
        self.leave.insert(ty, Box::new(function));
        self
    }

    /// Visits a value. A node is visited once, at its first place; keys of maps and
    /// fields ignored by comparison are not visited. Depth is limited by memory only.
    /// Linear in the number of objects.
    ///
    /// # Errors
    ///
    /// Errors of the functions; `ValueError` for a value that contains itself.
    pub fn visit(&self, context: &mut C, root: impl Into<Value>) -> Result<()> {
        if !self.leave.is_empty() {
            return visit_nodes(
                root.into(),
                context,
                |context, node| match self.enter.get(node.type_index()) {
                    Some(enter) => enter(context, node),
                    None => Ok(WalkResult::Advance),
                },
                Some(
                    |context: &mut C, node: &Ref<Obj>| match self.leave.get(node.type_index()) {
                        Some(leave) => leave(context, node),
                        None => Ok(()),
                    },
                ),
            );
        }
        // Nodes without a function cause no calls.
        let options = WalkOptions::default().order(WalkOrder::Pre).keys(false);
        let wanted = |ty: Option<TypeIndex>| ty.is_some_and(|ty| self.enter.get(ty).is_some());
        let ended = options.walk_selected(root, wanted, InterruptCodec::default(), |visit| {
            let entered = visit
                .object()
                .filter(|object| !object.type_info().is_builtin())
                .and_then(|object| Some((object, self.enter.get(object.type_index())?)));
            match entered {
                Some((object, enter)) => enter(context, object),
                None => Ok(WalkResult::Advance),
            }
        });
        ended.map(drop)
    }
}

impl<C> Default for NodeVisitor<'_, C> {
    fn default() -> Self {
        NodeVisitor::new()
    }
}

impl<C> std::fmt::Debug for NodeVisitor<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeVisitor")
            .field("enter", &self.enter)
            .field("leave", &self.leave)
            .finish()
    }
}

/// Rewrites the nodes of a value, each node by the function for its class.
///
/// A function sees its node after the rewrite of all nodes below, and returns the
/// node's replacement, or None to keep the node. A class without a function inherits
/// the function of the nearest ancestor that has a function.
///
/// ```
/// use isoform_pto as pto;
/// use isoform_pto::{Add, ConstInt, DataType, ScalarType, Var};
/// use isoform::{Ref, Value};
/// use isoform::traverse::NodeMutator;
///
/// let double = NodeMutator::new()
///     .on(|_: &mut (), op: &Ref<ConstInt>| Ok(Some(op.with_value(2 * op.value).into())));
/// let x = Var::new("x", ScalarType::new(DataType::Int64));
/// let sum = Add::new(&x, ConstInt::new(21, DataType::Int64), DataType::Int64);
/// let doubled = double.mutate(&mut (), &sum)?;
/// assert_eq!(pto::python_print(doubled)?, "x + 42");
/// assert_eq!(double.mutate(&mut (), &x)?, Value::from(&x));
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct NodeMutator<'f, C> {
    table: Dispatch<Rewrite<'f, C>>,
}

impl<'f, C> NodeMutator<'f, C> {
    /// A mutator without functions.
    pub fn new() -> Self {
        NodeMutator {
            table: Dispatch::new(),
        }
    }

    /// Sets the function returning the replacement for nodes of a class.
    #[must_use]
    pub fn on<T: Node>(
        self,
        function: impl Fn(&mut C, &Ref<T>) -> Result<Option<Value>> + 'f,
    ) -> Self {
        let function = move |context: &mut C, node: &Ref<Obj>| match node.downcast_ref() {
            Some(node) => function(context, node),
            None => Ok(None),
        };
        self.on_type(T::type_index(), function)
    }

    /// [`on`](Self::on) for a type declared at run time.
    #[must_use]
    pub fn on_type(
        mut self,
        ty: TypeIndex,
        function: impl Fn(&mut C, &Ref<Obj>) -> Result<Option<Value>> + 'f,
    ) -> Self {
        self.table.insert(ty, Box::new(function));
        self
    }

    /// Rewrites a value, by the rules of [`structural_map`](super::structural_map):
    /// without changes, the result is the same object, and shared objects stay shared.
    /// A variable is rewritten once, for its definition and its uses. Keys of maps and
    /// fields ignored by comparison are kept. Depth is limited by memory only. Linear
    /// in the number of objects.
    ///
    /// # Errors
    ///
    /// Errors of the functions; `TypeError` for a result that does not fit its field,
    /// `ValueError` for a value that contains itself.
    pub fn mutate(&self, context: &mut C, root: impl Into<Value>) -> Result<Value> {
        // A variable is the same at its binding and at its uses, so regions make no
        // difference.
        let options = MapOptions::default().keys(false).regions_apart(false);
        let wanted = |ty: Option<TypeIndex>| ty.is_some_and(|ty| self.table.get(ty).is_some());
        options.map_selected(root, wanted, |visit| {
            let Some(object) = visit.object() else {
                return Ok(None);
            };
            let info = object.type_info();
            match self.table.get(info.index()) {
                Some(rewrite) if !info.is_builtin() => rewrite(context, object),
                _ => Ok(None),
            }
        })
    }
}

impl<C> Default for NodeMutator<'_, C> {
    fn default() -> Self {
        NodeMutator::new()
    }
}

impl<C> std::fmt::Debug for NodeMutator<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NodeMutator").field(&self.table).finish()
    }
}

/// Calls `enter` for each node before the nodes below are visited, and `leave`, if given,
/// afterwards.
pub fn visit_nodes<C: ?Sized>(
    root: Value,
    context: &mut C,
    mut enter: impl FnMut(&mut C, &Ref<Obj>) -> Result<WalkResult>,
    mut leave: Option<impl FnMut(&mut C, &Ref<Obj>) -> Result<()>>,
) -> Result<()> {
    let options = WalkOptions::default().order(WalkOrder::Pre).keys(false);
    // The nodes around the visited node, with the number of their ancestors.
    let mut open: Vec<(usize, Ref<Obj>)> = Vec::new();
    let ended = options.walk(root, |visit| {
        let Some(object) = visit.object() else {
            return Ok(WalkResult::Advance);
        };
        if let Some(leave) = &mut leave {
            while let Some((_, left)) = open.pop_if(|(depth, _)| *depth >= visit.ancestors.len()) {
                leave(context, &left)?;
            }
        }
        if object.type_info().is_builtin() {
            return Ok(WalkResult::Advance);
        }
        if leave.is_some() {
            open.push((visit.ancestors.len(), object.clone()));
        }
        enter(context, object)
    })?;
    if ended.is_none()
        && let Some(leave) = &mut leave
    {
        while let Some((_, left)) = open.pop() {
            leave(context, &left)?;
        }
    }
    Ok(())
}
