//! Expressions that bind variables around their scopes.

use std::collections::HashMap;

use isoform::compare::CompareOptions;
use isoform::functions::Function;
use isoform::traverse::{BINDING, CONSTANT, PURE};
use isoform::{Array, Map, Node, Ref, Result, Str, Value, attrs};
use isoform_ir::transform::cse::{CONDITIONAL, FORM, MAY_FAIL, cse};
use isoform_testing::source::scaled;

use crate::cse::random::Random;

/// A variable.
#[derive(Node)]
#[node(key = "cse_let.Var", kind = var)]
#[repr(C)]
struct Var {
    #[node(ignore)]
    name: Str,
    /// A variable of another width is another variable.
    width: i64,
}

/// A number.
#[derive(Node)]
#[node(key = "cse_let.Num")]
#[repr(C)]
struct Num {
    value: i64,
}

/// `add`, `mul`, `div`, which fails for a divisor of zero, and `tick`, which counts.
#[derive(Node)]
#[node(key = "cse_let.Op")]
#[repr(C)]
struct Op {
    name: Str,
    left: Value,
    right: Value,
}

/// A binding of a variable to a value in a body.
#[derive(Node)]
#[node(key = "cse_let.Let", scope, defs_first = false)]
#[repr(C)]
struct Let {
    value: Value,
    #[node(def)]
    var: Ref<Var>,
    body: Value,
}

/// A choice by whether a number is even.
#[derive(Node)]
#[node(key = "cse_let.If")]
#[repr(C)]
struct If {
    cond: Value,
    even: Value,
    odd: Value,
}

fn declare() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| declared().expect("the attributes are new"));
}

fn declared() -> Result<()> {
    let op_is = |name: &'static str, is: bool| {
        Function::typed(move |op: Ref<Op>| (op.name.as_str() == name) == is)
    };
    attrs::set(Op::type_index(), PURE, op_is("tick", false))?;
    attrs::set(Op::type_index(), MAY_FAIL, op_is("div", true))?;
    attrs::set(Op::type_index(), FORM, "computation")?;
    for ty in [Num::type_index(), Let::type_index(), If::type_index()] {
        attrs::set(ty, PURE, true)?;
        attrs::set(ty, FORM, "expression")?;
    }
    attrs::set(Num::type_index(), CONSTANT, true)?;
    let branches = Array::from(vec![Str::from("even"), Str::from("odd")]);
    attrs::set(If::type_index(), CONDITIONAL, branches)?;
    let fields = [("var", "var"), ("value", "value"), ("body", "body")];
    let fields = fields.map(|(role, field)| (Str::from(role), Str::from(field)));
    let fields: Map<Str, Str> = fields.into_iter().collect();
    attrs::set(Let::type_index(), BINDING, fields)
}

fn var(name: &str) -> Ref<Var> {
    declare();
    Var::new(name, 32)
}

fn num(value: i64) -> Value {
    Num::new(value).into()
}

fn op(name: &str, left: impl Into<Value>, right: impl Into<Value>) -> Value {
    Op::new(name, left.into(), right.into()).into()
}

fn bind(var: &Ref<Var>, value: Value, body: Value) -> Value {
    Let::new(value, var, body).into()
}

#[track_caller]
fn check(before: &Value, expected: &Value) {
    let done = cse(before).expect("a program");
    let options = CompareOptions {
        map_free_vars: false,
        ..CompareOptions::default()
    };
    let mismatch = options.first_mismatch(expected, &done).expect("comparable");
    assert!(mismatch.is_none(), "{mismatch:?}\n{done:?}");
    assert!(cse(&done).expect("a program") == done);
}

#[test]
fn an_inner_binding_of_an_equal_value_goes() {
    let [x, y, z, w] = ["x", "y", "z", "w"].map(var);
    let square = || op("mul", &x, &x);
    let double = |var: &Ref<Var>| op("add", var, var);
    // let y = x * x in let z = x * x in y + z
    let before = bind(&y, square(), bind(&z, square(), op("add", &y, &z)));
    check(&before, &bind(&y, square(), double(&y)));
    // What is computed from equal variables is equal, too.
    let inner = |body| bind(&z, double(&x), bind(&w, double(&y), body));
    let before = bind(&y, op("mul", &x, num(1)), inner(op("mul", &w, double(&y))));
    let after = bind(&y, op("mul", &x, num(1)), inner(op("mul", &w, &w)));
    check(&before, &after);
    // A value in the body is read from the variable.
    let before = bind(&y, square(), op("add", square(), &y));
    check(&before, &bind(&y, square(), double(&y)));
}

