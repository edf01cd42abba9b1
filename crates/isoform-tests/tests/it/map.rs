//! `structural_map`, `children_of` and `Children::rebuild`.

use isoform::errors::ErrorKind;
use isoform::hooks::{DynMutate, DynVisit};
use isoform::objects::{construct, field_value};
use isoform::traverse::{
    ChildOptions, MapOptions, Visit, WalkOrder, WalkResult, children_of, structural_walk,
};
use isoform::types::{
    FieldDef, FieldFlag, Kind, RegionKind, Schema, TypeDef, TypeIndex, register_type,
};
use isoform::values::{Dict, List, Shape};
use isoform::{Array, Error, Map, Ref, Result, Value, attrs, structural_equal};

use crate::support::{
    Add, Call, Chain, Int, Lambda, Link, Var, add, chain, count_objects, doubled, int, scaled, var,
};

fn pre() -> MapOptions {
    MapOptions::default().order(WalkOrder::Pre)
}

fn post() -> MapOptions {
    MapOptions::default()
}

fn increment(visit: &Visit<'_>) -> Result<Option<Value>> {
    Ok(visit.value().as_int().map(|number| Value::from(number + 1)))
}

#[track_caller]
fn check(root: impl Into<Value>, expected: impl Into<Value>) {
    let (root, expected) = (root.into(), expected.into());
    for options in [pre(), post()] {
        let result = options.map(&root, increment).expect("the map succeeds");
        assert!(
            structural_equal(&result, &expected).unwrap(),
            "{options:?}: {result:?}"
        );
        assert_eq!(result.type_name(), expected.type_name());
    }
}

/// The visits of the callback, as lines `path region value`.
fn trace(root: impl Into<Value>, options: MapOptions) -> Vec<String> {
    let mut lines = Vec::new();
    options
        .map(root, |visit| {
            let what = match visit.object() {
                Some(object) => object.type_info().key().to_string(),
                None => format!("{:?}", visit.value()),
            };
            let key = if visit.is_key() { " key" } else { "" };
            assert_eq!(visit.depth(), visit.path().depth());
            lines.push(format!("{} {:?}{key} {what}", visit.path(), visit.region()));
            Ok(None)
        })
        .expect("the map succeeds");
    lines
}

#[test]
fn values_are_replaced_in_every_container_and_field() {
    check(1, 2);
    check([1, 2], [2, 3]);
    check(Array::from([1i64]), Array::from([2i64]));
    check(List::from(vec![1i64]), List::from(vec![2i64]));
    let map = |n: i64| -> Map { [(Value::from("k"), n.into())].into_iter().collect() };
    check(map(1), map(2));
    let dict = |n: i64| -> Dict { map(n).iter().map(|(k, v)| (k.clone(), v.clone())).collect() };
    check(dict(1), dict(2));
    check(add(int(1), int(2)), add(int(2), int(3)));
    let call = |n| Call::new(vec![Value::from("a"), Value::from([int(n)])]);
    check(call(1), call(2));
    check(
        "a text that is too long to be inline",
        "a text that is too long to be inline",
    );
    check(Shape::from([1]), Shape::from([1]));
}

#[test]
fn what_does_not_change_is_the_same_object() {
    let x = var("x");
    let kept = Value::from(Lambda::new(add(&x, &x), vec![x]));
    let list = Value::from(List::from(vec![Value::from("s")]));
    let changed = Value::from(int(1));
    let root = Value::from([kept.clone(), list.clone(), changed.clone()]);
    for options in [pre(), post()] {
        let same = options.map(&root, |_| Ok(None)).unwrap();
        assert_eq!(same, root);
        let result = options.map(&root, increment).unwrap();
        let items = result.extract::<Array>().unwrap();
        assert_eq!(items.values()[..2], [kept.clone(), list.clone()]);
        assert_ne!(items.values()[2], changed);
        assert_eq!(root.extract::<Array>().unwrap().values()[2], changed);
    }
}

#[test]
fn a_changed_list_is_a_new_list() {
    let list = List::from(vec![1i64]);
    let result = post().map(list.clone(), increment).unwrap();
    let result = result.extract::<List<i64>>().unwrap();
    assert!(!result.same_as(&list));
    assert_eq!((list.get(0), result.get(0)), (Some(1), Some(2)));
}

