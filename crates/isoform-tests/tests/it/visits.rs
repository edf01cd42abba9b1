//! Linear cost, by counting visits.

use isoform::compare::{CompareOptions, StructuralKey, last_visit_count};
use isoform::values::{Dict, List};
use isoform::{Value, structural_equal};
use isoform_testing::family::Role;
use isoform_testing::source::scaled;

use crate::build::{Build, MAPPED, PLAIN, arr, builds, map};

/// Visits of equality, hash and digest, all of which must succeed.
fn visits(left: &Value, right: &Value, options: CompareOptions) -> [u64; 3] {
    fn count(run: impl Fn()) -> u64 {
        // Two numbers are compared without a visit.
        assert!(!structural_equal(1, 2).expect("comparable"));
        assert_eq!(last_visit_count(), 0);
        run();
        last_visit_count()
    }
    [
        count(|| assert!(options.equal(left, right).expect("comparable"))),
        count(|| assert!(options.hash(left).is_ok())),
        count(|| assert!(options.digest(left).is_ok())),
    ]
}

/// `x = x + x`, this many times; the nodes are kept in `held` if asked.
fn doubled(b: &Build, leaf: &Value, levels: usize, held: &mut Option<Vec<Value>>) -> Value {
    let mut root = leaf.clone();
    for _ in 0..levels {
        root = b.add(&root, &root);
        if let Some(held) = held {
            held.push(root.clone());
        }
    }
    root
}

/// Two nodes a level, both made of the two nodes below.
fn butterfly(b: &Build, leaf: &Value, levels: usize) -> Value {
    let (mut one, mut two) = (leaf.clone(), b.constant(leaf));
    for _ in 0..levels {
        (one, two) = (b.add(&one, &two), b.add(&two, &one));
    }
    b.add(one, two)
}

fn check(what: &str, counts: [u64; 3], objects: usize) {
    // Every part of every object at most twice, and never nothing.
    let bound = 8 * objects as u64 + 32;
    for (operation, count) in ["equality", "hash", "digest"].into_iter().zip(counts) {
        assert!(
            count > 0 && count <= bound,
            "{what}: {operation} took {count} visits for {objects} objects"
        );
    }
}

/// A variable without compared fields.
#[derive(isoform::Node)]
#[node(key = "visits.Name", kind = var)]
#[repr(C)]
struct Name {
    #[node(ignore)]
    name: isoform::Str,
}

/// A node without children.
#[derive(isoform::Node)]
#[node(key = "visits.Number")]
#[repr(C)]
struct Number {
    value: i64,
}

#[test]
fn every_occurrence_counts() {
    for b in builds() {
        let makes: [fn(&Build) -> [Value; 2]; 2] = [
            |b| [b.var(), b.constant(1)],
            |_| [Name::new("x").into(), Number::new(1).into()],
        ];
        for make in makes {
            let side = || {
                let [x, one] = make(&b);
                b.lambda(&[&x], b.add(b.add(&x, one), &x))
            };
            // The lambda, its parameters, the variable, the sums, two uses, a constant.
            assert_eq!(visits(&side(), &side(), PLAIN), [8; 3]);
        }
    }
}

#[test]
fn shared_trees_are_visited_once() {
    for b in builds() {
        for levels in [60, 10_000] {
            for hold in [false, true] {
                let mut held = hold.then(Vec::new);
                let leaf = b.constant(1);
                let mut make = || doubled(&b, &leaf, levels, &mut held);
                let counts = visits(&make(), &make(), PLAIN);
                check("doubled", counts, levels);
                let var = b.var();
                let mut make = || doubled(&b, &var, levels, &mut held);
                check("mapped", visits(&make(), &make(), MAPPED), levels);
            }
        }
    }
}

#[test]
fn butterflies_are_visited_once() {
    for b in builds() {
        for levels in [60, 2_000] {
            let leaf = b.constant(1);
            let make = || butterfly(&b, &leaf, levels);
            check("closed", visits(&make(), &make(), PLAIN), 2 * levels);
            let make = || butterfly(&b, &b.var(), levels);
            check("mapped", visits(&make(), &make(), MAPPED), 2 * levels);
        }
    }
}

