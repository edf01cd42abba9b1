//! Programs of statements: definitions that rules look through, and dead definitions.

use isoform::pattern::{GreedyOptions, Hole, Pattern, PatternOptions, Rule, rewrite_greedily};
use isoform::{Array, Ref, Result, Value, structural_equal};
use isoform_pto as pto;

use super::support::{
    Let, Unpack, Var, add, assert_same, assign, block, call, flow, int, scaled, var,
};

fn through() -> PatternOptions {
    PatternOptions::default().definitions(true)
}

/// `(x + y) * 2` becomes `x * 2 + y * 2`, across statements.
fn distribute() -> Result<Rule> {
    let (x, y) = (var("x"), var("y"));
    let double = |of: &Ref<Var>| call("mul", [of.into(), int(2).into()]);
    let pattern = through().pattern(call("mul", [add(&x, &y).into(), int(2).into()]), [&x, &y])?;
    Rule::new(pattern, add(double(&x), double(&y)))
}

#[test]
fn a_rule_matches_across_statements_and_dead_ones_go() -> Result<()> {
    let (a, b, t, u) = (var("a"), var("b"), var("t"), var("u"));
    let double = |of: &Ref<Var>| call("mul", [of.into(), int(2).into()]);
    let program = block(vec![assign(&t, add(&a, &b)), assign(&u, double(&t))], &u);
    let rules = [distribute()?];
    let done = rewrite_greedily(&program, &rules)?;
    assert_eq!(done.applied, [1]);
    assert_same(
        &done.value,
        block(vec![assign(&u, add(double(&a), double(&b)))], &u),
    );
    let kept = GreedyOptions::default()
        .drop_dead(false)
        .rewrite_greedily(&program, &rules)?;
    assert_same(
        &kept.value,
        block(
            vec![
                assign(&t, add(&a, &b)),
                assign(&u, add(double(&a), double(&b))),
            ],
            &u,
        ),
    );
    // The sum is needed elsewhere.
    let shared = block(
        vec![assign(&t, add(&a, &b)), assign(&u, double(&t))],
        Value::from(vec![&t, &u]),
    );
    assert_eq!(rewrite_greedily(&shared, &rules)?.applied, [0]);
    Ok(())
}

#[test]
fn what_has_an_effect_stays() -> Result<()> {
    let (x, t, u) = (var("x"), var("t"), var("u"));
    let forget = || Rule::new(Pattern::new(call("forget", [(&x).into()]), [&x])?, int(0));
    let effect = call("effect", []);
    let program = |stmts| block(stmts, call("forget", [(&u).into()]));
    let done = rewrite_greedily(
        program(vec![assign(&t, &effect), assign(&u, add(&t, int(1)))]),
        &[forget()?],
    )?;
    assert_same(done.value, block(vec![assign(&t, &effect)], int(0)));
    // A definition without uses from the start stays, too.
    let done = rewrite_greedily(
        program(vec![assign(&t, int(5)), assign(&u, int(1))]),
        &[forget()?],
    )?;
    assert_same(done.value, block(vec![assign(&t, int(5))], int(0)));
    Ok(())
}

#[test]
fn a_binding_around_its_scope_is_replaced_by_its_body() -> Result<()> {
    let (x, a, t) = (var("x"), var("a"), var("t"));
    let program = Let::new(
        add(&a, int(1)),
        &t,
        call("mul", [(&t).into(), int(2).into()]),
    );
    let done = rewrite_greedily(program, &[distribute()?])?;
    let double = |of: Value| call("mul", [of, int(2).into()]);
    assert_same(done.value, add(double((&a).into()), double(int(1).into())));
    // A whole chain of them dies.
    let length = scaled(100_000);
    let mut root = call("forget", [(&x).into()]);
    let names: Vec<Ref<Var>> = (0..length).map(|_| var("v")).collect();
    root = match names.last() {
        Some(last) => call("forget", [last.into()]),
        None => root,
    };
    for number in (0..length).rev() {
        let value = match number.checked_sub(1) {
            Some(before) => add(&names[before], int(1)),
            None => int(0),
        };
        root = Let::new(value, &names[number], root).upcast();
    }
    let forget = Rule::new(Pattern::new(call("forget", [(&x).into()]), [&x])?, int(7))?;
    let done = rewrite_greedily(root, &[forget])?;
    assert_same(done.value, int(7));
    Ok(())
}

#[test]
fn many_statements_die_in_linear_time() -> Result<()> {
    let (x, count) = (var("x"), scaled(20_000));
    let vars: Vec<Ref<Var>> = (0..count).map(|_| var("v")).collect();
    let mut stmts: Vec<Value> = vars
        .iter()
        .enumerate()
        .map(|(number, var)| assign(var, int(number as i64)))
        .collect();
    let uses: Vec<Value> = vars
        .iter()
        .map(|var| call("forget", [var.into()]).into())
        .collect();
    let kept = var("kept");
    stmts.push(assign(&kept, int(-1)));
    let pattern = Pattern::new(call("forget", [(&x).into()]), [&x])?;
    let forget = Rule::introducing(pattern, &kept, [&kept])?;
    // The result is an array, which is rebuilt once.
    let done = rewrite_greedily(block(stmts, Value::from(uses)), &[forget])?;
    assert_eq!(done.applied, [count as u64]);
    assert!(done.attempts <= 2 * count as u64);
    let wanted: Vec<Value> = (0..count).map(|_| (&kept).into()).collect();
    // The rule introduces a variable bound in the program, so the binder gets another
    // variable.
    let block: Ref<super::support::Block> = done.value.extract()?;
    assert_eq!((block.stmts.len(), wanted.len()), (1, count));
    Ok(())
}