#[test]
fn the_callback_sees_paths_regions_and_keys() {
    let x = var("x");
    let map: Map = [("k".into(), 1.into())].into_iter().collect();
    let root = Value::from([Value::from(Lambda::new(int(7), vec![x])), map.into()]);
    let lines = [
        "<root>[0].params[0].name Def \"x\"",
        "<root>[0].params[0].ty Def None",
        "<root>[0].params[0] Def it.Var",
        "<root>[0].params Def isoform.Array",
        "<root>[0].body.value Use 7",
        "<root>[0].body Use it.Int",
        "<root>[0] Use it.Lambda",
        "<root>[1][\"k\"] Use key \"k\"",
        "<root>[1][\"k\"] Use 1",
        "<root>[1] Use isoform.Map",
        "<root> Use isoform.Array",
    ];
    assert_eq!(trace(&root, post()), lines);
    let in_pre_order = [10, 6, 3, 2, 0, 1, 5, 4, 9, 7, 8].map(|line| lines[line]);
    assert_eq!(trace(&root, pre()), in_pre_order);
    let without_keys = trace(&root, post().keys(false));
    assert_eq!(without_keys.len(), lines.len() - 1);
}

#[test]
fn ignored_fields_are_taken_over_or_rewritten() {
    let root = Lambda::new(int(1), vec![]).with_span(5);
    let span =
        |value: &Value| isoform::objects::field_value(value.as_object().unwrap(), "span").unwrap();
    let result = post().map(&root, increment).unwrap();
    assert_eq!(span(&result), Value::from(5));
    let result = post().include_ignored(true).map(&root, increment).unwrap();
    assert_eq!(span(&result), Value::from(6));
}

#[test]
fn in_post_order_the_answer_is_final() {
    let mut seen = Vec::new();
    let result = post()
        .map(add(int(1), int(2)), |visit| {
            seen.extend(visit.value().as_int());
            Ok(visit
                .downcast::<Int>()
                .filter(|int| int.value == 1)
                .map(|_| add(int(7), int(8)).into()))
        })
        .unwrap();
    assert_eq!(seen, [1, 2]);
    assert!(structural_equal(result, add(add(int(7), int(8)), int(2))).unwrap());
}

#[test]
fn in_pre_order_the_children_of_the_answer_are_visited() {
    let mut seen = Vec::new();
    let result = pre()
        .map(add(int(1), int(2)), |visit| {
            seen.extend(visit.value().as_int());
            Ok(visit
                .downcast::<Int>()
                .filter(|int| int.value == 1)
                .map(|_| add(int(7), int(8)).into()))
        })
        .unwrap();
    assert_eq!(seen, [7, 8, 2]);
    assert!(structural_equal(result, add(add(int(7), int(8)), int(2))).unwrap());
}

#[test]
fn an_answer_that_contains_what_it_replaces_is_an_error_in_pre_order() {
    let wrap = |visit: &Visit<'_>| {
        let is_sum = visit.downcast::<Add>().is_some();
        Ok(is_sum.then(|| Link::new(visit.value().clone()).into()))
    };
    let root = Value::from([Value::from(add(int(1), int(2)))]);
    let error = pre().map(&root, wrap).expect_err("it never ends");
    assert_eq!(
        error.to_string(),
        "ValueError: the callback returned a value for the it.Add that contains the it.Add \
         itself, and in pre-order it is called for all parts of that value; use post-order, or \
         return a value without it (at <root>[0].next)"
    );
    let result = post().map(&root, wrap).unwrap();
    let expected = [Value::from(Link::new(add(int(1), int(2))))];
    assert!(structural_equal(result, expected).unwrap());
}

#[test]
fn shared_nodes_are_rewritten_once_and_stay_shared() {
    let levels = 60;
    for options in [pre(), post()] {
        let mut calls = 0;
        let result = options
            .map(doubled(levels), |visit| {
                calls += 1;
                increment(visit)
            })
            .unwrap();
        // Each node, and the integer in the leaf.
        assert_eq!(calls, levels + 2);
        assert_eq!(
            count_objects(&result, Default::default()).unwrap(),
            levels + 1
        );
    }
}

