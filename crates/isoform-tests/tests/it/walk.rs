//! `structural_walk` and `walk_objects`.

use isoform::errors::ErrorKind;
use isoform::objects::construct;
use isoform::traverse::{Sharing, WalkOptions, WalkOrder, WalkResult};
use isoform::types::{FieldDef, FieldFlag, Kind, RegionKind, Schema, TypeDef, register_type};
use isoform::values::{Dict, List, Shape};
use isoform::{Array, Error, Map, Obj, Ref, Result, Value};

use crate::support::{
    Call, Chain, Int, Lambda, Link, Var, add, chain, count_objects, doubled, int, scaled, trace,
    var,
};

const GO: Result<WalkResult> = Ok(WalkResult::Advance);

fn pre() -> WalkOptions {
    WalkOptions::default().order(WalkOrder::Pre)
}

fn post() -> WalkOptions {
    WalkOptions::default()
}

/// All ways of walking.
fn all_options() -> [WalkOptions; 6] {
    let each = |options: WalkOptions| options.sharing(Sharing::EachOccurrence);
    let [pre_apart, post_apart] = [pre(), post()].map(apart);
    [
        pre(),
        post(),
        each(pre()),
        each(post()),
        pre_apart,
        post_apart,
    ]
}

fn apart(options: WalkOptions) -> WalkOptions {
    options.sharing(Sharing::OncePerRegion)
}

#[track_caller]
fn check(root: impl Into<Value>, options: WalkOptions, expected: &[&str]) {
    let lines = trace(root, options).expect("the walk succeeds");
    assert_eq!(lines, expected);
}

#[test]
fn every_value_is_visited_with_its_path_and_region() {
    let x = var("x");
    let lambda = Lambda::new(add(&x, int(7)), vec![x]);
    check(
        &lambda,
        pre(),
        &[
            "<root> Use Lambda",
            "<root>.params Def Array",
            "<root>.params[0] Def Var:x",
            "<root>.params[0].name Def \"x\"",
            "<root>.params[0].ty Def None",
            "<root>.body Use Add",
            "<root>.body.rhs Use Int",
            "<root>.body.rhs.value Use 7",
        ],
    );
    check(
        &lambda,
        post(),
        &[
            "<root>.params[0].name Def \"x\"",
            "<root>.params[0].ty Def None",
            "<root>.params[0] Def Var:x",
            "<root>.params Def Array",
            "<root>.body.rhs.value Use 7",
            "<root>.body.rhs Use Int",
            "<root>.body Use Add",
            "<root> Use Lambda",
        ],
    );
}

#[test]
fn plain_roots_are_visited() {
    check(5, post(), &["<root> Use 5"]);
    check(Value::NONE, pre(), &["<root> Use None"]);
    check("some text that is not inline", pre(), &["<root> Use str"]);
    check(Array::<Value>::new(), post(), &["<root> Use Array"]);
    check(Map::<Value, Value>::new(), post(), &["<root> Use Map"]);
    check(Shape::from([1, 2]), post(), &["<root> Use Shape"]);
}

#[test]
fn ignored_fields_are_visited_on_request_and_in_order() {
    let lambda = Lambda::new(int(1), vec![]).with_span("here");
    let paths = |options| -> Vec<String> {
        let lines = trace(&lambda, options).expect("the walk succeeds");
        let path = |line: &String| line.split(' ').next().unwrap_or_default().to_string();
        lines.iter().map(path).collect()
    };
    assert_eq!(
        paths(pre()),
        [
            "<root>",
            "<root>.params",
            "<root>.body",
            "<root>.body.value"
        ]
    );
    assert_eq!(
        paths(pre().include_ignored(true)),
        [
            "<root>",
            "<root>.params",
            "<root>.note",
            "<root>.body",
            "<root>.body.note",
            "<root>.body.value",
            "<root>.span"
        ]
    );
}

