//! Nodes that use variables of several scopes and outlive a part of the scopes: their
//! remembered results are valid only while all of the scopes are open.

use isoform::compare::{StructuralKey, first_structural_mismatch};
use isoform::{Value, structural_digest, structural_equal, structural_hash};
use isoform_testing::family::Role;
use isoform_testing::source::scaled;

use crate::build::{Build, PLAIN, Says, arr, builds, judge};

/// The binders that are scopes, except the binder with compared sharing.
const SCOPES: [Role; 2] = [Role::Lambda, Role::Binder];

/// The number of scopes between the node and its body. Beyond 64, scopes are not
/// tracked individually.
const DEPTHS: [usize; 8] = [1, 2, 3, 63, 64, 65, 66, 140];

/// `x` used below this many scopes, in a body that uses a selection of the scope
/// variables.
fn open_node(b: &Build, role: Role, x: &Value, depth: usize, used: fn(usize) -> bool) -> Value {
    let vars: Vec<Value> = (0..depth).map(|_| b.var()).collect();
    let uses = vars.iter().enumerate().filter(|(at, _)| used(*at));
    let body = uses.fold(x.clone(), |body, (_, var)| b.add(var, body));
    vars.iter()
        .rev()
        .fold(body, |body, var| b.binder(role, &[var], body))
}

/// The variables in between that are used.
const USED: [fn(usize) -> bool; 5] = [
    |_| true,
    |_| false,
    |at| at == 0,
    |at| at % 2 == 1,
    |at| at % 70 == 69,
];

/// The depth up to which the oracle judges values as well. The oracle cannot judge much
/// deeper values, and its time grows fast: at a smaller scale, the engine alone is compared
/// with the answer by construction.
fn judged_depth() -> usize {
    scaled(100)
}

/// Makes a pair from a kind of binder and from the open node over a variable.
type Make = fn(&Build, Role, &dyn Fn(&Value) -> Value) -> (Value, Value);

