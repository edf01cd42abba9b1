//! Dispatch by class: tables, visitors, mutators and functors over node types
//! of Rust and of run time.

use std::collections::HashMap;

use isoform::objects::{construct, field_value};
use isoform::traverse::{Before, Dispatch, NodeFunctor, NodeMutator, NodeVisitor, WalkResult};
use isoform::types::{
    FieldDef, Kind, Schema, TypeDef, TypeIndex, VISIT_NAME, find_type, register, register_type,
};
use isoform::{Array, Map, Node, Obj, Ref, Result, Value};

use super::support::scaled;

/// An expression.
#[derive(Node, Default)]
#[node(key = "dispatch.Expr")]
#[repr(C)]
struct Expr {}

/// A variable.
#[derive(Node)]
#[node(key = "dispatch.Var", kind = var)]
#[repr(C)]
struct Var {
    #[node(base, default)]
    base: Expr,
    /// Not part of its identity.
    #[node(ignore)]
    name: isoform::Str,
}

/// A number.
#[derive(Node)]
#[node(key = "dispatch.Num")]
#[repr(C)]
struct Num {
    #[node(base, default)]
    base: Expr,
    /// Its value.
    value: i64,
}

/// A sum.
#[derive(Node)]
#[node(key = "dispatch.Sum")]
#[repr(C)]
struct Sum {
    #[node(base, default)]
    base: Expr,
    /// The terms.
    parts: Array<Ref<Expr>>,
}

/// A function of one variable.
#[derive(Node)]
#[node(key = "dispatch.Fun", scope)]
#[repr(C)]
struct Fun {
    #[node(base, default)]
    base: Expr,
    /// Bound in the body.
    #[node(def)]
    param: Ref<Var>,
    /// The result.
    body: Ref<Expr>,
}

/// One of two expressions.
#[derive(Node)]
#[node(key = "dispatch.If")]
#[repr(C)]
struct If {
    #[node(base, default)]
    base: Expr,
    /// The condition.
    cond: Ref<Expr>,
    /// For numbers other than zero.
    then: Ref<Expr>,
    /// For zero.
    other: Ref<Expr>,
}

fn num(value: i64) -> Ref<Expr> {
    Num::new(value).upcast()
}

fn sum<const N: usize>(parts: [Ref<Expr>; N]) -> Ref<Expr> {
    Sum::new(parts).upcast()
}

/// A type that a user declares at run time, below a type of Rust.
fn late(key: &str) -> TypeIndex {
    register::<Expr>().expect("registered");
    let definition = TypeDef::new(key)
        .parent(Expr::type_index())
        .kind(Kind::Tree)
        .field(FieldDef::new("of", Schema::Any));
    register_type(definition).expect("registered")
}

#[test]
fn a_type_without_an_entry_has_that_of_its_nearest_ancestor() {
    let table = Dispatch::new()
        .on::<Obj>("object")
        .on::<Expr>("expr")
        .on::<Var>("var");
    assert_eq!(table.get(Var::type_index()), Some(&"var"));
    assert_eq!(table.get(Num::type_index()), Some(&"expr"));
    let registered_later = late("dispatch.Later");
    assert_eq!(table.get(registered_later), Some(&"expr"));
    assert_eq!(table.above(registered_later), Some(&"object"));
    assert_eq!(table.above(Var::type_index()), Some(&"expr"));
    assert_eq!(table.above(Obj::type_index()), None);
}

#[test]
fn a_new_entry_counts_for_types_that_were_looked_up_before() {
    let mut table = Dispatch::new().on::<Expr>(1);
    assert_eq!(table.get(Num::type_index()), Some(&1));
    assert_eq!(table.insert(Num::type_index(), 2), None);
    assert_eq!(table.get(Num::type_index()), Some(&2));
    assert_eq!(table.insert(Num::type_index(), 3), Some(2));
    assert_eq!(table.get(Num::type_index()), Some(&3));
    assert_eq!(Dispatch::<i32>::new().get(Num::type_index()), None);
}

#[track_caller]
fn named(key: &str, name: &str) {
    let info = find_type(key).expect("a registered type");
    assert_eq!(info.visit_name(), name);
}