#[test]
fn shared_objects_are_visited_once() {
    let levels = 60;
    let root = doubled(levels);
    for options in [pre(), post()] {
        assert_eq!(count_objects(&root, options).unwrap(), levels + 1);
    }
    let mut paths = Vec::new();
    let leaf_only = |visit: &isoform::traverse::Visit<'_>| {
        if visit.downcast::<Int>().is_some() {
            paths.push(visit.path());
        }
        GO
    };
    post().walk(&root, leaf_only).unwrap();
    assert_eq!(paths.len(), 1);
    assert!(
        paths[0]
            .steps()
            .iter()
            .all(|step| step.to_string() == ".lhs")
    );
}

#[test]
fn shared_objects_are_visited_at_every_occurrence_on_request() {
    let root = doubled(10);
    for order in [WalkOrder::Pre, WalkOrder::Post] {
        let options = WalkOptions::default()
            .order(order)
            .sharing(Sharing::EachOccurrence);
        assert_eq!(count_objects(&root, options).unwrap(), (1 << 11) - 1);
    }
}

#[test]
fn many_shared_objects_are_each_visited_once() {
    let count = scaled(100_000);
    let held: Vec<Ref<_>> = (0..count as i64).map(int).collect();
    let twice: Vec<Value> = held.iter().chain(&held).map(Value::from).collect();
    assert_eq!(count_objects(twice, post()).unwrap(), count);
}

#[test]
fn containers_and_shapes_are_shared_and_texts_are_not() {
    let long = Value::from("a text of more than fourteen bytes");
    let big = Value::from(u64::MAX);
    let items = Value::from(Array::from([1i64]));
    let shape = Value::from(Shape::from([4]));
    let root = vec![&long, &long, &big, &big, &items, &items, &shape, &shape];
    let root: Vec<Value> = root.into_iter().cloned().collect();
    check(
        root,
        pre(),
        &[
            "<root> Use Array",
            "<root>[0] Use str",
            "<root>[1] Use str",
            "<root>[2] Use int",
            "<root>[3] Use int",
            "<root>[4] Use Array",
            "<root>[4][0] Use 1",
            "<root>[6] Use Shape",
        ],
    );
}

#[test]
fn regions_follow_the_flags() {
    let inner = TypeDef::new("it.walk.Inner")
        .kind(Kind::Tree)
        .field(FieldDef::new("plain", Schema::Any))
        .field(FieldDef::new("bound", Schema::Any).flag(FieldFlag::Def))
        .field(FieldDef::new("simple", Schema::Any).flag(FieldFlag::DefSimple));
    let inner = register_type(inner).unwrap();
    let typed = || Var::typed("v", var("t"));
    let node = || construct(inner, vec![typed().into(), typed().into(), typed().into()]).unwrap();

    let region_of = |root: &Ref<Obj>, wanted: &str| {
        let region = pre().walk(root, |visit| {
            Ok(if visit.path().to_string() == wanted {
                WalkResult::Interrupt(visit.region())
            } else {
                WalkResult::Advance
            })
        });
        region.unwrap().expect("the path exists")
    };
    use RegionKind::{Def, DefSimple, Use};
    let root = construct(
        inner,
        vec![node().into(), node().into(), vec![node()].into()],
    )
    .unwrap();
    for (path, region) in [
        ("<root>", Use),
        ("<root>.plain", Use),
        ("<root>.plain.plain", Use),
        ("<root>.plain.bound", Def),
        ("<root>.plain.bound.ty", Def),
        ("<root>.plain.bound.ty.name", Def),
        ("<root>.plain.simple", DefSimple),
        // The variable's own fields are uses, like everything below.
        ("<root>.plain.simple.name", Use),
        ("<root>.plain.simple.ty", Use),
        ("<root>.plain.simple.ty.name", Use),
        ("<root>.bound.plain", Def),
        ("<root>.bound.plain.ty", Def),
        ("<root>.bound.simple", DefSimple),
        ("<root>.bound.simple.ty", Use),
        // A container and a node that is not a variable pass the region on.
        ("<root>.simple", DefSimple),
        ("<root>.simple[0]", DefSimple),
        ("<root>.simple[0].plain", DefSimple),
        ("<root>.simple[0].plain.ty", Use),
        ("<root>.simple[0].bound.ty", Def),
    ] {
        assert_eq!(region_of(&root, path), region, "at {path}");
    }
}

