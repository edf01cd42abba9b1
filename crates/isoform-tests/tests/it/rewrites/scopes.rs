//! The greedy driver against the meaning of programs, where variables are bound several times,
//! used outside of the scope that binds them, and where objects are shared between scopes.

use isoform::pattern::{GreedyOptions, Hole, InteriorUses, PatternOptions, Rule, rewrite_greedily};
use isoform::traverse::{Uses, replace_all_uses, substitute};
use isoform::{Ref, Result, Value, structural_equal};
use isoform_testing::source::{Source, random_bytes};

use super::support::{
    Add, Call, Expr, Int, Let, Sub, Var, add, assert_same, call, int, scaled, sub, var,
};

fn neg(of: impl Into<Value>) -> Ref<Expr> {
    call("neg", [of.into()])
}

fn bind(
    var: &Ref<Var>,
    value: impl isoform::types::IntoField<Ref<Expr>>,
    body: impl isoform::types::IntoField<Ref<Expr>>,
) -> Ref<Expr> {
    Let::new(value, var, body).upcast()
}

/// The number that an expression represents; None for uses of a variable without a
/// value.
fn evaluate(of: &Value, values: &[(u64, i64)]) -> Option<i64> {
    if let Ok(int) = of.extract::<Ref<Int>>() {
        return Some(int.value);
    }
    let both = |lhs: &Ref<Expr>, rhs: &Ref<Expr>| {
        Some((
            evaluate(&lhs.into(), values)?,
            evaluate(&rhs.into(), values)?,
        ))
    };
    if let Ok(sum) = of.extract::<Ref<Add>>() {
        return both(&sum.lhs, &sum.rhs).map(|(lhs, rhs)| lhs.wrapping_add(rhs));
    }
    if let Ok(difference) = of.extract::<Ref<Sub>>() {
        return both(&difference.lhs, &difference.rhs).map(|(lhs, rhs)| lhs.wrapping_sub(rhs));
    }
    if let Ok(call) = of.extract::<Ref<Call>>() {
        return evaluate(&call.args.values()[0], values).map(i64::wrapping_neg);
    }
    if let Ok(binding) = of.extract::<Ref<Let>>() {
        let value = evaluate(&(&binding.value).into(), values)?;
        let mut inside = values.to_vec();
        inside.push((binding.var.identity(), value));
        return evaluate(&(&binding.body).into(), &inside);
    }
    let ident = of.as_object()?.identity();
    let entry = values.iter().rev().find(|entry| entry.0 == ident);
    entry.map(|entry| entry.1)
}

/// A short form for messages.
fn show(of: &Value) -> String {
    if let Ok(int) = of.extract::<Ref<Int>>() {
        return int.value.to_string();
    }
    let show = |part: &Ref<Expr>| show(&part.into());
    if let Ok(sum) = of.extract::<Ref<Add>>() {
        return format!("({} + {})", show(&sum.lhs), show(&sum.rhs));
    }
    if let Ok(difference) = of.extract::<Ref<Sub>>() {
        return format!("({} - {})", show(&difference.lhs), show(&difference.rhs));
    }
    if let Ok(call) = of.extract::<Ref<Call>>() {
        return format!("-{}", self::show(&call.args.values()[0]));
    }
    let name = |var: &Ref<Var>| format!("{}{}", var.name, var.identity() % 1000);
    if let Ok(binding) = of.extract::<Ref<Let>>() {
        let parts = (
            name(&binding.var),
            show(&binding.value),
            show(&binding.body),
        );
        return format!("{{{} = {}; {}}}", parts.0, parts.1, parts.2);
    }
    of.extract::<Ref<Var>>()
        .map_or_else(|_| format!("{of:?}"), |var| name(&var))
}

struct Programs<'s, 'b> {
    source: &'s mut Source<'b>,
    free: Vec<Ref<Var>>,
    /// Variables bound again and again, besides the free variables.
    binders: Vec<Ref<Var>>,
    /// Expressions in which the free variables alone are visible.
    shared: Vec<Ref<Expr>>,
}

impl<'s, 'b> Programs<'s, 'b> {
    fn new(source: &'s mut Source<'b>) -> Self {
        Programs {
            source,
            free: ["p", "q", "r"].map(var).to_vec(),
            binders: ["b", "c"].map(var).to_vec(),
            shared: Vec::new(),
        }
    }

