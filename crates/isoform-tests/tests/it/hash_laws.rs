//! The laws of hashes and digests that pairs of values do not cover.

use std::collections::HashSet;
use std::io::Write;
use std::process::Command;
use std::sync::Mutex;

use isoform::errors::ErrorKind;
use isoform::hooks::DynHash;
use isoform::objects::{construct, field_value};
use isoform::types::{FieldDef, Schema, TypeDef, register_type};
use isoform::values::Bytes;
use isoform::{Value, structural_digest, structural_hash};
use isoform_testing::check_laws;
use isoform_testing::family::Role;

use crate::build::{Build, MAPPED, PLAIN, arr, builds, map};

fn hash(value: impl Into<Value>) -> u64 {
    structural_hash(value).expect("hashable")
}

/// Fails when two of the values have the same hash.
#[track_caller]
fn assert_distinct(values: impl Iterator<Item = Value>, count: usize) {
    let distinct: HashSet<u64> = values.map(hash).collect();
    assert_eq!(distinct.len(), count);
}

#[test]
fn small_values_have_distinct_hashes() {
    let pairs = |n: i64| (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)));
    assert_distinct(pairs(200).map(|(a, b)| [a, b].into()), 40_000);
    assert_distinct((0..100_000).map(|i: i64| i.to_string().into()), 100_000);
    assert_distinct((0..100_000).map(|i| format!("v{i}").into()), 100_000);
    assert_distinct((0..100_000i64).map(|i| (i as f64).into()), 100_000);
    let maps = pairs(100).map(|(a, b)| map([("a".into(), a.into()), ("b".into(), b.into())]));
    assert_distinct(maps, 10_000);
    for b in builds() {
        assert_distinct(pairs(200).map(|(l, r)| b.add(l, r)), 40_000);
        let trees = pairs(10).flat_map(|lhs| pairs(10).map(move |rhs| (lhs, rhs)));
        let sum = |(l, r)| b.add(l, r);
        assert_distinct(trees.map(|(l, r)| b.add(sum(l), sum(r))), 10_000);
    }
}

/// A closed value with a bit of everything.
fn closed(b: &Build) -> Value {
    let (x, y) = (b.var(), b.typed(1));
    let s = b.shared(1, "s");
    let body = arr([&b.add(&x, &y), &s, &s, &map([(x.clone(), 1.into())])]);
    b.lambda(&[&x, &y], arr([&body, &b.comm(1, 2), &b.frozen(1, 2)]))
}

#[test]
fn closed_values_hash_alike_when_built_again() {
    for build in builds() {
        let (one, two) = (closed(&build), closed(&build));
        for options in [PLAIN, MAPPED] {
            let names = |value: &Value| {
                let hash = options.hash(value).expect("hashable");
                let digest = options.digest(value).expect("portable");
                (hash, digest)
            };
            assert_eq!(names(&one), names(&two));
            // A second time: hashing leaves no state that changes a hash.
            assert_eq!(names(&one), names(&one));
        }
    }
}

#[test]
fn free_variables_hash_by_identity() {
    for build in builds() {
        let (x, y) = (build.var(), build.var());
        assert_eq!(hash(build.add(&x, 1)), hash(build.add(&x, 1)));
        assert_ne!(hash(build.add(&x, 1)), hash(build.add(&y, 1)));
    }
}

#[test]
fn free_variables_have_no_digest() {
    for build in builds() {
        let x = build.var();
        for (value, path) in [
            (x.clone(), "<root>"),
            (build.add(1, &x), "<root>.rhs"),
            (build.lambda(&[&build.var()], &x), "<root>.body"),
            (arr([&build.lambda(&[&x], &x), &x]), "<root>[1]"),
        ] {
            let error = structural_digest(&value).expect_err("x is free");
            assert_eq!(error.kind(), ErrorKind::Value, "{error}");
            assert_eq!(error.path().expect("a path").to_string(), path);
            MAPPED.digest(&value).expect("mapped");
        }
        structural_digest(build.lambda(&[&x], &x)).expect("closed");
    }
}

