//! The forms of patterns beyond templates with plain holes.

use isoform::errors::ErrorKind;
use isoform::pattern::{Hole, InteriorUses, Match, Pattern, PatternOptions, Rule};
use isoform::traverse::Uses;
use isoform::values::{DType, Tensor};
use isoform::{Array, Node, Ref, Result, Value};

use super::support::{
    Add, Int, Lambda, Out, Var, add, assert_same, assign, block, call, flow, int, scaled, sub, var,
};

fn commutative() -> PatternOptions {
    PatternOptions::default().commutative(true)
}

#[track_caller]
fn find(pattern: &Pattern, value: impl Into<Value>) -> Option<Match> {
    pattern.match_value(value).expect("comparable")
}

#[track_caller]
fn part(found: &Match, var: &Ref<Var>) -> Value {
    found.get(var).expect("a part").clone()
}

fn array(part: &Value) -> Vec<Value> {
    let items: Array = part.extract().expect("an array");
    items.values().to_vec()
}

/// Add and multiply match with swapped arguments.
#[test]
fn operands_match_in_either_order_r52() -> Result<()> {
    let (x, a) = (var("x"), var("a"));
    let pattern = commutative().pattern(add(&x, int(1)), [&x])?;
    let found = find(&pattern, add(int(1), &a)).expect("swapped");
    assert_eq!(part(&found, &x), Value::from(&a));
    assert!(find(&pattern, add(&a, int(1))).is_some());
    assert!(find(&pattern, add(&a, int(2))).is_none());
    // Without the option, and for types without the attribute, the order is that of the
    // template.
    let plain = Pattern::new(add(&x, int(1)), [&x])?;
    assert!(find(&plain, add(int(1), &a)).is_none());
    let difference = commutative().pattern(sub(&x, int(1)), [&x])?;
    assert!(find(&difference, sub(int(1), &a)).is_none());
    // A repeated hole decides between orders that both match up to this point.
    let y = var("y");
    let pattern = commutative().pattern(sub(add(&x, &y), &x), [&x, &y])?;
    let found = find(&pattern, sub(add(int(1), int(2)), int(2))).expect("x is 2");
    assert_same(part(&found, &y), int(1));
    Ok(())
}

#[test]
fn items_match_in_any_order_if_the_operator_says_so() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let of = |op: &str, items: [Value; 3]| call(op, items);
    let wanted = |op: &str| of(op, [int(1).into(), (&x).into(), add(&y, int(2)).into()]);
    let subject = |op: &str| {
        of(
            op,
            [add(int(5), int(2)).into(), int(7).into(), int(1).into()],
        )
    };
    let pattern = commutative().pattern(wanted("mul"), [&x, &y])?;
    let pattern_match = find(&pattern, subject("mul")).expect("another order");
    assert_same(part(&pattern_match, &x), int(7));
    assert_same(part(&pattern_match, &y), int(5));
    let pattern = commutative().pattern(wanted("div"), [&x, &y])?;
    assert!(find(&pattern, subject("div")).is_none());
    // Also if nothing else in the template needs a choice.
    let pattern = commutative().pattern(call("mul", [(&x).into(), int(1).into()]), [&x])?;
    let pattern_match =
        find(&pattern, call("mul", [int(1).into(), int(7).into()])).expect("swapped");
    assert_same(part(&pattern_match, &x), int(7));
    Ok(())
}

#[test]
fn many_commutative_nodes_do_not_multiply() -> Result<()> {
    // Sixteen holes in a tree of sums: 2^15 orders, all equally good.
    let holes: Vec<Ref<Var>> = (0..16).map(|_| var("h")).collect();
    let mut level: Vec<Ref<super::support::Expr>> =
        holes.iter().map(|hole| hole.clone().upcast()).collect();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| add(&pair[0], &pair[1]))
            .collect();
    }
    let sums = level.remove(0);
    let pattern = commutative().pattern(sub(&sums, int(3)), &holes)?;
    let value = (0..16).fold(int(0), |inner, number| add(int(number), inner));
    assert!(find(&pattern, sub(&value, int(3))).is_none());
    let mut level: Vec<_> = (0..16).map(int).collect();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| add(&pair[0], &pair[1]))
            .collect();
    }
    assert!(find(&pattern, sub(&level[0], int(3))).is_some());
    assert!(find(&pattern, sub(&level[0], int(4))).is_none());
    Ok(())
}

