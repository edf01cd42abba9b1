//! Objects built, shared, changed, walked and dropped by several threads.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use isoform::compare::recursive_eq;
use isoform::objects::{collect_cycles, construct, repr, set_field};
use isoform::text::to_text;
use isoform::traverse::{WalkOptions, WalkResult, deep_copy, structural_walk};
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::{Dict, List};
use isoform::{Array, Obj, Ref, Value, structural_equal, structural_hash};

use crate::support::{Call, Expr, Int, Link, add, count_objects, doubled, int, scaled, var};

const THREADS: usize = 8;

/// Runs the same work on all threads, started together, and returns their
/// results.
pub(crate) fn on_all_threads<T: Send + 'static>(
    work: impl Fn(usize) -> T + Send + Sync + 'static,
) -> Vec<T> {
    let work = Arc::new(work);
    let barrier = Arc::new(Barrier::new(THREADS));
    let workers: Vec<_> = (0..THREADS)
        .map(|worker| {
            let (work, barrier) = (Arc::clone(&work), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                work(worker)
            })
        })
        .collect();
    let results = workers.into_iter().map(|worker| worker.join());
    results
        .map(|result| result.expect("no thread panics"))
        .collect()
}

#[test]
fn a_shared_object_counts_the_owners_of_all_threads() {
    let node: Ref<Expr> = int(1);
    let rounds = scaled(50_000);
    let kept = {
        let node = node.clone();
        on_all_threads(move |_| {
            for _ in 0..rounds {
                let clone = node.clone();
                let value = Value::from(&clone);
                drop(clone);
                assert!(value.peek::<Ref<Int>>().is_some_and(|int| int.value == 1));
            }
            node.clone()
        })
    };
    assert_eq!(node.owners() as usize, 1 + THREADS);
    drop(kept);
    assert_eq!(node.owners(), 1);
}

#[test]
fn identities_are_unique_over_threads() {
    let each = scaled(20_000);
    let numbers = on_all_threads(move |_| {
        let numbers = (0..each).map(|_| int(0).identity());
        numbers.collect::<Vec<_>>()
    });
    let all: HashSet<u64> = numbers.iter().flatten().copied().collect();
    assert_eq!(all.len(), THREADS * each);
    for own in &numbers {
        assert!(own.is_sorted());
    }
}

#[test]
fn objects_built_on_one_thread_die_on_another() {
    let built = on_all_threads(|worker| {
        let shared = var("x");
        let parts = (0..100).map(|n| Value::from(add(&shared, int(n + worker as i64))));
        (shared.clone(), parts.collect::<Array>())
    });
    let (shared, parts): (Vec<_>, Vec<_>) = built.into_iter().unzip();
    let whole = Value::from(parts);
    let expected = THREADS * (1 + 2 * 100);
    let counts = {
        let whole = whole.clone();
        on_all_threads(move |_| count_objects(&whole, WalkOptions::default()).unwrap())
    };
    assert_eq!(counts, [expected; THREADS]);
    thread::spawn(move || drop(whole)).join().expect("no panic");
    assert!(shared.iter().all(|var| var.owners() == 1));
}

#[test]
fn a_list_is_changed_walked_and_dropped_by_all() {
    let witness = int(7);
    let list: List = List::new();
    let dict: Dict = Dict::new();
    let rounds = scaled(2_000);
    let (walks, pops) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    {
        let (list, dict, witness) = (list.clone(), dict.clone(), witness.clone());
        let (walks, pops) = (Arc::clone(&walks), Arc::clone(&pops));
        on_all_threads(move |worker| {
            let root = Value::from(Link::new(vec![
                Value::from(list.clone()),
                dict.clone().into(),
            ]));
            for round in 0..rounds {
                list.push(Value::from(&witness)).unwrap();
                dict.insert(Value::from(round % 10), Value::from(&witness))
                    .unwrap();
                if round % 3 == 0 && list.pop().is_some() {
                    pops.fetch_add(1, Ordering::Relaxed);
                }
                if round % 4 == 0 && dict.remove(Value::from(worker)).is_some() {
                    assert!(dict.len() <= 10);
                }
                if round % 100 == 0 {
                    // A walk sees whole values, regardless of other threads.
                    let before = list.snapshot().len();
                    structural_walk(&root, |visit| {
                        if let Some(int) = visit.downcast::<Int>() {
                            assert_eq!(int.value, 7);
                        }
                        Ok(WalkResult::<()>::Advance)
                    })
                    .unwrap();
                    walks.fetch_add(usize::from(before > 0), Ordering::Relaxed);
                }
            }
        });
    }
    let expected = THREADS * rounds - pops.load(Ordering::Relaxed);
    assert_eq!(list.len(), expected);
    assert!(walks.load(Ordering::Relaxed) > 0);
    // Borrowed values wait for all traversals of the process that ran at the
    // time.
    let owners = |expected: usize| {
        let given_up = || witness.owners() as usize == expected;
        let patience = std::time::Duration::from_millis(2);
        let in_time = (0..20_000).any(|_| {
            given_up() || {
                thread::sleep(patience);
                false
            }
        });
        assert!(in_time, "{} owners, not {expected}", witness.owners());
    };
    owners(1 + list.len() + dict.len());
    list.clear();
    dict.clear();
    owners(1);
}