    fn expression(&mut self, depth: usize, visible: &[Ref<Var>]) -> Ref<Expr> {
        if !self.shared.is_empty() && self.source.chance(15) {
            return self.source.pick(&self.shared).clone();
        }
        if depth == 0 || self.source.chance(10) {
            return if self.source.chance(75) {
                self.source.pick(visible).clone().upcast()
            } else {
                int(self.source.below(4) as i64)
            };
        }
        let expr = match self.source.below(6) {
            0..3 => {
                let var = match self.source.below(4) {
                    0 | 1 => self.source.pick(visible).clone(),
                    2 => self.source.pick(&self.binders).clone(),
                    _ => var("own"),
                };
                let value = self.expression(depth - 1, visible);
                let mut inside = visible.to_vec();
                inside.push(var.clone());
                // A variable rebound by the scope has another meaning there.
                let rebinds = self
                    .free
                    .iter()
                    .any(|free| free.identity() == var.identity());
                let shared = if rebinds {
                    std::mem::take(&mut self.shared)
                } else {
                    Vec::new()
                };
                let body = self.expression(depth - 1, &inside);
                if rebinds {
                    self.shared = shared;
                }
                bind(&var, value, body)
            }
            3 => neg(self.expression(depth - 1, visible)),
            4 => add(
                self.expression(depth - 1, visible),
                self.expression(depth - 1, visible),
            ),
            _ => sub(
                self.expression(depth - 1, visible),
                self.expression(depth - 1, visible),
            ),
        };
        if visible.len() == self.free.len() {
            self.shared.push(expr.clone());
        }
        expr
    }

    /// A rule, chosen from rules that keep the meaning of a program.
    fn rule(&mut self) -> Result<Rule> {
        let [x, y, z, e, f, v, w] = ["x", "y", "z", "e", "f", "v", "w"].map(var);
        let [p, q, r] = [0, 1, 2].map(|number| self.free[number].clone());
        let choice = self.source.below(17);
        let any = |holes: &[&Ref<Var>]| holes.iter().map(|hole| Hole::new(*hole)).collect();
        let (template, holes, replacement): (Ref<Expr>, Vec<Hole>, Option<Ref<Expr>>) = match choice
        {
            0 => (bind(&v, &x, &v), any(&[&x]), Some(x.clone().upcast())),
            1 => (bind(&v, &e, add(&v, &y)), any(&[&e, &y]), Some(add(&e, &y))),
            2 => (bind(&v, &e, &y), any(&[&e, &y]), Some(y.clone().upcast())),
            3 => (
                add(bind(&v, &e, &x), &y),
                any(&[&e, &x, &y]),
                Some(bind(&v, &e, add(&x, &y))),
            ),
            4 => (
                bind(&w, bind(&v, &e, &x), &y),
                any(&[&e, &x, &y]),
                Some(bind(&v, &e, bind(&w, &x, &y))),
            ),
            5 => (
                sub(&y, bind(&v, &e, &x)),
                any(&[&e, &x, &y]),
                Some(bind(&v, &e, sub(&y, &x))),
            ),
            6 => (neg(&x), any(&[&x]), Some(sub(sub(&p, &x), &p))),
            7 => (
                neg(&x),
                any(&[&x]),
                Some(bind(&v, &x, sub(sub(&q, &v), &q))),
            ),
            8 => (
                sub(add(&x, &y), &z),
                any(&[&x, &y, &z]),
                Some(bind(&v, sub(&y, &z), add(&x, &v))),
            ),
            9 => (
                sub(&x, sub(&y, &z)),
                any(&[&x, &y, &z]),
                Some(sub(add(&x, &z), &y)),
            ),
            10 => (sub(&x, &x), any(&[&x]), Some(int(0))),
            11 => (
                bind(&v, &e, add(neg(&v), &x)),
                any(&[&e, &x]),
                Some(bind(&v, &e, sub(&x, &v))),
            ),
            12 => (bind(&v, &e, sub(&v, &v)), any(&[&e]), Some(int(0))),
            13 => (
                bind(&v, &e, bind(&w, &f, add(&v, &w))),
                any(&[&e, &f]),
                Some(add(&e, &f)),
            ),
            14 => (neg(neg(&x)), any(&[&x]), Some(x.clone().upcast())),
            15 => (neg(&x), any(&[&x]), None),
            _ => (sub(&x, &y), any(&[&x, &y]), None),
        };
        let mut options = PatternOptions::default().definitions(self.source.chance(40));
        if self.source.chance(30) {
            options = options.interior_uses(if self.source.chance(50) {
                InteriorUses::Inside
            } else {
                InteriorUses::Anywhere
            });
        }
        let pattern = options.pattern(template, holes)?;
        let part = |pattern_match: &isoform::pattern::Match, var: &Ref<Var>| -> Result<Ref<Expr>> {
            pattern_match
                .get(var)
                .cloned()
                .unwrap_or_default()
                .extract()
        };
        let rule = match replacement {
            Some(replacement) => Rule::introducing(pattern, replacement, [&p, &q])?,
            None if choice == 15 => Rule::computed(pattern, move |pattern_match| {
                Ok(Some(sub(&r, add(&r, part(pattern_match, &x)?)).into()))
            }),
            None => Rule::computed(pattern, move |pattern_match| {
                let negated = bind(&q, part(pattern_match, &y)?, neg(&q));
                Ok(Some(add(part(pattern_match, &x)?, negated).into()))
            }),
        };
        Ok(rule.with_benefit(1 + self.source.below(3) as u32))
    }
}