#[test]
fn a_hole_takes_any_number_of_items() -> Result<()> {
    let (before, x, after) = (var("before"), var("x"), var("after"));
    let template = call(
        "concat",
        [(&before).into(), add(&x, int(0)).into(), (&after).into()],
    );
    let holes = || {
        [
            Hole::new(&before).items(),
            Hole::new(&x),
            Hole::new(&after).items(),
        ]
    };
    let pattern = Pattern::new(&template, holes())?;
    let zero = |number| Value::from(add(int(number), int(0)));
    let pattern_match = find(
        &pattern,
        call("concat", [int(1).into(), zero(2), zero(3), int(4).into()]),
    );
    let pattern_match = pattern_match.expect("two sums");
    // The first hole takes the fewest possible items.
    assert_eq!(array(&part(&pattern_match, &before)).len(), 1);
    assert_same(part(&pattern_match, &x), int(2));
    assert_eq!(array(&part(&pattern_match, &after)).len(), 2);
    assert!(find(&pattern, call("concat", [int(1).into()])).is_none());
    let pattern_match = find(&pattern, call("concat", [zero(1)])).expect("both empty");
    assert!(array(&part(&pattern_match, &before)).is_empty());

    // A replacement has the items in the place of the hole.
    let rule = Rule::new(
        pattern,
        call(
            "concat",
            [
                (&after).into(),
                (&x).into(),
                (&before).into(),
                int(9).into(),
            ],
        ),
    )?;
    let result = rule.apply(call(
        "concat",
        [int(1).into(), zero(2), int(3).into(), int(4).into()],
    ))?;
    let wanted = [3, 4, 2, 1, 9].map(|number| int(number).into());
    assert_same(result.expect("it applies"), call("concat", wanted));

    // A hole that occurs twice takes equal items; guards see the array.
    let twice = Pattern::new(
        call("f", [(&before).into(), int(0).into(), (&before).into()]),
        [Hole::new(&before).items()],
    )?;
    let items = |numbers: &[i64]| call("f", numbers.iter().map(|&number| int(number).into()));
    assert!(find(&twice, items(&[1, 2, 0, 1, 2])).is_some());
    assert!(find(&twice, items(&[1, 2, 0, 1, 3])).is_none());
    assert!(find(&twice, items(&[0, 0, 0])).is_some());
    let short = Hole::new(&before)
        .items()
        .guard(|part| Ok(array(part).len() < 2));
    let short = Pattern::new(call("f", [(&before).into()]), [short])?;
    assert!(find(&short, items(&[1])).is_some() && find(&short, items(&[1, 2])).is_none());
    Ok(())
}

/// Constants, attributes of operators and types, dtype and shape.
#[test]
fn holes_ask_for_attributes_fields_and_constants_r52() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let constant = Pattern::new(add(&x, &y), [Hole::new(&x), Hole::new(&y).constant()])?;
    assert!(find(&constant, add(&x, int(1))).is_some());
    assert!(find(&constant, add(&x, add(int(1), int(2)))).is_none());
    // Built-in data is constant without a declaration.
    let any = Pattern::new(call("f", [(&x).into()]), [Hole::new(&x).constant()])?;
    let tensor = Tensor::new(DType::FLOAT32, vec![2], vec![0u8; 8])?;
    assert!(find(&any, call("f", [tensor.clone().into()])).is_some());
    assert!(find(&any, call("f", [3.into()])).is_some());
    assert!(find(&any, call("f", [Value::NONE])).is_none());
    assert!(find(&any, call("f", [var("v").into()])).is_none());

    let sums = Pattern::new(
        call("f", [(&x).into()]),
        [Hole::new(&x).attr("rw.level", 3)],
    )?;
    assert!(find(&sums, call("f", [add(int(1), int(2)).into()])).is_some());
    assert!(find(&sums, call("f", [int(2).into()])).is_none());

    let four = Hole::new(&x).class::<Int>().field("value", 4);
    let four = Pattern::new(call("f", [(&x).into()]), [four])?;
    assert!(find(&four, call("f", [int(4).into()])).is_some());
    assert!(find(&four, call("f", [int(5).into()])).is_none());
    let deep = Hole::new(&x).field("lhs.value", 4);
    let deep = Pattern::new(call("f", [(&x).into()]), [deep])?;
    assert!(find(&deep, call("f", [add(int(4), int(1)).into()])).is_some());
    assert!(find(&deep, call("f", [int(4).into()])).is_none());
    // A place may have to match a pattern, whose holes are part of the match.
    let inner = Pattern::new(add(&y, int(1)), [&y])?;
    let outer = Hole::new(&x).field_matching("lhs", inner);
    let outer = Pattern::new(call("f", [(&x).into()]), [outer])?;
    let pattern_match =
        find(&outer, call("f", [sub(add(int(8), int(1)), int(2)).into()])).expect("8 + 1");
    assert_same(part(&pattern_match, &y), int(8));

    let error = Pattern::new(add(&x, &y), [Hole::new(&x).field("a[", 1)])
        .err()
        .or_else(|| Pattern::new(add(&x, &x), [Hole::new(&x).field("a[", 1)]).err());
    let error = error.expect("not a path");
    assert!(error.to_string().contains("Hole.field 'a['"), "{error}");
    Ok(())
}

