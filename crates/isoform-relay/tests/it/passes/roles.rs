//! The roles of expressions in rewrites by general rules.

use isoform::Ref;
use isoform::functions::list_functions;
use isoform::pattern::{Hole, Pattern, PatternOptions, Rule, rewrite_greedily};
use isoform::values::Tensor;
use isoform_ir::ir::Op;
use isoform_ir::transform::cse::cse;
use isoform_relay::op::{add, divide, exp, maximum, multiply, subtract, tanh};
use isoform_relay::{AsExpr, Call, Function, Let, Tuple, Wildcard};
use isoform_testing::source::{Source, random_bytes};

use crate::support::*;

fn hole(name: &str) -> Ref<Wildcard> {
    op("add");
    Wildcard::new(name)
}

/// The pattern of a template with these holes, operands in any order.
fn unordered(template: &Expr, holes: &[&Ref<Wildcard>]) -> Pattern {
    let options = PatternOptions::default().commutative(true);
    let holes = holes.iter().map(|hole| Hole::new(*hole));
    options.pattern(template.clone(), holes).expect("a pattern")
}

#[test]
fn operators_marked_as_commutative_are() {
    op("add");
    let names = list_functions().into_iter();
    let names = names.filter_map(|name| Some(name.strip_prefix("relay.op._make.")?.to_owned()));
    let is_commutative = |op: &Ref<Op>| op.attribute("TCommutative").is_some();
    let marked: Vec<_> = names.map(|name| op(&name)).filter(is_commutative).collect();
    assert!(marked.len() > 10, "{}", marked.len());
    let special = [0.0, -0.0, 1.0, -3.0, 2.5, 7.0, f64::INFINITY, f64::NAN];
    for operator in marked {
        let dtypes: &[_] = match operator.name.as_str() {
            name if name.starts_with("logical") => &[BOOL],
            name if name.starts_with("bitwise") => &[I32, U8],
            _ => &[F32, F16, I32, I8],
        };
        for dtype in dtypes {
            let numbers: Vec<f64> = special
                .into_iter()
                .filter(|number| [F32, F16].contains(dtype) || number.is_finite())
                .filter(|number| *dtype != U8 || *number >= 0.0)
                .collect();
            let count = numbers.len() as i64;
            let column = constant(&tensor(&numbers, &[count, 1], *dtype));
            let row = constant(&tensor(&numbers, &[1, count], *dtype));
            let value = |args: [&Expr; 2]| -> Tensor {
                evaluate(apply(&operator, args))
                    .extract()
                    .expect("a tensor")
            };
            let (left, right) = (value([&column, &row]), value([&row, &column]));
            assert_eq!(left.data(), right.data(), "{} of {dtype}", operator.name);
        }
    }
}

/// A random expression of a few variables and constants.
fn drawn(source: &mut Source<'_>, leaves: &[Expr], depth: u32) -> Expr {
    if depth == 0 || source.below(4) == 0 {
        return source.pick(leaves).clone();
    }
    let left = drawn(source, leaves, depth - 1);
    let right = drawn(source, leaves, depth - 1);
    match source.below(5) {
        0 => add(left, right).expr(),
        1 => multiply(left, right).expr(),
        2 => maximum(left, right).expr(),
        3 => subtract(left, right).expr(),
        _ => divide(left, right).expr(),
    }
}

/// All orders of the arguments of commutative calls.
fn orders(expr: &Expr) -> Vec<Expr> {
    let Some(call) = expr.downcast_ref::<Call>() else {
        return vec![expr.clone()];
    };
    let callee = call.op.downcast_ref::<Op>().expect("an operator");
    let commutes = ["add", "multiply", "maximum"].contains(&callee.name.as_str());
    let [left, right] = [0, 1].map(|at| orders(call.args.get(at).expect("two arguments")));
    let mut all = Vec::new();
    for left in &left {
        for right in &right {
            all.push(apply(&call.op, [left, right]));
            if commutes {
                all.push(apply(&call.op, [right, left]));
            }
        }
    }
    all
}

