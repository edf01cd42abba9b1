//! Graphs of expressions.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use isoform::traverse::children_of;
use isoform::types::RegionKind;
use isoform::{Array, Ref, Value, structural_equal};
use isoform_ir::transform::CseOptions;
use isoform_ir::transform::cse::cse;
use isoform_testing::source::scaled;

use crate::cse::language::{Apply, Func, If, Lambda, Name, Op, Print, Seq, Var, declare};
use crate::cse::random::Random;

fn op(name: &str, inputs: impl Into<Vec<Value>>) -> Value {
    declare();
    Op::new(name, Array::from(inputs.into())).into()
}

fn array(items: impl Into<Vec<Value>>) -> Value {
    Array::from(items.into()).into()
}

/// The distinct objects of a type below a value.
fn distinct(root: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let (mut seen, mut found, mut stack) = (HashSet::new(), Vec::new(), vec![root.clone()]);
    while let Some(value) = stack.pop() {
        let Some(object) = value.as_object() else {
            continue;
        };
        if seen.insert(object.identity()) {
            stack.extend(
                children_of(&value)
                    .iter(RegionKind::Use)
                    .map(|child| child.value),
            );
            found.extend(wanted(&value).then_some(value));
        }
    }
    found
}

fn ops(root: &Value) -> Vec<Value> {
    distinct(root, |value| {
        value.as_object().is_some_and(|object| object.isa::<Op>())
    })
}

#[test]
fn equal_nodes_become_one() {
    let x: Value = Var::new("x").into();
    let sum = || op("add", [x.clone(), 1.into()]);
    let done = cse(op("mul", [sum(), sum()])).unwrap();
    let once = sum();
    assert!(structural_equal(&done, op("mul", [once.clone(), once])).unwrap());
    assert!(cse(&done).unwrap() == done);
}

#[test]
fn nodes_with_effects_or_of_undeclared_types_stay() {
    let twice = array([op("print", [1.into()]), op("print", [1.into()])]);
    assert!(cse(&twice).unwrap() == twice);
    let all = CseOptions::default()
        .pure(|_| Ok(true))
        .cse(&twice)
        .unwrap();
    assert_eq!(ops(&all).len(), 1);
}

#[test]
fn what_may_fail_stays_in_its_branch() {
    let x: Value = Var::new("x").into();
    let div = || op("div", [x.clone(), x.clone()]);
    let sum = || op("add", [x.clone(), x.clone()]);
    let choice = |left: Value, right: Value| -> Value { If::new(x.clone(), left, right).into() };
    let divided = choice(div(), div());
    assert!(cse(&divided).unwrap() == divided);
    assert_eq!(ops(&cse(choice(sum(), sum())).unwrap()).len(), 1);
    // Inside a branch, either both divisions are computed or neither.
    let same = choice(op("mul", [div(), div()]), 0.into());
    assert_eq!(ops(&cse(&same).unwrap()).len(), 2);
}

#[test]
fn a_variable_that_is_bound_twice_means_two_things() {
    let x = Var::new("x");
    let double = || op("add", [x.clone().into(), x.clone().into()]);
    let lambda = |body| -> Value { Lambda::new(Array::from(vec![x.clone()]), body).into() };
    let both = array([lambda(double()), lambda(double())]);
    assert!(cse(&both).unwrap() == both);
    let one = lambda(op("mul", [double(), double()]));
    assert_eq!(ops(&cse(&one).unwrap()).len(), 2);
}

#[test]
fn a_cycle_is_an_error() {
    declare();
    let list = isoform::values::List::<Value>::new();
    list.push(Value::from(list.clone())).unwrap();
    let error = cse(Value::from(list)).unwrap_err().to_string();
    assert!(error.contains("contains itself"), "{error}");
}

#[test]
fn a_long_chain_takes_no_native_stack() {
    let chain = || {
        let start: Value = 1.into();
        (0..scaled(200_000)).fold(start, |below, _| op("add", [below]))
    };
    let done = cse(array([chain(), chain()])).unwrap();
    assert_eq!(ops(&done).len(), scaled(200_000));
}