#[test]
fn sharing_is_kept_for_every_kind() {
    for kind in [
        Kind::Tree,
        Kind::ConstTree,
        Kind::Dag,
        Kind::Var,
        Kind::None,
    ] {
        let key = format!("map.Shared-{kind}");
        let ty = register_type(
            TypeDef::new(&key)
                .kind(kind)
                .field(FieldDef::new("v", Schema::Any)),
        )
        .unwrap();
        let node = Value::from(construct(ty, vec![1.into()]).unwrap());
        for options in [pre(), post()] {
            let root = Value::from([node.clone(), node.clone()]);
            let result = options.map(root, increment).unwrap();
            let items = result.extract::<Array>().unwrap();
            assert_eq!(items.values()[0], items.values()[1], "{kind}");
            assert_ne!(items.values()[0], node);
        }
    }
}

#[test]
fn a_variable_whose_type_changes_is_still_the_one_that_is_bound() {
    let x = Var::typed("x", int(1));
    let lambda = Lambda::new(add(&x, &x), vec![x]);
    for options in [pre(), post()] {
        let result = options.map(&lambda, increment).unwrap();
        let result = result.extract::<Ref<Lambda>>().unwrap();
        let body = result.body.as_object().downcast_ref::<Add>().unwrap();
        let bound = result.params.get(0).unwrap();
        assert!(body.lhs.same_as(bound) && body.rhs.same_as(bound));
        let expected = Var::typed("x", int(2));
        let expected = Lambda::new(add(&expected, &expected), vec![expected]);
        assert!(structural_equal(&result, &expected).unwrap());
    }
}

#[test]
fn each_kind_of_region_is_asked_once() {
    let x = var("x");
    let lambda = Lambda::new(add(&x, &x), vec![x]);
    let mut regions = Vec::new();
    post()
        .map(lambda, |visit| {
            regions.extend(visit.downcast::<Var>().map(|_| visit.region()));
            Ok(None)
        })
        .unwrap();
    assert_eq!(regions, [RegionKind::Def, RegionKind::Use]);
}

#[test]
fn a_replacement_that_does_not_fit_is_an_error_with_type_field_and_path() {
    let text = |visit: &Visit<'_>| Ok(visit.value().as_int().map(|_| "text".into()));
    let root = Value::from([Value::from(int(1))]);
    for options in [pre(), post()] {
        let error = options.map(&root, text).expect_err("an int field");
        assert_eq!(
            error.to_string(),
            "TypeError: it.Int.value: expected int, got str (at <root>[0])"
        );
    }
}

#[test]
fn keys_that_become_one_are_an_error() {
    let map: Map = [(1.into(), "a".into()), (2.into(), "b".into())]
        .into_iter()
        .collect();
    let one = |visit: &Visit<'_>| Ok(visit.value().as_int().map(|_| Value::from(1)));
    let error = post().map(map.clone(), one).expect_err("one key");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert_eq!(error.message(), "Map: two keys become 1");
    // Keys may trade places, and keep the order of insertion.
    let swap = |visit: &Visit<'_>| Ok(visit.value().as_int().map(|n| Value::from(3 - n)));
    let swapped = post().map(map.clone(), swap).unwrap();
    let keys: Vec<_> = swapped.extract::<Map>().unwrap().keys().cloned().collect();
    assert_eq!(keys, [Value::from(2), 1.into()]);
    let kept = post().keys(false).map(map.clone(), swap).unwrap();
    assert_eq!(kept, map.into());
}

#[test]
fn cycles_are_errors_with_a_path() {
    let list: List = List::new();
    list.push(Value::from([Value::from(list.clone())])).unwrap();
    for root in [Value::from(list.clone()), Link::new(list.clone()).into()] {
        for options in [pre(), post()] {
            let error = options.map(&root, increment).expect_err("a cycle");
            assert_eq!(error.kind(), ErrorKind::Value);
            assert_eq!(error.message(), "cyclic value: the List contains itself");
            assert!(error.path().is_some_and(|path| path.depth() >= 2));
        }
    }
    list.clear();
}

#[test]
fn errors_of_the_callback_come_back_unchanged() {
    let error = post()
        .map([1], |_| Err(Error::new(ErrorKind::Key, "mine")))
        .expect_err("the callback fails");
    assert_eq!((error.kind(), error.message()), (ErrorKind::Key, "mine"));
}

#[test]
fn depth_is_limited_by_memory_only() {
    let length = scaled(1_000_000);
    for options in [pre(), post()] {
        let mut calls = 0;
        let result = options
            .map(chain(length), |visit| {
                calls += usize::from(visit.downcast::<Chain>().is_some());
                // The innermost link is replaced, and with it every link above.
                let last = visit.downcast::<Chain>().filter(|link| link.next.is_none());
                Ok(last.filter(|_| calls >= 1).map(|_| chain(1).into()))
            })
            .unwrap();
        assert_eq!(calls, length);
        assert_eq!(count_objects(&result, Default::default()).unwrap(), length);
    }
}