#[test]
fn what_cannot_be_compared_has_no_names() {
    for build in builds() {
        let value = build.node(Role::Add, vec![1.into(), 2.into(), build.hidden()]);
        let hash = structural_hash(&value).expect_err("no hash");
        let digest = structural_digest(&value).expect_err("no digest");
        for error in [hash, digest] {
            assert_eq!(error.kind(), ErrorKind::Type);
            assert!(error.message().contains("Hidden"), "{error}");
            assert_eq!(error.path().expect("a path").to_string(), "<root>.rhs");
        }
    }
}

#[test]
fn maps_with_other_long_keys_hash_apart() {
    // Long strings and byte strings are objects, and matched by content.
    let long = |end: &str| format!("a key of more than fourteen bytes {end}");
    let keys = |end: &str| {
        let bytes = Bytes::from(long(end).into_bytes());
        [Value::from(long(end).as_str()), Value::from(bytes)]
    };
    for (one, other) in keys("a").into_iter().zip(keys("b")) {
        let table = |key: &Value| map([(key.clone(), 1.into())]);
        assert_ne!(hash(table(&one)), hash(table(&other)));
        let digest = |key| structural_digest(table(key)).expect("closed");
        assert_ne!(digest(&one), digest(&other));
    }
}

#[test]
fn a_closed_part_hashes_alike_wherever_it_stands() {
    // Asks for the hashes of two equal parts: they have to agree, in the call that decides
    // the hash.
    static ANSWERS: Mutex<[u64; 2]> = Mutex::new([0; 2]);
    let twins = DynHash::new(|object, init, hash| {
        let (a, b) = (field_value(object, "a")?, field_value(object, "b")?);
        let (a, b) = (hash.hash(&a, init)?, hash.hash(&b, init)?);
        *ANSWERS.lock().expect("no panic") = [a, b];
        Ok(a)
    });
    let hash = |value: Value| {
        let hash = hash(value);
        let [a, b] = *ANSWERS.lock().expect("no panic");
        assert_eq!(a, b, "equal parts hash differently in one walk");
        hash
    };
    let definition = TypeDef::new("hash_laws.Twins")
        .field(FieldDef::new("a", Schema::Any))
        .field(FieldDef::new("b", Schema::Any))
        .hook(twins);
    let ty = register_type(definition).expect("a valid definition");
    for build in builds() {
        for binder in [Role::Function, Role::Lambda] {
            let (x, y, z) = (build.var(), build.var(), build.var());
            let identity = |x: &Value| build.binder(binder, &[x], build.add(x, 1));
            let twins = |x: &Value, y: &Value| -> Value {
                let parts = vec![identity(x), identity(y)];
                construct(ty, parts).expect("two fields").into()
            };
            // A hash that depends on the place is part of the surrounding hash.
            let around =
                |x: &Value, y: &Value| hash(build.binder(binder, &[&z], arr([&z, &twins(x, y)])));
            assert_eq!(around(&x, &y), around(&y, &x));
            assert_eq!(hash(twins(&x, &y)), hash(twins(&y, &x)));
        }
    }
}

#[test]
fn maps_and_their_keys_obey_the_laws() {
    for b in builds() {
        let (x, y) = (b.var(), b.var());
        let (p, q) = (b.shared(0, 0), b.shared(0, 0));
        let keyed = |key: &Value| map([(key.clone(), 1.into())]);
        let mut values = Vec::new();
        for binder in [Role::Function, Role::Lambda] {
            for (first, second) in [(&x, &y), (&y, &x), (&x, &x), (&y, &y)] {
                let empty = |param: &Value| b.binder(binder, &[param], 0);
                values.push(b.binder(binder, &[first], keyed(second)));
                values.push(map([
                    ("a".into(), first.clone()),
                    ("f".into(), empty(second)),
                ]));
                values.push(map([
                    ("f".into(), empty(first)),
                    ("z".into(), second.clone()),
                ]));
                values.push(arr([first, &keyed(second)]));
            }
        }
        for (first, second) in [(&p, &q), (&q, &p), (&p, &p), (&q, &q)] {
            values.push(arr([first, &keyed(second)]));
            values.push(arr([&keyed(first), second]));
        }
        for options in [PLAIN, MAPPED] {
            check_laws(&values, options).expect("the laws hold");
        }
    }
}