#[test]
fn methods_are_called_after_the_class_unless_the_type_says_otherwise() {
    for (class, name) in [
        ("ForStmt", "for_stmt"),
        ("IRNode", "ir_node"),
        ("EQ", "eq"),
        ("Conv2DTranspose", "conv2_d_transpose"),
        ("x", "x"),
    ] {
        let key = format!("dispatch.names.{class}");
        register_type(TypeDef::new(&key)).expect("registered");
        named(&key, name);
    }
    let definition = TypeDef::new("dispatch.names.Each").attr(VISIT_NAME, "for_each");
    let each = register_type(definition).expect("registered");
    let below = TypeDef::new("dispatch.names.EachOf").parent(each);
    register_type(below).expect("registered");
    named("dispatch.names.Each", "for_each");
    named("dispatch.names.EachOf", "each_of");
    let info = find_type("dispatch.names.Each").expect("registered");
    assert_eq!(info.dialect(), "dispatch.names");
}

#[test]
fn visitors_enter_and_leave_nodes_of_every_kind() {
    let neg = late("dispatch.Neg");
    let negated = construct(neg, vec![num(1).into()]).expect("a node");
    let root = sum([num(2), negated.cast().expect("an expression")]);
    let visitor = NodeVisitor::new()
        .enter(|log: &mut Vec<String>, node: &Ref<Expr>| {
            log.push(node.type_info().key().to_owned());
            Ok(WalkResult::Advance)
        })
        .enter(|log, node: &Ref<Num>| {
            log.push(node.value.to_string());
            Ok(WalkResult::Advance)
        })
        .leave_type(neg, |log, _| {
            log.push("end".to_owned());
            Ok(())
        });
    let mut log = Vec::new();
    visitor.visit(&mut log, &root).expect("visited");
    assert_eq!(log, ["dispatch.Sum", "2", "dispatch.Neg", "1", "end"]);
}

#[test]
fn a_replaced_variable_is_the_same_where_it_is_bound_and_used() {
    let x = Var::new("x");
    let fun = Fun::new(&x, sum([x.clone().upcast(), num(1)]));
    let rename = NodeMutator::new().on(|count: &mut usize, var: &Ref<Var>| {
        *count += 1;
        Ok(Some(
            Var::new(format!("{}{count}", var.name).as_str()).into(),
        ))
    });
    let mut count = 0;
    let renamed = rename.mutate(&mut count, &fun).expect("rewritten");
    assert_eq!(count, 1);
    let renamed = renamed.as_object().expect("a node");
    let renamed = renamed.downcast_ref::<Fun>().expect("a function");
    let body = renamed.body.downcast_ref::<Sum>().expect("a sum");
    assert_eq!(&*renamed.param.name, "x1");
    let used = body.parts.get(0).expect("a part");
    assert!(used.as_object().same_as(renamed.param.as_object()));
}

#[test]
fn a_mutator_keeps_what_it_does_not_change() {
    let kept = sum([num(1), num(2)]);
    let root = sum([kept.clone(), num(3), kept.clone()]);
    let three = NodeMutator::new().on(|_: &mut (), op: &Ref<Num>| match op.value {
        3 => Ok(Some(num(4).into())),
        _ => Ok(None),
    });
    let changed = three.mutate(&mut (), &root).expect("rewritten");
    let parts = field_value(changed.as_object().expect("a node"), "parts").expect("a field");
    let parts: Array = parts.extract().expect("an array");
    for position in [0, 2] {
        assert_eq!(parts.get(position), Some(&Value::from(&kept)));
    }
    assert_eq!(three.mutate(&mut (), &kept).expect("kept"), (&kept).into());
}

