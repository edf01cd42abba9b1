//! Patterns: their matches, the parts of their holes, and the places.

use isoform::compare::{HoleRefusal, MismatchReason};
use isoform::errors::ErrorKind;
use isoform::pattern::{Hole, Match, Pattern};
use isoform::traverse::WalkResult;
use isoform::values::DType;
use isoform::{Array, Node, Ref, Result, Value, structural_equal};
use isoform_ir::tir;

use super::support::{Add, Call, Expr, Int, Lambda, Var, add, int, scaled, var};

fn i32_var(name: &str) -> Ref<tir::Var> {
    tir::Var::new(name, DType::INT32)
}

fn lambda(params: &[&Ref<Var>], body: impl isoform::types::IntoField<Ref<Expr>>) -> Ref<Expr> {
    let params: Vec<Ref<Var>> = params.iter().map(|param| (*param).clone()).collect();
    Lambda::new(body, params).upcast()
}

fn pair(left: impl Into<Value>, right: impl Into<Value>) -> Ref<Call> {
    Call::new(Array::from(vec![left.into(), right.into()]))
}

#[track_caller]
fn find(pattern: &Pattern, value: impl Into<Value>) -> Option<Match> {
    pattern.match_value(value).expect("comparable")
}

fn matches(pattern: &Pattern, value: impl Into<Value>) -> bool {
    find(pattern, value).is_some()
}

fn nameless() -> Ref<Var> {
    var("")
}

#[test]
fn a_hole_stands_for_any_expression_of_its_type() -> Result<()> {
    let (x, a, b) = (i32_var("x"), i32_var("a"), i32_var("b"));
    let one = tir::constant(DType::INT32, 1)?;
    let pattern = Pattern::new(tir::Mul::new(&x, &one)?, [&x])?;

    let sum = tir::Add::new(&a, &b)?;
    let pattern_match = find(&pattern, tir::Mul::new(&sum, &one)?).expect("it matches");
    assert_eq!(pattern_match.get(Value::from(&x)), Some(&Value::from(&sum)));
    assert_eq!(pattern_match.holes().count(), 1);
    assert_eq!(pattern_match.get(Value::from(&a)), None);
    assert_eq!(pattern_match.get(Value::from(3)), None);

    // The data type is a field that both classes have in common.
    let long = DType::INT64;
    let y = tir::Var::new("y", long);
    let of_long = tir::Mul::new(&y, &tir::constant(long, 1)?)?;
    assert!(!matches(&pattern, of_long));
    assert!(!matches(
        &pattern,
        tir::Mul::new(&sum, &tir::constant(DType::INT32, 2)?)?
    ));
    // The template is an instance of itself.
    assert!(matches(&pattern, pattern.template()));
    Ok(())
}

#[test]
fn a_hole_that_occurs_again_stands_for_an_equal_part() -> Result<()> {
    let x = nameless();
    let pattern = Pattern::new(add(&x, &x), [&x])?;
    assert!(matches(
        &pattern,
        add(add(int(1), int(2)), add(int(1), int(2)))
    ));
    assert!(!matches(
        &pattern,
        add(add(int(1), int(2)), add(int(1), int(3)))
    ));
    let (u, v) = (nameless(), nameless());
    assert!(matches(&pattern, add(&u, &u)));
    // Parts are equal if each variable maps to itself.
    assert!(!matches(&pattern, add(&u, &v)));
    // Bound variables have no names.
    assert!(matches(&pattern, add(lambda(&[&u], &u), lambda(&[&v], &v))));
    Ok(())
}

#[test]
fn free_variables_map_one_to_one_or_to_themselves() -> Result<()> {
    let (h, x, y) = (nameless(), nameless(), nameless());
    let (u, v) = (nameless(), nameless());
    let template = Call::new(Array::<Value>::from(vec![
        (&h).into(),
        (&x).into(),
        (&y).into(),
        (&x).into(),
    ]));
    let value = |parts: [&Ref<Var>; 4]| Call::new(parts.map(Value::from));
    let mapping = Pattern::new(&template, [&h])?;
    let pattern_match = find(&mapping, value([&x, &u, &v, &u])).expect("u for x, v for y");
    assert_eq!(pattern_match.get(Value::from(&x)), Some(&Value::from(&u)));
    assert_eq!(pattern_match.vars().count(), 2);
    assert!(!matches(&mapping, value([&x, &u, &v, &v])));
    assert!(
        !matches(&mapping, value([&x, &u, &u, &u])),
        "not one to one"
    );

    let exact = mapping.clone().map_free_vars(false);
    assert!(mapping.maps_free_vars() && !exact.maps_free_vars());
    assert!(!matches(&exact, value([&x, &u, &v, &u])));
    assert!(matches(&exact, value([&u, &x, &y, &x])));
    Ok(())
}