/// A random graph with some shared nodes and many equal nodes.
fn graph(random: &mut Random, vars: &[Ref<Var>]) -> Value {
    let mut nodes: Vec<Value> = vars.iter().map(Value::from).collect();
    nodes.push(1.into());
    for _ in 0..random.below(30) {
        let name = ["add", "mul", "print", "div"][random.below(4) as usize];
        let count = 1 + random.below(2) as usize;
        let mut pick = || nodes[random.below(nodes.len() as u64) as usize].clone();
        let inputs: Vec<Value> = (0..count).map(|_| pick()).collect();
        nodes.push(op(name, inputs));
    }
    let last = nodes.len().saturating_sub(15);
    array(nodes.split_off(last))
}

/// The result of a graph, in text for each distinct object, in exponential space in general.
/// Nodes with effects have a name of their own.
fn meaning(value: &Value, texts: &mut HashMap<u64, String>, effects: &mut usize) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let Some(object) = value.as_object() else {
        return format!("{value:?}");
    };
    if let Some(text) = texts.get(&object.identity()) {
        return text.clone();
    }
    let parts: Vec<String> = children_of(value)
        .iter(RegionKind::Use)
        .map(|child| meaning(&child.value, texts, effects))
        .collect();
    let text = match value.extract::<Ref<Op>>() {
        Ok(op) if op.name.as_str() == "print" => {
            *effects += 1;
            format!("effect{effects}")
        }
        Ok(_) => format!("({})", parts.join(" ")),
        Err(_) if object.isa::<Var>() => format!("v{}", object.identity()),
        Err(_) => format!("[{}]", parts.join(" ")),
    };
    let text = if text.len() > 200 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        format!("#{:x}", hasher.finish())
    } else {
        text
    };
    texts.insert(object.identity(), text.clone());
    text
}

#[test]
fn random_graphs_compute_the_same_with_no_equal_nodes_left() {
    declare();
    let vars = [Var::new("x"), Var::new("y")];
    let mut merged = 0;
    for seed in 0..2_000 {
        let before = graph(&mut Random::new(seed), &vars);
        let after = cse(&before).unwrap();
        let (mut old, mut new) = (HashMap::new(), HashMap::new());
        let expected = meaning(&before, &mut old, &mut 0);
        assert_eq!(meaning(&after, &mut new, &mut 0), expected, "seed {seed}");
        let mut texts = HashSet::new();
        for node in ops(&after) {
            let identity = node.as_object().map_or(0, |object| object.identity());
            assert!(
                texts.insert(new[&identity].clone()),
                "seed {seed}: {}",
                new[&identity]
            );
        }
        merged += ops(&before).len() - ops(&after).len();
        assert!(cse(&after).unwrap() == after, "seed {seed}");
    }
    assert!(merged > 500, "only {merged} nodes were merged");
}

#[test]
fn shared_trees_and_programs_are_asked_once() {
    let asked = Cell::new(0);
    let count = |value: &Value| {
        asked.set(asked.get() + 1);
        Ok(value.as_object().is_some())
    };
    let levels = 1_000;
    let tower =
        |end: i64| (0..levels).fold(op("a", [end.into()]), |x, _| op("add", [x.clone(), x]));
    let both = array([tower(1), tower(1), tower(2)]);
    let done = CseOptions::default().pure(count).cse(&both).unwrap();
    assert_eq!(ops(&done).len(), 2 * (levels + 1));
    assert!(
        asked.get() <= 4 * 3 * (levels + 1),
        "{} questions",
        asked.get()
    );

    asked.set(0);
    let param = Name::new("p");
    let start: Value = Apply::new("add", Value::from(&param), Value::from(&param)).into();
    let tower = (0..levels).fold(start, |x, _| Apply::new("mul", x.clone(), x).into());
    let print = || Value::from(Print::new(tower.clone()));
    let body: Value = Seq::new(Array::from(vec![print(), print()])).into();
    let func: Value = Func::new(Array::from(vec![param]), body).into();
    let done: Ref<Func> = {
        let done = CseOptions::default().pure(count).cse(&func).unwrap();
        done.extract().unwrap()
    };
    let body: Ref<Seq> = done.body.extract().unwrap();
    assert_eq!(body.stmts.len(), levels + 3);
    assert!(asked.get() <= 8 * levels, "{} questions", asked.get());
}
