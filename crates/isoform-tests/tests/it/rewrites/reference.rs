//! The greedy driver against the one-pass rewrite, on random programs.

use isoform::pattern::{GreedyOptions, Hole, Pattern, PatternOptions, Rule, rewrite};
use isoform::{Ref, Result, Value, structural_equal};
use isoform_testing::source::{Source, random_bytes};

use super::support::{Expr, Int, Lambda, Var, add, call, flow, int, scaled, sub, var};

/// Rules with a result independent of the order of application.
fn rules() -> Result<Vec<Rule>> {
    let (x, y) = (var("x"), var("y"));
    let any = PatternOptions::default().commutative(true);
    let numbers =
        |x: &Ref<Var>, y: &Ref<Var>| [Hole::new(x).class::<Int>(), Hole::new(y).class::<Int>()];
    let fold = {
        let (x, y) = (x.clone(), y.clone());
        Rule::computed(
            Pattern::new(add(&x, &y), numbers(&x, &y))?,
            move |pattern_match| {
                let number = |var: &Ref<Var>| -> Result<i64> {
                    let int: Ref<Int> = pattern_match
                        .get(var)
                        .cloned()
                        .unwrap_or_default()
                        .extract()?;
                    Ok(int.value)
                };
                Ok(Some(int(number(&x)?.wrapping_add(number(&y)?)).into()))
            },
        )
    };
    let several = |hole: &Ref<Var>| Hole::new(hole).items();
    Ok(vec![
        Rule::new(any.pattern(add(&x, int(0)), [&x])?, &x)?,
        Rule::new(Pattern::new(sub(&x, int(0)), [&x])?, &x)?,
        Rule::new(Pattern::new(sub(&x, &x), [&x])?, int(0))?,
        fold,
        Rule::new(
            Pattern::new(
                call("f", [call("f", [(&x).into()]).into()]),
                [Hole::new(&x).anything()],
            )?,
            call("f", [(&x).into()]),
        )?,
        Rule::new(
            Pattern::new(
                call("list", [(&x).into(), int(0).into(), (&y).into()]),
                [several(&x), several(&y)],
            )?,
            call("list", [(&x).into(), (&y).into()]),
        )?,
        Rule::new(Pattern::new(Lambda::new([y.clone()], &x), [&x])?, &x)?,
    ])
}

struct Programs<'s, 'b> {
    source: &'s mut Source<'b>,
    /// Expressions that may be used again.
    pool: Vec<Ref<Expr>>,
}

impl Programs<'_, '_> {
    fn pick(&mut self) -> Ref<Expr> {
        self.source.pick(&self.pool).clone()
    }

    fn program(mut self) -> Value {
        let free = [var("a"), var("b")];
        self.pool
            .extend(free.iter().map(|var| var.clone().upcast()));
        self.pool.push(int(0));
        for _ in 0..40 {
            let expr = match self.source.below(9) {
                0 => int(self.source.below(3) as i64),
                1 | 2 => add(self.pick(), self.pick()),
                3 => sub(self.pick(), self.pick()),
                4 => {
                    let same = self.pick();
                    sub(&same, &same)
                }
                5 => call("f", [self.pick().into()]),
                6 => {
                    let count = self.source.below(4);
                    let items: Vec<Value> = (0..count).map(|_| self.pick().into()).collect();
                    call("list", items)
                }
                7 => {
                    let param = var("p");
                    let body = add(self.pick(), &param);
                    Lambda::new([param], body).upcast()
                }
                _ => flow("node", [self.pick().into(), self.pick().into()]),
            };
            self.pool.push(expr);
        }
        let last = self.pool.split_off(self.pool.len() - 6);
        Value::from(last)
    }
}

#[test]
fn both_drivers_reach_the_same_normal_form() -> Result<()> {
    let rules = rules()?;
    let mut applied = 0;
    for seed in 0..scaled(1_000) as u64 {
        let bytes = random_bytes(seed, 400);
        let mut source = Source::new(&bytes);
        let root = Programs {
            source: &mut source,
            pool: Vec::new(),
        }
        .program();
        let reference = rewrite(&root, &rules)?;
        let done = GreedyOptions::default().rewrite_greedily(&root, &rules)?;
        applied += done.applied.iter().sum::<u64>();
        assert!(
            structural_equal(&done.value, &reference.value)?,
            "seed {seed}: {root:?}\n{:?}\n{:?}",
            done.value,
            reference.value
        );
        // A normal form is one for both, and stays the same object.
        let again = GreedyOptions::default().rewrite_greedily(&done.value, &rules)?;
        assert_eq!(again.value, done.value, "seed {seed}");
        assert_eq!(again.applied.iter().sum::<u64>(), 0, "seed {seed}");
    }
    assert!(applied > 100, "the programs have something to rewrite");
    Ok(())
}
