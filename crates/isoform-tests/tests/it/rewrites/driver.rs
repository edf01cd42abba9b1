//! The greedy driver: order, worklist, counts, users and results. Also the forms of
//! rules needed by the simplifications of Relay.

use isoform::errors::ErrorKind;
use isoform::pattern::{
    GreedyOptions, Hole, Pattern, PatternOptions, Rewritten, Rule, rewrite, rewrite_greedily,
};
use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Ref, Result, Value};

use super::support::{
    Call, Expr, Flow, Int, Lambda, Out, Var, add, assert_same, assign, block, call, flow, int,
    scaled, sub, var,
};

fn zero(x: &Ref<Var>) -> Result<Rule> {
    Rule::new(Pattern::new(add(x, int(0)), [x])?, x)
}

fn objects(value: &Value) -> u64 {
    let mut count = 0;
    walk_objects(value, |_, _| {
        count += 1;
        Ok(WalkResult::<()>::Advance)
    })
    .expect("a walk");
    count
}

#[track_caller]
fn check(root: impl Into<Value>, rules: &[Rule], wanted: impl Into<Value>) -> Rewritten {
    let done = rewrite_greedily(root, rules).expect("it ends");
    assert_same(&done.value, wanted);
    done
}

#[test]
fn rules_apply_until_none_does() -> Result<()> {
    let (x, a) = (var("x"), var("a"));
    let rules = [zero(&x)?];
    let kept = add(&a, int(1));
    let root: Value = call("f", [add(add(&a, int(0)), int(0)).into(), (&kept).into()]).into();
    let done = check(&root, &rules, call("f", [(&a).into(), (&kept).into()]));
    assert_eq!(done.applied, [2]);
    let call: Ref<Call> = done.value.extract()?;
    assert_eq!(call.args.values()[1], Value::from(&kept));
    // Without a replacement, everything is the same.
    let again = rewrite_greedily(&done.value, &rules)?;
    assert_eq!((again.value, again.applied), (done.value, vec![0]));
    // The root itself.
    check(add(&a, int(0)), &rules, &a);
    check(5, &rules, 5);
    Ok(())
}

#[test]
fn the_benefit_decides_and_then_the_order() -> Result<()> {
    let x = var("x");
    let to = |number: i64| Rule::new(Pattern::new(call("f", [(&x).into()]), [&x])?, int(number));
    let root: Value = call("f", [int(0).into()]).into();
    for driver in [rewrite, rewrite_greedily] {
        let done = driver(&root, &[to(1)?, to(2)?])?;
        assert_eq!(done.applied, [1, 0]);
        let done = driver(
            &root,
            &[to(1)?, to(2)?.with_benefit(5), to(3)?.with_benefit(5)],
        )?;
        assert_eq!(done.applied, [0, 1, 0]);
        assert_same(done.value, int(2));
    }
    Ok(())
}

#[test]
fn rules_without_end_are_named() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let swap = Rule::new(Pattern::new(add(&x, &y), [&x, &y])?, add(&y, &x))?;
    let root: Value = call("f", [add(int(1), int(2)).into()]).into();
    let error = GreedyOptions::default()
        .max_steps(100)
        .rewrite_greedily(&root, &[zero(&x)?, swap])
        .expect_err("it does not end");
    assert_eq!(error.kind(), ErrorKind::Value);
    let wanted = "rules still apply after max_steps=100 steps (rule 1 101 times)";
    assert!(error.message().contains(wanted), "{error}");
    assert!(error.to_string().contains("<root>.args[0]"), "{error}");
    Ok(())
}

#[test]
fn a_long_chain_is_tried_once() -> Result<()> {
    let (x, length, changes) = (var("x"), scaled(100_000), 10);
    let mut root = int(1);
    for level in 0..length {
        let number = i64::from(level % (length / changes) != 0);
        root = add(&root, int(number));
    }
    let root: Value = root.into();
    let count = objects(&root);
    let done = rewrite_greedily(&root, &[zero(&x)?])?;
    assert_eq!(done.applied, [changes as u64]);
    // Every object of the root's type is tried once, and few are tried again.
    assert!(
        done.attempts <= count,
        "{} attempts for {count} objects",
        done.attempts
    );
    Ok(())
}