#[test]
fn objects_are_visited_once_in_each_kind_of_region_on_request() {
    let (x, y) = (var("x"), var("y"));
    let lambda = Lambda::new(add(add(&x, &y), add(&y, &x)), vec![x]);
    let vars = |options| -> Vec<String> {
        let lines = trace(&lambda, options).expect("the walk succeeds");
        lines
            .into_iter()
            .filter(|line| line.contains("Var"))
            .collect()
    };
    for order in [pre(), post()] {
        assert_eq!(
            vars(apart(order)),
            [
                "<root>.params[0] Def Var:x",
                "<root>.body.lhs.lhs Use Var:x",
                "<root>.body.lhs.rhs Use Var:y",
            ]
        );
        // Otherwise a variable is visited at its first occurrence alone.
        assert_eq!(
            vars(order),
            [
                "<root>.params[0] Def Var:x",
                "<root>.body.lhs.rhs Use Var:y",
            ]
        );
    }
}

#[test]
fn what_lies_below_is_visited_again_in_another_kind_of_region() {
    let ty = TypeDef::new("it.walk.Regions")
        .kind(Kind::Tree)
        .field(FieldDef::new("used", Schema::Any))
        .field(FieldDef::new("bound", Schema::Any).flag(FieldFlag::Def))
        .field(FieldDef::new("simple", Schema::Any).flag(FieldFlag::DefSimple));
    let ty = register_type(ty).unwrap();
    let leaf = Var::typed("v", var("t"));
    let part = Value::from(vec![add(&leaf, int(1))]);
    let inner = construct(ty, vec![part.clone(), part.clone(), part.clone()]).unwrap();
    let root = vec![Value::from(&inner), part, inner.into()];
    let mut seen = Vec::new();
    apart(pre())
        .walk_objects(root.clone(), |object, region| {
            let key = object.type_info().key().trim_start_matches("it.");
            seen.push(format!("{key} {region:?}"));
            GO
        })
        .unwrap();
    // The type of a variable that is only bound counts as used, and was met in a use
    // region.
    let lines = "walk.Regions Use, Add Use, Var Use, Var Use, Int Use, \
                 Add Def, Var Def, Var Def, Int Def, Add DefSimple, Var DefSimple, Int DefSimple";
    assert_eq!(seen, lines.split(", ").collect::<Vec<_>>());

    // Sixty levels in two regions are linear, too.
    let levels = 60;
    let deep = Value::from(doubled(levels));
    let root = construct(ty, vec![deep.clone(), deep.clone(), deep]).unwrap();
    let count = count_objects(&root, apart(post())).unwrap();
    assert_eq!(count, 1 + 3 * (levels + 1));
}

#[test]
fn skipping_in_one_region_does_not_skip_in_another() {
    let x = var("x");
    let lambda = Lambda::new(&x, vec![x.clone()]);
    let mut seen = Vec::new();
    apart(pre())
        .walk(&lambda, |visit| {
            let is_var = visit.downcast::<Var>().is_some();
            let below = visit.path().to_string().ends_with(".name");
            if is_var || below {
                seen.push(format!("{} {:?}", visit.path(), visit.region()));
            }
            Ok(if is_var && visit.region() == RegionKind::Def {
                WalkResult::<()>::Skip
            } else {
                WalkResult::Advance
            })
        })
        .unwrap();
    assert_eq!(
        seen,
        [
            "<root>.params[0] Def",
            "<root>.body Use",
            "<root>.body.name Use",
        ]
    );
}

