//! The oracle and the checks can fail as well as pass.

use isoform::errors::ErrorKind;
use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
use isoform::values::List;
use isoform::{Node, Result, Value};
use isoform_testing::{check_laws, check_types, oracle};

use crate::build::{MAPPED, PLAIN, arr, builds};

#[test]
fn the_oracle_says_yes_and_no() {
    for b in builds() {
        let (x, y) = (b.var(), b.var());
        let s = b.shared(1, 2);
        let cases = [
            (b.lambda(&[&x], &x), b.lambda(&[&y], &y), PLAIN, true),
            (b.lambda(&[&x], &x), b.lambda(&[&y], &x), PLAIN, false),
            (x.clone(), y.clone(), PLAIN, false),
            (x.clone(), y.clone(), MAPPED, true),
            (arr([&s, &s]), arr([&s, &b.shared(1, 2)]), PLAIN, false),
            (f64::NAN.into(), (-f64::NAN).into(), PLAIN, true),
            (0.0.into(), (-0.0).into(), PLAIN, false),
        ];
        for (left, right, options, expected) in cases {
            let equal = oracle::equal(&left, &right, options).expect("comparable");
            assert_eq!(equal, expected, "{left:?} and {right:?}");
            let text = |value| oracle::canonical(value, options).expect("has a text");
            assert_eq!(text(&left) == text(&right), expected);
        }
        let hidden = b.hidden();
        assert!(oracle::equal(&hidden, &hidden, PLAIN).is_err());
        assert!(oracle::canonical(&hidden, PLAIN).is_err());
    }
}

/// A node whose hooks violate the law named in the field `law`.
#[derive(Node)]
#[node(key = "oracle_self.Liar", hooks(equal, hash), no_with)]
#[repr(C)]
struct Liar {
    law: isoform::Str,
    number: i64,
}

impl StructuralEqual for Liar {
    fn s_equal(&self, other: &Self, _: &mut dyn EqualCallback) -> Result<bool> {
        Ok(match self.law.as_str() {
            "reflexive" => false,
            "symmetric" => self.number <= other.number,
            "transitive" => (self.number - other.number).abs() < 2,
            "error" => return Err(isoform::Error::value_error("no answer")),
            _ => true,
        })
    }
}

impl StructuralHash for Liar {
    fn s_hash(&self, init: u64, _: &mut dyn HashCallback) -> Result<u64> {
        Ok(init ^ self.number as u64)
    }
}

#[test]
fn too_deep_values_are_refused() {
    let deep = (0..100_000).fold(Value::from(1), |value, _| arr([&value]));
    let error = oracle::equal(&deep, &deep, PLAIN).expect_err("too deep");
    assert_eq!(error.kind(), ErrorKind::Recursion);
    let error = oracle::canonical(&deep, PLAIN).expect_err("too deep");
    assert_eq!(error.kind(), ErrorKind::Recursion);
}

#[test]
fn every_broken_law_is_reported() {
    for law in ["reflexive", "symmetric", "transitive", "hash", "error"] {
        let values: Vec<Value> = (0..3).map(|n: i64| Liar::new(law, n).into()).collect();
        let violation = check_laws(&values, PLAIN).expect_err("the hooks lie");
        assert_eq!(violation.law(), law);
        assert!(!violation.values().is_empty());
        assert!(violation.to_string().contains(law), "{violation}");
    }
    let honest = [1.into(), "1".into(), Liar::new("hash", 1).into()];
    check_laws(&honest, PLAIN).expect("alone, it breaks no law");
}

#[test]
fn broken_promises_are_reported() {
    for b in builds() {
        check_types(&[b.frozen(1, b.add(1, 2)), b.var()]).expect("kept");
        let list = Value::from(List::from(vec![1i64]));
        for offender in [b.var(), b.shared(1, 2), list, b.add(1, b.var())] {
            let value = b.constant(b.frozen(1, &offender));
            let violation = check_types(&[1.into(), value]).expect_err("broken");
            assert!(violation.type_key().ends_with("Frozen"), "{violation}");
            let path = violation.path().to_string();
            assert!(path.starts_with("<root>[1].value.b"), "{violation}");
        }
    }
}