#[test]
fn bindings_in_branches_join_outer_bindings_only() {
    let [x, y, z] = ["x", "y", "z"].map(var);
    let square = || op("mul", &x, &x);
    let inner = |var: &Ref<Var>| bind(var, square(), op("add", var, var));
    let choice = |even: Value, odd: Value| Value::from(If::new(Value::from(&x), even, odd));
    let both = |first: Value, second: Value| op("add", first, second);
    // The outer binding is in scope in both branches.
    let before = bind(&y, square(), choice(inner(&z), num(0)));
    check(
        &before,
        &bind(&y, square(), choice(op("add", &y, &y), num(0))),
    );
    // A binding of a branch is not in scope after the branch, nor in the other branch.
    let apart = both(choice(inner(&y), num(0)), inner(&z));
    check(&apart, &apart);
    let apart = choice(inner(&y), inner(&z));
    check(&apart, &apart);
    // A division joins an outer division outside of branches.
    let divided = || op("div", &x, &z);
    let [v, w] = ["v", "w"].map(var);
    let before = bind(
        &v,
        divided(),
        choice(bind(&w, divided(), (&w).into()), num(0)),
    );
    check(&before, &before);
    let before = bind(&v, divided(), bind(&w, divided(), op("add", &v, &w)));
    check(&before, &bind(&v, divided(), op("add", &v, &v)));
}

#[test]
fn bindings_with_effects_of_other_types_and_of_constants_stay() {
    let [x, y, z] = ["x", "y", "z"].map(var);
    let tick = || op("tick", &x, &x);
    let before = bind(&y, tick(), bind(&z, tick(), op("add", &y, &z)));
    check(&before, &before);
    let wide = Var::new("wide", 64);
    let square = || op("mul", &x, &x);
    let inner = bind(&wide, (&y).into(), op("add", &y, &wide));
    let before = bind(&y, square(), bind(&wide, square(), op("add", &y, &wide)));
    check(&before, &bind(&y, square(), inner));
    let before = bind(&y, num(1), op("add", num(1), &y));
    check(&before, &before);
}

#[test]
fn a_variable_that_is_bound_twice_stays() {
    let [x, y] = ["x", "y"].map(var);
    let square = || op("mul", &x, &x);
    let inner = bind(&y, square(), op("add", &y, &y));
    let before = bind(&y, square(), inner);
    check(&before, &before);
}

#[test]
fn a_shared_binding_stays() {
    let [x, y, z] = ["x", "y", "z"].map(var);
    let square = || op("mul", &x, &x);
    let shared = bind(&z, square(), op("add", &z, &z));
    let around = bind(&y, square(), op("mul", &shared, &y));
    let before = op("add", around, shared);
    let done = cse(&before).expect("a program");
    assert_eq!(run(&done, 3).value, run(&before, 3).value);
}

#[test]
fn deep_bindings_take_no_native_stack() {
    let x = var("x");
    let depth = scaled(100_000);
    let vars: Vec<_> = (0..depth).map(|_| var("y")).collect();
    let body: Value = vars.last().expect("a variable").into();
    let all = vars.iter().rev();
    let before = all.fold(body, |body, var| bind(var, op("mul", &x, &x), body));
    check(
        &before,
        &bind(&vars[0], op("mul", &x, &x), (&vars[0]).into()),
    );
}

/// The outcome of a program.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// None for a division by zero.
    value: Option<i64>,
    ticks: usize,
    operations: usize,
}