#[test]
fn maps_are_visited_in_an_order_that_does_not_depend_on_insertion() {
    let (x, y) = (var("x"), var("y"));
    let mut entries: Vec<(Value, Value)> = vec![
        ("b".into(), 1.into()),
        ((&y).into(), 2.into()),
        ("a".into(), 3.into()),
        ((&x).into(), 4.into()),
        (10.into(), 5.into()),
        (9.into(), 6.into()),
    ];
    let expected = [
        "<root> Use Map",
        "<root>[9] Use key 9",
        "<root>[9] Use 6",
        "<root>[10] Use key 10",
        "<root>[10] Use 5",
        "<root>[\"a\"] Use key \"a\"",
        "<root>[\"a\"] Use 3",
        "<root>[\"b\"] Use key \"b\"",
        "<root>[\"b\"] Use 1",
    ];
    for _ in 0..entries.len() {
        entries.rotate_left(1);
        let map: Map = entries.iter().cloned().collect();
        let lines = trace(map, pre()).unwrap();
        assert_eq!(lines[..expected.len()], expected);
        let rest: Vec<_> = lines[expected.len()..]
            .iter()
            .filter_map(|line| line.split_once("] ").map(|(_, end)| end))
            .collect();
        // `x` was made before `y`; the name and the missing type lie below `x`.
        assert_eq!(rest[0], "Use key Var:x");
        let y_at = rest.iter().position(|line| *line == "Use key Var:y");
        assert!(y_at > Some(0), "{rest:?}");
    }
}

#[test]
fn keys_are_uses_also_in_a_definition_region() {
    let ty = TypeDef::new("it.walk.Binds")
        .field(FieldDef::new("bound", Schema::Any).flag(FieldFlag::Def));
    let ty = register_type(ty).unwrap();
    let map: Map = [(var("k").into(), var("v").into())].into_iter().collect();
    let root = construct(ty, vec![map.into()]).unwrap();
    let mut found = Vec::new();
    post()
        .walk(&root, |visit| {
            if let Some(var) = visit.downcast::<Var>() {
                found.push((var.name.to_string(), visit.is_key(), visit.region()));
            }
            GO
        })
        .unwrap();
    let key = ("k".to_string(), true, RegionKind::Use);
    let value = ("v".to_string(), false, RegionKind::Def);
    assert_eq!(found, [key, value]);
}

#[test]
fn paths_lead_back_to_the_values() {
    let list: List = List::from(vec![Value::from(1), int(2).into()]);
    let inner: Map = [("k".into(), list.into())].into_iter().collect();
    let dict: Dict = [(3.into(), inner.into()), (4.into(), Value::NONE)]
        .into_iter()
        .collect();
    let root = Value::from(Link::new(vec![
        dict.into(),
        Value::from(add(int(1), var("x"))),
    ]));
    for options in all_options() {
        let mut visits = 0;
        options
            .walk(&root, |visit| {
                visits += 1;
                let expected = if visit.is_key() {
                    visit.value()
                } else {
                    visit.path().get(&root)?
                };
                assert_eq!(visit.value(), expected, "at {}", visit.path());
                assert_eq!(visit.depth(), visit.path().depth());
                GO
            })
            .unwrap();
        assert_eq!(visits, 18);
    }
}

#[test]
fn skip_leaves_out_the_children_in_pre_order_only() {
    let root = Value::from(vec![Value::from(vec![1, 2]), 3.into()]);
    let count = |options: WalkOptions| {
        let mut count = 0;
        options
            .walk(&root, |visit| {
                count += 1;
                Ok(match visit.depth() {
                    1 => WalkResult::<()>::Skip,
                    _ => WalkResult::Advance,
                })
            })
            .unwrap();
        count
    };
    assert_eq!(count(pre()), 3);
    assert_eq!(count(post()), 5);
}