#[test]
fn classes_and_guards_ask_for_more() -> Result<()> {
    let x = nameless();
    let sums = Pattern::new(pair(&x, 1), [Hole::new(&x).class::<Add>()])?;
    assert!(matches(&sums, pair(add(int(1), int(2)), 1)));
    assert!(!matches(&sums, pair(int(1), 1)));

    let even = Hole::new(&x).class::<Int>().guard(|part| {
        let part: Ref<Int> = part.extract()?;
        Ok(part.value % 2 == 0)
    });
    let even = Pattern::new(pair(&x, 1), [even])?;
    assert!(matches(&even, pair(int(4), 1)));
    assert!(!matches(&even, pair(int(3), 1)));
    assert!(!matches(&even, pair(add(int(1), int(2)), 1)));

    let failing = Hole::new(&x).guard(|_| Err(isoform::Error::value_error("no idea")));
    let failing = Pattern::new(pair(&x, 1), [failing])?;
    let error = failing
        .match_value(pair(int(1), 1))
        .expect_err("the guard's");
    assert_eq!(error.message(), "no idea");
    Ok(())
}

#[test]
fn a_mismatch_is_explained() -> Result<()> {
    let x = nameless();
    let pattern = Pattern::new(add(&x, &x), [Hole::new(&x).class::<Int>()])?;
    let why = |value: Ref<Expr>| -> Result<(String, MismatchReason)> {
        let mismatch = pattern.explain(value)?.expect("no match");
        Ok((mismatch.right_path.to_string(), mismatch.reason))
    };
    let (path, reason) = why(add(int(1), int(2)))?;
    assert_eq!(path, "<root>.rhs");
    assert!(matches!(
        reason,
        MismatchReason::HoleRefuses(HoleRefusal::OtherPart)
    ));
    assert_eq!(
        reason.to_string(),
        "the hole stands for another part already"
    );
    let (path, reason) = why(add(add(int(1), int(1)), int(2)))?;
    assert_eq!(path, "<root>.lhs");
    assert!(matches!(
        reason,
        MismatchReason::HoleRefuses(HoleRefusal::Class)
    ));
    let (_, reason) = why(int(1))?;
    assert!(matches!(reason, MismatchReason::TypeDiffers { .. }));
    assert!(pattern.explain(add(int(1), int(1)))?.is_none());

    let typed = |ty: i64| Var::typed("v", int(ty));
    let hole = typed(1);
    let pattern = Pattern::new(Call::new([Value::from(&hole)]), [&hole])?;
    let other = Call::new([Value::from(typed(2))]);
    let mismatch = pattern.explain(other)?.expect("another type");
    assert_eq!(mismatch.right_path.to_string(), "<root>.args[0].ty.value");

    let hole = i32_var("h");
    let pattern = Pattern::new([Value::from(&hole)], [&hole])?;
    let other = Value::from(tir::Var::new("h", DType::FLOAT32));
    let mismatch = pattern.explain([other])?.expect("another type");
    assert_eq!(mismatch.right_path.to_string(), "<root>[0].dtype");
    assert_eq!(mismatch.left, Some(DType::INT32.into()));
    assert_eq!(mismatch.right, Some(DType::FLOAT32.into()));

    let function = |last: usize| {
        let vars = ["x", "y"].map(var);
        Value::from(Lambda::new(&vars[last], vars.clone()))
    };
    let pattern = Pattern::new(function(0), Vec::<Hole>::new())?;
    let mismatch = pattern.explain(function(1))?.expect("another variable");
    let MismatchReason::BoundElsewhere(pair) = mismatch.reason else {
        panic!("{mismatch}");
    };
    let place = if pair.left_is_bound { 0 } else { 1 };
    let place = format!("<root>.params[{place}]");
    assert_eq!(pair.left_path.to_string(), place);
    assert_eq!(pair.right_path.to_string(), place);
    Ok(())
}