/// A template with parts in the place of holes, and some arguments in another order.
fn scrambled(source: &mut Source<'_>, expr: &Expr, parts: &[(Expr, &Expr)]) -> Expr {
    let Some(call) = expr.downcast_ref::<Call>() else {
        let mut parts = parts.iter();
        let part = parts.find(|(hole, _)| hole.same_as(expr));
        return part.map_or_else(|| expr.clone(), |(_, part)| (*part).clone());
    };
    let mut args = [0, 1].map(|at| call.args.get(at).expect("two arguments").clone());
    if source.below(3) == 0 {
        args.reverse();
    }
    let [left, right] = args.map(|arg| scrambled(source, &arg, parts));
    apply(&call.op, [&left, &right])
}

#[test]
fn operands_in_any_order_match_as_all_orders_do() {
    let (x, y) = (hole("x"), hole("y"));
    let [a, b] = ["a", "b"].map(var);
    let (mut matches, mut misses) = (0, 0);
    for seed in 0..3_000 {
        let bytes = random_bytes(seed, 60);
        let source = &mut Source::new(&bytes);
        let template = drawn(source, &[x.expr(), y.expr(), int(1), x.expr()], 2);
        if !template.isa::<Call>() {
            continue;
        }
        let parts = [a.expr(), source.pick(&[a.expr(), b.expr(), int(1)]).clone()];
        let value = scrambled(
            source,
            &template,
            &[(x.expr(), &parts[0]), (y.expr(), &parts[1])],
        );
        // All holes occur in a template that is not drawn.
        let template = tuple([&template, &x.expr(), &y.expr()]);
        let value = tuple([&value, &parts[0], &parts[1]]);
        let fields = |expr: &Expr| {
            expr.downcast_ref::<Tuple>()
                .expect("a tuple")
                .fields
                .clone()
        };
        let parts: Vec<Expr> = fields(&template).iter().cloned().collect();
        let expected = orders(&parts[0]).into_iter().any(|first| {
            let ordered = tuple([&first, &parts[1], &parts[2]]);
            let plain = Pattern::new(ordered, [&x, &y]).expect("a pattern");
            plain.match_value(&value).expect("comparable").is_some()
        });
        let any = unordered(&template, &[&x, &y]);
        let found = any.match_value(&value).expect("comparable");
        assert_eq!(
            found.is_some(),
            expected,
            "seed {seed}: {template:?} on {value:?}"
        );
        if expected {
            matches += 1;
        } else {
            misses += 1;
        }
    }
    assert!(
        matches > 100 && misses > 100,
        "{matches} matches, {misses} misses"
    );
}

#[test]
fn the_registry_decides_for_operators_of_users() {
    let x = hole("x");
    let a = var("a").expr();
    let swaps = |name: &str| {
        let pattern = unordered(&call(name, [&x.expr(), &int(1)]), &[&x]);
        let value = call(name, [&int(1), &a]);
        pattern.match_value(value).expect("comparable").is_some()
    };
    let entry = isoform_ir::ir::OpRegistry::get_or_register("test.passes.any_order");
    entry
        .expect("a name")
        .attr("TCommutative", true, 10)
        .expect("set once");
    assert!(swaps("any_order") && !swaps("given_order"));
}

#[test]
fn constants_and_definitions_match() {
    let x = hole("x");
    let matches = |hole: Hole, part: &Expr| {
        let pattern = Pattern::new(exp(&x), [hole]).expect("a pattern");
        pattern
            .match_value(exp(part))
            .expect("comparable")
            .is_some()
    };
    let constant = || Hole::new(&x).constant();
    assert!(matches(constant(), &int(1)) && matches(constant(), &tuple([])));
    assert!(!matches(constant(), &var("a").expr()) && !matches(constant(), &exp(int(1)).expr()));

    let rewritten = |value: &Expr| {
        let v = var("v");
        let options = PatternOptions::default().definitions(true);
        let template = exp(call("f", [&x.expr()]));
        let pattern = options.pattern(template, [&x]).expect("a pattern");
        let rule = Rule::new(pattern, tanh(&x)).expect("a rule");
        let program = bind(&v, value, &exp(&v).expr());
        let done = rewrite_greedily(program, &[rule]).expect("it ends");
        done.applied[0]
    };
    let a = var("a").expr();
    assert_eq!(rewritten(&call("f", [&a])), 1);
    assert_eq!(rewritten(&call("f", [&multiply(&a, &a).expr()])), 1);
    // An effect stays where it is.
    assert_eq!(rewritten(&call("f", [&call("tick", [&a])])), 0);
    assert_eq!(rewritten(&call("f", [&read(&a)])), 0);
}

