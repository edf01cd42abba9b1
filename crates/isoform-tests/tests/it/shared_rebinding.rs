//! One object at several places, where a visit rebinds variables used by the object: a
//! remembered proof must not replace later visits.
//!
//! The small cases of this are in `tests/cases/sharing.txt`; these are of many sizes.

use std::sync::OnceLock;

use isoform::Value;
use isoform::hooks::{DynEqual, DynHash};
use isoform::objects::{construct, field_value};
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};

use crate::build::{Build, PLAIN, Says, arr, builds, judge};

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

/// More variables than are tracked individually.
const MANY: usize = 20;

/// The bodies in sequence, each except the last in a place where the same variables are
/// bound: in a separate scope each or, with `outside`, in the outermost scope. Around
/// the last, two variables may swap places.
fn places(
    b: &Build,
    vars: &[Value],
    bodies: &[Value],
    (outside, swap): (bool, Option<[usize; 2]>),
) -> Value {
    let mut params: Vec<&Value> = vars.iter().collect();
    let mut items = Vec::new();
    for (index, body) in bodies.iter().enumerate() {
        let last = index + 1 == bodies.len();
        if let (Some([first, second]), true) = (swap, last) {
            params.swap(first, second);
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

/// A node with two parts; two nodes are equal if either pair of parts is equal.
fn either(one: Value, other: impl Into<Value>) -> Value {
    static TYPE: OnceLock<TypeIndex> = OnceLock::new();
    let index = *TYPE.get_or_init(|| {
        let equal = DynEqual::new(|left, right, eq| {
            let parts = |name: &str| -> isoform::Result<_> {
                Ok((field_value(left, name)?, field_value(right, name)?))
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
        let add = |total: Value, var: &Value| b.add(total, var);
        vars.iter().fold(Value::from(0), add)
    }
    // A part over variables, and a part possibly met before; the operands, in any
    // order, may be swapped.
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
            let term = b.add(sum(b, &vars[..16]), &own);
            let inner = b.lambda(&[&own], arr([&term, &term]));
            [1.into(), arr([&inner, &sum(b, vars)])]
        }),
        (
            "half of them before an alternative that fails",
            |b, vars, turned| {
                let half = sum(b, &vars[MANY / 2..]);
                let [first, second] = [1, 2].map(|n| b.add(&half, n));
                let sums = if turned {
                    b.comm(second, first)
                } else {
                    b.comm(first, second)
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
