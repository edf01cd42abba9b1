//! The rules of custom comparisons and hashes.

use isoform::testing::family::Role;
use isoform::testing::oracle;
use isoform::{
    DynEqual, DynHash, Error, ErrorKind, FieldDef, FieldFlag, MAX_HOOK_DEPTH, RegionChange, Schema,
    TypeDef, TypeIndex, Value, construct, get_field, register_type, structural_digest,
    structural_equal, structural_hash,
};

use crate::build::{MAPPED, PLAIN, Says, arr, builds, judge};

/// Registers a type with the fields `a` and `b` and some hooks.
fn hooked(key: &str, equal: Option<DynEqual>, hash: Option<DynHash>) -> TypeIndex {
    let mut definition = TypeDef::new(key)
        .field(FieldDef::new("a", Schema::Any).flag(FieldFlag::Def))
        .field(FieldDef::new("b", Schema::Any));
    if let Some(equal) = equal {
        definition = definition.custom_equal(equal);
    }
    if let Some(hash) = hash {
        definition = definition.custom_hash(hash);
    }
    register_type(definition).expect("a new type")
}

fn make(index: TypeIndex, a: impl Into<Value>, b: impl Into<Value>) -> Value {
    construct(index, vec![a.into(), b.into()])
        .expect("two fields")
        .into()
}

fn both(object: &isoform::Ref<isoform::Obj>) -> isoform::Result<(Value, Value)> {
    Ok((get_field(object, "a")?, get_field(object, "b")?))
}

#[test]
fn region_numbers() {
    for (number, region) in [
        (0, RegionChange::Inherit),
        (1, RegionChange::Def),
        (2, RegionChange::DefSimple),
    ] {
        assert_eq!(RegionChange::from_number(number).expect("known"), region);
    }
    for number in [3, -1, 99, i64::MIN, i64::MAX] {
        let error = RegionChange::from_number(number).expect_err("unknown");
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.message().contains(&number.to_string()), "{error}");
    }
}

#[test]
fn failed_questions_leave_no_bindings() {
    // Tries `a` against an array whose second element differs, which binds its
    // first on the way, and then the real question.
    let index = hooked(
        "hook_rules.Retry",
        Some(DynEqual::new(|left, right, eq| {
            let ((la, lb), (ra, rb)) = (both(left)?, both(right)?);
            let l = Value::from([la.clone(), 1.into()]);
            let r = Value::from([rb.clone(), 2.into()]);
            assert!(!eq.equal_in(&l, &r, RegionChange::Def, "probe")?);
            let whole = eq.attempt(&mut |eq| {
                assert!(eq.equal_in(&la, &rb, RegionChange::Def, "a")?);
                Ok(false)
            })?;
            assert!(!whole);
            Ok(eq.equal_in(&la, &ra, RegionChange::Def, "a")?
                && eq.equal_in(&lb, &rb, RegionChange::Def, "b")?)
        })),
        None,
    );
    for build in builds() {
        let (x, y, a, b) = (build.var(), build.var(), build.var(), build.var());
        let (left, right) = (make(index, &x, &y), make(index, &a, &b));
        assert!(structural_equal(&left, &right).expect("comparable"));
        assert!(oracle::equal(&left, &right, PLAIN).expect("comparable"));
        // What the accepted questions bound stays bound.
        for (last, expected) in [(&a, true), (&b, false)] {
            let (l, r) = (arr([&left, &x]), arr([&right, last]));
            assert_eq!(structural_equal(&l, &r).expect("comparable"), expected);
            assert_eq!(oracle::equal(&l, &r, PLAIN).expect("comparable"), expected);
        }
    }
}

