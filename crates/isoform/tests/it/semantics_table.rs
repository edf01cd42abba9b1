//! The contract as a table: kinds, flags, scopes, order of visit, maps.

use isoform::{Function, List, Value};
use isoform_testing::family::Role;

use crate::build::{Build, Case, MAPPED, PLAIN, Says, arr, judge, map, run};
use Says::{Differ, Equal, TypeError, ValueError};

macro_rules! table {
    ($($name:literal, $options:expr, $says:expr, |$b:ident| $make:expr;)*) => {
        run(&[$(Case {
            name: $name,
            options: $options,
            says: $says,
            make: |$b| $make,
        }),*])
    };
}

/// Two nodes that are built alike.
fn twice(make: impl Fn() -> Value) -> (Value, Value) {
    (make(), make())
}

#[test]
fn trees_and_const_trees() {
    table! {
        "tree: fields are equal", PLAIN, Equal, |b| twice(|| b.add(b.constant(1), 2));
        "tree: a field differs", PLAIN, Differ, |b| (b.add(1, 2), b.add(1, 3));
        "tree: operands have places", PLAIN, Differ, |b| (b.add(1, 2), b.add(2, 1));
        "tree: sharing is invisible", PLAIN, Equal, |b| {
            let a = b.add(1, 2);
            (b.add(&a, &a), b.add(b.add(1, 2), b.add(1, 2)))
        };
        "tree: sharing across elements is invisible", PLAIN, Equal, |b| {
            let a = b.add(1, 2);
            (arr([&a, &a, &b.add(1, 2)]), arr([&b.add(1, 2), &a, &a]))
        };
        "tree: what a shared tree holds is compared each time", PLAIN, Differ, |b| {
            let (s, t, u) = (b.shared(1, 2), b.shared(1, 2), b.shared(1, 2));
            let a = b.add(&s, 1);
            (arr([&a, &a]), arr([&b.add(t, 1), &b.add(u, 1)]))
        };
        "tree: a shared dag below unshared trees", PLAIN, Equal, |b| {
            let (s, t) = (b.shared(1, 2), b.shared(1, 2));
            let a = b.add(&s, 1);
            (arr([&a, &a]), arr([&b.add(&t, 1), &b.add(&t, 1)]))
        };
        "types: different types", PLAIN, Differ, |b| (b.add(1, 2), b.shared(1, 2));
        "types: a subclass is not its base", MAPPED, Differ, |b| (b.var(), b.ranked((), 0));
        "const-tree: fields are equal", PLAIN, Equal, |b| twice(|| b.frozen(1, "a"));
        "const-tree: a field differs", PLAIN, Differ, |b| (b.frozen(1, 2), b.frozen(1, 3));
        "const-tree: the same pointer is not visited", PLAIN, Equal, |b| {
            let f = b.frozen(b.hidden(), 1);
            (f.clone(), f)
        };
        "const-tree: two pointers are visited", PLAIN, TypeError("<root>.a"), |b| {
            let h = b.hidden();
            (b.frozen(&h, 1), b.frozen(&h, 1))
        };
        "const-tree: sharing is invisible", PLAIN, Equal, |b| {
            let f = b.frozen(1, 2);
            (arr([&f, &f]), arr([&f, &b.frozen(1, 2)]))
        };
    }
}