/// An attribute of an operator, of any call.
#[test]
fn holes_ask_operators_for_attributes_r52() -> Result<()> {
    use isoform_ir::ir::{Op, OpRegistry};
    isoform_ir::ir::register()?;
    let kind = |name: &str, kind: i64| -> Result<Ref<Op>> {
        let op = OpRegistry::get_or_register(name)?;
        Ok(op.attr("rw.TOpPattern", kind, 10)?.op().clone())
    };
    let (relu, conv) = (kind("rw.relu", 1)?, kind("rw.conv", 4)?);
    let (op, x) = (var("op"), var("x"));
    let template = call("call", [(&op).into(), (&x).into()]);
    let holes = [
        Hole::new(&op).anything().attr("rw.TOpPattern", 1),
        Hole::new(&x),
    ];
    let pattern = Pattern::new(template, holes)?;
    let of = |op: &Ref<Op>| call("call", [op.into(), int(1).into()]);
    let pattern_match = find(&pattern, of(&relu)).expect("element-wise");
    assert_eq!(part(&pattern_match, &op), Value::from(&relu));
    assert!(find(&pattern, of(&conv)).is_none());
    assert!(find(&pattern, call("call", [int(1).into(), int(1).into()])).is_none());
    Ok(())
}

/// A wildcard.
#[test]
fn a_hole_may_match_anything_r52() -> Result<()> {
    let x = Var::new("x").with_ty(int(1));
    let pattern = |hole: Hole| Pattern::new(call("f", [(&x).into()]), [hole]);
    let typed = pattern(Hole::new(&x))?;
    let wild = pattern(Hole::new(&x).anything())?;
    for value in [
        var("other").into(),
        3.into(),
        Value::NONE,
        Value::from(vec![1, 2]),
    ] {
        assert!(find(&typed, call("f", [value.clone()])).is_none());
        let found = find(&wild, call("f", [value.clone()])).expect("anything");
        assert_eq!(part(&found, &x), value);
    }
    let class = pattern(Hole::new(&x).anything().class::<Add>())?;
    assert!(find(&class, call("f", [3.into()])).is_none());
    assert!(find(&class, call("f", [add(int(1), int(1)).into()])).is_some());
    Ok(())
}

