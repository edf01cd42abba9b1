//! The laws of hashes and digests that pairs of values do not show.

use std::collections::HashSet;

use isoform::{
    Bytes, ErrorKind, Value, structural_digest, structural_digest_with, structural_hash,
    structural_hash_with,
};
use isoform_testing::family::Role;

use crate::build::{Build, MAPPED, PLAIN, arr, builds, map};

fn hash(value: impl Into<Value>) -> u64 {
    structural_hash(value).expect("hashable")
}

#[test]
fn small_pairs_and_decimal_strings_are_distinct() {
    let numbers = |n: i64| (0..n).flat_map(move |a| (0..n).map(move |b| [a, b]));
    let pairs: HashSet<_> = numbers(200).map(hash).collect();
    assert_eq!(pairs.len(), 40_000);
    let strings: HashSet<_> = (0..100_000).map(|n: i64| hash(n.to_string())).collect();
    assert_eq!(strings.len(), 100_000);
    for build in builds() {
        let sums: HashSet<_> = numbers(200).map(|[a, b]| hash(build.add(a, b))).collect();
        assert_eq!(sums.len(), 40_000);
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
                let hash = structural_hash_with(value, options).expect("hashable");
                let digest = structural_digest_with(value, options).expect("portable");
                (hash, digest)
            };
            assert_eq!(names(&one), names(&two));
            // A second time: nothing that a hash left behind changes it.
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
            structural_digest_with(&value, MAPPED).expect("mapped");
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
