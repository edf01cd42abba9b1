//! Types with a custom walk and rewrite.

use std::cell::RefCell;

use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::hooks::{DynMutate, DynVisit};
use isoform::objects::{construct, field_value, repr};
use isoform::traverse::{
    MapOptions, WalkOptions, WalkOrder, WalkResult, structural_map, structural_mutate,
    structural_visit, structural_walk,
};
use isoform::types::{RegionKind, TypeIndex};
use isoform::values::List;
use isoform::{Error, Ref, Result, Value, attrs};

use crate::support::Var;
use crate::type_hooks::{field, node, pair_type, set_function};

/// A type with `y` as the only visited field.
fn only_y(key: &str) -> TypeIndex {
    let ty = pair_type(key);
    let visit = DynVisit::new(|object, visitor| visitor.visit(&field_value(object, "y")?));
    attrs::set_hook(ty, visit, false).unwrap();
    let mutate = DynMutate::new(move |object, mutator| {
        let y = mutator.mutate(&field_value(object, "y")?)?;
        Ok(construct(ty, vec![field_value(object, "x")?, y])?.into())
    });
    attrs::set_hook(ty, mutate, false).unwrap();
    ty
}

fn walk(root: &Value, options: WalkOptions) -> Vec<String> {
    let mut met = Vec::new();
    options
        .walk(root, |visit| {
            let path = visit.path().to_string();
            assert_eq!(visit.depth(), visit.path().steps().len(), "{path}");
            met.push(format!(
                "{} {}",
                path.trim_start_matches("<root>"),
                repr(visit.value())
            ));
            Ok(WalkResult::<()>::Advance)
        })
        .expect("no errors");
    met
}

#[test]
fn a_walk_follows_the_hook() {
    let ty = only_y("traverse.OnlyY");
    let root = node(ty, 1, [node(ty, 2, 3)]);
    let (inner, outer) = (
        "traverse.OnlyY(x=2, y=3)",
        "traverse.OnlyY(x=1, y=(traverse.OnlyY(x=2, y=3),))",
    );
    let array = format!("({inner},)");
    let pre = walk(&root, WalkOptions::default().order(WalkOrder::Pre));
    assert_eq!(
        pre,
        [
            format!(" {outer}"),
            format!(".y {array}"),
            format!(".y[0] {inner}"),
            ".y[0].y 3".into()
        ]
    );
    let post = walk(&root, WalkOptions::default());
    assert_eq!(post.len(), 4);
    assert_eq!(post[3], format!(" {outer}"));
    let fields = walk(&root, WalkOptions::default().hooks(false));
    assert_eq!(fields.len(), 6);
}

#[test]
fn the_children_of_a_value_are_visited_without_its_callback() {
    let ty = pair_type("traverse.Children");
    let visit = DynVisit::new(|object, visitor| {
        // Visits the fields of the object whose hook runs.
        visitor.visit_children(&object.into())
    });
    attrs::set_hook(ty, visit, false).unwrap();
    let outer = pair_type("traverse.Outer");
    let visit = DynVisit::new(|object, visitor| visitor.visit_children(&field_value(object, "x")?));
    attrs::set_hook(outer, visit, false).unwrap();
    let list = Value::from(List::from(vec![5]));
    let root = node(outer, node(ty, 1, [2]), 3);
    let root = Value::from([root, node(outer, list.clone(), 0), node(outer, [list], 0)]);
    let met = walk(&root, WalkOptions::default().order(WalkOrder::Pre));
    let numbers: Vec<_> = met.iter().filter(|line| line.len() < 14).cloned().collect();
    assert_eq!(
        numbers,
        [
            "[0].x.x 1",
            "[0].x.y (2,)",
            "[0].x.y[0] 2",
            "[1].x[0] 5",
            "[2].x[0] [5]",
            "[2].x[0][0] 5"
        ]
    );
}