/// `|` and `.optional`.
#[test]
fn alternatives_are_tried_in_order_r52() -> Result<()> {
    let (x, y, h) = (var("x"), var("y"), var("h"));
    let sum = Pattern::new(add(&x, &y), [&x, &y])?;
    let product = Pattern::new(call("mul", [(&x).into(), (&y).into()]), [&x, &y])?;
    let either = Pattern::any_of([sum.clone(), product])?;
    assert_eq!(either.holes().len(), 2);
    let pattern_match =
        find(&either, call("mul", [int(1).into(), int(2).into()])).expect("a product");
    assert_same(part(&pattern_match, &y), int(2));
    assert!(find(&either, add(int(1), int(2))).is_some());
    assert!(find(&either, sub(int(1), int(2))).is_none());
    assert!(either.explain(sub(int(1), int(2)))?.is_some());
    assert_eq!(
        either
            .find_all(add(call("mul", [int(1).into(), int(2).into()]), int(3)))?
            .len(),
        2
    );

    // In the middle of a template.
    let inside = Pattern::new(sub(&h, &x), [Hole::new(&h).matching(either), Hole::new(&x)])?;
    let pattern_match = find(
        &inside,
        sub(call("mul", [int(1).into(), int(2).into()]), int(1)),
    );
    assert_same(part(&pattern_match.expect("x is 1"), &y), int(2));
    assert!(
        find(&inside, sub(add(int(1), int(2)), int(3))).is_none(),
        "x differs"
    );

    let maybe = sum.optional(|template| Ok(call("relu", [template.clone()]).into()))?;
    assert!(find(&maybe, call("relu", [add(int(1), int(2)).into()])).is_some());
    assert!(find(&maybe, add(int(1), int(2))).is_some());
    assert!(find(&maybe, call("relu", [int(1).into()])).is_none());

    // A replacement uses what every alternative has.
    let z = var("z");
    let other = Pattern::new(call("neg", [(&z).into()]), [&z])?;
    let rule = Rule::new(Pattern::any_of([sum, other])?, &x)?;
    assert!(rule.apply(add(int(1), int(2)))?.is_some());
    let error = rule
        .apply(call("neg", [int(1).into()]))
        .expect_err("x is missing");
    assert!(
        error
            .message()
            .contains("which the alternative that matched does not have"),
        "{error}"
    );
    assert!(Pattern::any_of([]).is_err());
    Ok(())
}

/// One pattern node matches one expression node.
#[test]
fn repeated_parts_may_have_to_be_the_same_object_r52() -> Result<()> {
    let x = var("x");
    let options = PatternOptions::default().identity(true);
    let (equal, same) = (
        Pattern::new(add(&x, &x), [&x])?,
        options.pattern(add(&x, &x), [&x])?,
    );
    let one = add(int(1), int(2));
    assert!(find(&same, add(&one, &one)).is_some());
    let two = add(add(int(1), int(2)), add(int(1), int(2)));
    assert!(find(&same, &two).is_none() && find(&equal, &two).is_some());
    // Nodes that the template shares, too.
    let shared = call("f", [(&x).into()]);
    let pattern = options.pattern(add(&shared, &shared), [&x])?;
    let value = call("f", [int(1).into()]);
    assert!(find(&pattern, add(&value, &value)).is_some());
    assert!(find(&pattern, add(&value, call("f", [int(1).into()]))).is_none());
    Ok(())
}

#[test]
fn free_variables_and_binders_keep_their_rules() -> Result<()> {
    let (x, y, p, h) = (var("x"), var("y"), var("p"), var("h"));
    let (a, b) = (var("a"), var("b"));
    // The free variables map one to one, across separately compared parts.
    let pattern = commutative().pattern(
        add(
            call("f", [(&x).into(), (&h).into()]),
            call("g", [(&x).into(), (&y).into()]),
        ),
        [&h],
    )?;
    let value = |v: &Ref<Var>, w: &Ref<Var>| {
        add(
            call("f", [v.into(), int(1).into()]),
            call("g", [v.into(), w.into()]),
        )
    };
    assert!(find(&pattern, value(&a, &b)).is_some());
    assert!(find(&pattern, value(&a, &a)).is_none());
    let exact = pattern.map_free_vars(false);
    assert!(find(&exact, value(&a, &b)).is_none());
    assert!(find(&exact, value(&x, &y)).is_some());
    // A variable bound by a function is a different variable in another function.
    let template = add(
        Lambda::new([p.clone()], &h).upcast(),
        Lambda::new([p.clone()], &h).upcast(),
    );
    let pattern = commutative().pattern(template, [&h])?;
    let of = |v: &Ref<Var>, body: &Ref<Var>| Lambda::new([v.clone()], body).upcast();
    assert!(find(&pattern, add(of(&a, &y), of(&b, &y))).is_some());
    assert!(find(&pattern, add(of(&a, &a), of(&b, &b))).is_none());
    Ok(())
}

#[test]
fn nodes_with_identity_stay_different_ones() -> Result<()> {
    let x = var("x");
    let template = add(flow("f", [(&x).into()]), flow("f", [(&x).into()]));
    let pattern = commutative().pattern(template, [&x])?;
    let node = flow("f", [int(1).into()]);
    assert!(find(&pattern, add(&node, &node)).is_none());
    assert!(find(&pattern, add(&node, flow("f", [int(1).into()]))).is_some());
    Ok(())
}