#[test]
fn a_missing_hook_is_named() {
    let equal_only = hooked(
        "hook_rules.EqualOnly",
        Some(DynEqual::new(|_, _, _| Ok(true))),
        None,
    );
    let value = make(equal_only, 1, 2);
    assert!(structural_equal(&value, make(equal_only, 3, 4)).expect("comparable"));
    let errors = [
        structural_hash(&value).map(|_| ()),
        structural_digest(&value).map(|_| ()),
    ];
    for error in errors.map(|result| result.expect_err("no hash hook")) {
        assert_eq!(error.kind(), ErrorKind::Type);
        assert!(error.message().contains("__s_hash__"), "{error}");
        assert!(error.message().contains("hook_rules.EqualOnly"), "{error}");
    }
    let hash_only = hooked(
        "hook_rules.HashOnly",
        None,
        Some(DynHash::new(|_, init, _| Ok(init))),
    );
    let value = make(hash_only, 1, 2);
    structural_hash(&value).expect("hashable");
    let error = structural_equal(&value, make(hash_only, 1, 2)).expect_err("no equality hook");
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(error.message().contains("__s_equal__"), "{error}");
    assert!(error.message().contains("hook_rules.HashOnly"), "{error}");
}

#[test]
fn errors_of_hooks_propagate_unchanged() {
    #[derive(Debug)]
    struct Own(u8);
    impl std::fmt::Display for Own {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "own error {}", self.0)
        }
    }
    impl std::error::Error for Own {}
    let index = hooked(
        "hook_rules.Failing",
        Some(DynEqual::new(|_, _, _| Err(Error::from_source(Own(7))))),
        Some(DynHash::new(|_, _, _| Err(Error::from_source(Own(8))))),
    );
    let value = Value::from([make(index, 1, 2)]);
    for (error, number) in [
        (structural_equal(&value, &value).map(|_| ()), 7),
        (structural_hash(&value).map(|_| ()), 8),
        (structural_digest(&value).map(|_| ()), 8),
    ] {
        let error = error.expect_err("the hook fails");
        assert_eq!(error.kind(), ErrorKind::Runtime);
        assert!(error.path().is_none(), "{error}");
        let source = error.into_source().expect("the hook's error");
        assert_eq!(source.downcast_ref::<Own>().expect("its type").0, number);
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for build in builds() {
        let nested = |levels: u32| {
            (0..levels).fold(build.constant(1), |inner, level| {
                build.comm(inner, i64::from(level))
            })
        };
        let fits = nested(MAX_HOOK_DEPTH);
        assert!(structural_equal(&fits, nested(MAX_HOOK_DEPTH)).expect("comparable"));
        structural_hash(&fits).expect("hashable");
        for levels in [MAX_HOOK_DEPTH + 1, 20_000] {
            let (left, right) = (nested(levels), nested(levels));
            for result in [
                structural_equal(&left, &right).map(|_| ()),
                structural_hash(&left).map(|_| ()),
                structural_digest(&left).map(|_| ()),
            ] {
                let error = result.expect_err("too deep");
                assert_eq!(error.kind(), ErrorKind::Recursion, "{error}");
            }
        }
    }
}

#[test]
fn chained_questions_know_each_other() {
    for build in builds() {
        let function = |swapped: bool| {
            let (x, y) = (build.var(), build.var());
            let body = if swapped { [&y, &x] } else { [&x, &y] };
            build.binder(Role::Binder, &[&x, &y], build.add(body[0], body[1]))
        };
        let failures = [
            judge(
                "x - y twice",
                &function(false),
                &function(false),
                PLAIN,
                Says::Equal,
            ),
            judge(
                "x - y and y - x",
                &function(false),
                &function(true),
                PLAIN,
                Says::Differ,
            ),
            judge(
                "mapped",
                &function(false),
                &function(true),
                MAPPED,
                Says::Differ,
            ),
        ];
        assert!(failures.iter().all(Vec::is_empty), "{failures:?}");
        let digest = |swapped| structural_digest(function(swapped)).expect("closed");
        assert_ne!(digest(false), digest(true));
    }
}

#[test]
fn alternatives_commute() {
    for build in builds() {
        let (one, two) = (build.constant(1), build.add(2, 3));
        for (right, says) in [
            (build.comm(&two, &one), Says::Equal),
            (build.comm(&one, &two), Says::Equal),
            (build.comm(&one, &one), Says::Differ),
            (build.comm(&two, &two), Says::Differ),
        ] {
            let failures = judge("sums", &build.comm(&one, &two), &right, PLAIN, says);
            assert!(failures.is_empty(), "{failures:?}");
        }
    }
}