#[test]
fn what_is_bound_maps_by_itself() -> Result<()> {
    let (x, h) = (nameless(), nameless());
    let pattern = Pattern::new(lambda(&[&x], add(&x, &h)), [&h])?.map_free_vars(false);
    let (a, b) = (nameless(), nameless());
    let found = find(&pattern, lambda(&[&a], add(&a, add(&a, &b)))).expect("a for x");
    assert_eq!(found.get(Value::from(&x)), Some(&Value::from(&a)));
    // A part may use variables bound outside of the part.
    let part = found.get(Value::from(&h)).expect("a part");
    assert!(structural_equal(part, add(&a, &b))?);
    assert!(!matches(&pattern, lambda(&[&a], add(&b, &b))));
    Ok(())
}

#[test]
fn equal_parts_have_the_same_variables_bound_in_the_same_places() -> Result<()> {
    let (x, y, h) = (nameless(), nameless(), nameless());
    let twice = Pattern::new(pair(lambda(&[&x], &h), lambda(&[&y], &h)), [&h])?;
    let (a, b, c) = (nameless(), nameless(), nameless());
    assert!(matches(&twice, pair(lambda(&[&a], &c), lambda(&[&b], &c))));
    assert!(!matches(&twice, pair(lambda(&[&a], &a), lambda(&[&b], &b))));
    // The same two values, except for the name of the bound variable: the same
    // result.
    assert!(!matches(&twice, pair(lambda(&[&a], &a), lambda(&[&a], &a))));
    let shared = lambda(&[&a], &a);
    assert!(!matches(&twice, pair(&shared, &shared)));
    // One binder around both places.
    let inner = Pattern::new(lambda(&[&x], pair_expr(&h, &h)), [&h])?;
    assert!(matches(&inner, lambda(&[&a], pair_expr(&a, &a))));
    // A shared part of the template is matched at every place.
    let part = lambda(&[&x], &h);
    let shared = Pattern::new(pair(&part, &part), [&h])?;
    assert!(!matches(
        &shared,
        pair(lambda(&[&a], &a), lambda(&[&a], &a))
    ));
    let value = lambda(&[&a], &a);
    assert!(!matches(&shared, pair(&value, &value)));
    let value = lambda(&[&a], &c);
    assert!(matches(&shared, pair(&value, &value)));
    Ok(())
}

fn pair_expr(left: &Ref<Var>, right: &Ref<Var>) -> Ref<Expr> {
    pair(left, right).upcast()
}

#[test]
fn every_match_is_found_with_its_path() -> Result<()> {
    let x = nameless();
    let pattern = Pattern::new(add(&x, int(0)), [&x])?;
    let shared = add(int(5), int(0));
    let root = pair(add(add(int(1), int(0)), int(0)), pair(&shared, &shared));
    let all_matches = pattern.find_all(root.clone())?;
    let paths: Vec<String> = all_matches
        .iter()
        .map(|pattern_match| pattern_match.path().to_string())
        .collect();
    let expected = [
        "<root>.args[0]",
        "<root>.args[0].lhs",
        "<root>.args[1].args[0]",
    ];
    assert_eq!(paths, expected);
    assert_eq!(all_matches[2].found.value(), &Value::from(&shared));

    let mut seen = 0;
    let first = pattern.for_each_match(root, |visit, _| {
        seen += 1;
        Ok(WalkResult::Interrupt(visit.path()))
    })?;
    assert_eq!(
        (first.map(|path| path.to_string()), seen),
        (Some(paths[0].clone()), 1)
    );

    // A template that is a hole, or a plain value.
    let ints = Pattern::new(&x, [Hole::new(&x).class::<Int>()])?;
    assert_eq!(ints.find_all(add(int(1), add(int(2), int(3))))?.len(), 3);
    let fives = Pattern::new(5, [] as [Hole; 0])?;
    assert_eq!(fives.find_all(add(int(5), int(4)))?.len(), 1);
    let text = "a text that is longer than fourteen bytes";
    let texts = Pattern::new(text, [] as [Hole; 0])?;
    assert_eq!(texts.find_all(vec![text, "no"])?.len(), 1);
    // A variable bound by a definition is not a use.
    let vars = Pattern::new(&x, [Hole::new(&x).class::<Var>()])?;
    let a = nameless();
    assert_eq!(vars.find_all(lambda(&[&a], add(&a, int(1))))?.len(), 1);
    Ok(())
}