#[test]
fn walks_end_early_through_hooks() {
    let ty = only_y("traverse.Early");
    let root = node(ty, 1, [1, 2, 3]);
    let path = structural_walk(&root, |visit| {
        Ok(match visit.value().as_int() {
            Some(2) => WalkResult::Interrupt(visit.path().to_string()),
            _ => WalkResult::Advance,
        })
    });
    assert_eq!(path.unwrap().as_deref(), Some("<root>.y[1]"));
    let failed = structural_walk(&root, |visit| match visit.value().as_int() {
        Some(2) => Err(Error::value_error("two")),
        _ => Ok(WalkResult::<()>::Advance),
    });
    assert_eq!(failed.expect_err("fails").message(), "two");

    // A hook may continue after an error, and objects that were open no longer
    // are.
    let tolerant = pair_type("traverse.Tolerant");
    let visit = DynVisit::new(|object, visitor| {
        let _ = visitor.visit(&field_value(object, "x")?);
        visitor.visit(&field_value(object, "x")?)?;
        visitor.visit(&field_value(object, "y")?)
    });
    attrs::set_hook(tolerant, visit, false).unwrap();
    let shared = Value::from(List::from(vec![Value::from([7])]));
    let root = node(tolerant, shared, 8);
    let mut calls = 0;
    let end = structural_walk(&root, |visit| {
        calls += 1;
        match visit.value().as_int() {
            Some(7) => Err(Error::value_error("seven")),
            Some(8) => Ok(WalkResult::Interrupt(8)),
            _ => Ok(WalkResult::Advance),
        }
    });
    assert_eq!(end.unwrap(), Some(8));
    assert_eq!(calls, 2);
    // If a hook ends the walk itself, there is no result.
    let stops = pair_type("traverse.Stops");
    set_function(stops, "__s_visit__", |_| Ok("stop".into()));
    let mut calls = 0;
    let end = structural_walk(Value::from([node(stops, 1, 2), 3.into()]), |_| {
        calls += 1;
        Ok(WalkResult::<()>::Advance)
    });
    assert_eq!((end.unwrap(), calls), (None, 0));
}

#[test]
fn functions_visit_and_rewrite() {
    let ty = pair_type("traverse.Functions");
    set_function(ty, "__s_visit__", |args| {
        let visitor = Function::of(args[1].as_object().unwrap()).expect("a function");
        visitor.call(&[field(&args[0], "x"), 1.into()])
    });
    set_function(ty, "__s_mutate__", move |args| {
        let mutator = Function::of(args[1].as_object().unwrap()).expect("a function");
        let x = mutator.call(&[field(&args[0], "x"), 1.into()])?;
        Ok(node(ty, x, "rewritten"))
    });
    let mut met = Vec::new();
    structural_walk(node(ty, 1, 2), |visit| {
        met.extend(visit.value().as_int().map(|n| (n, visit.region())));
        Ok(WalkResult::<()>::Advance)
    })
    .unwrap();
    assert_eq!(met, [(1, RegionKind::Def)]);
    let mapped = structural_map(node(ty, 1, 2), |visit| {
        assert_eq!(visit.region() == RegionKind::Def, visit.depth() > 0);
        Ok(visit.value().as_int().map(|n| Value::from(n + 1)))
    });
    assert_eq!(
        repr(mapped.unwrap()),
        "traverse.Functions(x=2, y=\"rewritten\")"
    );
    // Uses a hook made of closures as a function, with a visitor of another
    // language.
    let only_y = only_y("traverse.Called");
    let hook = attrs::get(only_y, "__s_visit__", attrs::Lookup::Exact).unwrap();
    let hook = Function::of(hook.as_object().unwrap()).unwrap();
    let visitor = Function::new(|args| Ok(args[0].clone()));
    assert_eq!(
        hook.call(&[node(only_y, 1, 2), visitor.into()]).unwrap(),
        2.into()
    );
}

fn increment(root: &Value, order: WalkOrder) -> Result<Value> {
    MapOptions::default().order(order).map(root, |visit| {
        Ok(visit.value().as_int().map(|n| Value::from(n + 10)))
    })
}

#[test]
fn a_rewrite_follows_the_hook() {
    let ty = only_y("traverse.Map");
    let root = node(ty, 1, [node(ty, 2, 3)]);
    let expected = "traverse.Map(x=1, y=(traverse.Map(x=2, y=13),))";
    for order in [WalkOrder::Pre, WalkOrder::Post] {
        assert_eq!(repr(increment(&root, order).unwrap()), expected);
    }
    // The callback sees the object before or after the hook.
    for (order, expected) in [(WalkOrder::Pre, "3"), (WalkOrder::Post, "13")] {
        let mut seen = Vec::new();
        MapOptions::default()
            .order(order)
            .map(node(ty, 2, 3), |visit| {
                if visit.object().is_some() {
                    seen.push(repr(field(&visit.value(), "y")));
                }
                Ok(visit.value().as_int().map(|n| Value::from(n + 10)))
            })
            .unwrap();
        assert_eq!(seen, [expected]);
    }
    // Shared objects are rewritten once.
    let shared = node(ty, 1, 2);
    let twice = increment(&Value::from([shared.clone(), shared]), WalkOrder::Post).unwrap();
    let twice = twice.extract::<isoform::Array>().unwrap();
    assert_eq!(twice.values()[0], twice.values()[1]);
}