#[test]
fn a_value_is_taken_apart_and_put_together() {
    let sum = Value::from(add(int(1), int(2)));
    let children = children_of(&sum);
    let values: Vec<_> = children
        .iter(RegionKind::Use)
        .map(|child| child.value)
        .collect();
    assert_eq!(children.len(), 2);
    assert_eq!(children.step(1).unwrap().to_string(), ".rhs");
    assert!(children.step(2).is_none() && children.get(2, RegionKind::Use).is_none());
    assert_eq!(children.rebuild(values.clone()).unwrap(), sum);
    let swapped = children
        .rebuild(values.into_iter().rev().collect())
        .unwrap();
    assert!(structural_equal(swapped, add(int(2), int(1))).unwrap());
    let error = children
        .rebuild(vec![1.into()])
        .expect_err("one is missing");
    assert_eq!(error.message(), "it.Add: expected 2 children, got 1");
    let error = children
        .rebuild(vec![1.into(), 2.into()])
        .expect_err("no expressions");
    assert_eq!(error.message(), "it.Add.lhs: expected it.Expr, got int");
    assert!(children_of("plain").is_empty());

    let lambda = Value::from(Lambda::new(int(1), vec![var("x")]));
    let all = ChildOptions::default()
        .include_ignored(true)
        .children_of(&lambda);
    let regions: Vec<_> = all
        .iter(RegionKind::Use)
        .map(|child| child.region)
        .collect();
    assert_eq!(all.len(), 4);
    assert_eq!(
        regions
            .iter()
            .filter(|region| **region == RegionKind::Def)
            .count(),
        1
    );
}

#[test]
fn the_callback_may_change_what_is_rewritten() {
    let ty = TypeDef::new("map.Cell").field(FieldDef::new("v", Schema::Any).mutable(true));
    let ty = register_type(ty).unwrap();
    let inner = construct(ty, vec![1.into()]).unwrap();
    let outer = construct(ty, vec![Value::from(&inner)]).unwrap();
    let result = post()
        .map(&outer, |visit| {
            // Removes the object being visited from the value.
            isoform::objects::set_field(&outer, "v", 5.into())?;
            increment(visit)
        })
        .unwrap();
    let value =
        |object: &Value| isoform::objects::field_value(object.as_object().unwrap(), "v").unwrap();
    assert_eq!(value(&value(&result)), Value::from(2));
    assert_eq!(
        isoform::objects::field_value(&outer, "v").unwrap(),
        Value::from(5)
    );
    assert_eq!(
        isoform::objects::field_value(&inner, "v").unwrap(),
        Value::from(1)
    );
}

/// A type with fields for any value; those in `flagged` have the flag.
fn any_fields(key: &str, names: &[&str], flagged: &[&str], flag: FieldFlag) -> TypeIndex {
    let fields = names.iter().map(|name| {
        let field = FieldDef::new(name, Schema::Any);
        if flagged.contains(name) {
            field.flag(flag)
        } else {
            field
        }
    });
    let definition = fields.fold(TypeDef::new(key), TypeDef::field);
    register_type(definition).expect("a new type")
}

/// Rewrites the nodes of one type to new nodes. Returns the result and the number of
/// calls.
fn replace_all(root: &Value, ty: TypeIndex, order: WalkOrder) -> (Value, usize) {
    let mut calls = 0;
    let options = MapOptions::default().order(order);
    let result = options.map(root, |visit| {
        let node = visit.object().filter(|it| it.type_info().index() == ty);
        calls += usize::from(node.is_some());
        match node {
            Some(_) => Ok(Some(construct(ty, vec![2.into()])?.into())),
            None => Ok(None),
        }
    });
    (result.expect("rewritten"), calls)
}