#[test]
fn interrupt_ends_the_walk_with_its_result() {
    let root: Vec<Value> = (0..100).map(Value::from).collect();
    for options in all_options() {
        let mut visits = 0;
        let found = options.walk(root.clone(), |visit| {
            visits += 1;
            Ok(match visit.value().as_int() {
                Some(5) => WalkResult::Interrupt("five"),
                _ => WalkResult::Advance,
            })
        });
        assert_eq!(found.unwrap(), Some("five"));
        assert!(visits <= 7, "{visits} visits");
    }
    let none = pre().walk(root, |_| GO).unwrap();
    assert_eq!(none, None);
}

#[test]
fn errors_of_the_callback_come_back_unchanged() {
    let root = doubled(3);
    let fail = || Error::new(ErrorKind::Key, "not mine").caused_by("the cause");
    for options in all_options() {
        let outcome = options.walk(&root, |visit| match visit.downcast::<Int>() {
            Some(_) => Err(fail()),
            None => GO,
        });
        let error = outcome.expect_err("the callback failed");
        assert_eq!(error.to_string(), "KeyError: not mine");
        assert_eq!(error.path(), None);
        assert_eq!(error.into_source().expect("kept").to_string(), "the cause");
    }
}

/// A list that contains itself, through a node and a dict.
fn cyclic() -> (List, Ref<Link>) {
    let list: List = List::new();
    let dict: Dict = Dict::new();
    let node = Link::new(Value::from(list.clone()));
    dict.insert("back".into(), node.clone().into()).unwrap();
    list.push(0.into()).unwrap();
    list.push(dict.into()).unwrap();
    (list, node)
}

#[test]
fn cycles_are_errors_with_a_path() {
    for options in all_options() {
        let (list, node) = cyclic();
        let error = options.walk(list.clone(), |_| GO).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value);
        assert_eq!(
            error.to_string(),
            "ValueError: cyclic value: the List contains itself (at <root>[1][\"back\"].next)"
        );
        let error = options.walk(&node, |_| GO).unwrap_err();
        // The node comes back first.
        let expected = "the it.Link contains itself (at <root>.next[1][\"back\"])";
        assert_eq!(
            error.to_string(),
            format!("ValueError: cyclic value: {expected}")
        );
        list.clear();

        let dict: Dict = Dict::new();
        dict.insert(1.into(), dict.clone().into()).unwrap();
        let error = options.walk(dict.clone(), |_| GO).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ValueError: cyclic value: the Dict contains itself (at <root>[1])"
        );
        dict.clear();

        // Nothing of the failed walks remains.
        assert_eq!(count_objects(&node, options).unwrap(), 1);
    }
}

#[test]
fn a_cycle_that_is_not_entered_is_no_error() {
    let (list, _) = cyclic();
    let outcome = pre().walk(list.clone(), |visit| {
        Ok(match visit.depth() {
            2 => WalkResult::<()>::Skip,
            _ => WalkResult::Advance,
        })
    });
    assert_eq!(outcome.unwrap(), None);
    list.clear();
}

#[test]
fn a_shared_list_is_no_cycle() {
    let shared: List = List::from(vec![Value::from(1)]);
    let root = vec![shared.clone(), shared.clone(), shared];
    let visits = |options| trace(root.clone(), options).unwrap().len();
    assert_eq!(visits(post()), 3);
    assert_eq!(visits(post().sharing(Sharing::EachOccurrence)), 7);
}

#[test]
fn changes_during_a_walk_are_not_seen_by_it() {
    for options in all_options() {
        let inner: List = List::from(vec![Value::from(1), 2.into()]);
        let dict: Dict = [("a".into(), 1.into())].into_iter().collect();
        let root = vec![Value::from(inner.clone()), dict.clone().into()];
        let mut visits = 0;
        options
            .walk(root, |visit| {
                visits += 1;
                if visit.value() == Value::from(1) {
                    inner.push(visits.into()).unwrap();
                    dict.insert(visits.into(), int(1).into()).unwrap();
                    inner.remove(0)?;
                }
                GO
            })
            .unwrap();
        // The list was entered before the change and the dict after it.
        assert_eq!(visits, 1 + 3 + 3 + 3, "{options:?}");
        assert!(inner.len() >= 2);
    }
}

