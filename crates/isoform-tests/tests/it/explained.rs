//! The place of the first mismatch, and its reason.

use isoform::compare::{CompareOptions, Mismatch, MismatchReason, first_structural_mismatch};
use isoform::paths::AccessStep;
use isoform::text::assert_structural_equal;
use isoform::{Value, structural_equal};
use isoform_testing::family::Role;
use isoform_testing::oracle;

use crate::build::{Build, MAPPED, PLAIN, arr, builds, map};

/// The paths, the same from the engine and the oracle.
fn paths(left: &Value, right: &Value, options: CompareOptions) -> [String; 2] {
    let show = |(l, r): oracle::PathPair| [l.to_string(), r.to_string()];
    let engine = options.first_mismatch(left, right);
    let engine = show(engine.expect("comparable").expect("different"));
    let judge = oracle::first_mismatch(left, right, options);
    assert_eq!(engine, show(judge.expect("comparable").expect("different")));
    engine
}

fn explain(left: &Value, right: &Value, options: CompareOptions) -> Mismatch {
    let mismatch = options.explain_mismatch(left, right).expect("comparable");
    mismatch.expect("different")
}

#[test]
fn first_mismatches() {
    type Case = (&'static str, &'static str, fn(&Build) -> (Value, Value));
    let cases: [Case; 12] = [
        ("<root>", "<root>", |_| (1.into(), 2.into())),
        ("<root>.body[3]", "<root>.body[<missing:3>]", |b| {
            (b.function(&[], [1, 2, 3, 4]), b.function(&[], [1, 2, 3]))
        }),
        ("<root>.body[<missing:3>]", "<root>.body[3]", |b| {
            (b.function(&[], [1, 2, 3]), b.function(&[], [1, 2, 3, 4]))
        }),
        ("<root>[\"b\"]", "<root>[<missing:\"b\">]", |_| {
            let full = map([("a".into(), 1.into()), ("b".into(), 2.into())]);
            (full, map([("a".into(), 1.into())]))
        }),
        ("<root>[<missing:\"b\">]", "<root>[\"b\"]", |_| {
            let full = map([("b".into(), 1.into()), ("a".into(), 2.into())]);
            (map([("a".into(), 1.into())]), full)
        }),
        ("<root>[\"a\"]", "<root>[\"a\"]", |_| {
            let make = |a: i64, b: i64| map([("b".into(), b.into()), ("a".into(), a.into())]);
            (make(1, 1), make(2, 2))
        }),
        // Content before length.
        ("<root>[1]", "<root>[1]", |_| {
            ([1, 2].into(), [1, 3, 4].into())
        }),
        // In a node without children, in a field that only contains childless nodes.
        ("<root>.object.bits", "<root>.object.bits", |b| {
            let make = |bits| b.storages(b.literal(bits));
            (make(1), make(2))
        }),
        // Parent fields first.
        ("<root>.params[0].ty", "<root>.params[0].ty", |b| {
            let make = |ty: i64, rank| b.function(&[&b.ranked(ty, rank)], 1);
            (make(1, 1), make(2, 2))
        }),
        // Definition fields first, unless the type says otherwise.
        ("<root>.params[0]", "<root>.params[<missing:0>]", |b| {
            (b.lambda(&[&b.var()], 1), b.lambda(&[], 2))
        }),
        ("<root>.body", "<root>.body", |b| {
            let role = Role::LateLambda;
            (b.binder(role, &[&b.var()], 1), b.binder(role, &[], 2))
        }),
        ("<root>.rhs.lhs", "<root>.rhs.lhs", |b| {
            (b.add(1, b.add(2, 3)), b.add(1, b.add(4, 5)))
        }),
    ];
    for build in builds() {
        for (left_path, right_path, make) in cases {
            let (left, right) = make(&build);
            assert_eq!(paths(&left, &right, PLAIN), [left_path, right_path]);
            let error = assert_structural_equal(&left, &right).expect_err("different");
            assert_eq!(error.kind(), isoform::errors::ErrorKind::Value);
            assert!(error.message().contains(left_path), "{error}");
            assert!(error.message().contains(right_path), "{error}");
            assert_eq!(error.path().expect("a path").to_string(), left_path);
            let reason = explain(&left, &right, PLAIN).reason.to_string();
            assert!(error.message().contains(&reason), "{error}");
            // Both sides are shown with the place underlined.
            assert_eq!(error.message().matches("//").count(), 2, "{error}");
        }
    }
    assert_structural_equal([1], [1]).expect("equal");
}

