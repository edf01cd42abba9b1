//! Rules and rewriting: normal forms, binders, sharing, limits.

use isoform::errors::ErrorKind;
use isoform::pattern::{Hole, Pattern, RewriteOptions, Rewritten, Rule, rewrite};
use isoform::text::assert_structural_equal;
use isoform::traverse::WalkOptions;
use isoform::{Array, Node, Ref, Result, Value, structural_equal};

use super::support::{Call, Expr, Int, Lambda, Var, add, count_objects, int, scaled, var};

fn nameless() -> Ref<Var> {
    var("")
}

fn lambda(params: &[&Ref<Var>], body: impl isoform::types::IntoField<Ref<Expr>>) -> Ref<Expr> {
    let params: Vec<Ref<Var>> = params.iter().map(|param| (*param).clone()).collect();
    Lambda::new(body, params).upcast()
}

fn call(args: impl IntoIterator<Item = Value>) -> Ref<Expr> {
    Call::new(args.into_iter().collect::<Array<Value>>()).upcast()
}

/// `x + 0` becomes `x`.
fn add_zero() -> Result<Rule> {
    let x = nameless();
    Rule::new(Pattern::new(add(&x, int(0)), [&x])?, &x)
}

fn run(root: impl Into<Value>, rules: &[Rule]) -> Result<Rewritten> {
    rewrite(root, rules)
}

#[test]
fn rules_apply_until_none_applies() -> Result<()> {
    let (a, b) = (nameless(), nameless());
    // The whole fits only when the parts are done.
    let root = add(add(&a, add(int(0), int(0))), add(&b, int(0)));
    let done = run(&root, &[add_zero()?])?;
    assert_structural_equal(&done.value, add(&a, &b))?;
    assert_eq!(done.applied, [3]);
    // The result of a rule is rewritten in turn.
    let (x, y) = (nameless(), nameless());
    let swap = Rule::new(
        Pattern::new(call([Value::from(1), (&x).into(), (&y).into()]), [&x, &y])?,
        add(&x, add(&y, int(0))),
    )?;
    let root = call([Value::from(1), (&a).into(), add(&b, int(0)).into()]);
    let done = run(&root, &[add_zero()?, swap])?;
    assert_structural_equal(&done.value, add(&a, &b))?;
    assert_eq!(done.applied, [2, 1]);
    Ok(())
}

#[test]
fn what_does_not_change_is_the_same_object() -> Result<()> {
    let (a, b) = (nameless(), nameless());
    let kept = add(&a, add(&b, int(1)));
    let root = Value::from(call([Value::from(&kept), add(&a, int(0)).into()]));
    let rules = [add_zero()?];
    let done = run(&root, &rules)?;
    let args = done
        .value
        .as_object()
        .and_then(|object| object.downcast_ref::<Call>());
    let args = &args.expect("a call").args;
    assert_eq!(args.get(0), Some(&Value::from(&kept)));
    assert_eq!(args.get(1), Some(&Value::from(&a)));
    let again = run(&done.value, &rules)?;
    assert_eq!(again.value, done.value);
    assert_eq!(again.applied, [0]);
    Ok(())
}

#[test]
fn a_shared_object_is_rewritten_once() -> Result<()> {
    let a = nameless();
    let mut root = add(&a, int(0));
    for _ in 0..60 {
        root = add(&root, &root);
    }
    let done = run(&root, &[add_zero()?])?;
    assert_eq!(done.applied, [1]);
    assert_eq!(count_objects(&done.value, WalkOptions::default())?, 61);
    // Replacing the sum of two equal parts by the part leaves no sums.
    let x = nameless();
    let same = Rule::new(Pattern::new(add(&x, &x), [&x])?, &x)?;
    let done = run(&done.value, &[same])?;
    assert_eq!(done.value, Value::from(&a));
    assert_eq!(done.applied, [60]);
    Ok(())
}

#[test]
fn depth_is_limited_by_memory_only() -> Result<()> {
    let length = scaled(1_000_000);
    let a = nameless();
    let chain = |last: Ref<Expr>| (0..length).fold(last, |inner, _| add(&inner, int(0)));
    let options = RewriteOptions::default().max_steps(2 * length as u64);
    let done = options.rewrite(chain(a.clone().upcast()), &[add_zero()?])?;
    assert_eq!(done.value, Value::from(&a));
    assert_eq!(done.applied, [length as u64]);
    // A template, a replacement and the result are deep.
    let x = nameless();
    let to_deep = Rule::new(
        Pattern::new(call([(&x).into()]), [&x])?,
        chain(x.clone().upcast()),
    )?;
    let done = options.rewrite(call([Value::from(&a)]), &[to_deep, add_zero()?])?;
    assert_eq!(done.value, Value::from(&a));
    Ok(())
}

