//! One object at several places, where a visit binds again what it used: a
//! remembered proof must not stand in for the visits that come after.

use std::sync::OnceLock;

use isoform::{
    Dict, DynEqual, DynHash, FieldDef, List, Schema, TypeDef, TypeIndex, Value, construct,
    get_field, register_type,
};
use isoform_testing::family::Role;

use crate::build::{Build, Case, MAPPED, PLAIN, Says, arr, builds, judge, map, run};

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
            name: "a free key inside a scope, which is bound around the second place",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, a) = (b.var(), b.var());
                let side = |bound: &Value| {
                    let part = b.lambda(&[], map([(x.clone(), 0.into())]));
                    let twice = arr([&part, &part]);
                    arr([&twice, &b.lambda(&[bound], &twice)])
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

/// Binds a variable once more, so that what was remembered of its uses is void.
fn shadow(b: &Build, var: &Value) -> Value {
    b.lambda(&[var], var)
}

/// A part that is met a third time: what was remembered of it is void twice,
/// and after the second visit it is known by what its variables stand for.
fn third(b: &Build, var: &Value, part: &Value, behind: &Value) -> Value {
    let body = arr([part, &shadow(b, var), part, &shadow(b, var), behind]);
    b.lambda(&[var], body)
}

#[test]
fn what_is_known_by_its_variables_stands_for_no_visit_that_binds() {
    run(&[
        Case {
            name: "a use that a definition field holds, too",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, a, c) = (b.var(), b.var(), b.var());
                let side = |v: &Value, next: &Value| {
                    let part = b.add(v, 1);
                    third(b, v, &part, &b.lambda(&[&part, next], 0))
                };
                (side(&x, &x), side(&a, &c))
            },
        },
        Case {
            name: "the same without another definition",
            options: PLAIN,
            says: Says::Equal,
            make: |b| {
                let side = |v: &Value| {
                    let part = b.add(v, 1);
                    third(b, v, &part, &b.lambda(&[&part, v], 0))
                };
                (side(&b.var()), side(&b.var()))
            },
        },
        Case {
            name: "a definition that stands in an inner scope as well",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, a, c) = (b.var(), b.var(), b.var());
                let side = |v: &Value, next: &Value| {
                    let part = b.assign(v, b.add(v, 1));
                    let inner = b.lambda(&[], arr([&part, &b.function(&[next], 0)]));
                    third(b, v, &part, &inner)
                };
                (side(&x, &x), side(&a, &c))
            },
        },
        Case {
            name: "the same as a part of a part that was met before",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, a, c) = (b.var(), b.var(), b.var());
                let side = |v: &Value, next: &Value| {
                    let part = b.assign(v, b.add(v, 1));
                    let whole = arr([&part, &1.into()]);
                    let both = arr([&part, &whole]);
                    let inner = b.lambda(&[], arr([&whole, &b.function(&[next], 0)]));
                    let again = arr([&both, &shadow(b, v), &both, &shadow(b, v), &inner]);
                    b.lambda(&[v], again)
                };
                (side(&x, &x), side(&a, &c))
            },
        },
        Case {
            name: "a map whose free key is bound around the third place",
            options: PLAIN,
            says: Says::Differ,
            make: |b| {
                let (x, c) = (b.var(), b.var());
                let side = |bound: &Value| {
                    let z = b.var();
                    let part = map([(x.clone(), b.add(&z, 1))]);
                    third(b, &z, &part, &b.lambda(&[bound], &part))
                };
                (side(&x), side(&c))
            },
        },
    ]);
}

#[test]
fn a_variable_shadowed_below_many_scopes_is_shadowed() {
    for b in builds() {
        for depth in [1, 30, 31, 32, 33, 34, 70] {
            let (x, a, c) = (b.var(), b.var(), b.var());
            let side = |v: &Value, next: &Value| {
                let part = b.add(v, 1);
                let innermost = b.lambda(&[next], &part);
                let deep = (0..depth).fold(innermost, |body, _| b.lambda(&[], body));
                b.lambda(&[v], arr([&part, &deep]))
            };
            for (next, says) in [(&a, Says::Equal), (&c, Says::Differ)] {
                let (left, right) = (side(&x, &x), side(&a, next));
                let failures = judge(&format!("{depth} scopes"), &left, &right, PLAIN, says);
                assert!(failures.is_empty(), "\n{}", failures.join("\n"));
            }
        }
    }
}

/// More variables than are known one by one.
const MANY: usize = 20;