#[test]
fn open_terms_inside_binders_are_visited_once() {
    for b in builds() {
        for role in [Role::Function, Role::Lambda, Role::Binder] {
            for levels in [60, 10_000] {
                for options in [PLAIN, MAPPED] {
                    let make = || {
                        let x = b.var();
                        b.binder(role, &[&x], doubled(&b, &x, levels, &mut None))
                    };
                    let what = format!("doubled in {role:?}");
                    check(&what, visits(&make(), &make(), options), levels);
                    let make = || {
                        let x = b.var();
                        b.binder(role, &[&x], butterfly(&b, &x, levels / 5))
                    };
                    let what = format!("butterfly in {role:?}");
                    check(&what, visits(&make(), &make(), options), levels / 5 * 2);
                }
            }
        }
    }
}

/// A node is equal to several nodes of the other side.
#[test]
fn nodes_with_several_partners_are_visited_once_with_each() {
    for b in builds() {
        for count in [0, 1, 20] {
            for levels in [10, 20, 60] {
                let vars: Vec<Value> = (0..count).map(|_| b.var()).collect();
                let params: Vec<&Value> = vars.iter().collect();
                let leaf = Value::from(vars.clone());
                let tower = || doubled(&b, &b.constant(&leaf), levels, &mut None);
                let [first, second, third, fourth] = [(); 4].map(|()| tower());
                let mut left = vec![first.clone(); 4];
                let mut right = vec![first.clone(), second.clone(), third, fourth.clone()];
                left.push(second.clone());
                right.push(fourth);
                for _ in 0..40 {
                    left.extend([first.clone(), first.clone()]);
                    right.extend([first.clone(), second.clone()]);
                }
                let sides = [left, right].map(|items| b.lambda(&params, items));
                let objects = 5 * (levels + count) + 2 * 40;
                for [left, right] in [[0, 1], [1, 0]] {
                    let counts = visits(&sides[left], &sides[right], PLAIN);
                    check("several partners", counts, objects);
                }
            }
        }
    }
}

#[test]
fn shared_containers_are_visited_once() {
    let wraps: [fn(&Value) -> Value; 4] = [
        |below| arr([below, below]),
        |below| List::from(vec![below.clone(), below.clone()]).into(),
        |below| map([(1.into(), below.clone()), (2.into(), below.clone())]),
        |below| {
            let entries = [1, 2].map(|key| (Value::from(key), below.clone()));
            entries.into_iter().collect::<Dict>().into()
        },
    ];
    for wrap in wraps {
        for levels in [10, 20, 60] {
            let make = || (0..levels).fold(Value::from([1]), |below, _| wrap(&below));
            check("containers", visits(&make(), &make(), PLAIN), levels);
        }
    }
}

/// Results that use only variables of outer scopes stay valid when a variable
/// further in is rebound.
#[test]
fn terms_of_outer_scopes_outlive_bindings_further_in() {
    for b in builds() {
        for count in [2, 40] {
            for times in [10, 40] {
                let make = || {
                    let vars: Vec<Value> = (0..count).map(|_| b.var()).collect();
                    let sum = |total: Value, var: &Value| b.add(total, var);
                    let body = vars.iter().fold(Value::from(0), sum);
                    let body = doubled(&b, &body, 100, &mut None);
                    let own = b.var();
                    let again = |_| [body.clone(), b.lambda(&[&own], &own)];
                    let items: Vec<Value> = (0..times).flat_map(again).collect();
                    let params: Vec<&Value> = vars.iter().collect();
                    b.lambda(&params, b.lambda(&[&own], items))
                };
                // The hash equals the hash of one depth of scopes, too.
                let counts = visits(&make(), &make(), PLAIN);
                for taken in counts {
                    let bound = 2 * (100 + 2 * count + 4 * times) as u64;
                    assert!(taken <= bound, "{count} variables, {times} times: {taken}");
                }
            }
        }
    }
}