#[test]
fn chains_of_a_million_levels() -> Result<()> {
    let (x, length) = (var("x"), scaled(1_000_000));
    let root = (0..length).fold(int(1), |inner, _| add(&inner, int(0)));
    let done = check(root, &[zero(&x)?], int(1));
    assert_eq!(done.applied, [length as u64]);
    assert!(done.attempts <= 2 * length as u64);
    // Nothing changes, except at the bottom.
    let deep = |leaf: Ref<Expr>| (0..length).fold(leaf, |inner, _| sub(&inner, int(1)));
    check(deep(add(int(1), int(0))), &[zero(&x)?], deep(int(1)));
    Ok(())
}

/// A replacement enables the next one above, over and over: a sweep of the whole value for
/// each would be quadratic.
#[test]
fn what_a_replacement_enables_above_is_found_at_once() -> Result<()> {
    let x = var("x");
    // f(g(y)) becomes g(f(y)): each g moves all the way up, one level at a time.
    let swap = Rule::new(
        Pattern::new(call("f", [call("g", [(&x).into()]).into()]), [&x])?,
        call("g", [call("f", [(&x).into()]).into()]),
    )?;
    let levels = |name: &str, count: usize, leaf: Ref<Expr>| {
        (0..count).fold(leaf, |inner, _| call(name, [inner.into()]))
    };
    let height = 300;
    let wide: Vec<Value> = (0..scaled(5_000) as i64)
        .map(|number| int(number).into())
        .collect();
    let wide = call("wide", wide);
    let root = levels("f", height, levels("g", 3, wide.clone()));
    let done = check(root, &[swap], levels("g", 3, levels("f", height, wide)));
    let steps = 3 * height as u64;
    assert_eq!(done.applied, [steps]);
    let bound = 12 * steps;
    assert!(
        done.attempts <= bound,
        "{} attempts, at most {bound}",
        done.attempts
    );
    Ok(())
}

/// A late change far below a visited object, visible only to a deep comparison.
#[test]
fn equal_parts_are_found_after_late_changes() -> Result<()> {
    let x = var("x");
    // A node without other users becomes an integer; two nodes lose theirs late.
    let same = Rule::new(Pattern::new(sub(&x, &x), [&x])?, int(0))?;
    let alone = Rule::new(
        Pattern::new(call("late", [(&x).into()]), [Hole::new(&x).one_use()])?,
        int(4),
    )?;
    let drop = Rule::new(Pattern::new(call("drop", [(&x).into()]), [&x])?, int(1))?;
    let shared = call("shared", []);
    let wrap = |inner: Ref<Expr>| (0..20).fold(inner, |inner, _| call("h", [inner.into()]));
    let left = wrap(call("late", [(&shared).into()]));
    let root = call(
        "f",
        [
            sub(&left, wrap(int(4))).into(),
            call("drop", [(&shared).into()]).into(),
        ],
    );
    let done = check(
        root,
        &[same, alone, drop],
        call("f", [int(0).into(), int(1).into()]),
    );
    assert_eq!(done.applied, [1, 1, 1]);
    Ok(())
}

#[test]
fn rules_are_tried_on_what_they_may_match_only() -> Result<()> {
    let x = var("x");
    let rule = |name: &str| Rule::new(Pattern::new(call(name, [(&x).into()]), [&x])?, &x);
    let rules: Vec<Rule> = (0..50)
        .map(|number| rule(&format!("op{number}")))
        .collect::<Result<_>>()?;
    let root = (0..100).fold(int(1), |inner, number| {
        call(
            if number % 10 == 0 { "op7" } else { "other" },
            [inner.into()],
        )
    });
    let done = rewrite_greedily(root, &rules)?;
    assert_eq!(done.applied[7], 10);
    assert_eq!(
        done.attempts, 10,
        "one rule, and only where its operator is"
    );
    Ok(())
}