#[test]
fn snapshots_stay_whole_while_others_write() {
    let list: List = List::from(vec![Value::from(0); 16]);
    let rounds = scaled(5_000);
    let checked = {
        let list = list.clone();
        on_all_threads(move |worker| {
            let mut checked = 0;
            for round in 0..rounds {
                if worker % 2 == 0 {
                    list.set(round % 16, Value::from(round)).expect("in range");
                } else {
                    let snapshot = list.snapshot();
                    let first = snapshot.values().to_vec();
                    thread::yield_now();
                    assert_eq!(snapshot.values(), first);
                    checked += usize::from(first.len() == 16);
                }
            }
            checked
        })
    };
    assert_eq!(checked.iter().sum::<usize>(), THREADS / 2 * rounds);
    assert_eq!(list.len(), 16);
}

#[test]
fn copies_on_write_of_a_shared_array_are_private() {
    let shared = Array::from([0i64; 8]);
    let sums = {
        let shared = shared.clone();
        on_all_threads(move |worker| {
            let mut mine = shared.clone();
            for at in 0..8 {
                mine.set(at, worker as i64).expect("in range");
            }
            mine.push(worker as i64);
            mine.iter().sum::<i64>()
        })
    };
    let expected: Vec<i64> = (0..THREADS as i64).map(|worker| worker * 9).collect();
    assert_eq!(sums, expected);
    assert_eq!(shared.iter().sum::<i64>(), 0);
}

#[test]
fn a_graph_is_walked_by_all_at_once() {
    let graph = doubled(200);
    let wide = Call::new((0..500).map(|_| Value::from(&graph)).collect::<Vec<_>>());
    let counts = {
        let wide = wide.clone();
        on_all_threads(move |_| {
            let walks = (0..10).map(|_| count_objects(&wide, WalkOptions::default()).unwrap());
            walks.collect::<Vec<_>>()
        })
    };
    assert!(counts.iter().flatten().all(|count| *count == 1 + 201));
    assert_eq!(graph.owners(), 1 + 500);
    assert_eq!(wide.owners(), 1);
}

#[test]
fn the_order_of_a_map_is_computed_once_by_whoever_comes_first() {
    let keys: Vec<_> = (0..50).map(|_| var("k")).collect();
    let map: isoform::Map = keys
        .iter()
        .rev()
        .map(|key| (Value::from(key), Value::NONE))
        .collect();
    let root = Value::from(map);
    let orders = on_all_threads(move |_| {
        let mut order = Vec::new();
        structural_walk(&root, |visit| {
            if visit.is_key()
                && let Some(key) = visit.object()
            {
                order.push(key.identity());
            }
            Ok(WalkResult::<()>::Advance)
        })
        .unwrap();
        order
    });
    let expected: Vec<u64> = keys.iter().map(Ref::identity).collect();
    assert!(orders.iter().all(|order| *order == expected));
}

/// A type declared at run time with mutable fields for any value.
fn mutable_type(key: &str, fields: &[&str]) -> TypeIndex {
    let field = |name: &&str| FieldDef::new(name, Schema::Any).mutable(true);
    let definition = fields
        .iter()
        .map(field)
        .fold(TypeDef::new(key), TypeDef::field);
    register_type(definition).expect("the key is free")
}

/// An object or none.
fn object_or_not(round: usize) -> Value {
    match round % 2 {
        0 => Value::from(format!("a text that is not inline {round}")),
        _ => Value::from(round),
    }
}