/// Whatever is bound again or shared, the meaning stays, and the result is a normal
/// form.
#[test]
fn rewriting_keeps_the_meaning_where_variables_are_bound_again_r53_r122() -> Result<()> {
    let (mut applied, mut through) = (0, 0);
    for seed in 0..scaled(10_000) as u64 {
        let bytes = random_bytes(seed, 500);
        let mut source = Source::new(&bytes);
        let mut programs = Programs::new(&mut source);
        let count = 1 + programs.source.below(6);
        let rules: Vec<Rule> = (0..count).map(|_| programs.rule()).collect::<Result<_>>()?;
        let (free, depth) = (programs.free.clone(), 2 + programs.source.below(5));
        let root: Value = programs.expression(depth, &free).into();
        let numbers = [1_000_003, 7_368_787, 15_485_863];
        let values: Vec<(u64, i64)> = free.iter().map(|var| var.identity()).zip(numbers).collect();
        let options = GreedyOptions::default().max_steps(300);
        let done = match options.rewrite_greedily(&root, &rules) {
            Ok(done) => done,
            Err(error) => {
                assert!(
                    error.message().contains("max_steps"),
                    "seed {seed}: {error}"
                );
                continue;
            }
        };
        let (result, wanted) = (evaluate(&done.value, &values), evaluate(&root, &values));
        assert_eq!(
            result,
            wanted,
            "seed {seed}: {}\n{}\n{:?} {rules:?}",
            show(&root),
            show(&done.value),
            done.applied
        );
        let steps: u64 = done.applied.iter().sum();
        applied += u64::from(steps > 0);
        through += u64::from(
            rules
                .iter()
                .any(|rule| rule.pattern().options().definitions),
        );
        let Ok(again) = options.rewrite_greedily(&done.value, &rules) else {
            panic!("seed {seed}: no normal form");
        };
        assert_eq!(
            again.applied.iter().sum::<u64>(),
            0,
            "seed {seed}: {}\n{}\n{}\n{:?} {rules:?}",
            show(&root),
            show(&done.value),
            show(&again.value),
            again.applied,
        );
    }
    assert!(applied > 100 && through > 100, "{applied} {through}");
    Ok(())
}