/// The same nodes in two scopes that bind the same variables, too many of them to be
/// tracked individually.
#[test]
fn terms_of_many_variables_are_visited_once_in_each_scope() {
    for b in builds() {
        for count in [2, 15, 16, 17, 40] {
            for levels in [20, 60] {
                let make = || {
                    let vars: Vec<Value> = (0..count).map(|_| b.var()).collect();
                    let sum = |one: Value, var: &Value| b.add(one, var);
                    let leaf = vars.iter().fold(Value::from(0), sum);
                    let body = doubled(&b, &leaf, levels, &mut None);
                    let params: Vec<&Value> = vars.iter().collect();
                    let scopes = [(); 3].map(|()| b.lambda(&params, &body));
                    Value::from(scopes)
                };
                let what = format!("{levels} levels over {count} variables");
                let counts = visits(&make(), &make(), PLAIN);
                check(&what, counts, 3 * (levels + 2 * count));
            }
        }
    }
}

/// Each level is below two unused scopes, and uses the outermost variable and a private
/// variable: the level depends only on the outermost scope, however many scopes are
/// between.
#[test]
fn open_terms_below_many_scopes_are_visited_once() {
    for b in builds() {
        for levels in [20, 60, 70, 200] {
            let make = || {
                let z = b.var();
                let level = |below: Value, _| {
                    let r = b.var();
                    let own = b.lambda(&[&r], b.add(&r, &z));
                    let twice = [b.var(), b.var()].map(|p| b.lambda(&[&p], &below));
                    b.add(own, Value::from(twice))
                };
                b.lambda(&[&z], (0..levels).fold(z.clone(), level))
            };
            let what = format!("{levels} levels of two scopes");
            check(&what, visits(&make(), &make(), PLAIN), 9 * levels);
        }
    }
}

/// Below scopes that bind the same variables in turn, to meet a node under very many
/// bindings: replaces `o` by a sum of binders of each variable over `o`, this many
/// times.
fn rebound(b: &Build, vars: &[Value], levels: usize, shared: fn(usize) -> bool) -> Value {
    let sum = |parts: Vec<Value>| {
        let add = |one: Value, other| b.add(&one, &other);
        parts.into_iter().reduce(add).expect("a variable")
    };
    let level = |below: [Value; 2], at: usize| {
        let make = || {
            let part = |(place, var): (usize, &Value)| {
                let body = &below[usize::from(!shared(at)) * (place % 2)];
                b.lambda(&[var], body)
            };
            sum(vars.iter().enumerate().map(part).collect())
        };
        [make(), make()]
    };
    let leaf = || sum(vars.to_vec());
    let [body, _] = (0..levels).fold([leaf(), leaf()], level);
    b.lambda(&vars.iter().collect::<Vec<_>>(), body)
}

/// Variables are named by distance in a hash, and a node has one hash for each
/// arrangement of its variables; the number of arrangements is that of places to the
/// power of the variables less one. Equality only looks partners up.
#[test]
fn what_scopes_rebind_is_visited_once_per_way_to_lie() {
    let sharings: [fn(usize) -> bool; 3] = [|_| true, |_| false, |index| index % 2 == 0];
    let [native, dynamic] = builds();
    // The work grows with the third power of the size.
    let largest = scaled(60).max(30);
    for (b, sizes) in [(native, &[10, 20, 40, 60][..]), (dynamic, &[10, 20])] {
        for count in [2, 3] {
            for &levels in sizes.iter().filter(|&&levels| levels <= largest) {
                for &sharing in &sharings[..if levels * count > 120 { 1 } else { 3 }] {
                    let make = |shared| {
                        let vars: Vec<Value> = (0..count).map(|_| b.var()).collect();
                        rebound(&b, &vars, levels, shared)
                    };
                    let (left, right) = (make(|_| true), make(sharing));
                    let [equal, hash, digest] = visits(&left, &right, PLAIN);
                    let name = format!("{levels} levels of {count} variables");
                    let objects = (4 * count * levels) as u64;
                    assert!(equal <= 16 * objects, "{name}: equality took {equal}");
                    let ways = (levels as u64).pow(count as u32 - 1);
                    for (who, taken) in [("hash", hash), ("digest", digest)] {
                        assert!(taken <= 4 * objects * ways, "{name}: {who} took {taken}");
                    }
                    StructuralKey::new(&left).expect("hashable");
                    let taken = last_visit_count();
                    assert!(taken <= 4 * objects * ways, "{name}: the key took {taken}");
                }
            }
        }
    }
}