/// Runs a program by its text: an expression is computed wherever it stands.
fn run(program: &Value, x: i64) -> Outcome {
    struct Machine {
        vars: HashMap<u64, i64>,
        ticks: usize,
        operations: usize,
        x: i64,
    }
    impl Machine {
        fn eval(&mut self, value: &Value) -> Option<i64> {
            let object = value.as_object().expect("an expression");
            if let Some(num) = object.downcast_ref::<Num>() {
                return Some(num.value);
            }
            if object.isa::<Var>() {
                let known = self.vars.get(&object.identity());
                return Some(known.copied().unwrap_or(self.x));
            }
            if let Some(binding) = object.downcast_ref::<Let>() {
                let bound = self.eval(&binding.value)?;
                self.vars.insert(binding.var.identity(), bound);
                let result = self.eval(&binding.body);
                self.vars.remove(&binding.var.identity());
                return result;
            }
            if let Some(choice) = object.downcast_ref::<If>() {
                let even = self.eval(&choice.cond)? % 2 == 0;
                return self.eval(if even { &choice.even } else { &choice.odd });
            }
            let op = object.downcast_ref::<Op>().expect("an operation");
            let (left, right) = (self.eval(&op.left)?, self.eval(&op.right)?);
            self.operations += 1;
            match op.name.as_str() {
                "add" => Some(left.wrapping_add(right)),
                "mul" => Some(left.wrapping_mul(right)),
                "div" => left.checked_div(right),
                _ => {
                    self.ticks += 1;
                    Some(left.wrapping_add(right).wrapping_mul(self.ticks as i64))
                }
            }
        }
    }
    let mut machine = Machine {
        vars: HashMap::new(),
        ticks: 0,
        operations: 0,
        x,
    };
    let value = machine.eval(program);
    Outcome {
        value,
        ticks: machine.ticks,
        operations: machine.operations,
    }
}

/// One of four operations on the variable of the whole program.
fn frequent(random: &mut Random, scope: &[Ref<Var>]) -> Value {
    let name = ["add", "mul"][random.below(2) as usize];
    op(name, Value::from(&scope[0]), num(random.below(2) as i64))
}

/// A random program with few different values, so that many are equal.
fn program(random: &mut Random, scope: &mut Vec<Ref<Var>>, depth: u32) -> Value {
    let leaf = depth == 0 || random.below(6) == 0;
    if leaf {
        let pick = random.below(scope.len() as u64 + 2) as usize;
        return match scope.get(pick) {
            Some(var) => var.into(),
            None => num(random.below(2) as i64),
        };
    }
    match random.below(10) {
        0..=4 => {
            let value = if random.below(2) == 0 {
                frequent(random, scope)
            } else {
                program(random, scope, depth.min(2) - 1)
            };
            let var = Var::new("v", 32 << random.below(2).min(random.below(4)));
            scope.push(var.clone());
            let body = program(random, scope, depth - 1);
            scope.pop();
            bind(&var, value, body)
        }
        5 => {
            let cond = program(random, scope, 1);
            let mut branch = || program(random, scope, depth - 1);
            let (even, odd) = (branch(), branch());
            If::new(cond, even, odd).into()
        }
        _ => {
            let name = ["add", "mul", "add", "mul", "div", "tick"][random.below(6) as usize];
            let mut operand = || program(random, scope, depth.min(3) - 1);
            let (left, right) = (operand(), operand());
            op(name, left, right)
        }
    }
}

#[test]
fn random_bindings_keep_values_effects_and_never_compute_more() {
    let x = var("x");
    let (mut saved, mut joined) = (0, 0);
    for seed in 0..scaled(20_000) as u64 {
        let mut random = Random::new(seed);
        let before = program(&mut random, &mut vec![x.clone()], 9);
        let after = cse(&before).expect("a program");
        let bindings = |value: &Value| format!("{value:?}").matches("cse_let.Let").count();
        joined += usize::from(bindings(&after) < bindings(&before));
        for input in [0, 3] {
            let (old, new) = (run(&before, input), run(&after, input));
            let told = || format!("seed {seed}: {before:?}\nbecame {after:?}");
            assert_eq!((old.value, old.ticks), (new.value, new.ticks), "{}", told());
            assert!(new.operations <= old.operations, "{}", told());
            saved += old.operations - new.operations;
        }
    }
    assert!(saved > 100 && joined > 10, "{saved} saved, {joined} joined");
}