#[test]
fn dags_and_singletons() {
    table! {
        "dag: fields are equal", PLAIN, Equal, |b| twice(|| b.shared(1, 2));
        "dag: a field differs", PLAIN, Differ, |b| (b.shared(1, 2), b.shared(1, 3));
        "dag: the same sharing", PLAIN, Equal, |b| twice(|| {
            let s = b.shared(1, 2);
            arr([&s, &s])
        });
        "dag: one node against two", PLAIN, Differ, |b| {
            let s = b.shared(1, 2);
            (arr([&s, &s]), arr([&b.shared(1, 2), &b.shared(1, 2)]))
        };
        "dag: one node against itself and another", PLAIN, Differ, |b| {
            let s = b.shared(1, 2);
            (arr([&s, &s]), arr([&s, &b.shared(1, 2)]))
        };
        "dag: two nodes against two", PLAIN, Equal, |b| {
            twice(|| arr([&b.shared(1, 2), &b.shared(1, 2)]))
        };
        "dag: crosswise", PLAIN, Equal, |b| {
            let (s, t) = (b.shared(1, 2), b.shared(1, 2));
            (arr([&s, &t, &s]), arr([&t, &s, &t]))
        };
        "dag: crosswise, then not", PLAIN, Differ, |b| {
            let (s, t) = (b.shared(1, 2), b.shared(1, 2));
            (arr([&s, &t, &s]), arr([&t, &s, &s]))
        };
        "dag: sharing inside a dag", PLAIN, Differ, |b| {
            let s = b.shared(1, 2);
            (b.shared(&s, &s), b.shared(b.shared(1, 2), b.shared(1, 2)))
        };
        "dag: map_free_vars leaves sharing visible", MAPPED, Differ, |b| {
            let s = b.shared(1, 2);
            (arr([&s, &s]), arr([&b.shared(1, 2), &b.shared(1, 2)]))
        };
        "dag and scope: shared against shared", PLAIN, Equal, |b| twice(|| {
            let x = b.var();
            let f = b.binder(Role::SharedLambda, &[&x], &x);
            arr([&f, &f])
        });
        "dag and scope: one against two", PLAIN, Differ, |b| {
            let make = || {
                let x = b.var();
                b.binder(Role::SharedLambda, &[&x], &x)
            };
            let f = make();
            (arr([&f, &f]), arr([&make(), &make()]))
        };
        "singleton: itself", PLAIN, Equal, |b| {
            let op = b.op();
            (op.clone(), op)
        };
        "singleton: another of the same content", PLAIN, Differ, |b| (b.op(), b.op());
        "singleton: map_free_vars changes nothing", MAPPED, Differ, |b| (b.op(), b.op());
    }
}

#[test]
fn vars() {
    table! {
        "var: free, itself", PLAIN, Equal, |b| {
            let x = b.var();
            (x.clone(), x)
        };
        "var: free, another", PLAIN, Differ, |b| (b.var(), b.var());
        "var: map_free_vars", MAPPED, Equal, |b| (b.var(), b.var());
        "var: mapped fields must be equal", MAPPED, Differ, |b| (b.typed(1), b.typed(2));
        "var: own fields are compared for one pointer too", PLAIN, TypeError("<root>.ty"), |b| {
            let x = b.typed(b.hidden());
            (x.clone(), x)
        };
        "var: bound, itself", PLAIN, Equal, |b| twice(|| {
            let x = b.var();
            b.function(&[&x], b.add(&x, &x))
        });
        "var: a bound one against a free one", PLAIN, Differ, |b| {
            let (x, y, z) = (b.var(), b.var(), b.var());
            (b.function(&[&x], &x), b.function(&[&y], &z))
        };
        "var: a bound one against the same pointer, free there", PLAIN, Differ, |b| {
            let (x, y) = (b.var(), b.var());
            (b.function(&[&x], &x), b.function(&[&y], &x))
        };
        "var: one against two", MAPPED, Differ, |b| {
            let x = b.var();
            (arr([&x, &x]), arr([&b.var(), &b.var()]))
        };
        "var: the order of parameters counts", PLAIN, Differ, |b| {
            let (x, y) = (b.var(), b.var());
            (b.function(&[&x, &y], b.add(&x, &y)), b.function(&[&x, &y], b.add(&y, &x)))
        };
        "var: swapped", MAPPED, Equal, |b| {
            let (x, y) = (b.var(), b.var());
            (arr([&x, &y, &x]), arr([&y, &x, &y]))
        };
        "var: swapped, then not", MAPPED, Differ, |b| {
            let (x, y) = (b.var(), b.var());
            (arr([&x, &y, &x]), arr([&y, &x, &x]))
        };
        "var: identity records the pair", PLAIN, Differ, |b| {
            let (x, y) = (b.var(), b.var());
            (arr([&x, &b.function(&[&x], 1)]), arr([&x, &b.function(&[&y], 1)]))
        };
        // A free variable is known by its identity, and its fields are compared
        // like any others, with the bindings in force. So one whose type
        // mentions a variable bound around it fits only a binder of that same
        // variable: renaming the binder would change the type, and make the
        // free variable another one.
        "var: free, with a bound one in its type", PLAIN, Equal, |b| {
            let x = b.var();
            let y = b.typed(&x);
            (b.lambda(&[&x], &y), b.lambda(&[&x], &y))
        };
        "var: free, with one in its type that is bound on one side", PLAIN, Differ, |b| {
            let (x, a) = (b.var(), b.var());
            let y = b.typed(&x);
            (b.lambda(&[&x], &y), b.lambda(&[&a], &y))
        };
        "var: free, and another with the renamed type", PLAIN, Differ, |b| {
            let (x, a) = (b.var(), b.var());
            (b.lambda(&[&x], b.typed(&x)), b.lambda(&[&a], b.typed(&a)))
        };
        "var: mapped, with the renamed type", MAPPED, Equal, |b| {
            let (x, a) = (b.var(), b.var());
            (b.lambda(&[&x], b.typed(&x)), b.lambda(&[&a], b.typed(&a)))
        };
        // A variable that was used free is mapped to itself until the end, and
        // only a scope may bind it anew; a statement outside of all scopes may
        // not. A scope's own later definition may, as the use before it was
        // of the variable outside.
        "var: used free, then bound by a statement", PLAIN, Differ, |b| {
            let (x, a) = (b.var(), b.var());
            (arr([&x, &b.assign(&x, 1)]), arr([&x, &b.assign(&a, 1)]))
        };
        "var: used free, then bound by a statement of a scope", PLAIN, Equal, |b| {
            let (x, a) = (b.var(), b.var());
            (
                b.lambda(&[], arr([&x, &b.assign(&x, 1), &x])),
                b.lambda(&[], arr([&x, &b.assign(&a, 1), &a])),
            )
        };
        "var: used free, then bound by the scope itself", PLAIN, Equal, |b| {
            let (x, a) = (b.var(), b.var());
            (
                b.binder(Role::LateLambda, &[&x], &x),
                b.binder(Role::LateLambda, &[&a], &x),
            )
        };
        "var: the subtype's own field counts", MAPPED, Differ, |b| {
            (b.ranked((), 1), b.ranked((), 2))
        };
    }
}

