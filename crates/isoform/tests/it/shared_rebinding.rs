//! One object at several places, where a visit binds again what it used: a
//! remembered proof must not stand in for the visits that come after.

use isoform::testing::family::Role;
use isoform::{Dict, List, Value};

use crate::build::{Build, Case, MAPPED, PLAIN, Says, arr, map, run};

/// The same part twice, below a scope that binds nothing.
fn twice(b: &Build, part: &Value) -> Value {
    b.lambda(&[], arr([part, part]))
}

#[test]
fn a_second_visit_sees_what_the_first_one_bound() {
    run(&[
        Case {
            name: "a statement that uses a variable and then binds it to another one",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, a, c) = (b.var(), b.var(), b.var());
                let left = b.assign(&x, b.add(&x, 1));
                let right = b.assign(&c, b.add(&a, 1));
                (
                    b.lambda(&[&x], twice(b, &left)),
                    b.lambda(&[&a], twice(b, &right)),
                )
            },
        },
        Case {
            name: "the same with one visit only",
            options: PLAIN,
            says: Says::Equal,
            make: |b| {
                let (x, a, c) = (b.var(), b.var(), b.var());
                let left = b.assign(&x, b.add(&x, 1));
                let right = b.assign(&c, b.add(&a, 1));
                (
                    b.lambda(&[&x], b.lambda(&[], arr([&left]))),
                    b.lambda(&[&a], b.lambda(&[], arr([&right]))),
                )
            },
        },
        Case {
            name: "a statement that binds a variable to its partner again",
            options: PLAIN,
            says: Says::Equal,
            make: |b| {
                let (x, a) = (b.var(), b.var());
                let left = b.assign(&x, b.add(&x, 1));
                let right = b.assign(&a, b.add(&a, 1));
                (
                    b.lambda(&[&x], twice(b, &left)),
                    b.lambda(&[&a], twice(b, &right)),
                )
            },
        },
        Case {
            name: "a free variable that is bound after its use",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (y, c) = (b.var(), b.var());
                let (left, right) = (b.assign(&y, &y), b.assign(&c, &y));
                (twice(b, &left), twice(b, &right))
            },
        },
        Case {
            name: "a map whose free key is bound by one of its values",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, a) = (b.var(), b.var());
                let side = |bound: &Value| {
                    let value = b.function(&[bound], bound);
                    let m = map([("k".into(), value), (x.clone(), 0.into())]);
                    arr([&m, &m])
                };
                (side(&x), side(&a))
            },
        },
        Case {
            name: "a dag node in a definition field, which binds the first time only",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, a) = (b.var(), b.var());
                let side = |v: &Value| {
                    let pattern = b.shared(v, 0);
                    let f = b.lambda(&[&pattern], v);
                    arr([&f, &f])
                };
                (side(&x), side(&a))
            },
        },
        Case {
            name: "a dag node in a definition field below a map and a list",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, a) = (b.var(), b.var());
                let side = |v: &Value| {
                    let pattern = b.shared(v, 0);
                    let f = Value::from(List::from(vec![b.lambda(&[&pattern], v)]));
                    let d: Dict = [(Value::from(1), f.clone())].into_iter().collect();
                    arr([&f, &d.into()])
                };
                (side(&x), side(&a))
            },
        },
        Case {
            name: "several variables shadowed in turn",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, y, a, c) = (b.var(), b.var(), b.var(), b.var());
                let swap = |first: &Value, second: &Value, sum: [&Value; 2]| {
                    let sum = b.add(sum[0], sum[1]);
                    arr([&b.assign(first, &sum), &b.assign(second, &sum)])
                };
                let (left, right) = (swap(&x, &y, [&x, &y]), swap(&c, &a, [&a, &c]));
                (
                    b.lambda(&[&x, &y], twice(b, &left)),
                    b.lambda(&[&a, &c], twice(b, &right)),
                )
            },
        },
        Case {
            name: "with free variables mapped, a statement that binds anew",
            options: MAPPED,
            says: Says::Differ,
            make: |b| {
                let (x, a, c) = (b.var(), b.var(), b.var());
                let left = b.assign(&x, b.add(&x, 1));
                let right = b.assign(&c, b.add(&a, 1));
                (twice(b, &left), twice(b, &right))
            },
        },
        Case {
            name: "what uses fields hold is used inside a definition, too",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (n, m, x, a) = (b.var(), b.var(), b.var(), b.var());
                let side = |size: &Value, v: &Value| {
                    let pattern = b.node(Role::Sized, vec![size.clone(), v.clone()]);
                    b.lambda(&[&pattern], v)
                };
                (
                    b.lambda(&[&n, &m], side(&n, &x)),
                    b.lambda(&[&n, &m], side(&m, &a)),
                )
            },
        },
    ]);
}