#[test]
fn rules_without_end_are_an_error() -> Result<()> {
    let (x, y) = (nameless(), nameless());
    let swap = Rule::new(Pattern::new(add(&x, &y), [&x, &y])?, add(&y, &x))?;
    let root = Value::from(call([add(int(1), int(2)).into()]));
    let options = RewriteOptions::default().max_steps(1000);
    let error = options
        .rewrite(&root, &[add_zero()?, swap])
        .expect_err("no end");
    assert_eq!(error.kind(), ErrorKind::Value);
    let text = error.to_string();
    assert!(
        text.contains("max_steps=1000") && text.contains("rule 1 "),
        "{text}"
    );
    assert_eq!(
        error.path().map(ToString::to_string).as_deref(),
        Some("<root>.args[0]")
    );
    // A value without parts makes the stack no deeper.
    let count = Rule::computed(
        Pattern::new(&x, [Hole::new(&x).class::<Int>()])?,
        |pattern_match| {
            let number: Ref<Int> = pattern_match.value().extract()?;
            Ok(Some(int(number.value + 1).into()))
        },
    );
    let options = options.max_steps(200_000);
    assert!(
        options
            .rewrite(int(0), std::slice::from_ref(&count))
            .is_err()
    );
    let plain = Rule::computed(Pattern::new(7, [] as [Hole; 0])?, |_| Ok(Some(8.into())));
    let back = Rule::computed(Pattern::new(8, [] as [Hole; 0])?, |_| Ok(Some(7.into())));
    assert!(options.rewrite(7, &[plain, back]).is_err());
    // A part that grows is on the heap.
    let grow = Rule::new(
        Pattern::new(call([(&x).into()]), [&x])?,
        call([call([(&x).into()]).into()]),
    )?;
    assert!(
        options
            .rewrite(call([1.into(), call([int(1).into()]).into()]), &[grow])
            .is_err()
    );
    Ok(())
}

#[test]
fn guards_and_functions_decide() -> Result<()> {
    let (x, y) = (nameless(), nameless());
    let ints = [Hole::new(&x).class::<Int>(), Hole::new(&y).class::<Int>()];
    let (first, second) = (Value::from(&x), Value::from(&y));
    let number = |value: Option<&Value>| -> Result<i64> {
        let number: Ref<Int> = value.cloned().unwrap_or_default().extract()?;
        Ok(number.value)
    };
    let fold = Rule::computed(Pattern::new(add(&x, &y), ints)?, move |pattern_match| {
        let sum =
            number(pattern_match.get(&first))?.checked_add(number(pattern_match.get(&second))?);
        Ok(sum.map(|sum| int(sum).into()))
    });
    let done = run(
        add(add(int(1), int(2)), add(int(3), int(i64::MAX))),
        std::slice::from_ref(&fold),
    )?;
    assert_structural_equal(&done.value, add(int(3), add(int(3), int(i64::MAX))))?;
    assert_eq!(done.applied, [1]);
    let never = fold.guard(|_| Ok(false));
    assert_eq!(run(add(int(1), int(2)), &[never])?.applied, [0]);
    Ok(())
}

#[test]
fn a_variable_does_not_come_out_of_its_scope() -> Result<()> {
    // fun x -> (f, x) becomes f.
    let (f, x) = (nameless(), nameless());
    let template = lambda(&[&x], call([(&f).into(), (&x).into()]));
    let eta = Rule::new(Pattern::new(&template, [&f])?, &f)?;
    let (g, a) = (nameless(), nameless());
    let fits = lambda(&[&a], call([(&g).into(), (&a).into()]));
    assert_eq!(
        run(&fits, std::slice::from_ref(&eta))?.value,
        Value::from(&g)
    );
    let not = lambda(&[&a], call([add(&g, &a).into(), (&a).into()]));
    let done = run(&not, &[eta])?;
    assert_eq!(done.value, Value::from(&not));
    assert_eq!(done.applied, [0]);
    Ok(())
}

#[test]
fn binders_of_the_pattern_keep_their_variables() -> Result<()> {
    // fun x -> h + 0 becomes fun x -> h, for any h, also with x in it.
    let (h, x) = (nameless(), nameless());
    let rule = Rule::new(
        Pattern::new(lambda(&[&x], add(&h, int(0))), [&h])?,
        lambda(&[&x], &h),
    )?;
    let a = nameless();
    let root = lambda(&[&a], add(add(&a, int(1)), int(0)));
    let done = run(&root, &[rule])?;
    assert_structural_equal(&done.value, lambda(&[&a], add(&a, int(1))))?;
    let made: Ref<Lambda> = done.value.extract()?;
    assert!(made.params.get(0).is_some_and(|param| param.same_as(&a)));
    Ok(())
}

#[test]
fn a_binder_does_not_capture_a_part() -> Result<()> {
    // (fun x -> x, h) becomes fun x -> h.
    let (h, x) = (nameless(), nameless());
    let template = call([lambda(&[&x], &x).into(), (&h).into()]);
    let rule = Rule::new(Pattern::new(template, [&h])?, lambda(&[&x], &h))?;
    let (a, b) = (nameless(), nameless());
    let root = call([lambda(&[&a], &a).into(), (&b).into()]);
    let done = run(&root, std::slice::from_ref(&rule))?;
    assert_structural_equal(&done.value, lambda(&[&a], &b))?;
    // Here h is a different variable from the bound variable, with the same name.
    let root = call([lambda(&[&a], &a).into(), (&a).into()]);
    assert_eq!(run(&root, &[rule])?.applied, [0]);
    Ok(())
}