#[test]
fn one_use_is_asked_of_the_program() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let pattern = Pattern::new(sub(&x, &y), [Hole::new(&x).one_use(), Hole::new(&y)])?;
    let part = add(int(1), int(2));
    let value: Value = sub(&part, int(3)).into();
    let error = pattern.match_value(&value).expect_err("no program");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert!(error.message().contains("Pattern.match_in"), "{error}");
    let alone = Uses::of(&value)?;
    assert!(pattern.match_in(&value, &alone)?.is_some());
    let shared: Value = call("f", [value.clone(), (&part).into()]).into();
    assert!(pattern.match_in(&value, &Uses::of(&shared)?)?.is_none());
    assert_eq!(
        (
            pattern.find_all(&value)?.len(),
            pattern.find_all(&shared)?.len()
        ),
        (1, 0)
    );
    Ok(())
}

/// Inner nodes with users outside of the match.
#[test]
fn inner_nodes_have_no_users_outside_r53() -> Result<()> {
    let x = var("x");
    let template = flow(
        "mul",
        [
            flow("add", [(&x).into(), int(1).into()]).into(),
            int(2).into(),
        ],
    );
    let with = |uses| {
        PatternOptions::default()
            .interior_uses(uses)
            .pattern(&template, [&x])
    };
    let sum = flow("add", [int(8).into(), int(1).into()]);
    let value: Value = flow("mul", [(&sum).into(), int(2).into()]).into();
    let alone = Uses::of(&value)?;
    let shared = Uses::of(call("f", [value.clone(), (&sum).into()]))?;
    for uses in [InteriorUses::Auto, InteriorUses::Inside] {
        let pattern = with(uses)?;
        assert!(pattern.match_in(&value, &alone)?.is_some());
        assert!(pattern.match_in(&value, &shared)?.is_none(), "{uses:?}");
    }
    assert!(
        with(InteriorUses::Anywhere)?
            .match_in(&value, &shared)?
            .is_some()
    );
    // The root and the parts of holes may have any users.
    let outside = Uses::of(call("f", [value.clone(), value.clone(), int(8).into()]))?;
    assert!(
        with(InteriorUses::Auto)?
            .match_in(&value, &outside)?
            .is_some()
    );
    // The users of a list count as users of the elements.
    let list = Array::from(vec![Value::from(&sum), int(2).into()]);
    let two = call("f", [list.clone().into(), value.clone()]);
    let through: Value = super::support::Flow::new("mul", list).into();
    let uses = Uses::of(call("g", [two.into(), through.clone()]))?;
    assert!(
        with(InteriorUses::Auto)?
            .match_in(&through, &uses)?
            .is_none()
    );
    // The sharing of trees has no meaning, unless asked for.
    let tree = |uses| {
        PatternOptions::default()
            .interior_uses(uses)
            .pattern(sub(add(&x, int(1)), int(2)), [&x])
    };
    let sum = add(int(8), int(1));
    let value: Value = sub(&sum, int(2)).into();
    let shared = Uses::of(call("f", [value.clone(), (&sum).into()]))?;
    assert!(
        tree(InteriorUses::Auto)?
            .match_in(&value, &shared)?
            .is_some()
    );
    assert!(
        tree(InteriorUses::Inside)?
            .match_in(&value, &shared)?
            .is_none()
    );
    Ok(())
}

#[test]
fn definitions_are_looked_through() -> Result<()> {
    let (x, y, t, u, e) = (var("x"), var("y"), var("t"), var("u"), var("e"));
    let options = PatternOptions::default().definitions(true);
    let pattern = options.pattern(
        call("mul", [add(&x, &y).into(), int(2).into()]),
        [Hole::new(&x), Hole::new(&y).constant()],
    )?;
    let value = Value::from(call("mul", [(&t).into(), int(2).into()]));
    let program = |stmts: Vec<Value>, result: Value| block(stmts, result);
    let root = program(
        vec![assign(&u, int(5)), assign(&t, add(&e, &u))],
        value.clone(),
    );
    let uses = Uses::of(&root)?;
    let pattern_match = pattern.match_in(&value, &uses)?.expect("through t and u");
    assert_eq!(part(&pattern_match, &x), Value::from(&e));
    assert_same(part(&pattern_match, &y), int(5));
    assert!(
        pattern.match_value(&value)?.is_none(),
        "no definitions are known"
    );
    assert_eq!(pattern.find_all(&root)?.len(), 1);
    // The definition is used elsewhere.
    let shared = program(
        vec![assign(&t, add(&e, int(5)))],
        Value::from(vec![value.clone(), (&t).into()]),
    );
    assert!(pattern.match_in(&value, &Uses::of(&shared)?)?.is_none());
    // A part has an effect, or depends on a variable that changes.
    let effect = add(call("effect", []), int(5));
    let effect = program(vec![assign(&t, effect)], value.clone());
    assert!(pattern.match_in(&value, &Uses::of(&effect)?)?.is_none());
    let changing = program(
        vec![
            assign(&e, int(1)),
            assign(&t, add(&e, int(5))),
            assign(&e, int(2)),
        ],
        value.clone(),
    );
    assert!(pattern.match_in(&value, &Uses::of(&changing)?)?.is_none());
    let twice = program(
        vec![assign(&t, add(&e, int(5))), assign(&t, int(2))],
        value.clone(),
    );
    assert!(pattern.match_in(&value, &Uses::of(&twice)?)?.is_none());
    Ok(())
}