#[test]
fn a_default_is_printed_while_others_change_it() {
    let shared = construct(
        mutable_type("it.threads.Default", &["text"]),
        vec![Value::NONE],
    );
    let shared = shared.expect("None fits");
    let holder = (0..16).fold(TypeDef::new("it.threads.Holder"), |holder, number| {
        let default = Value::from(&shared);
        let field = FieldDef::new(&format!("f{number}"), Schema::Any);
        holder.field(field.default_fn(move || default.clone()))
    });
    let holder = register_type(holder).expect("the key is free");
    let value = Value::from(construct(holder, vec![Value::NONE; 16]).expect("None fits"));
    let rounds = scaled(2_000);
    on_all_threads(move |worker| {
        for round in 0..rounds {
            if worker % 2 == 0 {
                let text = to_text(&value).expect("plain values");
                assert!(text.contains("f15=None"), "{text}");
            } else {
                set_field(&shared, "text", object_or_not(round)).expect("it is mutable");
            }
        }
    });
}

/// Cells in a row, linked by the field `next`.
fn row_of_cells(ty: TypeIndex, count: usize) -> Vec<Ref<Obj>> {
    let cell = |_| construct(ty, vec![Value::NONE; 2]).expect("None fits");
    let cells: Vec<_> = (0..count).map(cell).collect();
    for pair in cells.windows(2) {
        set_field(&pair[0], "next", Value::from(&pair[1])).expect("it is mutable");
    }
    cells
}

#[test]
fn all_that_reads_fields_runs_beside_all_that_writes_them() {
    let ty = mutable_type("it.threads.Cell", &["value", "next"]);
    let witness = int(7);
    let rounds = scaled(2_000);
    let work = {
        let (cells, witness) = (row_of_cells(ty, 12), witness.clone());
        move |worker: usize| {
            let root = Value::from(&cells[0]);
            let last = cells.len() - 1;
            let set = |cell: &Ref<Obj>, field: &str, value: Value| {
                set_field(cell, field, value).expect("it is mutable");
            };
            for round in 0..rounds {
                let index = (round * 7 + worker) % last;
                match (round + worker) % 9 {
                    0 => {
                        let text = to_text(&root).expect("no cycle");
                        assert!(text.contains("it.threads.Cell("), "{text}");
                    }
                    1 => assert!(repr(&root).starts_with("it.threads.Cell(value=")),
                    2 => set(&cells[index], "value", object_or_not(round)),
                    3 => set(&cells[index], "value", Value::from(&witness)),
                    // Links point forward only, so the cells form no cycle.
                    4 => {
                        let next = index + 1 + round % (last - index);
                        set(&cells[index], "next", Value::from(&cells[next]));
                    }
                    5 => {
                        structural_walk(&root, |visit| {
                            if let Some(int) = visit.downcast::<Int>() {
                                assert_eq!(int.value, 7);
                            }
                            Ok(WalkResult::<()>::Advance)
                        })
                        .expect("no cycle");
                    }
                    6 => {
                        let copy = deep_copy(&root).expect("no hooks");
                        let twin = deep_copy(&copy).expect("no hooks");
                        assert!(structural_equal(&copy, &twin).expect("no cycle"));
                        assert!(recursive_eq(&copy, &twin).expect("no hooks"));
                        let hashes = [&copy, &twin].map(structural_hash);
                        let [copy_hash, twin_hash] = hashes.map(|hash| hash.expect("no cycle"));
                        assert_eq!(copy_hash, twin_hash);
                    }
                    7 => {
                        // One section reads both sides.
                        assert!(structural_equal(&root, &root).expect("no cycle"));
                        structural_hash(&root).expect("no cycle");
                    }
                    _ => {
                        let ring = row_of_cells(ty, 2);
                        set(&ring[0], "value", Value::from(&witness));
                        set(&ring[1], "next", Value::from(&ring[0]));
                        drop(ring);
                        collect_cycles();
                    }
                }
            }
            for cell in &cells {
                set(cell, "value", Value::NONE);
            }
        }
    };
    on_all_threads(work);
    // Values removed from fields also wait for walks of other tests.
    let deadline = Instant::now() + Duration::from_secs(60);
    while witness.owners() > 1 && Instant::now() < deadline {
        collect_cycles();
        count_objects(Value::from(&witness), WalkOptions::default()).expect("no cycle");
    }
    assert_eq!(witness.owners(), 1);
}