#[test]
fn keys_of_maps_are_neither_visited_nor_rewritten() {
    let key = num(1);
    let mut map = Map::new();
    map.insert(key.clone(), num(1));
    let root = Value::from(map);
    let count = NodeVisitor::new().enter(|count: &mut usize, _: &Ref<Num>| {
        *count += 1;
        Ok(WalkResult::Advance)
    });
    let mut met = 0;
    count.visit(&mut met, root.clone()).expect("visited");
    assert_eq!(met, 1);
    let two = NodeMutator::new().on(|_: &mut (), _: &Ref<Num>| Ok(Some(num(2).into())));
    let changed = two.mutate(&mut (), root).expect("rewritten");
    let changed: Map<Ref<Expr>, Ref<Expr>> = changed.extract().expect("a map");
    let (kept, value) = changed.iter().next().expect("an entry");
    assert!(kept.as_object().same_as(key.as_object()));
    let value = value.downcast_ref::<Num>().expect("a number");
    assert_eq!(value.value, 2);
}

fn evaluator<'f>() -> NodeFunctor<'f, Vec<i64>, i64> {
    NodeFunctor::new()
        .on(|log: &mut Vec<i64>, op: &Ref<Num>, _| {
            log.push(op.value);
            Ok(op.value)
        })
        .on(|_, op: &Ref<Sum>, of| {
            let parts = op.parts.iter();
            parts.map(|part| of.of(part).copied()).sum::<Result<i64>>()
        })
        .on(|_, op: &Ref<If>, of| match of.of(&op.cond)? {
            0 => of.of(&op.other).copied(),
            _ => of.of(&op.then).copied(),
        })
}

#[test]
fn a_functor_computes_each_node_once() {
    let mut shared = num(1);
    for _ in 0..40 {
        shared = sum([shared.clone(), shared]);
    }
    let mut log = Vec::new();
    let result = evaluator().compute(&mut log, &shared).expect("a number");
    assert_eq!(result, 1 << 40);
    assert_eq!(log, [1]);
}

#[test]
fn a_functor_computes_on_request_only_what_is_asked_for() {
    let choice = If::new(num(0), num(7), num(8));
    let mut log = Vec::new();
    let eager = evaluator().compute(&mut log, &choice);
    assert_eq!((eager.expect("a number"), &*log), (8, &[0, 7, 8][..]));
    log.clear();
    let lazy = evaluator().before(|_, _: &Ref<If>| Ok(Before::OnRequest));
    assert_eq!(lazy.compute(&mut log, &choice).expect("a number"), 8);
    assert_eq!(log, [0, 8]);
    let known = lazy.before(|_, _: &Ref<Sum>| Ok(Before::Result(-1)));
    let sum = sum([num(5)]);
    assert_eq!(known.compute(&mut log, &sum).expect("a number"), -1);
    assert_eq!(log, [0, 8]);
}

/// A binding.
#[derive(Node)]
#[node(key = "dispatch.Let", scope, defs_first = false)]
#[repr(C)]
struct Let {
    #[node(base, default)]
    base: Expr,
    /// Outside of the binding.
    value: Ref<Expr>,
    /// Bound in the body.
    #[node(def)]
    var: Ref<Var>,
    /// The result.
    body: Ref<Expr>,
}

#[derive(Default)]
struct Environment {
    values: HashMap<Ref<Var>, i64>,
    /// For each binding that is being visited, the value of its variable around it.
    outer: Vec<Option<i64>>,
    /// The number of sums that were computed.
    sums: usize,
}

fn interpreter<'f>() -> NodeFunctor<'f, Environment, i64> {
    NodeFunctor::new()
        .before(|env: &mut Environment, op: &Ref<Let>| {
            env.outer.push(env.values.get(&op.var).copied());
            Ok(Before::OnRequest)
        })
        .on(|_, op: &Ref<Num>, _| Ok(op.value))
        .on(|env, op: &Ref<Var>, _| {
            let value = env.values.get(op).copied();
            value.ok_or_else(|| isoform::Error::value_error(format!("{} has no value", op.name)))
        })
        .on(|env, op: &Ref<Sum>, of| {
            let sum = op
                .parts
                .iter()
                .map(|part| of.of(part).copied())
                .sum::<Result<i64>>()?;
            env.sums += 1;
            Ok(sum)
        })
        .on(|env, op: &Ref<Let>, of| {
            let value = *of.of(&op.value)?;
            env.values.insert(op.var.clone(), value);
            let result = *of.of(&op.body)?;
            match env.outer.pop().flatten() {
                Some(outer) => env.values.insert(op.var.clone(), outer),
                None => env.values.remove(&op.var),
            };
            Ok(result)
        })
}