/// Values of a map bind and use a dag node, in the order of the keys: a hash must take the
/// keys in the order in which equality does, that of their bindings.
#[test]
fn keys_of_all_kinds_come_in_the_order_of_their_bindings() {
    for b in builds() {
        let free = b.var();
        let value = |order: [usize; 3], first: usize, second: usize, region: Role| {
            let (bound, inner) = (b.var(), b.var());
            let (met, later) = (b.shared(0, "met"), b.shared(0, "later"));
            let keys = [&bound, &free, &met];
            let entries = [
                (keys[first].clone(), later.clone()),
                (keys[second].clone(), map([(later.clone(), 0.into())])),
            ];
            let used = order.map(|position| keys[position].clone());
            let body = arr([&Value::from(used.to_vec()), &map(entries)]);
            b.binder(region, &[&bound], b.binder(region, &[&inner], body))
        };
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let mut equal = 0;
        for role in [Role::Lambda, Role::Function] {
            for (order, [first, second]) in orders.iter().flat_map(|order| {
                let pairs = [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]];
                pairs.map(|pair| (*order, pair))
            }) {
                let pair = [(); 2].map(|()| value(order, first, second, role));
                for options in [PLAIN, MAPPED] {
                    let [left, right] = &pair;
                    if !options.equal(left, right).expect("comparable") {
                        continue;
                    }
                    equal += 1;
                    let names = [left, right].map(|value| {
                        let digest = options.digest(value).map_err(|error| error.kind());
                        (options.hash(value).expect("hashable"), digest)
                    });
                    assert_eq!(names[0], names[1], "{order:?} {first} {second} {options:?}");
                    check_laws(&pair, options).expect("the laws hold");
                }
            }
        }
        assert!(equal > 60, "{equal}");
    }
}

/// The hashes of a program built from scratch, the first of a closed one.
fn hashes_of_a_new_program() -> String {
    let [b, _] = builds();
    let (x, y) = (b.var(), b.var());
    let closed = b.lambda(&[&x], b.add(&x, 1));
    let open = b.function(&[&x], b.add(&x, &y));
    let keyed = map([
        (y.clone(), 1.into()),
        (x.clone(), 2.into()),
        ("k".into(), open.clone()),
    ]);
    format!("{:x?}", [closed, open, x, y, keyed].map(hash))
}

#[test]
fn hashes_are_the_same_in_every_run() {
    const VARIABLE: &str = "ISOFORM_TEST_PRINT_HASHES";
    const NAME: &str = "hash_laws::hashes_are_the_same_in_every_run";
    const MARK: &str = "hashes=";
    if std::env::var_os(VARIABLE).is_some() {
        let line = format!("{MARK}{}\n", hashes_of_a_new_program());
        std::io::stdout()
            .write_all(line.as_bytes())
            .expect("written");
        return;
    }
    // Free variables are named by a counter of the process, and two processes that
    // build the same program agree on the names, too.
    let run = || {
        let program = std::env::current_exe().expect("this program");
        let arguments = [NAME, "--exact", "--nocapture", "--test-threads=1"];
        let output = Command::new(program)
            .args(arguments)
            .env(VARIABLE, "1")
            .output()
            .expect("it runs");
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).expect("text");
        let line = text.lines().find_map(|line| line.split_once(MARK));
        line.expect("a line with the hashes").1.to_string()
    };
    let first = run();
    assert_eq!(first, run());
    // In this process other tests have built variables; closed terms are the
    // same nevertheless.
    let closed = |text: &str| text.split(',').next().map(str::to_string);
    assert_eq!(closed(&first), closed(&hashes_of_a_new_program()));
}
