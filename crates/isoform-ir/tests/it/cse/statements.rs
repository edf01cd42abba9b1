//! Programs of statements.

use std::collections::{HashMap, HashSet};

use isoform::traverse::children_of;
use isoform::types::RegionKind;
use isoform::{Array, Ref, Value, structural_equal};
use isoform_ir::transform::cse::cse;
use isoform_testing::source::scaled;

use crate::cse::language::{
    Apply, Assign, Either, Func, Int, Name, Print, Repeat, Seq, Sum, declare,
};
use crate::cse::random::Random;

fn int(value: i64) -> Value {
    declare();
    Int::new(value).into()
}

fn apply(op: &str, left: impl Into<Value>, right: impl Into<Value>) -> Value {
    declare();
    Apply::new(op, left.into(), right.into()).into()
}

fn assign(var: &Ref<Name>, value: Value) -> Value {
    Assign::new(var.clone(), value).into()
}

fn print(value: impl Into<Value>) -> Value {
    Print::new(value.into()).into()
}

fn seq(stmts: impl Into<Vec<Value>>) -> Value {
    Seq::new(Array::from(stmts.into())).into()
}

fn repeat(count: Value, body: Value) -> Value {
    Repeat::new(count, body).into()
}

fn func(params: &[&Ref<Name>], body: Value) -> Value {
    declare();
    let params: Vec<_> = params.iter().map(|param| (*param).clone()).collect();
    Func::new(Array::from(params), body).into()
}

fn check(before: Value, after: &Value) {
    let done = cse(&before).unwrap();
    assert!(structural_equal(&done, after).unwrap(), "{done:?}");
    assert!(cse(&done).unwrap() == done);
}

#[test]
fn values_are_read_from_the_variables_that_hold_them() {
    let (a, x, y) = (Name::new("a"), Name::new("x"), Name::new("y"));
    let sum = || apply("add", &a, int(1));
    let before = seq([
        assign(&x, sum()),
        assign(&y, sum()),
        print(apply("mul", &y, sum())),
    ]);
    let after = seq([assign(&x, sum()), print(apply("mul", &x, &x))]);
    check(func(&[&a], before), &func(&[&a], after));
}

#[test]
fn other_values_get_a_variable_before_the_statement() {
    let (a, t) = (Name::new("a"), Name::new("t"));
    let sum = || apply("add", &a, int(1));
    let before = print(apply("mul", sum(), sum()));
    let after = seq([assign(&t, sum()), print(apply("mul", &t, &t))]);
    check(func(&[&a], before), &func(&[&a], after));
}

#[test]
fn nothing_leaves_a_loop_or_an_operand_that_may_be_left_out() {
    let a = Name::new("a");
    let sum = || apply("add", &a, int(1));
    let either: Value = Either::new(Value::from(&a), sum()).into();
    let stays = seq([
        repeat(int(2), print(sum())),
        print(either),
        print(sum()),
        print(apply("tick", &a, &a)),
        print(apply("tick", &a, &a)),
    ]);
    let stays = func(&[&a], stays);
    assert!(cse(&stays).unwrap() == stays);
}

#[test]
fn variables_that_change_are_left_alone() {
    let (a, x) = (Name::new("a"), Name::new("x"));
    let double = || apply("add", &x, &x);
    let body = seq([
        assign(&x, int(1)),
        print(double()),
        assign(&x, int(2)),
        print(double()),
    ]);
    let stays = func(&[&a], body);
    assert!(cse(&stays).unwrap() == stays);
}

#[test]
fn variables_without_a_certain_value_are_left_alone() {
    let (a, x, y) = (Name::new("a"), Name::new("x"), Name::new("y"));
    let sum = || apply("add", &a, int(1));
    // The loop may run no time, and its body uses the variable of the time before.
    let body = seq([
        assign(&x, sum()),
        repeat(Value::from(&a), seq([print(&y), assign(&y, sum())])),
        print(apply("mul", &y, &y)),
    ]);
    let after = seq([
        assign(&x, sum()),
        repeat(
            Value::from(&a),
            seq([print(&y), assign(&y, Value::from(&x))]),
        ),
        print(apply("mul", &y, &y)),
    ]);
    check(func(&[&a], body), &func(&[&a], after));
}

#[test]
fn deep_programs_take_no_native_stack() {
    let a = Name::new("a");
    let chain =
        || (0..scaled(100_000)).fold(Value::from(&a), |below, _| apply("add", below, int(1)));
    let body = (0..scaled(100_000)).fold(print(chain()), |body, _| repeat(int(1), body));
    let before = func(&[&a], seq([print(chain()), body]));
    let after = cse(&before).unwrap();
    assert!(after != before);
    assert!(cse(&after).unwrap() == after);
}

/// Runs programs and notes the printed numbers.
#[derive(Default)]
struct Machine {
    vars: HashMap<u64, i64>,
    printed: Vec<i64>,
    ticks: i64,
    computed: usize,
}