#[test]
fn a_functor_computes_a_node_again_under_another_binding() {
    let x = Var::new("x");
    let twice = sum([x.clone().upcast(), x.clone().upcast()]);
    let closed = sum([num(1), num(1)]);
    let body = sum([twice, closed.clone(), closed]);
    let of = |value| Let::new(num(value), &x, &body).upcast();
    let run = |root: &Ref<Expr>, memo| {
        let mut env = Environment::default();
        let result = interpreter().memo(memo).compute(&mut env, root);
        (result.expect("a number"), env.sums)
    };
    // The body and the sum in it twice, the closed sum and the root once.
    assert_eq!(run(&sum([of(1), of(10)]), true), (6 + 24, 6));
    // Without memory, the closed sum for each of its four places.
    assert_eq!(run(&sum([of(1), of(10)]), false), (6 + 24, 9));
    let inner = Let::new(sum([x.clone().upcast(), num(5)]), &x, &body);
    let shadowed = Let::new(num(1), &x, sum([body.clone(), inner.upcast(), body]));
    assert_eq!(run(&shadowed.upcast(), true).0, 6 + 16 + 6);
}

/// `let x = 1 in let x = x + x in x + x`, where the value and the body are one node: the method
/// keeps the results that it asked for, though the binding in between changed them.
#[test]
fn a_function_keeps_the_results_that_it_asked_for() {
    let x = Var::new("x");
    let twice = sum([x.clone().upcast(), x.clone().upcast()]);
    let mut root: Ref<Expr> = twice.clone();
    for _ in 0..20 {
        root = Let::new(&twice, &x, root).upcast();
    }
    let root = Let::new(num(1), &x, root).upcast();
    for memo in [true, false] {
        let mut env = Environment::default();
        let result = interpreter().memo(memo).compute(&mut env, &root);
        assert_eq!(result.expect("a number"), 1 << 21);
    }
}

#[test]
fn a_functor_has_a_function_for_types_registered_later_and_refuses_others() {
    let double = late("dispatch.Double");
    let node = construct(double, vec![num(4).into()]).expect("a node");
    let error = evaluator()
        .compute(&mut Vec::new(), &node)
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        "TypeError: dispatch.Double: expected a function for the type or one that it extends, got none"
    );
    let evaluator = evaluator().on_type(double, |_, node, of| {
        let inner = field_value(node, "of")?;
        Ok(2 * *of.of(inner.as_object().expect("a node"))?)
    });
    let result = evaluator.compute(&mut Vec::new(), &node);
    assert_eq!(result.expect("a number"), 8);
}

#[test]
fn a_functor_has_no_result_for_a_string() {
    let text = Value::from("a string that is too long to be inline");
    let text = text.as_object().expect("an object");
    let asks = evaluator().on(|_, _: &Ref<Var>, of| of.of(text).copied());
    let error = asks.compute(&mut Vec::new(), &Var::new("x"));
    let error = error.expect_err("refused").to_string();
    assert!(
        error.contains("expected a function for the type"),
        "{error}"
    );
}

#[test]
fn an_error_of_a_function_comes_back_unchanged() {
    let fails = evaluator().on(|_, op: &Ref<Var>, _| {
        Err(isoform::Error::value_error(format!(
            "no value of {}",
            op.name
        )))
    });
    let root = sum([num(1), Var::new("x").upcast()]);
    let error = fails.compute(&mut Vec::new(), &root).expect_err("an error");
    assert_eq!(error.to_string(), "ValueError: no value of x");
}

#[test]
fn depth_is_limited_by_memory_only() {
    let depth = scaled(1_000_000);
    let mut deep = num(1);
    for _ in 0..depth {
        deep = sum([deep, num(1)]);
    }
    let result = evaluator().compute(&mut Vec::new(), &deep);
    assert_eq!(result.expect("a number"), depth as i64 + 1);
    let lazy = evaluator().before(|_, _: &Ref<Sum>| Ok(Before::OnRequest));
    let result = lazy.compute(&mut Vec::new(), &deep);
    assert_eq!(result.expect("a number"), depth as i64 + 1);
}