#[test]
fn special_holes_in_the_wrong_place_are_refused() -> Result<()> {
    let (x, p) = (var("x"), var("p"));
    let items = || Hole::new(&x).items();
    let error = Pattern::new(add(&x, int(1)), [items()]).expect_err("no array");
    assert!(
        error.message().contains("must be an item of an array"),
        "{error}"
    );
    let binder = Lambda::new([p.clone()], call("f", [(&x).into()]));
    let error = Pattern::new(binder, [items()]).expect_err("a binder");
    assert!(error.message().contains("inside of a rw.Lambda"), "{error}");
    let error = Pattern::new(call("f", [(&x).into()]), [items().class::<Int>()]);
    assert!(
        error
            .expect_err("items have no class")
            .message()
            .contains("use a guard")
    );
    Ok(())
}

#[test]
fn too_many_ways_are_an_error() -> Result<()> {
    let holes: Vec<Ref<Var>> = (0..8).map(|_| var("h")).collect();
    let last = var("last");
    let mut template: Vec<Value> = holes.iter().map(Value::from).collect();
    template.extend([Value::from(&last), int(-1).into()]);
    let several = holes.iter().map(|hole| Hole::new(hole).items());
    let equal = Hole::new(&last).guard(|_| Ok(false));
    let pattern = Pattern::new(Value::from(template), several.chain([equal]))?;
    let numbers: Vec<Value> = (0..60)
        .map(|number| int(number).into())
        .chain([int(-1).into()])
        .collect();
    let error = pattern.match_value(numbers).expect_err("endless");
    assert!(
        error.message().contains("no match after 1000000 attempts"),
        "{error}"
    );
    Ok(())
}

#[test]
fn results_are_selected_by_what_uses_them() -> Result<()> {
    let x = var("x");
    let pattern = Pattern::new(flow("split", [(&x).into()]), [&x])?;
    let rule = Rule::results(pattern, [Value::from(&x), int(1).into()])?;
    assert!(rule.has_results());
    let error = rule
        .apply(flow("split", [int(3).into()]))
        .expect_err("no users");
    assert!(error.message().contains("rewrite_greedily"), "{error}");
    assert!(Out::type_index() != Add::type_index());
    Ok(())
}

/// Where a hole for several items may end is decided before it is filled.
#[test]
fn items_before_a_match_are_copied_once() -> Result<()> {
    let (before, after) = (var("before"), var("after"));
    let count = scaled(1_200_000) as i64;
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counter = seen.clone();
    let holes = [
        Hole::new(&before).items().guard(move |_| {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(true)
        }),
        Hole::new(&after).items(),
    ];
    let template = call("f", [(&before).into(), int(-1).into(), (&after).into()]);
    let pattern = Pattern::new(template, holes)?;
    let mut items: Vec<Value> = (0..count).map(|number| int(number).into()).collect();
    // One attempt more than the limit of a search is not too many.
    assert!(pattern.match_value(call("f", items.clone()))?.is_none());
    assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 0);
    items[count as usize - 2] = int(-1).into();
    let pattern_match = pattern.match_value(call("f", items))?.expect("it is there");
    assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 1);
    let length = |hole: &Ref<Var>| pattern_match.get(hole).map(|part| array(part).len());
    assert_eq!(
        (length(&before), length(&after)),
        (Some(count as usize - 2), Some(1))
    );
    Ok(())
}