impl Machine {
    fn run(&mut self, stmt: &Value) {
        if let Ok(it) = stmt.extract::<Ref<Assign>>() {
            let value = self.value(&it.value);
            self.vars.insert(it.var.identity(), value);
        } else if let Ok(it) = stmt.extract::<Ref<Print>>() {
            let value = self.value(&it.value);
            self.printed.push(value);
        } else if let Ok(it) = stmt.extract::<Ref<Seq>>() {
            it.stmts.iter().for_each(|stmt| self.run(stmt));
        } else if let Ok(it) = stmt.extract::<Ref<Repeat>>() {
            for _ in 0..self.value(&it.count).rem_euclid(3) {
                self.run(&it.body);
            }
        } else {
            panic!("not a statement: {stmt:?}");
        }
    }

    fn value(&mut self, expr: &Value) -> i64 {
        if let Ok(number) = expr.extract::<Ref<Int>>() {
            return number.value;
        }
        if let Ok(name) = expr.extract::<Ref<Name>>() {
            return self.vars.get(&name.identity()).copied().unwrap_or(-7);
        }
        self.computed += 1;
        if let Ok(sum_expr) = expr.extract::<Ref<Sum>>() {
            return sum_expr
                .items
                .iter()
                .fold(0, |sum, item| self.value(item).wrapping_add(sum));
        }
        if let Ok(either) = expr.extract::<Ref<Either>>() {
            return match self.value(&either.left) {
                0 => self.value(&either.right),
                left => left,
            };
        }
        let call: Ref<Apply> = expr.extract().expect("an expression");
        let (left, right) = (self.value(&call.left), self.value(&call.right));
        match call.op.as_str() {
            "add" => left.wrapping_add(right),
            "mul" => left.wrapping_mul(right),
            _ => {
                self.ticks += 1;
                self.ticks
            }
        }
    }
}

/// A short text for a failed test.
fn shown(value: &Value) -> String {
    if let Ok(it) = value.extract::<Ref<Name>>() {
        return format!("v{}", it.identity());
    }
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let parts = children_of(value);
    let parts: Vec<_> = parts
        .iter(RegionKind::Use)
        .map(|part| shown(&part.value))
        .collect();
    match value.as_object() {
        None => format!("{value:?}"),
        Some(object) => format!("{}({})", object.type_info().key(), parts.join(" ")),
    }
}

/// Makes random programs. All variables except one are assigned before use.
struct Maker<'r> {
    random: &'r mut Random,
    vars: Vec<Ref<Name>>,
    exprs: Vec<Value>,
}

impl Maker<'_> {
    fn expr(&mut self, depth: u64) -> Value {
        if !self.exprs.is_empty() && self.random.below(5) == 0 {
            // The same object again, where its variables may be out of scope.
            let index = self.random.below(self.exprs.len() as u64) as usize;
            return self.exprs[index].clone();
        }
        let expr = match self.random.below(if depth == 0 { 2 } else { 8 }) {
            0 => int(self.random.below(2) as i64),
            1 => {
                let index = self.random.below(self.vars.len() as u64) as usize;
                Value::from(&self.vars[index])
            }
            2 => Either::new(self.expr(depth - 1), self.expr(depth - 1)).into(),
            3 => {
                let items = vec![self.expr(depth - 1), self.expr(depth - 1)];
                Sum::new(Array::from(items)).into()
            }
            4 if self.random.below(3) == 0 => apply("tick", int(0), self.expr(depth - 1)),
            4 | 5 => apply("mul", self.expr(depth - 1), self.expr(depth - 1)),
            _ => apply("add", self.expr(depth - 1), self.expr(depth - 1)),
        };
        self.exprs.push(expr.clone());
        expr
    }

    fn block(&mut self, depth: u64) -> Value {
        let mut stmts = Vec::new();
        let (vars, exprs) = (self.vars.len(), self.exprs.len());
        for _ in 0..=self.random.below(5) {
            let kind = self.random.below(if depth == 0 { 4 } else { 6 });
            stmts.push(match kind {
                0 | 1 => print(self.expr(3)),
                2 | 3 => {
                    let value = self.expr(3);
                    let again = self.random.below(6) == 0;
                    let index = self.random.below(self.vars.len() as u64) as usize;
                    let var = if again {
                        self.vars[index].clone()
                    } else {
                        Name::new("v")
                    };
                    self.vars.push(var.clone());
                    assign(&var, value)
                }
                4 => self.block(depth - 1),
                _ => {
                    let count = self.expr(1);
                    repeat(count, self.block(depth - 1))
                }
            });
        }
        self.vars.truncate(vars);
        self.exprs.truncate(exprs);
        seq(stmts)
    }
}

/// Finds computations repeated where they are certain to have been computed.
#[derive(Default)]
struct Repeats {
    /// The number of values of a variable, plus one for a variable used where it may
    /// not have been assigned.
    values: HashMap<u64, usize>,
    /// Variables of the bodies around, the innermost last.
    known: Vec<HashSet<u64>>,
    available: Vec<HashSet<String>>,
    found: Vec<String>,
}