#[test]
fn a_part_with_one_owner_is_rewritten_once_in_a_region_below_an_owner_met_in_several() {
    for flag in [FieldFlag::Def, FieldFlag::DefSimple, FieldFlag::Use] {
        let leaf = any_fields(&format!("map.once.Leaf{flag:?}"), &["a"], &[], flag);
        let key = format!("map.once.Binder{flag:?}");
        let binder = any_fields(&key, &["v", "w"], &["v"], FieldFlag::DefSimple);
        let key = format!("map.once.Inner{flag:?}");
        let inner = any_fields(&key, &["v"], &["v"], flag);
        let part = construct(leaf, vec![1.into()]).expect("a leaf");
        let shared = construct(inner, vec![part.into()]).expect("its owner");
        let root = construct(binder, vec![(&shared).into(), shared.into()]).expect("the root");
        let (result, calls) = replace_all(&root.into(), leaf, WalkOrder::Post);
        assert_eq!(calls, 1, "{flag:?}");
        let parts = ["v", "w"].map(|name| {
            let owner = field_value(result.as_object().unwrap(), name).unwrap();
            field_value(owner.as_object().unwrap(), "v").unwrap()
        });
        // Objects are compared by identity here.
        assert_eq!(parts[0], parts[1], "{flag:?}");
    }
}

#[test]
fn parts_of_an_answer_are_rewritten_once_wherever_else_they_occur() {
    let leaf = any_fields("map.answer.Leaf", &["a"], &[], FieldFlag::None);
    let owner = any_fields("map.answer.Owner", &["a"], &[], FieldFlag::None);
    let wrapped = any_fields("map.answer.Wrapped", &["a"], &[], FieldFlag::None);
    for swaps in [false, true] {
        let part = construct(leaf, vec![1.into()]).expect("a leaf");
        let shared = construct(owner, vec![part.into()]).expect("its owner");
        let around = construct(wrapped, vec![(&shared).into()]).expect("a node");
        let mut items = [Value::from(around), shared.into()];
        if swaps {
            items.swap(0, 1);
        }
        let mut calls = 0;
        let options = MapOptions::default().order(WalkOrder::Pre);
        let result = options.map(Value::from(items), |visit| {
            let Some(object) = visit.object() else {
                return Ok(visit.value().as_int().map(|number| (number + 1).into()));
            };
            let ty = object.type_info().index();
            calls += usize::from(ty == leaf);
            if ty == wrapped {
                field_value(object, "a").map(Some)
            } else {
                Ok(None)
            }
        });
        assert_eq!(calls, 1, "swapped: {swaps}");
        let items: Array = result.expect("rewritten").extract().expect("an array");
        let parts =
            [0, 1].map(|index| field_value(items.get(index).unwrap().as_object().unwrap(), "a"));
        assert_eq!(parts[0].as_ref().unwrap(), parts[1].as_ref().unwrap());
    }
}

#[test]
fn what_a_hook_asks_for_is_visited_and_rewritten_once() {
    let leaf = any_fields("map.asked.Leaf", &["a"], &[], FieldFlag::None);
    let owner = any_fields("map.asked.Owner", &["a"], &[], FieldFlag::None);
    let hooked = any_fields("map.asked.Hooked", &["a"], &[], FieldFlag::None);
    let part_of = |value: &Value| field_value(value.as_object().unwrap(), "a");
    let mutate = DynMutate::new(move |object, mutator| {
        let outer = field_value(object, "a")?;
        let new = mutator.mutate(&outer)?;
        Ok(Value::from([new, mutator.mutate(&part_of(&outer)?)?]))
    });
    attrs::set_hook(hooked, mutate, false).expect("a hook");
    let visit = DynVisit::new(move |object, visitor| {
        let outer = field_value(object, "a")?;
        match visitor.visit(&outer)? {
            None => visitor.visit(&part_of(&outer)?),
            end => Ok(end),
        }
    });
    attrs::set_hook(hooked, visit, false).expect("a hook");
    let part = construct(leaf, vec![1.into()]).expect("a leaf");
    let outer = construct(owner, vec![part.into()]).expect("its owner");
    let root = Value::from(construct(hooked, vec![outer.into()]).expect("the root"));
    let mut met = 0;
    structural_walk(&root, |visit| {
        let is_leaf = visit
            .object()
            .is_some_and(|object| object.type_info().index() == leaf);
        met += usize::from(is_leaf);
        Ok(WalkResult::<()>::Advance)
    })
    .expect("visited");
    assert_eq!(met, 1);
    let (result, calls) = replace_all(&root, leaf, WalkOrder::Post);
    assert_eq!(calls, 1);
    let items: Array = result.extract().expect("an array");
    assert_eq!(&part_of(&items.values()[0]).unwrap(), &items.values()[1]);
}