macro_rules! reason {
    ($mismatch:expr, $pattern:pat, $text:literal) => {
        let mismatch = $mismatch;
        assert!(matches!(mismatch.reason, $pattern), "{mismatch:?}");
        assert!(mismatch.reason.to_string().contains($text), "{mismatch}");
        assert!(mismatch.to_string().contains($text), "{mismatch}");
    };
}

#[test]
fn reasons_of_values() {
    let plain = |l: Value, r: Value| explain(&l, &r, PLAIN);
    let types = plain([1].into(), [1.0].into());
    assert_eq!(types.left, Some(1.into()));
    assert_eq!(types.right, Some(1.0.into()));
    reason!(
        types,
        MismatchReason::TypeDiffers { .. },
        "the types differ: int and float"
    );
    reason!(
        plain(1.into(), 2.into()),
        MismatchReason::ValueDiffers,
        "the values differ"
    );
    let missing = plain([1].into(), [1, 2].into());
    assert_eq!((&missing.left, &missing.right), (&None, &Some(2.into())));
    assert!(missing.to_string().contains("<missing>"), "{missing}");
    reason!(
        missing,
        MismatchReason::Missing { on_left: true },
        "the right has an element that the left has not"
    );
    reason!(
        plain([1, 2].into(), [1].into()),
        MismatchReason::Missing { on_left: false },
        "the left has an element that the right has not"
    );
}

#[test]
fn reasons_of_objects() {
    for b in builds() {
        let plain = |l: Value, r: Value| explain(&l, &r, PLAIN);
        let text = "different free variables";
        assert!(explain(&b.var(), &b.typed(1), MAPPED).left_path.depth() == 1);
        let free = plain(b.var(), b.var());
        assert!(free.to_string().contains(text), "{free}");
        assert!(free.to_string().contains("`map_free_vars`"), "{free}");
        assert!(matches!(
            free.reason,
            MismatchReason::DifferentFreeVariables
        ));
        let (x, y, a, c) = (b.var(), b.var(), b.var(), b.var());
        let bound = plain(
            b.lambda(&[&x, &y], arr([&x])),
            b.lambda(&[&a, &c], arr([&c])),
        );
        let MismatchReason::BoundElsewhere(pair) = &bound.reason else {
            panic!("{bound:?}");
        };
        assert_eq!(bound.left_path.to_string(), "<root>.body[0]");
        let place = if pair.left_is_bound { 0 } else { 1 };
        assert_eq!(
            pair.left_path.to_string(),
            format!("<root>.params[{place}]")
        );
        assert_eq!(&pair.partner, if pair.left_is_bound { &a } else { &y });
        assert!(bound.to_string().contains("already paired with"), "{bound}");
        // The same object is a key of both maps, but bound on one side only.
        let keyed = map([(x.clone(), 1.into())]);
        let [left, right] = [&y, &x].map(|param| b.lambda(&[param], &keyed));
        let bound = plain(left.clone(), right.clone());
        assert!(matches!(bound.reason, MismatchReason::BoundElsewhere(_)));
        assert_eq!(bound.left_path.get(&left).ok(), Some(1.into()));
        assert_eq!(bound.right_path.get(&right).ok(), Some(1.into()));
        let s = b.shared(1, 2);
        let sharing = plain(arr([&s, &s]), arr([&b.shared(1, 2), &b.shared(1, 2)]));
        assert!(matches!(sharing.reason, MismatchReason::SharingDiffers(_)));
        assert!(sharing.to_string().contains("sharing differs"), "{sharing}");
        assert!(sharing.to_string().contains("<root>[0]"), "{sharing}");
        let ops = plain(b.op(), b.op());
        assert!(matches!(ops.reason, MismatchReason::NotTheSameObject));
        assert!(
            ops.to_string()
                .contains("a singleton is equal to itself only"),
            "{ops}"
        );
        let other = b.node(Role::Op, vec!["mul".into()]);
        reason!(
            plain(b.op(), other),
            MismatchReason::NamesDiffer { .. },
            "add and mul differ"
        );
    }
}

/// Unequal to every value, without a question about the part.
#[derive(isoform::Node)]
#[node(key = "explained.Moody", hooks(equal), no_with)]
#[repr(C)]
struct Moody {
    value: i64,
}

impl isoform::hooks::StructuralEqual for Moody {
    fn s_equal(
        &self,
        _: &Self,
        _: &mut dyn isoform::hooks::EqualCallback,
    ) -> isoform::Result<bool> {
        Ok(self.value < 0)
    }
}

#[test]
fn a_hook_that_decides_itself() {
    let custom = explain(&Moody::new(1).into(), &Moody::new(1).into(), PLAIN);
    assert!(matches!(custom.reason, MismatchReason::CustomComparison));
    assert!(
        custom.to_string().contains("the type's own comparison"),
        "{custom}"
    );
}