/// Results of one run are not reused in the next run, since the contents of objects may
/// differ.
#[test]
fn every_run_begins_anew() {
    for b in builds() {
        let make = || {
            let vars = [b.var(), b.var()];
            rebound(&b, &vars, 10, |_| true)
        };
        let (left, right) = (make(), make());
        let first = visits(&left, &right, PLAIN);
        assert_eq!(visits(&left, &right, PLAIN), first);
    }
}

/// Below scopes that bind the same variable, terms with dag nodes are found again like
/// other terms.
#[test]
fn terms_with_dag_nodes_are_found_again_in_other_scopes() {
    for b in builds() {
        for times in [10, 40] {
            let make = || {
                let x = b.var();
                let leaf = b.add(b.shared(1, 2), &x);
                let body = doubled(&b, &leaf, 100, &mut None);
                let again = |_| b.lambda(&[&x], &body);
                Value::from((0..times).map(again).collect::<Vec<_>>())
            };
            for taken in visits(&make(), &make(), PLAIN) {
                let bound = 8 * 104 + 8 * times;
                assert!(taken <= bound, "{times} times: {taken} visits");
            }
        }
    }
}

/// A pair of towers of nodes whose operands may be in either order, with a
/// difference at the bottom.
fn towers(b: &Build, bottom: [Value; 2], levels: usize, wrap: Wrap) -> [Value; 2] {
    bottom.map(|leaf| {
        (0..levels).fold(leaf, |below, _| {
            let [lhs, rhs] = wrap(b, &below);
            b.comm(lhs, rhs)
        })
    })
}

/// Makes the operands of a level from the level below.
type Wrap = fn(&Build, &Value) -> [Value; 2];

/// A custom comparison tries the alternatives again at every occurrence; a pair found
/// different is not visited a second time.
#[test]
fn alternatives_that_fail_are_remembered() {
    let wraps: [Wrap; 5] = [
        |_, below| [below.clone(), below.clone()],
        |b, below| [b.add(below, 1), b.add(below, 2)],
        |_, below| {
            [
                arr([below, below]),
                Value::from(List::from(vec![below.clone()])),
            ]
        },
        |b, below| {
            let own = b.var();
            [b.lambda(&[&own], b.add(&own, below)), below.clone()]
        },
        |b, below| {
            let own = b.var();
            let operand = b.lambda(&[&own], b.add(&own, below));
            [operand.clone(), operand]
        },
    ];
    for b in builds() {
        for levels in [10, 20, 40, 60] {
            for (number, wrap) in wraps.into_iter().enumerate() {
                let (x, a) = (b.var(), b.var());
                let bottoms = [
                    [b.constant(1), b.constant(2)],
                    [b.add(&x, 1), b.add(&a, 2)],
                    [b.add(&x, &x), b.add(&a, &x)],
                    [b.shared(&x, 1), b.shared(&a, 2)],
                ];
                for (kind, bottom) in bottoms.into_iter().enumerate() {
                    let name = format!("{levels} levels, operands {number}, bottom {kind}");
                    let [left, right] = towers(&b, bottom, levels, wrap);
                    let (left, right) = (b.lambda(&[&x], &left), b.lambda(&[&a], &right));
                    for options in [PLAIN, MAPPED] {
                        let equal = options.equal(&left, &right);
                        assert_eq!(equal.ok(), Some(false), "{name}");
                        let taken = last_visit_count();
                        assert!(taken <= 64 * levels as u64, "{name}: {taken} visits");
                        let mismatch = options.first_mismatch(&left, &right);
                        assert!(mismatch.is_ok_and(|mismatch| mismatch.is_some()), "{name}");
                        let taken = last_visit_count();
                        assert!(
                            taken <= 64 * levels as u64,
                            "{name}: {taken} visits to explain"
                        );
                    }
                }
            }
        }
    }
}