/// The bodies one after the other, each but the last where the same variables are
/// bound: all in scopes of their own, or, with `outside`, in the outermost one. Around
/// the last, two variables may change their places.
fn places(
    b: &Build,
    vars: &[Value],
    bodies: &[Value],
    (outside, swap): (bool, Option<[usize; 2]>),
) -> Value {
    let mut params: Vec<&Value> = vars.iter().collect();
    let mut items = Vec::new();
    for (at, body) in bodies.iter().enumerate() {
        let last = at + 1 == bodies.len();
        if let (Some([one, other]), true) = (swap, last) {
            params.swap(one, other);
        }
        if outside && !last {
            items.push(b.function(&params, body));
            items.push(b.lambda(&params, 0));
        } else {
            items.push(b.lambda(&params, body));
        }
    }
    items.into()
}

/// A node that is equal to another one if one part or the other is.
fn either(one: Value, other: impl Into<Value>) -> Value {
    static TYPE: OnceLock<TypeIndex> = OnceLock::new();
    let index = *TYPE.get_or_init(|| {
        let equal = DynEqual::new(|left, right, eq| {
            let parts = |name: &str| -> isoform::Result<_> {
                Ok((get_field(left, name)?, get_field(right, name)?))
            };
            let (one, other) = (parts("one")?, parts("other")?);
            Ok(eq.attempt(&mut |eq| eq.equal(&one.0, &one.1, "one"))?
                || eq.equal(&other.0, &other.1, "other")?)
        });
        let definition = TypeDef::new("shared_rebinding.Either")
            .field(FieldDef::new("one", Schema::Any))
            .field(FieldDef::new("other", Schema::Any))
            .hook(equal)
            .hook(DynHash::new(|_, init, _| Ok(init)));
        register_type(definition).expect("a valid definition")
    });
    let values = vec![one, other.into()];
    construct(index, values).expect("two fields").into()
}

#[test]
fn no_variable_of_many_is_lost() {
    fn sum(b: &Build, vars: &[Value]) -> Value {
        let add = |one: Value, other: &Value| b.add(one, other);
        vars.iter().fold(Value::from(0), add)
    }
    // A part over variables, and one that it may have met before; operands that may
    // come in either order are turned or not.
    type Make = fn(&Build, &[Value], bool) -> [Value; 2];
    let parts: [(&str, Make); 5] = [
        ("all of them in a part met before", |b, vars, _| {
            let all = sum(b, vars);
            [all.clone(), b.add(&all, 1)]
        }),
        ("half of them in a part met before", |b, vars, _| {
            let half = sum(b, &vars[..MANY / 2]);
            let rest = sum(b, &vars[MANY / 2..]);
            [half.clone(), b.add(half, rest)]
        }),
        ("as many as are known, and one further in", |b, vars, _| {
            let own = b.var();
            let known = b.add(sum(b, &vars[..16]), &own);
            let inner = b.lambda(&[&own], arr([&known, &known]));
            [1.into(), arr([&inner, &sum(b, vars)])]
        }),
        (
            "half of them before an alternative that fails",
            |b, vars, turned| {
                let half = sum(b, &vars[MANY / 2..]);
                let [one, two] = [1, 2].map(|n| b.add(&half, n));
                let sums = match turned {
                    true => b.comm(two, one),
                    false => b.comm(one, two),
                };
                let both = [sum(b, &vars[..MANY / 2]), sums];
                [1.into(), b.lambda(&[], Value::from(both))]
            },
        ),
        (
            "all of them in an alternative that fails",
            |b, vars, turned| {
                let ends = b.add(&vars[0], &vars[MANY - 1]);
                let all = b.add(sum(b, vars), i64::from(turned));
                [1.into(), Value::from([ends, either(all, 0)])]
            },
        ),
    ];
    for b in builds() {
        for (name, make) in parts {
            for outside in [false, true] {
                for swap in [None, Some([0, 1]), Some([MANY - 1, MANY - 2])] {
                    let side = |swap, turned| {
                        let y = b.var();
                        let vars: Vec<Value> = (0..MANY).map(|_| b.var()).collect();
                        let [before, part] = make(&b, &vars, turned);
                        let part = b.add(part, &y);
                        let both = arr([&before, &part]);
                        let bodies = [both.clone(), both, part];
                        let around = b.function(&[&y], 0);
                        let places = places(&b, &vars, &bodies, (outside, swap));
                        arr([&around, &places])
                    };
                    let says = match swap {
                        None => Says::Equal,
                        Some(_) => Says::Differ,
                    };
                    let name = format!("{name}, outside {outside}, {swap:?}");
                    let (left, right) = (side(None, false), side(swap, true));
                    let failures = judge(&name, &left, &right, PLAIN, says);
                    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
                }
            }
        }
    }
}