#[test]
fn types_without_comparison() {
    table! {
        "none: two objects", PLAIN, TypeError("<root>"), |b| (b.hidden(), b.hidden());
        "none: the same pointer", PLAIN, TypeError("<root>.value"), |b| {
            let h = b.hidden();
            (b.constant(&h), b.constant(&h))
        };
        "none: the same pointer below the same pointer", PLAIN, TypeError("<root>[0].value"), |b| {
            let c = b.constant(b.hidden());
            (arr([&c]), arr([&c]))
        };
        "none: against another type", PLAIN, TypeError("<root>[0]"), |b| {
            ([b.hidden()].into(), [1].into())
        };
        "none: an earlier mismatch wins", PLAIN, Differ, |b| {
            let n = b.hidden();
            (arr([&1.into(), &n]), arr([&2.into(), &n]))
        };
        "none: a later mismatch does not", PLAIN, TypeError("<root>[0]"), |b| {
            let n = b.hidden();
            (arr([&n, &1.into()]), arr([&n, &2.into()]))
        };
        "none: a definition field is visited earlier", PLAIN, Differ, |b| {
            let n = b.hidden();
            (b.lambda(&[&b.var()], &n), b.lambda(&[], &n))
        };
        "none: unless the type says otherwise", PLAIN, TypeError("<root>.body"), |b| {
            let n = b.hidden();
            (
                b.binder(Role::LateLambda, &[&b.var()], &n),
                b.binder(Role::LateLambda, &[], &n),
            )
        };
        "function: the same pointer", PLAIN, TypeError("<root>[1]"), |_b| {
            let f = Value::from(Function::new(|_| Ok(Value::NONE)));
            (arr([&1.into(), &f]), arr([&1.into(), &f]))
        };
        "opaque: the same pointer", PLAIN, TypeError("<root>"), |_b| {
            let o = Value::opaque(1u8);
            (o.clone(), o)
        };
    }
}