#[test]
fn the_first_alternative_that_failed_is_shown() {
    for build in builds() {
        let (left, right) = (
            build.comm(arr([&1.into(), &2.into()]), arr([&3.into(), &4.into()])),
            build.comm(arr([&1.into(), &5.into()]), arr([&6.into(), &7.into()])),
        );
        let mismatch = explain(&left, &right, PLAIN);
        assert_eq!(
            mismatch.left_path.to_string(),
            "<root>.lhs[1]",
            "{mismatch}"
        );
        assert_eq!(
            mismatch.right_path.to_string(),
            "<root>.lhs[1]",
            "{mismatch}"
        );
        assert_eq!(
            (mismatch.left, mismatch.right),
            (Some(2.into()), Some(5.into()))
        );
        // The same holds if a later one fails in a custom comparison.
        let left = build.comm(build.comm(1, 2), 3);
        let right = build.comm(8, build.comm(1, 9));
        let mismatch = explain(&left, &right, PLAIN);
        assert_eq!(mismatch.right, Some(8.into()), "{mismatch}");
    }
}

#[test]
fn of_several_missing_keys_the_one_bound_first_is_named() {
    for build in builds() {
        let make = |keys: bool| {
            let [first, second] = [1, 2].map(|rank| build.ranked(1, rank));
            let entries = [&first, &second].map(|key| (key.clone(), 1.into()));
            let body = if keys { map(entries) } else { map([]) };
            build.function(&[&second, &first], body)
        };
        let (left, right) = (make(false), make(true));
        // The paths of the side with the key; the other side names the partner.
        let engine = |l, r| PLAIN.first_mismatch(l, r).expect("comparable");
        let judge = |l, r| oracle::first_mismatch(l, r, PLAIN).expect("comparable");
        let in_right = |paths: Option<oracle::PathPair>| paths.expect("different").1;
        assert_eq!(
            in_right(engine(&left, &right)),
            in_right(judge(&left, &right))
        );
        let in_left = |paths: Option<oracle::PathPair>| paths.expect("different").0;
        assert_eq!(
            in_left(engine(&right, &left)),
            in_left(judge(&right, &left))
        );
    }
}

#[test]
fn a_missing_key_is_named_by_its_partner() {
    for build in builds() {
        let (x, y) = (build.var(), build.var());
        let full = build.function(&[&x], map([(x.clone(), 1.into())]));
        let empty = build.function(&[&y], map([]));
        let steps = |left: &Value, right: &Value| {
            let paths = PLAIN.first_mismatch(left, right);
            let (left, right) = paths.expect("comparable").expect("different");
            [left, right].map(|path| path.steps().last().cloned())
        };
        let (there, missing) = (AccessStep::MapItem(x), AccessStep::MapItemMissing(y));
        let [left, right] = steps(&full, &empty);
        assert_eq!(
            (left.as_ref(), right.as_ref()),
            (Some(&there), Some(&missing))
        );
        let [left, right] = steps(&empty, &full);
        assert_eq!((left, right), (Some(missing), Some(there)));
    }
}

#[test]
fn a_key_bound_on_one_side_is_shown_with_both_values() {
    for build in builds() {
        let (x, y) = (build.var(), build.var());
        let bound = build.function(&[&x], map([(x.clone(), 1.into())]));
        let capturing = build.function(&[&y], map([(x.clone(), 2.into()), (y.clone(), 3.into())]));
        for (left, right) in [(&bound, &capturing), (&capturing, &bound)] {
            let mismatch = explain(left, right, PLAIN);
            assert_eq!(
                mismatch.left_path.get(left).ok(),
                mismatch.left,
                "{mismatch}"
            );
            assert_eq!(
                mismatch.right_path.get(right).ok(),
                mismatch.right,
                "{mismatch}"
            );
        }
    }
}

#[test]
fn what_cannot_be_compared_is_named_and_hashing_is_not() {
    for b in builds() {
        let hidden = b.hidden();
        for (left, right) in [
            (hidden.clone(), hidden.clone()),
            (arr([&1.into(), &hidden]), arr([&1.into(), &2.into()])),
            (arr([&1.into(), &2.into()]), arr([&1.into(), &hidden])),
        ] {
            let error = structural_equal(&left, &right).expect_err("not comparable");
            let mismatch = first_structural_mismatch(&left, &right);
            let mismatch = mismatch.expect_err("not comparable");
            assert_eq!(error.to_string(), mismatch.to_string());
            assert!(error.message().contains("Hidden"), "{error}");
            assert!(!error.message().contains("hash"), "{error}");
        }
    }
}