/// A definition is looked through where it is visible, and nowhere else.
#[test]
fn a_free_variable_has_no_definition() -> Result<()> {
    let (x, p, q, c) = (var("x"), var("p"), var("q"), var("c"));
    let through = PatternOptions::default().definitions(true);
    let rules = [Rule::new(through.pattern(neg(neg(&x)), [&x])?, &x)?];
    let root = Value::from(vec![neg(&p), bind(&p, neg(&q), &c)]);
    let done = rewrite_greedily(&root, &rules)?;
    assert_eq!((&done.value, &done.applied[..]), (&root, &[0][..]));
    assert!(Uses::of(&root)?.definition(&p).is_none());
    // Inside of the scope it is one.
    let done = rewrite_greedily(bind(&p, neg(&q), neg(&p)), &rules)?;
    assert_same(done.value, &q);
    // The value uses a variable that another variable of the same name hides at the
    // place.
    let root = bind(&p, neg(&q), bind(&q, &c, neg(&p)));
    let done = rewrite_greedily(root.clone(), &rules)?;
    assert_eq!((done.value, done.applied), (root.into(), vec![0]));
    // An object shared between the scope and the surrounding program.
    let shared = neg(&p);
    let root = Value::from(vec![bind(&p, neg(&q), &shared), shared]);
    let done = rewrite_greedily(&root, &rules)?;
    assert_eq!((done.value, done.applied), (root, vec![0]));
    Ok(())
}

/// A variable is bound twice, and a replacement drops one binding with the surrounding
/// node.
#[test]
fn what_replacements_drop_is_not_visited() -> Result<()> {
    let [x, y, v, t, r] = ["x", "y", "v", "t", "r"].map(var);
    let through = PatternOptions::default().definitions(true);
    let unused = [Rule::new(through.pattern(bind(&v, &x, &y), [&x, &y])?, &y)?];
    for root in [
        bind(&r, bind(&t, int(1), int(1)), bind(&t, &r, int(1))),
        bind(&r, bind(&r, int(1), int(1)), int(1)),
    ] {
        let done = rewrite_greedily(root, &unused)?;
        assert_same(done.value, int(1));
    }
    Ok(())
}

/// Free uses of a variable, next to a scope that binds the variable.
#[test]
fn uses_of_a_free_variable_are_replaced_where_it_is_free() -> Result<()> {
    let (a, b, q) = (var("a"), var("b"), var("q"));
    let root = Value::from(vec![Value::from(&a), bind(&a, &b, &a).into()]);
    let done = replace_all_uses(&root, &a, &q)?;
    assert_same(
        &done,
        Value::from(vec![Value::from(&q), bind(&a, &b, &a).into()]),
    );
    assert!(structural_equal(done, substitute(&root, &[(&a, &q)])?)?);
    // Bound in several places, and free nowhere: all uses are replaced.
    let root = Value::from(vec![bind(&a, &b, &a), bind(&a, int(1), add(&a, &a))]);
    let done = replace_all_uses(&root, &a, int(7))?;
    let wanted = vec![bind(&a, &b, int(7)), bind(&a, int(1), add(int(7), int(7)))];
    assert_same(done, Value::from(wanted));
    for seed in 0..scaled(2000) as u64 {
        let bytes = random_bytes(seed, 300);
        let mut source = Source::new(&bytes);
        let mut programs = Programs::new(&mut source);
        let (free, depth) = (programs.free.clone(), 1 + programs.source.below(5));
        let root: Value = programs.expression(depth, &free).into();
        let new: Value = programs.expression(2, &free).into();
        let mut values: Vec<(u64, i64)> = free
            .iter()
            .map(|var| var.identity())
            .zip([3, 50, 700])
            .collect();
        let is_free = substitute(&root, &[(&free[0], int(0))])? != root;
        if !is_free {
            continue;
        }
        let done = replace_all_uses(&root, &free[0], &new)?;
        let result = evaluate(&done, &values);
        values[0].1 = evaluate(&new, &values).unwrap_or_default();
        assert_eq!(
            result,
            evaluate(&root, &values),
            "seed {seed}: {}\n{}\n{}",
            show(&root),
            show(&new),
            show(&done)
        );
    }
    Ok(())
}

/// Chains of a million scopes.
#[test]
fn definitions_in_deep_scopes() -> Result<()> {
    let length = scaled(1_000_000);
    let names: Vec<Ref<Var>> = (0..length).map(|_| var("v")).collect();
    let mut root: Ref<Expr> = names[0].clone().upcast();
    for name in names.iter().rev() {
        root = bind(name, int(1), root);
    }
    let root = Value::from(root);
    let uses = Uses::of(&root)?;
    // Used at the other end of the chain.
    let found = uses.definition(&names[0]).expect("bound once");
    assert_same(found.value, int(1));
    assert!(uses.definition(&names[length - 1]).is_some());
    Ok(())
}