impl Repeats {
    fn count(&mut self, stmt: &Value) {
        if let Ok(it) = stmt.extract::<Ref<Assign>>() {
            self.uses(&it.value);
            *self.values.entry(it.var.identity()).or_default() += 1;
            let known = self.known.last_mut().expect("a body");
            known.insert(it.var.identity());
        } else if let Ok(it) = stmt.extract::<Ref<Print>>() {
            self.uses(&it.value);
        } else if let Ok(it) = stmt.extract::<Ref<Seq>>() {
            it.stmts.iter().for_each(|stmt| self.count(stmt));
        } else if let Ok(it) = stmt.extract::<Ref<Repeat>>() {
            self.uses(&it.count);
            self.known.push(HashSet::new());
            self.count(&it.body);
            self.known.pop();
        }
    }

    fn uses(&mut self, expr: &Value) {
        if let Ok(it) = expr.extract::<Ref<Name>>() {
            let ident = it.identity();
            if !self.known.iter().any(|body| body.contains(&ident)) {
                *self.values.entry(ident).or_default() += 1;
            }
        } else if let Ok(it) = expr.extract::<Ref<Sum>>() {
            it.items.iter().for_each(|item| self.uses(item));
        } else if let Ok(it) = expr.extract::<Ref<Either>>() {
            self.uses(&it.left);
            self.uses(&it.right);
        } else if let Ok(it) = expr.extract::<Ref<Apply>>() {
            self.uses(&it.left);
            self.uses(&it.right);
        }
    }

    fn run(&mut self, stmt: &Value) {
        if let Ok(it) = stmt.extract::<Ref<Assign>>() {
            self.text(&it.value, false);
        } else if let Ok(it) = stmt.extract::<Ref<Print>>() {
            self.text(&it.value, false);
        } else if let Ok(it) = stmt.extract::<Ref<Seq>>() {
            it.stmts.iter().for_each(|stmt| self.run(stmt));
        } else if let Ok(it) = stmt.extract::<Ref<Repeat>>() {
            self.text(&it.count, false);
            self.available.push(HashSet::new());
            self.run(&it.body);
            self.available.pop();
        }
    }

    /// The text of a constant value.
    fn text(&mut self, expr: &Value, sometimes: bool) -> Option<String> {
        if let Ok(number) = expr.extract::<Ref<Int>>() {
            return Some(number.value.to_string());
        }
        if let Ok(name) = expr.extract::<Ref<Name>>() {
            let times = self.values.get(&name.identity()).copied().unwrap_or(0);
            return (times < 2).then(|| format!("v{}", name.identity()));
        }
        let text = if let Ok(sum_expr) = expr.extract::<Ref<Sum>>() {
            let items: Vec<_> = sum_expr
                .items
                .iter()
                .map(|item| self.text(item, sometimes))
                .collect();
            let items: Option<Vec<String>> = items.into_iter().collect();
            format!("sum({})", items?.join(" "))
        } else if let Ok(either) = expr.extract::<Ref<Either>>() {
            let left = self.text(&either.left, sometimes);
            let right = self.text(&either.right, true);
            format!("either({} {})", left?, right?)
        } else {
            let call: Ref<Apply> = expr.extract().expect("an expression");
            let left = self.text(&call.left, sometimes);
            let right = self.text(&call.right, sometimes);
            let text = format!("{}({} {})", call.op.as_str(), left?, right?);
            if call.op.as_str() == "tick" {
                return None;
            }
            text
        };
        if self.available.iter().any(|scope| scope.contains(&text)) {
            self.found.push(text.clone());
        } else if !sometimes {
            self.available
                .last_mut()
                .expect("a scope")
                .insert(text.clone());
        }
        Some(text)
    }
}

#[test]
fn random_programs_print_the_same_with_no_repeats_left() {
    let programs = scaled(30_000);
    let mut saved = 0;
    for seed in 0..programs as u64 {
        let param = Name::new("p");
        let mut random = Random::new(seed);
        let mut maker = Maker {
            random: &mut random,
            vars: vec![param.clone(), Name::new("late")],
            exprs: Vec::new(),
        };
        let body = maker.block(2);
        let before = func(&[&param], body);
        let after = cse(&before).unwrap();
        let measured = |program: &Value| {
            let program: Ref<Func> = program.extract().unwrap();
            let mut machine = Machine::default();
            machine.run(&program.body);
            let mut repeats = Repeats {
                available: vec![HashSet::new()],
                ..Repeats::default()
            };
            // The parameter is a definition as well.
            repeats.values.insert(param.identity(), 1);
            repeats.known.push(HashSet::from([param.identity()]));
            repeats.count(&program.body);
            repeats.run(&program.body);
            (machine, repeats.found)
        };
        let ((old, _), (new, repeats)) = (measured(&before), measured(&after));
        assert_eq!(
            new.printed,
            old.printed,
            "seed {seed}\n{}\n{}",
            shown(&before),
            shown(&after)
        );
        assert!(new.computed <= old.computed, "seed {seed}");
        assert!(
            repeats.is_empty(),
            "seed {seed}: {repeats:?}\n{}\n{}",
            shown(&before),
            shown(&after)
        );
        assert!(cse(&after).unwrap() == after, "seed {seed}");
        saved += old.computed - new.computed;
    }
    assert!(
        3 * saved > 2 * programs,
        "only {saved} computations were saved"
    );
}
