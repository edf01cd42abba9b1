//! The programs of the workloads.

use isoform::objects::{construct, set_field};
use isoform::types::{FieldDef, Schema, TypeDef, register_type};
use isoform::values::{Dict, List};
use isoform::{Array, Error, Obj, Ref, Value};

use super::Numbers;
use super::nodes::{Add, AnyOrderAdd, DagAdd, Int, Lambda, Neg, ScopedLambda, Var};
use super::nodes::{WithDict, WithList, WithNumber};
use super::orders::Order;

/// Which type the inner nodes of a tree have.
#[derive(Clone, Copy)]
pub(crate) enum Inner {
    Tree,
    Dag,
    AnyOrder,
}

impl Inner {
    fn node(self, lhs: Ref<Obj>, rhs: Ref<Obj>) -> Ref<Obj> {
        match self {
            Inner::Tree => Add::new(lhs, rhs).into_object(),
            Inner::Dag => DagAdd::new(lhs, rhs).into_object(),
            Inner::AnyOrder => AnyOrderAdd::new(lhs, rhs).into_object(),
        }
    }
}

/// The workload W: a function of `x` whose body is a balanced tree of sums,
/// whose leaves are `x` and numbers in turn.
pub(crate) fn lambda(depth: u32) -> Ref<Lambda> {
    let mut add = |lhs: Ref<Obj>, rhs: Ref<Obj>| Add::new(lhs, rhs).into_object();
    lambda_with(Order::ChildrenFirst, depth, &mut add)
}

/// W with another type of inner nodes.
pub(crate) fn lambda_of(inner: Inner, depth: u32) -> Ref<Lambda> {
    lambda_in(Order::ChildrenFirst, inner, depth)
}

/// W as a scope.
pub(crate) fn scoped(depth: u32) -> Ref<ScopedLambda> {
    let var = Var::new("x");
    let body = tree_with(depth, &var, &mut |lhs, rhs| Inner::Tree.node(lhs, rhs));
    ScopedLambda::new([var], body)
}

/// W and a copy that shares all but the way to one leaf in the middle, which is the same
/// number or another one.
pub(crate) fn lambda_and_edit(depth: u32, same: bool) -> (Ref<Lambda>, Ref<Lambda>) {
    let root = lambda(depth);
    // To the right first, then to the left, and to a number at the end.
    let mut way = Vec::new();
    let mut node = root.body.clone();
    while let Some(add) = node.downcast_ref::<Add>() {
        let is_right = way.is_empty() || way.len() + 1 == depth as usize;
        let next = if is_right { &add.rhs } else { &add.lhs }.clone();
        way.push((node, is_right));
        node = next;
    }
    let number = node.downcast_ref::<Int>().map_or(0, |int| int.value);
    let mut node = Int::new(if same { number } else { -1 }).into_object();
    for (above, is_right) in way.into_iter().rev() {
        if let Some(add) = above.downcast_ref::<Add>() {
            node = if is_right {
                Add::new(add.lhs.clone(), node).into_object()
            } else {
                Add::new(node, add.rhs.clone()).into_object()
            };
        }
    }
    let edited = Lambda::new(root.params.clone(), node);
    (root, edited)
}

/// W whose last leaf is another number.
pub(crate) fn lambda_with_other_end(depth: u32) -> Ref<Lambda> {
    let var = Var::new("x");
    let mut left_to_build = (1u64 << depth) - 1;
    let body = tree_with(depth, &var, &mut |lhs, rhs| {
        left_to_build -= 1;
        // The last of the lowest inner nodes is followed by its ancestors only.
        let last_pair = left_to_build == u64::from(depth) - 1;
        let rhs = if last_pair {
            Int::new(-1).into_object()
        } else {
            rhs
        };
        Add::new(lhs, rhs).into_object()
    });
    Lambda::new([var], body)
}

/// W, and an owner of every node beside it.
pub(crate) fn held(order: Order, depth: u32) -> (Ref<Lambda>, Vec<Ref<Obj>>) {
    let mut owners = Vec::new();
    let lambda = lambda_with(order, depth, &mut |lhs, rhs| {
        let node = Add::new(&lhs, &rhs).into_object();
        owners.extend([lhs, rhs]);
        node
    });
    owners.push(lambda.body.clone());
    owners.push(lambda.clone().into_object());
    (lambda, owners)
}