#[test]
fn a_shared_variable_with_many_uses_costs_nothing_extra() -> Result<()> {
    let (x, a, count) = (var("x"), var("a"), scaled(20_000));
    let terms: Vec<Value> = (0..count).map(|_| add(&a, int(0)).into()).collect();
    let root = call("f", terms);
    let done = rewrite_greedily(root, &[zero(&x)?])?;
    assert_eq!(done.applied, [count as u64]);
    assert!(done.attempts <= 2 * count as u64, "{}", done.attempts);
    Ok(())
}

#[test]
fn shared_objects_are_replaced_once() -> Result<()> {
    let x = var("x");
    let mut root = add(int(1), int(0));
    for _ in 0..60 {
        root = call("f", [(&root).into(), (&root).into()]);
    }
    let done = rewrite_greedily(root, &[zero(&x)?])?;
    assert_eq!(done.applied, [1]);
    assert_eq!(objects(&done.value), 61);
    Ok(())
}

/// A match is left alone if it would duplicate work.
#[test]
fn nothing_is_computed_twice_r53() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let merge = || -> Result<Rule> {
        let template = flow("transpose", [flow("transpose", [(&x).into()]).into()]);
        Rule::new(Pattern::new(template, [&x])?, &x)
    };
    let inner = flow("transpose", [(&y).into()]);
    let outer = flow("transpose", [(&inner).into()]);
    check(&outer, &[merge()?], &y);
    let shared = Value::from(vec![&outer, &inner]);
    let done = rewrite_greedily(&shared, &[merge()?])?;
    assert_eq!((done.value, done.applied), (shared.clone(), vec![0]));
    // The other user goes away, and then the rule applies.
    let gone = Rule::new(
        Pattern::new(call("drop", [(&x).into()]), [Hole::new(&x).anything()])?,
        int(1),
    )?;
    let root = Value::from(vec![
        Value::from(&outer),
        call("drop", [(&inner).into()]).into(),
    ]);
    let done = check(
        root,
        &[merge()?, gone],
        Value::from(vec![Value::from(&y), int(1).into()]),
    );
    assert_eq!(done.applied, [1, 1]);
    Ok(())
}

#[test]
fn several_results_are_replaced_one_by_one() -> Result<()> {
    let (a, b) = (var("a"), var("b"));
    // Splitting a concatenation returns its parts.
    let concat = flow("concat", [(&a).into(), (&b).into()]);
    let split = Pattern::new(flow("split", [concat.into()]), [&a, &b])?;
    let rule = || Rule::results(split.clone(), [Value::from(&a), Value::from(&b)]);
    let node = flow(
        "split",
        [flow("concat", [int(1).into(), int(2).into()]).into()],
    );
    let out = |index: i64| Value::from(Out::new(&node, index));
    let root = Value::from(vec![out(1), out(0), out(1)]);
    let wanted = Value::from([2, 1, 2].map(|number| Value::from(int(number))).to_vec());
    let done = check(root, &[rule()?], wanted);
    assert_eq!(done.applied, [1]);
    // Something uses the node as a whole, or a result without a replacement.
    for root in [
        Value::from(vec![out(0), Value::from(&node)]),
        Value::from(vec![out(0), out(2)]),
        Value::from(&node),
    ] {
        let done = rewrite_greedily(&root, &[rule()?])?;
        assert_eq!((done.value, done.applied), (root, vec![0]));
    }
    let parts = [a.clone(), b.clone()];
    let computed = Rule::computed_results(split.clone(), move |pattern_match| {
        let part = |var: &Ref<Var>| pattern_match.get(var).cloned().unwrap_or_default();
        Ok(Some(vec![part(&parts[1]), part(&parts[0])]))
    });
    let swapped = Value::from(vec![Value::from(int(2)), int(1).into()]);
    check(Value::from(vec![out(0), out(1)]), &[computed], swapped);
    let error = rewrite(vec![out(0)], &[rule()?]).expect_err("no users");
    assert!(error.message().contains("use rewrite_greedily"), "{error}");
    Ok(())
}

#[test]
fn a_replacement_may_contain_what_it_replaces() -> Result<()> {
    let x = var("x");
    let wrap = Rule::computed(Pattern::new(call("f", [(&x).into()]), [&x])?, |found| {
        Ok(Some(call("g", [found.value().clone()]).into()))
    });
    let root = call("f", [int(1).into()]);
    let error = GreedyOptions::default()
        .max_steps(10)
        .rewrite_greedily(root, &[wrap])
        .expect_err("it is wrapped again and again");
    assert!(error.message().contains("max_steps=10"), "{error}");
    Ok(())
}