#[test]
fn what_makes_no_pattern_is_refused() {
    let (x, y) = (nameless(), nameless());
    let refused = |template: Value, holes: Vec<Hole>| {
        let error = Pattern::new(template, holes).expect_err("no pattern");
        (error.kind(), error.message().to_string())
    };
    let (kind, text) = refused(add(&x, int(1)).into(), vec![Value::from(1).into()]);
    assert_eq!(kind, ErrorKind::Type);
    assert_eq!(text, "Pattern.holes: expected a variable, got int");
    let (kind, text) = refused(add(&x, int(1)).into(), vec![(&x).into(), (&x).into()]);
    assert_eq!(kind, ErrorKind::Value);
    assert!(text.ends_with("is given twice"), "{text}");
    let (_, text) = refused(add(&x, int(1)).into(), vec![(&y).into()]);
    assert!(text.ends_with("does not occur in the template"), "{text}");
    let (_, text) = refused(lambda(&[&x], &x).into(), vec![(&x).into()]);
    assert!(text.contains("is bound by the template"), "{text}");
    let map: isoform::Map = [(Value::from(&x), Value::from(1))].into_iter().collect();
    let (_, text) = refused(map.into(), vec![(&x).into()]);
    assert!(text.contains("stands in the key of a map"), "{text}");
}

#[test]
fn deep_and_shared_templates_match() -> Result<()> {
    let length = scaled(1_000_000);
    let (x, leaf) = (nameless(), nameless());
    let deep = |last: Ref<Expr>| (0..length).fold(last, |inner, _| add(&inner, int(1)));
    let pattern = Pattern::new(deep(x.clone().upcast()), [&x])?;
    let pattern_match = find(&pattern, deep(add(&leaf, &leaf))).expect("it matches");
    assert!(structural_equal(
        pattern_match.get(Value::from(&x)).expect("a part"),
        add(&leaf, &leaf)
    )?);
    // Taking a deep part costs nothing.
    let small = Pattern::new(add(&x, int(1)), [&x])?;
    let value = deep(int(0));
    let mut count = 0;
    small.for_each_match(&value, |_, _| {
        count += 1;
        Ok(WalkResult::<()>::Advance)
    })?;
    assert_eq!(count, length);

    let doubled = |leaf: Ref<Expr>| (0..60).fold(leaf, |inner, _| add(&inner, &inner));
    let pattern = Pattern::new(doubled(x.clone().upcast()), [&x])?;
    assert!(matches(&pattern, doubled(int(7))));
    let all_matches = pattern.find_all(doubled(int(7)))?;
    assert_eq!(all_matches.len(), 1);
    Ok(())
}

#[test]
fn attempts_of_a_hook_that_fail_leave_no_holes_filled() -> Result<()> {
    // The operands of the node may be in either order.
    let family = isoform_testing::family::Family::native()?;
    let comm = |a: Value, b: Value| family.make(isoform_testing::family::Role::Comm, vec![a, b]);
    let (x, y) = (nameless(), nameless());
    let template = comm(add(&x, int(1)).into(), add(&y, int(2)).into())?;
    let pattern = Pattern::new(template, [&x, &y])?;
    let found = find(
        &pattern,
        comm(add(int(8), int(2)).into(), add(int(9), int(1)).into())?,
    );
    let found = found.expect("the other order");
    let part = |var: &Ref<Var>| found.get(Value::from(var)).expect("a part").clone();
    assert!(structural_equal(part(&x), int(9))?);
    assert!(structural_equal(part(&y), int(8))?);
    assert!(Int::type_index() != Add::type_index());
    Ok(())
}