/// Each replacement makes a variable a copy of an earlier variable; the way through the
/// copies is not followed again and again.
#[test]
fn chains_of_copies_are_followed_once() -> Result<()> {
    let (x, length) = (var("x"), scaled(100_000));
    let neg = |of: Value| call("neg", [of]);
    let names: Vec<Ref<Var>> = (0..=length).map(|_| var("w")).collect();
    let stmts = names.windows(2);
    let stmts = stmts.map(|pair| assign(&pair[1], neg((&pair[0]).into())));
    let root = block(stmts.collect(), Value::from(names.clone()));
    let pattern = through()
        .interior_uses(isoform::pattern::InteriorUses::Anywhere)
        .pattern(neg(neg((&x).into()).into()), [&x])?;
    let done = rewrite_greedily(&root, &[Rule::new(pattern, &x)?])?;
    // Every other variable becomes a copy, and the remaining variables have nothing to see
    // through.
    assert_eq!(done.applied, [length as u64 / 2]);
    assert!(done.attempts <= 3 * length as u64, "{}", done.attempts);
    Ok(())
}

#[test]
fn variables_bound_to_several_results_are_replaced() -> Result<()> {
    let (a, b, p, q) = (var("a"), var("b"), var("p"), var("q"));
    let concat = flow("concat", [(&a).into(), (&b).into()]);
    let pattern = Pattern::new(flow("split", [concat.into()]), [&a, &b])?;
    let rule = || Rule::results(pattern.clone(), [Value::from(&a), Value::from(&b)]);
    let value = |left: Value, right: Value| flow("split", [flow("concat", [left, right]).into()]);
    let unpack = |value| Value::from(Unpack::new([p.clone(), q.clone()], value));
    let used = Value::from(vec![&q, &p, &q]);
    let (u, v) = (var("u"), var("v"));
    let program = block(vec![unpack(value((&u).into(), (&v).into()))], used.clone());
    let done = rewrite_greedily(&program, &[rule()?])?;
    assert_eq!(done.applied, [1]);
    assert_same(done.value, block(vec![], Value::from(vec![&v, &u, &v])));
    // An operation is not repeated for every use.
    let sum = add(int(1), int(2));
    let program = block(vec![unpack(value((&u).into(), (&sum).into()))], used);
    assert_eq!(rewrite_greedily(&program, &[rule()?])?.applied, [0]);
    let once = block(
        vec![unpack(value((&u).into(), (&sum).into()))],
        Value::from(vec![&p, &q]),
    );
    let done = rewrite_greedily(&once, &[rule()?])?;
    let result = Value::from(vec![Value::from(&u), (&sum).into()]);
    assert_same(done.value, block(vec![], result));
    Ok(())
}

/// The statements of a real dialect.
#[test]
fn statements_of_pto() -> Result<()> {
    pto::register()?;
    let dtype = pto::DataType::Int64;
    let scalar = |name: &str| pto::Var::new(name, pto::ScalarType::new(dtype));
    let number = |value: i64| pto::ConstInt::new(value, dtype);
    let (x, c, d, a, t, u) = (
        scalar("x"),
        scalar("c"),
        scalar("d"),
        scalar("a"),
        scalar("t"),
        scalar("u"),
    );
    let constant = |var: &Ref<pto::Var>| Hole::new(var).class::<pto::ConstInt>();
    // (x + c) * d across two statements.
    let template = pto::Mul::new(pto::Add::new(&x, &c, dtype), &d, dtype);
    let pattern = through().pattern(template, [Hole::new(&x), constant(&c), constant(&d)])?;
    let rule = {
        let (x, c, d) = (x.clone(), c.clone(), d.clone());
        Rule::computed(pattern, move |pattern_match| {
            let part = |var: &Ref<pto::Var>| pattern_match.get(var).cloned().unwrap_or_default();
            let value = |var: &Ref<pto::Var>| -> Result<i64> {
                Ok(part(var).extract::<Ref<pto::ConstInt>>()?.value)
            };
            let rest: Ref<pto::Expr> = part(&x).extract()?;
            let scaled = pto::Mul::new(rest, pto::ConstInt::new(value(&d)?, dtype), dtype);
            let product = pto::ConstInt::new(value(&c)? * value(&d)?, dtype);
            Ok(Some(pto::Add::new(scaled, product, dtype).into()))
        })
    };
    let stmt =
        |var: &Ref<pto::Var>, value: Ref<pto::Expr>| pto::AssignStmt::new(var, value).upcast();
    let sum = pto::Add::new(&a, number(3), dtype).upcast().upcast();
    let product = pto::Mul::new(&t, number(4), dtype).upcast().upcast();
    let give = pto::ReturnStmt::new([u.clone().upcast()]).upcast();
    let seq = |stmts: Vec<Ref<pto::Stmt>>| Value::from(pto::SeqStmts::new(Array::from(stmts)));
    let program = seq(vec![stmt(&t, sum), stmt(&u, product), give.clone()]);
    let done = rewrite_greedily(&program, &[rule])?;
    assert_eq!(done.applied, [1]);
    let scaled = pto::Mul::new(&a, number(4), dtype);
    let wanted = pto::Add::new(scaled, number(12), dtype).upcast().upcast();
    assert!(structural_equal(
        &done.value,
        seq(vec![stmt(&u, wanted), give])
    )?);
    Ok(())
}
