//! The rules of custom comparisons and hashes.

use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::compare::first_structural_mismatch;
use isoform::errors::ErrorKind;
use isoform::hooks::{DynEqual, DynHash, MAX_HOOK_DEPTH};
use isoform::objects::{construct, field_value};
use isoform::types::{
    FieldDef, FieldFlag, RegionChange, Schema, TypeDef, TypeIndex, register_type,
};
use isoform::{Error, Value, structural_digest, structural_equal, structural_hash};
use isoform_testing::check_laws;
use isoform_testing::family::Role;
use isoform_testing::oracle;

use crate::build::{Build, MAPPED, PLAIN, Says, arr, builds, judge};

/// Registers a type with the fields `a` and `b` and some hooks.
fn hooked(key: &str, equal: Option<DynEqual>, hash: Option<DynHash>) -> TypeIndex {
    let mut definition = TypeDef::new(key)
        .field(FieldDef::new("a", Schema::Any).flag(FieldFlag::Def))
        .field(FieldDef::new("b", Schema::Any));
    if let Some(equal) = equal {
        definition = definition.hook(equal);
    }
    if let Some(hash) = hash {
        definition = definition.hook(hash);
    }
    register_type(definition).expect("a new type")
}

fn make(index: TypeIndex, a: impl Into<Value>, b: impl Into<Value>) -> Value {
    construct(index, vec![a.into(), b.into()])
        .expect("two fields")
        .into()
}