#[test]
fn a_replacement_around_itself_is_an_error() -> Result<()> {
    let root = call("f", [call("g", [int(1).into()]).into()]);
    let (x, all) = (var("x"), Value::from(&root));
    let rule = Rule::computed(Pattern::new(call("g", [(&x).into()]), [&x])?, move |_| {
        Ok(Some(all.clone()))
    });
    let error = rewrite_greedily(root, &[rule]).expect_err("a cycle");
    assert!(error.message().contains("contains the"), "{error}");
    Ok(())
}

#[test]
fn a_replacement_that_does_not_fit_names_the_place() -> Result<()> {
    let x = var("x");
    let rule = Rule::new(Pattern::new(call("f", [(&x).into()]), [&x])?, "text")?;
    let root = sub(add(call("f", [int(1).into()]), int(2)), int(3));
    let error = rewrite_greedily(root, &[rule]).expect_err("no expression");
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(error.to_string().contains("<root>.lhs"), "{error}");
    Ok(())
}

#[test]
fn binders_capture_nothing() -> Result<()> {
    let (z, w) = (var("z"), var("w"));
    let one = Pattern::new(int(1), [] as [Hole; 0])?;
    let error = Rule::new(one.clone(), add(&z, int(2))).expect_err("a free variable");
    assert_eq!(error.kind(), ErrorKind::Value);
    for part in ["\"z\"", "make it a hole", "Rule::introducing"] {
        assert!(error.message().contains(part), "{error}");
    }
    let rule = Rule::introducing(one, &z, [&z])?;
    let root = Lambda::new([z.clone()], add(&z, int(1)));
    check(root, &[rule], Lambda::new([w.clone()], add(&w, &z)));
    Ok(())
}

#[test]
fn a_bound_variable_whose_type_changes_becomes_a_new_one() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let typed = |ty: Ref<Expr>| Var::new("t").with_ty(ty);
    let (before, after) = (typed(add(&y, int(0))), typed(y.clone().upcast()));
    let root: Value = Lambda::new([before.clone()], sub(&before, &before)).into();
    let done = check(
        root,
        &[zero(&x)?],
        Lambda::new([after.clone()], sub(&after, &after)),
    );
    assert_eq!(done.applied, [1]);
    // A free variable keeps identity and fields.
    let free: Value = sub(&before, int(1)).into();
    let done = rewrite_greedily(&free, &[zero(&x)?])?;
    assert_eq!((done.value, done.applied), (free, vec![0]));
    Ok(())
}

/// The order excluded by users is not the only order.
#[test]
fn another_order_is_tried_if_users_exclude_the_first() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let pattern = PatternOptions::default()
        .commutative(true)
        .interior_uses(isoform::pattern::InteriorUses::Inside)
        .pattern(add(add(&x, int(1)), &y), [&x, &y])?;
    let rule = Rule::new(pattern, call("done", [(&x).into(), (&y).into()]))?;
    let (shared, own) = (add(int(5), int(1)), add(int(6), int(1)));
    let root = call("f", [add(&shared, &own).into(), (&shared).into()]);
    let wanted = call(
        "f",
        [
            call("done", [int(6).into(), (&shared).into()]).into(),
            (&shared).into(),
        ],
    );
    check(root, &[rule], wanted);
    Ok(())
}