#[test]
fn the_fields_are_rewritten_on_demand() {
    let ty = pair_type("traverse.Default");
    let mutate = DynMutate::new(|object, mutator| mutator.mutate_children(&object.into()));
    attrs::set_hook(ty, mutate, false).unwrap();
    let root = node(ty, 1, [2]);
    assert_eq!(
        repr(increment(&root, WalkOrder::Post).unwrap()),
        "traverse.Default(x=11, y=(12,))"
    );
    let same = structural_map(&root, |_| Ok(None)).unwrap();
    assert_eq!(same, root);
    // An object that asks for itself is still under visit.
    let selfish = pair_type("traverse.Selfish");
    let mutate = DynMutate::new(|object, mutator| mutator.mutate(&object.into()));
    attrs::set_hook(selfish, mutate, false).unwrap();
    let error = increment(&node(selfish, 1, 2), WalkOrder::Post).expect_err("cyclic");
    assert_eq!(error.kind(), ErrorKind::Value);
}

#[test]
fn a_hook_records_what_variables_become() {
    let ty = pair_type("traverse.Binds");
    let mutate = DynMutate::new(move |object, mutator| {
        let var = field_value(object, "x")?;
        let object_of = |value: &Value| value.as_object().cloned().expect("an object");
        mutator.mutate(&field_value(object, "y")?)?;
        mutator.remap(&object_of(&var), Var::new("fresh").into());
        assert!(mutator.remapped(&object_of(&var)).is_some());
        let y = mutator.mutate(&field_value(object, "y")?)?;
        Ok(construct(ty, vec![mutator.mutate(&var)?, y])?.into())
    });
    attrs::set_hook(ty, mutate, false).unwrap();
    let var: Ref<Var> = Var::new("old");
    let root = node(ty, &var, [Value::from(&var), 1.into()]);
    let mapped = structural_map(&root, |_| Ok(None)).unwrap();
    let text = repr(&mapped);
    assert_eq!(text.matches("fresh").count(), 2, "{text}");
    assert!(!text.contains("old"));
}

#[test]
fn hooks_nest_to_a_limit() {
    let ty = only_y("traverse.Deep");
    let deep = (0..500).fold(Value::from(1), |y, _| node(ty, 0, y));
    let walked = structural_walk(&deep, |_| Ok(WalkResult::<()>::Advance));
    assert_eq!(walked.expect_err("too deep").kind(), ErrorKind::Recursion);
    let mapped = increment(&deep, WalkOrder::Post);
    assert_eq!(mapped.expect_err("too deep").kind(), ErrorKind::Recursion);
}

/// Collects the numbers that a traversal passes to its callback; at the 1, the callback
/// gives hooks to the type of one node.
#[track_caller]
fn check_late_hooks(key: &str, traverse: impl Fn(&Value, &mut dyn FnMut(&Value))) {
    // The rule holds although other types already had hooks.
    only_y(&format!("{key}.Early"));
    let ty = pair_type(key);
    let root = Value::from([1.into(), node(ty, 2, 3)]);
    let mut numbers = Vec::new();
    traverse(&root, &mut |value| {
        numbers.extend(value.as_int());
        if value.as_int() == Some(1) {
            attrs::set_hook(ty, DynVisit::new(|_, _| Ok(None)), false).unwrap();
            attrs::set_hook(ty, DynMutate::new(|_, _| Ok("new".into())), false).unwrap();
        }
    });
    assert_eq!(
        numbers,
        [1, 2, 3],
        "{key}: hooks set in the middle do not count"
    );
    numbers.clear();
    traverse(&root, &mut |value| numbers.extend(value.as_int()));
    assert_eq!(numbers, [1], "{key}: they count in the next traversal");
}

#[test]
fn hooks_count_from_the_start_of_a_traversal_only() {
    check_late_hooks("traverse.late.Walk", |root, met| {
        structural_walk(root, |visit| {
            met(&visit.value());
            Ok(WalkResult::<()>::Advance)
        })
        .unwrap();
    });
    check_late_hooks("traverse.late.Map", |root, met| {
        structural_map(root, |visit| {
            met(&visit.value());
            Ok(None)
        })
        .unwrap();
    });
    // A callback that asks for the children of a value gets them by the same rule, like
    // values without a callback.
    for (all, name) in [(true, "All"), (false, "Plain")] {
        let wanted = |ty: Option<TypeIndex>| all || ty.is_none();
        check_late_hooks(&format!("traverse.late.{name}Visit"), |root, met| {
            let met = RefCell::new(met);
            structural_visit(root, &wanted, &|value, visitor| {
                met.borrow_mut()(value);
                visitor.visit_children(value)
            })
            .unwrap();
        });
        check_late_hooks(&format!("traverse.late.{name}Mutate"), |root, met| {
            let met = RefCell::new(met);
            structural_mutate(root, &wanted, &|value, mutator| {
                met.borrow_mut()(value);
                mutator.mutate_children(value)
            })
            .unwrap();
        });
    }
}
