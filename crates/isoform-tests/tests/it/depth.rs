//! Reports from far below, and binders inside binders: no recursion, and short
//! messages.

use isoform::compare::first_structural_mismatch;
use isoform::paths::AccessPath;
use isoform::{Value, explain_mismatch, structural_digest, structural_equal, structural_hash};
use isoform_testing::family::Role;

use crate::build::{Build, builds};
use crate::support::scaled;

/// Nodes in nodes, this many, around a value.
fn chain(b: &Build, length: usize, end: impl Into<Value>) -> Value {
    (0..length).fold(end.into(), |value, _| b.constant(value))
}

#[test]
fn errors_and_mismatches_far_below_have_their_place_and_a_short_text() {
    let length = scaled(300_000);
    for b in builds() {
        let deep = chain(&b, length, b.hidden());
        let error = structural_equal(&deep, &deep).expect_err("not comparable");
        assert_eq!(error.path().map(AccessPath::depth), Some(length));
        assert!(error.to_string().len() < 2000);
        let (l, r) = (chain(&b, length, chain(&b, 9, 1)), chain(&b, length, 1));
        let mismatch = explain_mismatch(&l, &r).expect("comparable");
        let mismatch = mismatch.expect("they differ");
        assert_eq!(mismatch.left_path.depth(), length);
        assert!(mismatch.to_string().len() < 2000, "{mismatch}");
        let paths = first_structural_mismatch(&l, &r).expect("comparable");
        let (left, right) = paths.expect("they differ");
        assert_eq!((left.depth(), right.depth()), (length, length));
        assert!(left.to_string().len() < 1000);
    }
}

#[test]
fn binders_inside_binders_need_no_stack() {
    let depth = scaled(300_000);
    for b in builds() {
        for binder in [Role::Function, Role::Lambda] {
            let nested = || {
                (0..depth).fold(Value::from(0), |value, _| {
                    let x = b.var();
                    b.binder(binder, &[&x], [x.clone(), value])
                })
            };
            let (l, r) = (nested(), nested());
            assert!(structural_equal(&l, &r).expect("comparable"));
            let hash = |value: &Value| structural_hash(value).expect("hashable");
            assert_eq!(hash(&l), hash(&r));
            let digest = |value: &Value| structural_digest(value).expect("closed");
            assert_eq!(digest(&l), digest(&r));
        }
    }
}