/// Constants are combined, operands may be in any order, `x + x` is the same node.
#[test]
fn rules_of_a_simplifier_r122() -> Result<()> {
    let (x, y, z) = (var("x"), var("y"), var("z"));
    let any = || PatternOptions::default().commutative(true);
    let number = |pattern_match: &isoform::pattern::Match, var: &Ref<Var>| -> Result<i64> {
        let int: Ref<Int> = pattern_match
            .get(var)
            .cloned()
            .unwrap_or_default()
            .extract()?;
        Ok(int.value)
    };
    let constants = [Hole::new(&y).constant(), Hole::new(&z).constant()];
    let combine = {
        let (x, y, z) = (x.clone(), y.clone(), z.clone());
        let holes = constants.into_iter().chain([Hole::new(&x)]);
        let pattern = any().pattern(add(add(&x, &y), &z), holes)?;
        Rule::computed(pattern, move |pattern_match| {
            let rest = pattern_match.get(&x).cloned().unwrap_or_default();
            if rest.extract::<Ref<Int>>().is_ok() {
                return Ok(None);
            }
            let sum = number(pattern_match, &y)? + number(pattern_match, &z)?;
            let rest: Ref<Expr> = rest.extract()?;
            Ok(Some(add(rest, int(sum)).into()))
        })
    };
    let double = Rule::new(
        PatternOptions::default()
            .identity(true)
            .pattern(add(&x, &x), [&x])?,
        call("mul", [(&x).into(), int(2).into()]),
    )?;
    let a = var("a");
    let product = call("mul", [(&a).into(), int(3).into()]);
    check(
        add(int(1), add(add(int(2), &product), int(4))),
        &[combine.clone(), double.clone()],
        add(&product, int(7)),
    );
    let same = call("neg", [(&a).into()]);
    check(
        add(&same, &same),
        &[combine, double],
        call("mul", [(&same).into(), int(2).into()]),
    );
    Ok(())
}

#[test]
fn rules_for_dataflow_programs_take_sequences() -> Result<()> {
    let (before, inner, after) = (var("before"), var("inner"), var("after"));
    // A concatenation inside of another one.
    let template = flow(
        "concat",
        [
            (&before).into(),
            flow("concat", [(&inner).into()]).into(),
            (&after).into(),
        ],
    );
    let holes = [&before, &inner, &after].map(|hole| Hole::new(hole).items());
    let flat = flow(
        "concat",
        [(&before).into(), (&inner).into(), (&after).into()],
    );
    let rule = Rule::new(Pattern::new(template, holes)?, flat)?;
    let concat = |items: Vec<Value>| flow("concat", items);
    let leaf = |number: i64| Value::from(int(number));
    let root = concat(vec![
        leaf(1),
        concat(vec![leaf(2), concat(vec![leaf(3)]).into(), leaf(4)]).into(),
        leaf(5),
    ]);
    let done = check(root, &[rule], concat((1..=5).map(leaf).collect()));
    assert_eq!(done.applied, [2]);
    let flow: Ref<Flow> = done.value.extract()?;
    assert_eq!(flow.inputs.len(), 5);
    Ok(())
}

/// A node with two users, both of them in a match after a third user disappears.
#[test]
fn a_match_that_contains_all_users_is_found_when_another_one_goes() -> Result<()> {
    let x = var("x");
    let node = || flow("node", [int(1).into()]);
    let (wanted, shared) = (node(), node());
    let rules = |pair: Pattern| -> Result<[Rule; 2]> {
        let gone = Pattern::new(call("drop", [(&x).into()]), [Hole::new(&x).anything()])?;
        Ok([Rule::new(pair, int(5))?, Rule::new(gone, int(7))?])
    };
    let both = |of: &Ref<Expr>| call("pair", [of.into(), of.into()]);
    let root = Value::from(vec![both(&shared), call("drop", [(&shared).into()])]);
    let pair = Pattern::new(both(&wanted), [] as [Hole; 0])?;
    let done = check(root, &rules(pair)?, Value::from(vec![int(5), int(7)]));
    assert_eq!(done.applied, [1, 1]);
    // The same across statements.
    let (t, u) = (var("t"), var("u"));
    let through = PatternOptions::default().definitions(true);
    let pair = through.pattern(both(&wanted), [] as [Hole; 0])?;
    let uses = [
        call("pair", [(&t).into(), (&t).into()]),
        call("drop", [(&t).into()]),
    ];
    let root = block(
        vec![assign(&t, &shared), assign(&u, &uses[0])],
        Value::from(vec![Value::from(&uses[1]), (&u).into()]),
    );
    let wanted = block(
        vec![assign(&u, int(5))],
        Value::from(vec![Value::from(int(7)), (&u).into()]),
    );
    check(root, &rules(pair)?, wanted);
    Ok(())
}