/// Judges a pair for all scopes, depths and uses.
#[track_caller]
fn check(name: &str, says: Says, make: Make) {
    let mut failures = Vec::new();
    for b in builds() {
        for role in SCOPES {
            for depth in DEPTHS {
                for (number, used) in USED.into_iter().enumerate() {
                    let node = |x: &Value| open_node(&b, role, x, depth, used);
                    let (left, right) = make(&b, role, &node);
                    let name = format!("{name}, {role:?}, {depth} scopes, use {number}");
                    if depth > judged_depth() {
                        failures.extend(judge_alone(&name, &left, &right, says));
                    } else {
                        failures.extend(judge(&name, &left, &right, PLAIN, says));
                        failures.extend(judge_alone(&name, &left, &right, says));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// The errors of the engine alone: in equality and mismatch, and in keys and
/// digests if there are no free variables.
fn judge_alone(name: &str, left: &Value, right: &Value, says: Says) -> Vec<String> {
    let expected = says == Says::Equal;
    let mut answers = vec![
        ("equality", structural_equal(left, right).ok()),
        ("equality, turned", structural_equal(right, left).ok()),
        (
            "mismatch",
            first_structural_mismatch(left, right)
                .ok()
                .map(|mismatch| mismatch.is_none()),
        ),
        (
            "hash",
            structural_hash(left)
                .ok()
                .zip(structural_hash(right).ok())
                .map(|(left, right)| left == right),
        ),
        (
            "key",
            StructuralKey::new(left)
                .ok()
                .zip(StructuralKey::new(right).ok())
                .map(|(left, right)| left == right),
        ),
    ];
    if let (Ok(left), Ok(right)) = (structural_digest(left), structural_digest(right)) {
        answers.push(("digest", Some(left == right)));
    }
    answers.retain(|(_, answer)| *answer != Some(expected));
    let account = |(who, answer)| format!("{name}: {who} says {answer:?}");
    answers.into_iter().map(account).collect()
}

#[test]
fn a_variable_bound_inside_a_scope_and_free_behind_it() {
    check("bound, then free", Says::Differ, |b, role, node| {
        let side = || {
            let x = b.var();
            let shared = node(&x);
            arr([&b.binder(role, &[&x], &shared), &shared])
        };
        (side(), side())
    });
    check(
        "bound, then the same one free",
        Says::Equal,
        |b, role, node| {
            let (x, a) = (b.var(), b.var());
            let shared = node(&x);
            let left = arr([&b.binder(role, &[&x], &shared), &shared]);
            let right = arr([&b.binder(role, &[&a], node(&a)), &node(&x)]);
            (left, right)
        },
    );
}

#[test]
fn a_variable_bound_in_two_scopes_one_inside_the_other() {
    fn program(
        b: &Build,
        role: Role,
        params: [&Value; 2],
        inner: &Value,
        body: [&Value; 2],
    ) -> Value {
        let first = b.binder(role, &[inner], body[0]);
        b.binder(role, &params, arr([&first, body[1]]))
    }
    // Closed programs: their digests must differ, too.
    check(
        "shared on both sides, other order",
        Says::Differ,
        |b, role, node| {
            let (x, q) = (b.var(), b.var());
            let shared = node(&x);
            let left = program(b, role, [&x, &q], &x, [&shared, &shared]);
            let right = program(b, role, [&q, &x], &x, [&shared, &shared]);
            (left, right)
        },
    );
    check("shared against apart", Says::Equal, |b, role, node| {
        let (x, q) = (b.var(), b.var());
        let shared = node(&x);
        let left = program(b, role, [&x, &q], &x, [&shared, &shared]);
        let (a, c, d) = (b.var(), b.var(), b.var());
        let right = program(b, role, [&a, &d], &c, [&node(&c), &node(&a)]);
        (left, right)
    });
    check(
        "shared against one that is not",
        Says::Differ,
        |b, role, node| {
            let (x, q) = (b.var(), b.var());
            let shared = node(&x);
            let left = program(b, role, [&x, &q], &x, [&shared, &shared]);
            let (a, c, d) = (b.var(), b.var(), b.var());
            let right = program(b, role, [&a, &d], &c, [&node(&c), &node(&d)]);
            (left, right)
        },
    );
}

#[test]
fn three_scopes_that_end_one_after_the_other() {
    /// One shared node after the end of three scopes. `outer` binds the three variables
    /// around everything.
    fn program(
        b: &Build,
        role: Role,
        outer: [&Value; 3],
        vars: [&Value; 3],
        node: &Value,
    ) -> Value {
        let mut body = node.clone();
        for var in vars.into_iter().rev() {
            body = arr([&b.binder(role, &[var], &body), node]);
        }
        b.binder(role, &outer, body)
    }
    check("three scopes", Says::Equal, |b, role, node| {
        let side = || {
            let (x, y, z) = (b.var(), b.var(), b.var());
            let shared = b.add(node(&x), b.add(&y, b.add(&z, &x)));
            program(b, role, [&x, &y, &z], [&x, &y, &z], &shared)
        };
        (side(), side())
    });
    // The three scopes bind the same variables, and only the nodes after them tell the
    // orders apart: from one place on, one variable is different.
    for order in [[1, 0, 2], [2, 1, 0], [0, 2, 1]] {
        let mut failures = Vec::new();
        for b in builds() {
            for role in SCOPES {
                for depth in DEPTHS.into_iter().filter(|depth| *depth < 60) {
                    let (x, y, z) = (b.var(), b.var(), b.var());
                    let node = open_node(&b, role, &x, depth, |_| true);
                    let shared = b.add(node, b.add(&y, b.add(&z, &x)));
                    let vars = [&x, &y, &z];
                    let left = program(&b, role, vars, vars, &shared);
                    let turned = order.map(|index: usize| vars[index]);
                    let right = program(&b, role, turned, vars, &shared);
                    let name = format!("{order:?}, {role:?}, {depth} scopes");
                    failures.extend(judge(&name, &left, &right, PLAIN, Says::Differ));
                    failures.extend(judge_alone(&name, &left, &right, Says::Differ));
                }
            }
        }
        assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    }
}