#[test]
fn flags() {
    table! {
        "ignore: never compared", PLAIN, Equal, |b| (
            b.node(Role::Add, vec![1.into(), 2.into(), 3.into()]),
            b.node(Role::Add, vec!["elsewhere".into(), 2.into(), 3.into()]),
        );
        "ignore: never visited", PLAIN, Equal, |b| {
            twice(|| b.node(Role::Add, vec![b.hidden(), 2.into(), 3.into()]))
        };
        "ignore: the name of a variable", MAPPED, Equal, |b| (b.named("x", 1), b.named("y", 1));
        "def: binds", PLAIN, Equal, |b| twice(|| b.function(&[&b.var()], 1));
        "def: binds the variables of a parameter's type", PLAIN, Equal, |b| twice(|| {
            let n = b.var();
            b.function(&[&b.typed(&n)], &n)
        });
        "def: binds below other nodes", PLAIN, Equal, |b| twice(|| {
            let n = b.var();
            b.function(&[&b.add(b.constant(&n), 1)], &n)
        });
        "def: a pattern that differs", PLAIN, Differ, |b| {
            let (x, y) = (b.var(), b.var());
            (b.function(&[&b.add(&x, 1)], 1), b.function(&[&b.add(&y, 2)], 1))
        };
        "def-simple: binds", PLAIN, Equal, |b| twice(|| {
            let x = b.var();
            arr([&b.assign(&x, 1), &x])
        });
        "def-simple: other variables in the type are uses", PLAIN, Differ, |b| {
            twice(|| b.assign(&b.typed(b.var()), 1))
        };
        "def-simple: the same variable in the type", PLAIN, Equal, |b| {
            let n = b.var();
            twice(|| b.assign(&b.typed(&n), 1))
        };
        "def-simple: a bound variable in the type", PLAIN, Equal, |b| twice(|| {
            let n = b.var();
            b.function(&[&n], b.assign(&b.typed(&n), 1))
        });
        "def-simple inside map_free_vars: uses stay uses", MAPPED, Differ, |b| {
            twice(|| b.assign(&b.typed(b.var()), 1))
        };
        "no flag: the region is inherited", PLAIN, Equal, |b| twice(|| {
            let x = b.var();
            b.function(&[&b.function(&[], &x)], &x)
        });
        "no flag: a use stays a use", PLAIN, Differ, |b| twice(|| b.function(&[], b.var()));
        "map_free_vars: consistent", MAPPED, Equal, |b| twice(|| {
            let (x, y) = (b.var(), b.var());
            arr([&x, &y, &b.add(&x, &y)])
        });
        "map_free_vars: inconsistent", MAPPED, Differ, |b| {
            let (x, y) = (b.var(), b.var());
            (arr([&x, &y, &x]), arr([&x, &y, &y]))
        };
        "a statement binds for its later siblings", PLAIN, Equal, |b| twice(|| {
            let (x, y) = (b.var(), b.var());
            arr([&b.assign(&x, 1), &b.assign(&y, &x), &b.add(&x, &y)])
        });
        "a statement's value comes before its target", PLAIN, Differ, |b| twice(|| {
            let x = b.var();
            b.assign(&x, &x)
        });
    }
}