fn both(object: &isoform::Ref<isoform::Obj>) -> isoform::Result<(Value, Value)> {
    Ok((field_value(object, "a")?, field_value(object, "b")?))
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
    // Tries `a` against an array with a different second element, which binds its first
    // element on the way, and then asks the real question.
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
        // The bindings of accepted questions remain.
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
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let index = hooked(
        "hook_rules.Failing",
        Some(DynEqual::new(|_, _, _| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            Err(Error::from_source(Own(7)))
        })),
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
    assert_eq!(
        ASKED.load(Ordering::Relaxed),
        1,
        "who fails is not asked again"
    );
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

/// A part different in one alternative may be equal in the next, with other objects
/// paired. (Operands that leave bindings after them need not have equal hashes; only
/// equality is checked.)
#[test]
fn alternatives_see_their_own_bindings_only() {
    type Wrap = fn(&Build, Value) -> Value;
    let wraps: [Wrap; 3] = [
        |_, part| part,
        |b, part| b.lambda(&[], part),
        |b, part| {
            let own = b.var();
            b.lambda(&[&own], b.add(&own, part))
        },
    ];
    // An object, and a part whose comparison pairs the object with a partner.
    type Make = fn(&Build, Wrap) -> [Value; 2];
    let makes: [Make; 2] = [
        |b, wrap| {
            let node = b.shared(1, 2);
            [node.clone(), wrap(b, node)]
        },
        |b, wrap| {
            let var = b.var();
            [var.clone(), arr([&wrap(b, 0.into()), &b.assign(&var, 1)])]
        },
    ];
    for b in builds() {
        for (make, wrap) in makes
            .into_iter()
            .flat_map(|make| wraps.map(|wrap| (make, wrap)))
        {
            for turned in [false, true] {
                let side = |turned: bool| {
                    let [[term, pairs_one], [_, pairs_two]] = [(); 2].map(|()| make(&b, wrap));
                    let sum = b.add(&term, 1);
                    let operands = [arr([&pairs_one, &sum]), arr([&pairs_two, &sum])];
                    let [lhs, rhs] = operands;
                    if turned {
                        b.comm(rhs, lhs)
                    } else {
                        b.comm(lhs, rhs)
                    }
                };
                let (left, right) = (side(false), side(turned));
                for (left, right) in [(&left, &right), (&right, &left)] {
                    let judge = oracle::equal(left, right, PLAIN).expect("comparable");
                    let equal = structural_equal(left, right).expect("comparable");
                    assert_eq!(equal, judge, "{left:?} {right:?}");
                    assert!(judge || turned);
                }
            }
        }
    }
}

/// An alternative inside a scope may bind variables of an outer scope; if it fails,
/// they are unbound again, and the bindings of the next alternative remain.
#[test]
fn bindings_for_an_outer_scope_end_with_their_alternative() {
    for b in builds() {
        let side = |turned: bool, swapped: bool| {
            let (x, y) = (b.var(), b.var());
            let mut operands = [arr([&x, &1.into()]), arr([&y, &2.into()])];
            if turned {
                operands.reverse();
            }
            let [lhs, rhs] = operands;
            let inner = b.lambda(&[], b.comm(lhs, rhs));
            let body = if swapped { [y, x] } else { [x, y] };
            b.lambda(&[&inner], Value::from(body))
        };
        for (turned, swapped) in [(false, false), (true, false), (false, true), (true, true)] {
            let (left, right) = (side(false, false), side(turned, swapped));
            let judge = oracle::equal(&left, &right, PLAIN).expect("comparable");
            assert_eq!(judge, !swapped);
            let equal = structural_equal(&left, &right).expect("comparable");
            assert_eq!(equal, judge, "{left:?} {right:?}");
        }
    }
}

/// An object first met in a question of a hook differs from one first met
/// around the hook, though both are the first of their kind.
#[test]
fn a_binding_in_a_question_is_none_around_it() {
    type Side = fn(&Build, bool) -> Value;
    let sides: [Side; 2] = [
        |b, inside| {
            let (x, y) = (b.var(), b.var());
            let last = if inside { &y } else { &x };
            let operand = arr([&b.assign(&y, 1), last]);
            b.lambda(&[&x], b.comm(operand, 0))
        },
        // The same in the fields of a bound object.
        |b, inside| {
            let (x, node) = (b.var(), b.shared(1, 2));
            let last = if inside { &node } else { &x };
            let y = b.typed(arr([&node, last]));
            arr([&b.function(&[&x], 0), &b.comm(b.assign(&y, 1), 0)])
        },
    ];
    for b in builds() {
        for side in sides {
            for (right, says) in [(true, Says::Differ), (false, Says::Equal)] {
                let (left, right) = (side(&b, false), side(&b, right));
                let failures = judge("questions", &left, &right, PLAIN, says);
                assert!(failures.is_empty(), "{failures:?}");
            }
        }
    }
}

/// Results proven with nodes paired by one alternative are unproven again after that
/// alternative has failed.
#[test]
fn proofs_end_with_the_nodes_that_they_pair() {
    for b in builds() {
        let side = |first: i64, same: bool| {
            let x = b.var();
            let node = b.shared(1, 2);
            let inner = b.add(&node, &x);
            // Two fields own `inner`, and comparison ignores one of the two.
            let fields = vec![inner.clone(), inner, 1.into()];
            let part = b.node(Role::Add, fields);
            let shadow = b.lambda(&[&x], &x);
            // The second visit is remembered, the third is found by its
            // variables.
            let operand = |n: i64| arr([&part, &part, &shadow, &part, &n.into()]);
            let sums = b.comm(operand(first), operand(3 - first));
            let last = if same { node } else { b.shared(1, 2) };
            b.lambda(&[&x], arr([&sums, &last]))
        };
        for (first, same) in [(1, true), (2, true), (1, false), (2, false)] {
            let (left, right) = (side(1, true), side(first, same));
            let judge = oracle::equal(&left, &right, PLAIN).expect("comparable");
            assert_eq!(judge, same);
            let equal = structural_equal(&left, &right).expect("comparable");
            assert_eq!(equal, judge, "{left:?} {right:?}");
        }
    }
}

#[test]
fn an_error_that_a_hook_takes_for_itself_leaves_no_scope_open() {
    let equal = DynEqual::new(|left, right, eq| {
        let ((a, b), (other_a, other_b)) = (both(left)?, both(right)?);
        eq.equal(&a, &other_a, "a")
            .expect_err("a is not comparable");
        eq.equal(&b, &other_b, "b")
    });
    let index = hooked("hook_rules.Forgiving", Some(equal), None);
    for build in builds() {
        let side = |same: bool| {
            let x = build.var();
            let other = if same { x.clone() } else { build.var() };
            let forgiving = make(index, build.lambda(&[], build.hidden()), 1);
            let [first, last] = [&x, &other].map(|var| build.function(&[var], var));
            arr([&first, &forgiving, &last])
        };
        // A bound variable already has a partner.
        assert!(structural_equal(side(true), side(true)).expect("no error is left"));
        assert!(!structural_equal(side(true), side(false)).expect("no error is left"));
    }
}

/// A part with a dag node has other names inside a hook's question, and a different
/// hash, in spite of the same variables.
#[test]
fn hashes_of_parts_with_dag_nodes_stay_on_their_side_of_a_hook() {
    for b in builds() {
        let node = b.shared(1, 2);
        let ty = arr([&arr([]), &node]);
        let x = b.typed(&ty);
        let side = |own: &dyn Fn() -> Value| {
            let binder = |var: &Value| b.node(Role::Binder, vec![arr([var, var]), var.clone()]);
            let [first, second, param] = [own(), own(), own()];
            let inner = b.lambda(&[&param], binder(&second));
            arr([&x, &binder(&first), &inner])
        };
        let (left, right) = (side(&|| x.clone()), side(&|| b.typed(&ty)));
        let failures = judge("dag nodes", &left, &right, PLAIN, Says::Equal);
        assert!(failures.is_empty(), "{failures:?}");
    }
}

#[test]
fn the_alternative_that_holds_keeps_its_bindings() {
    for b in builds() {
        let [x, y, a, c] = [(); 4].map(|()| b.var());
        let open = b.comm(b.add(&x, 1), b.add(&y, 2));
        let commuted = b.comm(b.add(&c, 2), b.add(&a, 1));
        let left = arr([&open, &x, &y]);
        let holds = |p: &Value, q: &Value| {
            let right = arr([&commuted, p, q]);
            MAPPED.equal(&left, right).expect("comparable")
        };
        // x is paired with a, and y with c.
        assert!(holds(&a, &c));
        assert!(!holds(&c, &a));
    }
}

#[test]
fn after_two_failed_alternatives_the_path_is_a_place_that_exists() {
    for b in builds() {
        let left = b.comm(1, [2, 3]);
        let right = b.comm([9, 9], 1);
        let found = first_structural_mismatch(&left, &right).expect("comparable");
        let (l, r) = found.expect("they differ");
        l.get(&left).expect("a place on the left");
        r.get(&right).expect("a place on the right");
    }
}

#[test]
fn a_question_keeps_the_region_or_enters_a_definition() {
    let enter = |region: RegionChange| {
        hooked(
            &format!("hook_rules.Enter{region:?}"),
            Some(DynEqual::new(move |left, right, eq| {
                eq.equal_in(
                    &field_value(left, "a")?,
                    &field_value(right, "a")?,
                    region,
                    "a",
                )
            })),
            Some(DynHash::new(move |object, init, hash| {
                hash.hash_in(&field_value(object, "a")?, init, region)
            })),
        )
    };
    let [keep, def, simple] = [
        RegionChange::Inherit,
        RegionChange::Def,
        RegionChange::DefSimple,
    ]
    .map(enter);
    let check = |left: Value, right: Value, says: Says| {
        let failures = judge("regions", &left, &right, PLAIN, says);
        assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    };
    for b in builds() {
        let (x, a) = (b.var(), b.var());
        let both = |ty, says| check(make(ty, &x, 0), make(ty, &a, 0), says);
        // Outside, no part binds; in a definition field, every part does.
        both(keep, Says::Differ);
        for binder in [Role::Function, Role::Lambda] {
            let inside = |x: &Value| b.binder(binder, &[&make(keep, x, 0)], x);
            check(inside(&x), inside(&a), Says::Equal);
        }
        both(def, Says::Equal);
        both(simple, Says::Equal);
        // A simple definition binds the variable, but not the variable in its type.
        let typed = |ty, says| {
            check(make(ty, b.typed(&x), 0), make(ty, b.typed(&a), 0), says);
        };
        typed(def, Says::Equal);
        typed(simple, Says::Differ);
    }
}

/// The ways in which a hook asks about a part.
const ASKS: [fn(&Build, &Value) -> Value; 5] = [
    |b, part| b.node(Role::Wrap, vec![part.clone()]),
    // The number of the hook is not an answer.
    |b, part| b.node(Role::Define, vec![1.into(), part.clone()]),
    // A hook in a hook.
    |b, part| b.node(Role::Wrap, vec![b.node(Role::Wrap, vec![part.clone()])]),
    // One of two alternatives, on either side.
    |b, part| b.comm(part.clone(), 0),
    |b, part| b.comm(0, part.clone()),
];

#[test]
fn what_a_hook_has_asked_about_is_known_after_it() {
    let parts: [fn(&Build) -> Value; 2] = [|b| b.var(), |b| b.shared(1, 2)];
    for b in builds() {
        for (ask, part) in ASKS
            .into_iter()
            .flat_map(|ask| parts.map(|part| (ask, part)))
        {
            let side = |is_same: bool, is_asked: bool| {
                let original = part(&b);
                let other = if is_same { original.clone() } else { part(&b) };
                let second = if is_asked { ask(&b, &other) } else { other };
                arr([&ask(&b, &original), &second])
            };
            for is_asked in [false, true] {
                for (right, says) in [(true, Says::Equal), (false, Says::Differ)] {
                    let (left, right) = (side(true, is_asked), side(right, is_asked));
                    let failures = judge("a part again", &left, &right, MAPPED, says);
                    assert!(failures.is_empty(), "{failures:?}");
                    let digest = |value| MAPPED.digest(value).expect("portable");
                    let is_same = digest(&left) == digest(&right);
                    assert_eq!(is_same, says == Says::Equal, "{left:?} {right:?}");
                }
            }
        }
    }
}

#[test]
fn what_was_met_before_a_hook_is_known_in_it() {
    for b in builds() {
        for ask in ASKS {
            let side = |is_same: bool| {
                let (x, y) = (b.var(), b.var());
                let asked = if is_same { &x } else { &y };
                b.lambda(&[&x, &y], ask(&b, asked))
            };
            // A definition in the hook does not shadow a variable of the same scope.
            for (right, says) in [(true, Says::Equal), (false, Says::Differ)] {
                let failures = judge("a parameter", &side(true), &side(right), PLAIN, says);
                assert!(failures.is_empty(), "{failures:?}");
            }
        }
    }
}

/// Two operands with one variable differ from two operands with two variables, and a
/// later use of a variable belongs to its operand, in any order of operands.
#[test]
fn operands_share_what_they_share() {
    for b in builds() {
        let side = |vars: [usize; 2], is_turned: bool, last: usize| {
            let all = [b.var(), b.var()];
            let mut operands = [
                arr([&all[vars[0]], &1.into()]),
                arr([&all[vars[1]], &2.into()]),
            ];
            if is_turned {
                operands.reverse();
            }
            let [lhs, rhs] = operands;
            arr([&b.comm(lhs, rhs), &all[last]])
        };
        let left = || side([0, 1], false, 0);
        for (right, says) in [
            (side([0, 1], false, 0), Says::Equal),
            (side([0, 1], true, 0), Says::Equal),
            (side([1, 0], true, 1), Says::Equal),
            (side([0, 1], false, 1), Says::Differ),
            (side([0, 1], true, 1), Says::Differ),
            (side([0, 0], false, 0), Says::Differ),
            (side([0, 0], true, 1), Says::Differ),
        ] {
            let failures = judge("operands", &left(), &right, MAPPED, says);
            assert!(failures.is_empty(), "{failures:?}");
        }
        let values = [
            left(),
            side([0, 1], true, 0),
            side([0, 1], true, 1),
            side([0, 0], false, 0),
            side([1, 1], true, 1),
        ];
        check_laws(&values, MAPPED).expect("lawful");
    }
}

/// Alternatives that were met in another order put the keys of a later map in no order.
#[test]
fn keys_that_alternatives_have_met_come_in_no_order() {
    let free = |name: &Value, number: i64| (name.clone(), Value::from(number));
    for b in builds() {
        for swap in [false, true] {
            // With and without a difference between the alternatives.
            for extra in [0, 1] {
                let (x, y) = (b.var(), b.var());
                let row = |item: &Value| match extra {
                    0 => arr([item]),
                    _ => arr([item, &1.into()]),
                };
                let (lhs, rhs) = (arr([&x]), row(&y));
                let comm = if swap {
                    b.comm(rhs, lhs)
                } else {
                    b.comm(lhs, rhs)
                };
                let map = isoform::Map::from_iter([free(&x, 1), free(&y, 2)]);
                let value = arr([&comm, &map.into()]);
                let (a, c) = (b.var(), b.var());
                let comm = b.comm(arr([&a]), row(&c));
                let map = isoform::Map::from_iter([free(&a, 1), free(&c, 2)]);
                let other = arr([&comm, &map.into()]);
                check_laws(&[value, other], MAPPED).expect("lawful");
            }
        }
    }
}