/// W whose inner nodes are of a type declared at run time with mutable fields,
/// and an additional owner of every node. After a write to a link, the library has to
/// expect cycles.
pub(crate) fn held_mutable(depth: u32) -> Result<(Ref<Lambda>, Vec<Ref<Obj>>), Error> {
    let operand = |name: &str| FieldDef::new(name, Schema::object::<Obj>()).mutable(true);
    let definition = TypeDef::new("bench.MutableAdd")
        .field(operand("lhs"))
        .field(operand("rhs"));
    let add = register_type(definition)?;
    let mut owners = Vec::new();
    let var = Var::new("x");
    let mut failed = None;
    let body = tree_with(depth, &var, &mut |lhs, rhs| {
        let node = construct(add, vec![Value::from(&lhs), Value::from(&rhs)]);
        owners.extend([lhs.clone(), rhs]);
        node.unwrap_or_else(|error| {
            failed = Some(error);
            lhs
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    if depth > 0 {
        set_field(&body, "lhs", isoform::objects::field_value(&body, "lhs")?)?;
    }
    owners.push(body.clone());
    let lambda = Lambda::new([var], body);
    owners.push(lambda.clone().into_object());
    Ok((lambda, owners))
}

/// W built in an order.
pub(crate) fn lambda_in(order: Order, inner: Inner, depth: u32) -> Ref<Lambda> {
    lambda_with(order, depth, &mut |lhs, rhs| inner.node(lhs, rhs))
}

/// W built in an order, with other numbers.
pub(crate) fn lambda_numbered(
    order: Order,
    depth: u32,
    number: &dyn Fn(i64) -> i64,
) -> Ref<Lambda> {
    let var = Var::new("x");
    let mut inner = |lhs, rhs| Inner::Tree.node(lhs, rhs);
    let body = tree_of(order, depth, &var, number, &mut inner);
    Lambda::new([var], body)
}

/// As many nodes as W has, in another shape: both sides of a sum take a random share.
pub(crate) fn lambda_of_another_shape(depth: u32) -> Ref<Lambda> {
    fn tree(leaves: usize, var: &Ref<Var>, numbers: &mut Numbers) -> Ref<Obj> {
        if leaves == 1 {
            return match numbers.below(2) {
                0 => var.clone().into_object(),
                _ => Int::new(-1 - numbers.below(1_000_000) as i64).into_object(),
            };
        }
        // Not too uneven, since this recurses.
        let left = leaves / 4 + numbers.below(leaves / 2) + usize::from(leaves < 4);
        let lhs = tree(left, var, numbers);
        let rhs = tree(leaves - left, var, numbers);
        Add::new(lhs, rhs).into_object()
    }
    let var = Var::new("x");
    let body = tree(1 << depth, &var, &mut Numbers::new(3));
    Lambda::new([var], body)
}

fn lambda_with(
    order: Order,
    depth: u32,
    inner: &mut impl FnMut(Ref<Obj>, Ref<Obj>) -> Ref<Obj>,
) -> Ref<Lambda> {
    let var = Var::new("x");
    let body = tree_in(order, depth, &var, inner);
    Lambda::new([var], body)
}

fn tree_with(
    depth: u32,
    var: &Ref<Var>,
    inner: &mut impl FnMut(Ref<Obj>, Ref<Obj>) -> Ref<Obj>,
) -> Ref<Obj> {
    tree_in(Order::ChildrenFirst, depth, var, inner)
}

fn tree_in(
    order: Order,
    depth: u32,
    var: &Ref<Var>,
    inner: &mut impl FnMut(Ref<Obj>, Ref<Obj>) -> Ref<Obj>,
) -> Ref<Obj> {
    tree_of(order, depth, var, &|number| number, inner)
}

fn tree_of(
    order: Order,
    depth: u32,
    var: &Ref<Var>,
    number: &dyn Fn(i64) -> i64,
    inner: &mut impl FnMut(Ref<Obj>, Ref<Obj>) -> Ref<Obj>,
) -> Ref<Obj> {
    let mut leaf = |position: i64| {
        if position % 2 == 1 {
            var.clone().into_object()
        } else {
            Int::new(number(position)).into_object()
        }
    };
    order.tree(depth, &mut leaf, inner)
}

/// `x = Add(x, x)`, so many times: 2 to the power of `levels` leaves as a tree.
pub(crate) fn dag(levels: u32) -> Value {
    let mut node = Int::new(1).into_object();
    for _ in 0..levels {
        node = Add::new(&node, &node).into_object();
    }
    node.into()
}

/// Layers in which every node joins two nodes of the layer below, chosen at
/// random; all nodes of a layer are equal, so two of these with different
/// seeds are equal and meet in many different pairs.
pub(crate) fn butterfly(width: usize, layers: usize, seed: u64) -> Value {
    let mut numbers = Numbers::new(seed);
    let mut layer: Vec<Ref<Obj>> = (0..width).map(|_| Int::new(1).into_object()).collect();
    for _ in 0..layers {
        layer = (0..width)
            .map(|_| {
                let (lhs, rhs) = (numbers.below(width), numbers.below(width));
                Add::new(&layer[lhs], &layer[rhs]).into_object()
            })
            .collect();
    }
    Value::from(Array::from(layer))
}

/// An additional field of each node of a tree.
#[derive(Clone, Copy)]
pub(crate) enum Note {
    Number,
    EmptyList,
    /// A list of two numbers.
    List,
    EmptyDict,
    /// A dict with two entries.
    Dict,
}

impl Note {
    pub(crate) const ALL: [(Note, &'static str); 5] = [
        (Note::Number, "plain fields"),
        (Note::EmptyList, "an empty list in each node"),
        (Note::List, "a list of 2 in each node"),
        (Note::EmptyDict, "an empty dict in each node"),
        (Note::Dict, "a dict of 2 in each node"),
    ];

    fn node(self, lhs: Option<Ref<Obj>>, rhs: Option<Ref<Obj>>, number: i64) -> Ref<Obj> {
        let two = || [("line", number), ("column", 2 * number)];
        let entries = || two().map(|(name, number)| (name.into(), number.into()));
        match self {
            Note::Number => WithNumber::new(lhs, rhs, number).into_object(),
            Note::EmptyList => WithList::new(lhs, rhs, List::new()).into_object(),
            Note::List => {
                let items = two().map(|(_, number)| Value::from(number));
                WithList::new(lhs, rhs, List::from(items.to_vec())).into_object()
            }
            Note::EmptyDict => WithDict::new(lhs, rhs, Dict::new()).into_object(),
            Note::Dict => {
                WithDict::new(lhs, rhs, entries().into_iter().collect::<Dict>()).into_object()
            }
        }
    }
}

/// A balanced tree of nodes with a note each.
pub(crate) fn noted(note: Note, depth: u32) -> Value {
    fn tree(note: Note, depth: u32, leaves: &mut i64) -> Ref<Obj> {
        let children = (depth > 0).then(|| [(); 2].map(|()| tree(note, depth - 1, leaves)));
        let [lhs, rhs] = children.map_or([None, None], |children| children.map(Some));
        *leaves += 1;
        note.node(lhs, rhs, *leaves)
    }
    tree(note, depth, &mut 0).into()
}

/// A chain without branches.
pub(crate) fn chain(levels: usize) -> Value {
    let mut node = Int::new(1).into_object();
    for _ in 0..levels {
        node = Neg::new(node).into_object();
    }
    node.into()
}

/// A chain of sums that leans to the left: two positions per level.
pub(crate) fn left_chain(levels: usize) -> Value {
    let leaf = Int::new(1).into_object();
    let mut node = leaf.clone();
    for _ in 0..levels {
        node = Add::new(node, &leaf).into_object();
    }
    node.into()
}

/// A function of `count` parameters that uses each of them once more, in
/// another order.
pub(crate) fn vars(count: usize) -> Ref<Lambda> {
    let params: Vec<Ref<Var>> = (0..count).map(|_| Var::new("x")).collect();
    let mut uses = params.clone();
    Numbers::new(7).shuffle(&mut uses);
    let uses = Value::from(Array::from(uses));
    let body = uses.as_object().expect("an array is an object");
    Lambda::new(params, body)
}

/// One array of numbers.
pub(crate) fn wide(count: usize) -> Value {
    (0..count as i64).collect::<Array<i64>>().into()
}