#[test]
fn binders_of_the_replacement_are_new_each_time() -> Result<()> {
    let (h, x) = (nameless(), nameless());
    let template = call([(&h).into()]);
    let rule = Rule::new(Pattern::new(template, [&h])?, lambda(&[&x], add(&x, &h)))?;
    let a = nameless();
    let root = add(call([(&a).into()]), call([add(&a, &a).into()]));
    let done = run(&root, &[rule])?;
    let (y, z) = (nameless(), nameless());
    let expected = add(
        lambda(&[&y], add(&y, &a)),
        lambda(&[&z], add(&z, add(&a, &a))),
    );
    assert_structural_equal(&done.value, expected)?;
    let mut binders = Vec::new();
    isoform::traverse::walk_objects(&done.value, |object, _| {
        if let Some(lambda) = object.downcast_ref::<Lambda>() {
            binders.push(lambda.params.get(0).map(Ref::identity));
        }
        Ok(isoform::traverse::WalkResult::<()>::Advance)
    })?;
    assert_eq!(binders.len(), 2);
    assert_ne!(binders[0], binders[1]);
    assert!(!binders.contains(&Some(x.identity())));
    Ok(())
}

#[test]
fn a_binder_of_the_value_does_not_capture_the_replacement() -> Result<()> {
    // 1 becomes z; an outer binder of z becomes a binder of another z.
    let (z, w) = (nameless(), nameless());
    let rule = Rule::introducing(Pattern::new(int(1), [] as [Hole; 0])?, &z, [&z])?;
    let root = call([lambda(&[&z], add(&z, int(1))).into(), (&z).into()]);
    let done = run(&root, std::slice::from_ref(&rule))?;
    let expected = call([lambda(&[&w], add(&w, &z)).into(), (&z).into()]);
    assert_structural_equal(&done.value, &expected)?;
    assert_eq!(done.applied, [1]);
    // Also where a use of z is met before its binder.
    let root = call([(&z).into(), lambda(&[&z], add(&z, int(1))).into()]);
    let done = run(&root, &[rule])?;
    let expected = call([(&z).into(), lambda(&[&w], add(&w, &z)).into()]);
    assert_structural_equal(&done.value, &expected)?;
    Ok(())
}

#[test]
fn what_makes_no_rule_is_refused() -> Result<()> {
    let (h, x, y) = (nameless(), nameless(), nameless());
    let pattern = Pattern::new(lambda(&[&x], add(&x, add(&h, &y))), [&h])?;
    let refused = |replacement: Ref<Expr>| {
        let error = Rule::new(pattern.clone(), replacement).expect_err("no rule");
        error.message().to_string()
    };
    let text = refused(add(&x, &h));
    assert!(
        text.contains("which the pattern binds and the replacement does not"),
        "{text}"
    );
    assert!(refused(lambda(&[&h], &h)).contains("a hole of the pattern"));
    assert!(refused(lambda(&[&y], &y)).contains("a free variable of the pattern"));
    Ok(())
}

#[test]
fn types_of_bound_variables_are_rewritten_for_all_their_uses() -> Result<()> {
    let bound = Var::typed("", add(int(4), int(0)));
    let free = Var::typed("", add(int(4), int(0)));
    let root = lambda(&[&bound], add(&bound, &free));
    let done = run(&root, &[add_zero()?])?;
    let made: Ref<Lambda> = done.value.extract()?;
    let param = made.params.get(0).expect("a parameter");
    assert!(structural_equal(param.ty.clone().expect("a type"), int(4))?);
    // The free one belongs to its binder.
    let expected = lambda(&[param], add(param, &free));
    assert_structural_equal(&done.value, expected)?;
    Ok(())
}

#[test]
fn a_rule_applied_to_its_own_template_gives_its_replacement() -> Result<()> {
    let (x, y) = (nameless(), nameless());
    let template = add(&x, add(&y, int(3)));
    let replacement = add(&y, &x);
    let rule = Rule::new(Pattern::new(&template, [&x, &y])?, &replacement)?;
    let made = rule.apply(template)?.expect("it applies");
    assert_structural_equal(made, replacement)?;
    Ok(())
}

#[test]
fn maps_keep_their_keys() -> Result<()> {
    let key = add(nameless(), int(0));
    let map: isoform::Map = [(Value::from(&key), Value::from(&key))]
        .into_iter()
        .collect();
    let done = run(map, &[add_zero()?])?;
    assert_eq!(done.applied, [1]);
    let map: isoform::Map = done.value.extract()?;
    assert!(map.get(Value::from(&key)).is_some());
    assert!(Int::TYPE_KEY.starts_with("it."));
    Ok(())
}