#[test]
fn elements_that_are_taken_out_stay_alive_until_the_walk_ends() {
    let list: List = (0..100).map(|n| Value::from(int(n))).collect();
    let mut sum = 0;
    post()
        .walk(list.clone(), |visit| {
            list.clear();
            sum += visit.downcast::<Int>().map_or(0, |int| int.value);
            GO
        })
        .unwrap();
    assert_eq!(sum, 99 * 100 / 2);
    assert!(list.is_empty());
}

#[test]
fn a_callback_that_makes_a_cycle_gets_an_error() {
    for options in all_options() {
        let (outer, inner): (List, List) = (List::new(), List::new());
        outer.push(1.into()).unwrap();
        outer.push(inner.clone().into()).unwrap();
        let error = options.walk(outer.clone(), |visit| {
            if visit.value() == Value::from(1) {
                inner.push(outer.clone().into()).unwrap();
            }
            GO
        });
        let error = error.unwrap_err();
        assert!(error.to_string().contains("cyclic"), "{error}");
        inner.clear();
    }
}

#[test]
fn walks_nest() {
    let root = Value::from(vec![doubled(3), doubled(4)]);
    let mut inner_counts = Vec::new();
    post()
        .walk(&root, |visit| {
            if visit.depth() == 1 {
                let value = visit.value();
                inner_counts.push(count_objects(value, post())?);
            }
            GO
        })
        .unwrap();
    assert_eq!(inner_counts, [4, 5]);
}

#[test]
fn walk_objects_sees_declared_objects_only() {
    let call = Call::new(vec![Value::from(1), "two".into(), int(3).into()]);
    let mut seen = Vec::new();
    pre()
        .walk_objects(&call, |object, region| {
            seen.push((object.type_info().key().to_string(), region));
            GO
        })
        .unwrap();
    let used = |key: &str| (key.to_string(), RegionKind::Use);
    assert_eq!(seen, [used("it.Call"), used("it.Int")]);
}

#[test]
fn a_deep_chain_is_walked_in_both_orders() {
    let length = scaled(10_000_000);
    let root = chain(length);
    for options in all_options() {
        let (mut visits, mut deepest) = (0, 0);
        options
            .walk(&root, |visit| {
                visits += usize::from(visit.downcast::<Chain>().is_some());
                deepest = deepest.max(visit.depth());
                GO
            })
            .unwrap();
        assert_eq!((visits, deepest), (length, length));
    }
    let path = pre().walk(&root, |visit| {
        Ok(match visit.object() {
            None => WalkResult::Interrupt(visit.path()),
            Some(_) => WalkResult::Advance,
        })
    });
    let path = path.unwrap().expect("the chain ends");
    assert_eq!(path.depth(), length);
    assert!(path.to_string().ends_with(".next.next"));
}

#[test]
fn deep_containers_are_walked() {
    let depth = scaled(400_000);
    let mut value = Value::from(1);
    for level in 0..depth {
        value = match level % 4 {
            0 => vec![value].into(),
            1 => List::from(vec![value]).into(),
            2 => Value::from([("k".into(), value)].into_iter().collect::<Map>()),
            _ => [("k".into(), value)].into_iter().collect::<Dict>().into(),
        };
    }
    for options in all_options() {
        let (mut visits, mut deepest) = (0, 0);
        options
            .walk(&value, |visit| {
                visits += 1;
                deepest = deepest.max(visit.depth());
                GO
            })
            .unwrap();
        // Every map and dict has a key besides its value.
        assert_eq!((visits, deepest), (1 + depth + depth / 2, depth));
    }
}