/// A differing pair is not visited again after scopes that have ended.
#[test]
fn what_differs_stays_different_behind_other_scopes() {
    for b in builds() {
        for uses in [false, true] {
            for levels in [10, 20, 40] {
                let (x, a) = (b.var(), b.var());
                let behind = || {
                    let own = b.var();
                    b.lambda(&[&own], if uses { own.clone() } else { 1.into() })
                };
                for bottom in [[b.constant(1), b.constant(2)], [b.add(&x, 1), b.add(&a, 2)]] {
                    let level = |below: Value, _| {
                        let [first, second] = [(); 2].map(|()| arr([&behind(), &below]));
                        b.comm(first, second)
                    };
                    let [left, right] = bottom.map(|leaf| (0..levels).fold(leaf, level));
                    let (left, right) = (b.lambda(&[&x], &left), b.lambda(&[&a], &right));
                    let equal = PLAIN.equal(&left, &right);
                    assert_eq!(equal.ok(), Some(false), "{levels} levels");
                    let taken = last_visit_count();
                    assert!(taken <= 64 * levels as u64, "{levels} levels: {taken}");
                }
            }
        }
    }
}

/// Closed parts differ regardless of surrounding bindings.
#[test]
fn closed_parts_stay_different_whatever_is_bound() {
    for b in builds() {
        for levels in [100, 1_000] {
            let side = |bottom: i64| {
                let level = |below: Value, _| b.add(below, 1);
                let part = (0..levels).fold(b.constant(bottom), level);
                let operand = || arr([&b.assign(&b.var(), 1), &part]);
                b.comm(operand(), operand())
            };
            let equal = PLAIN.equal(side(1), side(2));
            assert_eq!(equal.ok(), Some(false));
            let taken = last_visit_count();
            assert!(taken <= levels + levels / 2, "{levels} levels: {taken}");
        }
    }
}

/// Pairs proven in an abandoned alternative are not proven again.
#[test]
fn proofs_outlive_the_alternatives_that_fail() {
    for b in builds() {
        for levels in [10, 20, 40, 60] {
            let make = |turn: bool| {
                let x = b.var();
                let level = |below: Value, _| {
                    let operands = [b.add(&below, 1), b.add(&below, 2)];
                    let [first, second] = &operands;
                    if turn {
                        b.comm(second, first)
                    } else {
                        b.comm(first, second)
                    }
                };
                b.lambda(&[&x], (0..levels).fold(b.add(&x, &x), level))
            };
            let counts = visits_of_equality(&make(false), &make(true));
            assert!(
                counts <= 64 * levels as u64,
                "{levels} levels: {counts} visits"
            );
        }
    }
}

fn visits_of_equality(left: &Value, right: &Value) -> u64 {
    assert!(PLAIN.equal(left, right).expect("comparable"));
    last_visit_count()
}

#[derive(isoform::Node)]
#[node(key = "visits.Leaf")]
#[repr(C)]
struct Leaf {
    number: i64,
}

#[derive(isoform::Node)]
#[node(key = "visits.Both")]
#[repr(C)]
struct Both {
    left: isoform::Ref<isoform::Obj>,
    right: isoform::Ref<isoform::Obj>,
}

/// A node with a few leaves is visited at every meeting, so the cost is that of all
/// meetings; the surrounding nodes are remembered.
#[test]
fn nodes_with_a_few_leaves_cost_a_few_visits_each_time() {
    const COUNT: u64 = 1_000;
    let small = || Both::new(Leaf::new(1), Leaf::new(2)).upcast();
    let large = || {
        let small = small();
        Both::new(&small, &small).upcast()
    };
    let many = |item: isoform::Ref<isoform::Obj>| Value::from(vec![item; COUNT as usize]);
    for taken in visits(&many(small()), &many(small()), PLAIN) {
        assert_eq!(taken, 1 + 3 * COUNT);
    }
    for taken in visits(&many(large()), &many(large()), PLAIN) {
        assert_eq!(taken, 1 + COUNT + 2 * 3);
    }
}