#[test]
fn items_of_tuples_are_replaced_one_by_one() {
    let x = hole("x");
    let a = var("a").expr();
    let template = call("pair", [&x.expr()]);
    let pattern = Pattern::new(template, [&x]).expect("a pattern");
    let results = [exp(&x).into(), tanh(&x).into()];
    let rule = Rule::results(pattern, results).expect("a rule");
    let pair = call("pair", [&a]);
    let program = add(item(&pair, 1), item(&pair, 0));
    let done = rewrite_greedily(program, &[rule]).expect("it ends");
    assert!(
        MAPPED
            .equal(done.value, add(tanh(&a), exp(&a)))
            .expect("comparable")
    );
}

fn merged(program: &Expr) -> Expr {
    op("add");
    cse(program)
        .expect("a program")
        .extract()
        .expect("an expression")
}

fn is_one(pair: &Expr) -> bool {
    let done = merged(pair);
    let fields = &done.downcast_ref::<Tuple>().expect("a tuple").fields;
    fields
        .get(0)
        .zip(fields.get(1))
        .is_some_and(|(left, right)| left.same_as(right))
}

#[test]
fn equal_calls_become_one_unless_they_have_effects() {
    let a = var("a").expr();
    let twice = |make: &dyn Fn() -> Expr| is_one(&tuple([&make(), &make()]));
    assert!(twice(&|| exp(&a).expr()));
    assert!(twice(&|| item(&call("pair", [&a]), 1)));
    assert!(!twice(&|| call("tick", [&a])));
    assert!(!twice(&|| create(&a)) && !twice(&|| read(&a)));
    let g = var("g");
    assert!(!twice(&|| apply(&g, [&a])));
    // Both divisions of a branch are computed, or neither.
    let divided = || call("part", [&a]);
    assert!(twice(&divided));
    let guarded = choose(&a, &divided(), &divided());
    assert!(merged(&guarded).same_as(&guarded));
}

#[test]
fn bindings_join_and_fused_functions_stay() {
    let [a, x, y] = ["a", "x", "y"].map(var);
    let value = || exp(&a).expr();
    let both = bind(&x, &value(), &bind(&y, &value(), &add(&x, &y).expr()));
    assert_equal(&merged(&both), &bind(&x, &value(), &add(&x, &x).expr()));
    let k = var("k");
    let body = tuple([&exp(&k).expr(), &exp(&k).expr()]);
    let kernel = func([&k], &body).cast::<Function>().unwrap().upcast();
    let kernel = isoform_ir::ir::BaseFuncRef::with_attr(&kernel, "Primitive", 1);
    let kernel = kernel.unwrap().cast::<Function>().unwrap();
    let called = apply(&kernel, [&a.expr()]);
    assert!(merged(&called).same_as(&called));
}

#[test]
fn a_binding_with_a_less_precise_annotation_stays() {
    let a = typed_var("a", "f32[2]");
    let (x, y) = (typed_var("x", "f32[?]"), var("y"));
    let value = || exp(&a).expr();
    let program = bind(
        &x,
        &value(),
        &bind(&y, &value(), &tuple([&x.expr(), &y.expr()])),
    );
    let done = merged(&program);
    let inner = &done.downcast_ref::<Let>().expect("a binding").body;
    assert!(inner.isa::<Let>());
}