/// The four rows: what a binder without and with a scope says.
#[test]
fn the_scope_table() {
    type Row = (&'static str, Says, Says, fn(&Build, Role) -> (Value, Value));
    fn id(b: &Build, role: Role, x: &Value) -> Value {
        b.binder(role, &[x], x)
    }
    let rows: [Row; 4] = [
        ("[fun x.x, x] and [fun a.a, a]", Equal, Differ, |b, role| {
            let (x, a) = (b.var(), b.var());
            (arr([&id(b, role, &x), &x]), arr([&id(b, role, &a), &a]))
        }),
        ("[l, l] and [fun a.a, fun b.b]", Differ, Equal, |b, role| {
            let l = id(b, role, &b.var());
            let right = arr([&id(b, role, &b.var()), &id(b, role, &b.var())]);
            (arr([&l, &l]), right)
        }),
        (
            "fun x.fun x.x and fun a.fun b.b",
            Differ,
            Equal,
            |b, role| {
                let (x, a, c) = (b.var(), b.var(), b.var());
                (
                    b.binder(role, &[&x], id(b, role, &x)),
                    b.binder(role, &[&a], id(b, role, &c)),
                )
            },
        ),
        ("[x, fun x.x] and [x, fun a.a]", Differ, Equal, |b, role| {
            let (x, a) = (b.var(), b.var());
            (arr([&x, &id(b, role, &x)]), arr([&x, &id(b, role, &a)]))
        }),
    ];
    // A scope of kind dag shows sharing as well, so not in the second row.
    let roles = [
        (Role::Function, false, 4),
        (Role::Lambda, true, 4),
        (Role::Binder, true, 4),
        (Role::SharedLambda, true, 1),
    ];
    let mut failures = Vec::new();
    for b in crate::build::builds() {
        for (role, scope, count) in roles {
            for (name, default, scoped, make) in rows.iter().take(count) {
                let says = if scope { *scoped } else { *default };
                let (left, right) = make(&b, role);
                let name = format!("{name}, {role:?} in {}", b.0.name());
                failures.extend(judge(&name, &left, &right, PLAIN, says));
                // The same inside another binder. A scope around a binder that
                // is none would let it shadow what is bound outside of both.
                let enclose = |inner| b.binder(role, &[], inner);
                let (left, right) = (enclose(left), enclose(right));
                let name = format!("{name}, enclosed");
                failures.extend(judge(&name, &left, &right, PLAIN, says));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn scopes() {
    table! {
        "scope: the old binding comes back", PLAIN, Equal, |b| {
            let (x, a, c) = (b.var(), b.var(), b.var());
            (
                b.lambda(&[&x], arr([&b.lambda(&[&x], &x), &x])),
                b.lambda(&[&a], arr([&b.lambda(&[&c], &c), &a])),
            )
        };
        "scope: the inner binding ends", PLAIN, Differ, |b| {
            let (x, a, c) = (b.var(), b.var(), b.var());
            (
                b.lambda(&[&x], arr([&b.lambda(&[&x], &x), &x])),
                b.lambda(&[&a], arr([&b.lambda(&[&c], &c), &c])),
            )
        };
        "scope: the inner binding hides the outer one", PLAIN, Differ, |b| {
            let (x, a, c) = (b.var(), b.var(), b.var());
            (
                b.lambda(&[&x], b.lambda(&[&x], &x)),
                b.lambda(&[&a], b.lambda(&[&c], &a)),
            )
        };
        "scope: a statement's binding ends with it", PLAIN, Differ, |b| twice(|| {
            let x = b.var();
            arr([&b.lambda(&[], b.assign(&x, 1)), &x])
        });
        "no scope: a statement's binding stays", PLAIN, Equal, |b| twice(|| {
            let x = b.var();
            arr([&b.function(&[], b.assign(&x, 1)), &x])
        });
        "scope: a free variable mapped inside stays mapped", MAPPED, Equal, |b| twice(|| {
            let x = b.var();
            arr([&b.lambda(&[], &x), &x])
        });
        "scope: a free variable mapped inside has one partner", MAPPED, Differ, |b| {
            let (x, a, c) = (b.var(), b.var(), b.var());
            (arr([&b.lambda(&[], &x), &x]), arr([&b.lambda(&[], &a), &c]))
        };
        "scope: shadowing a mapped variable", MAPPED, Equal, |b| {
            let (x, a, c) = (b.var(), b.var(), b.var());
            (
                arr([&x, &b.lambda(&[&x], &x), &x]),
                arr([&a, &b.lambda(&[&c], &c), &a]),
            )
        };
        "no scope: no shadowing of a mapped variable", MAPPED, Differ, |b| {
            let (x, a, c) = (b.var(), b.var(), b.var());
            (arr([&x, &b.function(&[&x], &x)]), arr([&a, &b.function(&[&c], &c)]))
        };
        "scope: a variable matched by identity inside", PLAIN, Equal, |b| {
            let (x, a) = (b.var(), b.var());
            (
                arr([&b.lambda(&[], &x), &b.lambda(&[&x], &x), &x]),
                arr([&b.lambda(&[], &x), &b.lambda(&[&a], &a), &x]),
            )
        };
        "scope: a dag pair outlives it", PLAIN, Differ, |b| {
            let s = b.shared(1, 2);
            let t = b.shared(1, 2);
            (arr([&b.lambda(&[], &s), &s]), arr([&b.lambda(&[], &t), &b.shared(1, 2)]))
        };
        "scope: a dag pair holds in another scope", PLAIN, Equal, |b| twice(|| {
            let s = b.shared(1, 2);
            arr([&b.lambda(&[], &s), &b.lambda(&[], &s)])
        });
        "scope: one proof does not serve another scope", PLAIN, Differ, |b| {
            let (x, y, a, c) = (b.var(), b.var(), b.var(), b.var());
            let (l, r) = (b.add(&x, &y), b.add(&a, &c));
            (
                arr([&b.lambda(&[&x, &y], &l), &b.lambda(&[&x, &y], &l)]),
                arr([&b.lambda(&[&a, &c], &r), &b.lambda(&[&c, &a], &r)]),
            )
        };
        "scope: a shared open term, bound alike", PLAIN, Equal, |b| twice(|| {
            let (x, y) = (b.var(), b.var());
            let sum = b.add(&x, &y);
            arr([&b.lambda(&[&x, &y], &sum), &b.lambda(&[&y, &x], &sum)])
        });
        "defs first: the parameters are declared last", PLAIN, Equal, |b| twice(|| {
            let x = b.var();
            b.lambda(&[&x], b.add(&x, 1))
        });
        "defs last: the body is visited before", PLAIN, Differ, |b| twice(|| {
            let x = b.var();
            b.binder(Role::LateLambda, &[&x], b.add(&x, 1))
        });
        "defs last: the body's variables are free", PLAIN, Equal, |b| {
            let x = b.var();
            twice(|| b.binder(Role::LateLambda, &[&b.var()], b.add(&x, 1)))
        };
    }
}

#[test]
fn maps() {
    table! {
        "map: insertion order", PLAIN, Equal, |_b| (
            map([(1.into(), "a".into()), ("k".into(), "b".into()), (true.into(), "c".into())]),
            map([(true.into(), "c".into()), ("k".into(), "b".into()), (1.into(), "a".into())]),
        );
        "map: a value differs", PLAIN, Differ, |_b| {
            (map([(1.into(), 1.into())]), map([(1.into(), 2.into())]))
        };
        "map: a key is missing", PLAIN, Differ, |_b| {
            (map([(1.into(), 1.into()), (2.into(), 1.into())]), map([(1.into(), 1.into())]))
        };
        "map: another key", PLAIN, Differ, |_b| {
            (map([(1.into(), 1.into())]), map([(2.into(), 1.into())]))
        };
        "map: plain keys match by value and type", PLAIN, Differ, |_b| {
            (map([(1.into(), 1.into())]), map([(1.0.into(), 1.into())]))
        };
        "map: long strings are plain keys", PLAIN, Equal, |_b| {
            twice(|| map([("a key of more than a few bytes".into(), 1.into())]))
        };
        "map: an unbound object key matches itself", PLAIN, Equal, |b| {
            let x = b.var();
            twice(|| map([(x.clone(), 1.into())]))
        };
        "map: an unbound object key matches no other", PLAIN, Differ, |b| {
            twice(|| map([(b.constant(1), 1.into())]))
        };
        "map: keys do not bind", MAPPED, Differ, |b| twice(|| map([(b.var(), 1.into())]));
        "map: a mapped key", MAPPED, Equal, |b| twice(|| {
            let x = b.var();
            arr([&x, &map([(x.clone(), 1.into())])])
        });
        "map: a bound key matches its partner", PLAIN, Equal, |b| twice(|| {
            let x = b.var();
            b.lambda(&[&x], map([(x.clone(), 1.into())]))
        });
        "map: a bound key matches nothing else", PLAIN, Differ, |b| {
            let (x, y) = (b.var(), b.var());
            (
                b.lambda(&[&x], map([(x.clone(), 1.into())])),
                b.lambda(&[&y], map([(x.clone(), 1.into())])),
            )
        };
        "map: no capture", PLAIN, Differ, |b| {
            let (x, y) = (b.var(), b.var());
            (
                b.lambda(&[&x], map([(y.clone(), 1.into())])),
                b.lambda(&[&y], map([(y.clone(), 1.into())])),
            )
        };
        "map: a free key under other binders", PLAIN, Equal, |b| {
            let y = b.var();
            twice(|| b.lambda(&[&b.var()], map([(y.clone(), 1.into())])))
        };
        "map: bound keys in any order", PLAIN, Equal, |b| {
            let (x, y, a, c) = (b.var(), b.var(), b.var(), b.var());
            (
                b.lambda(&[&x, &y], map([(x.clone(), 1.into()), (y.clone(), 2.into())])),
                b.lambda(&[&a, &c], map([(c.clone(), 2.into()), (a.clone(), 1.into())])),
            )
        };
        "map: bound keys with each other's values", PLAIN, Differ, |b| {
            let (x, y, a, c) = (b.var(), b.var(), b.var(), b.var());
            (
                b.lambda(&[&x, &y], map([(x.clone(), 1.into()), (y.clone(), 2.into())])),
                b.lambda(&[&a, &c], map([(a.clone(), 2.into()), (c.clone(), 1.into())])),
            )
        };
        "map: a dag key that is paired", PLAIN, Equal, |b| twice(|| {
            let s = b.shared(1, 2);
            arr([&s, &map([(s.clone(), 1.into())])])
        });
        "map: keys are translated as the map is entered", PLAIN, Differ, |b| twice(|| {
            let s = b.shared(1, 2);
            arr([&map([(0.into(), s.clone()), (s.clone(), 1.into())])])
        });
        "map: variables are numbered in canonical order", MAPPED, Equal, |b| {
            let (x, y, a, c) = (b.var(), b.var(), b.var(), b.var());
            (
                arr([&map([(1.into(), x.clone()), (2.into(), y.clone())]), &x]),
                arr([&map([(2.into(), a.clone()), (1.into(), c.clone())]), &c]),
            )
        };
        "map: values in the order of plain keys", PLAIN, Differ, |b| {
            let n = b.hidden();
            (
                map([("b".into(), n.clone()), ("a".into(), 1.into())]),
                map([("b".into(), n.clone()), ("a".into(), 2.into())]),
            )
        };
        "map: an earlier key raises", PLAIN, TypeError("<root>[\"a\"]"), |b| {
            let n = b.hidden();
            (
                map([("b".into(), 1.into()), ("a".into(), n.clone())]),
                map([("b".into(), 2.into()), ("a".into(), n.clone())]),
            )
        };
        "map: keys come before values", PLAIN, Differ, |b| {
            let n = b.hidden();
            (map([(1.into(), n.clone())]), map([(1.into(), n), (2.into(), 1.into())]))
        };
    }
}

/// A list that holds itself, below a way to it; broken by the caller.
fn cyclic() -> List {
    let list = List::from(vec![1i64]);
    let list: List = list.snapshot().values().iter().cloned().collect();
    list.push(Value::from([Value::from(list.clone())])).unwrap();
    list
}

#[test]
fn cycles_are_errors_with_a_path() {
    let (l, r) = (cyclic(), cyclic());
    let (left, right) = (Value::from(l.clone()), Value::from(r.clone()));
    let mut failures = judge("cyclic", &left, &right, PLAIN, ValueError("<root>[1][0]"));
    failures.extend(judge(
        "itself",
        &left,
        &left,
        PLAIN,
        ValueError("<root>[1][0]"),
    ));
    // An earlier mismatch wins here too.
    let (one, two) = ([1.into(), left.clone()], [2.into(), right.clone()]);
    failures.extend(judge("first", &one.into(), &two.into(), PLAIN, Differ));
    let error = isoform::structural_hash(&left).expect_err("cyclic");
    assert_eq!(error.path().expect("a path").to_string(), "<root>[1][0]");
    assert!(error.message().starts_with("cyclic"), "{error}");
    let error = isoform::structural_digest(&left).expect_err("cyclic");
    assert_eq!(error.kind(), isoform::ErrorKind::Value);
    assert_eq!(error.path().expect("a path").to_string(), "<root>[1][0]");
    let error = isoform::explain_mismatch(&left, &right, PLAIN).expect_err("cyclic");
    assert!(error.message().starts_with("cyclic"), "{error}");
    // Break the cycles, so that the memory is given back.
    l.clear();
    r.clear();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
