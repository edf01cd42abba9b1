//! Traversals controlled by their callbacks: `structural_visit` and
//! `structural_mutate`.

use std::cell::{Cell, RefCell};

use isoform::errors::ErrorKind;
use isoform::hooks::{DynMutate, DynVisit, MAX_HOOK_DEPTH, MutateCallback, VisitCallback};
use isoform::objects::{construct, field_value, repr};
use isoform::traverse::{MapOptions, Sharing, WalkOptions, structural_mutate, structural_visit};
use isoform::types::{RegionKind, TypeIndex};
use isoform::values::List;
use isoform::{Array, Error, Ref, Result, Value, attrs, structural_equal};

use crate::support::{Add, Int, Lambda, Var, add, chain, int, scaled, var};
use crate::type_hooks::{field, node, pair_type};

fn of<T: isoform::Node>() -> impl Fn(Option<TypeIndex>) -> bool {
    let wanted = T::type_index();
    move |ty| ty == Some(wanted)
}

fn as_node<T: isoform::Node>(value: &Value) -> Option<&Ref<T>> {
    value.as_object()?.downcast_ref()
}

fn regions_apart() -> WalkOptions {
    WalkOptions::default().sharing(Sharing::OncePerRegion)
}

/// The numbers met by a visit that, below sums, only asks for the right side.
fn right_sides(root: &Value, options: WalkOptions) -> Vec<i64> {
    let met = RefCell::new(Vec::new());
    let wanted = |ty| of::<Add>()(ty) || of::<Int>()(ty);
    let callback = |value: &Value, visitor: &mut dyn VisitCallback| {
        if let Some(sum) = as_node::<Add>(value) {
            return visitor.visit(&(&sum.rhs).into());
        }
        met.borrow_mut()
            .extend(as_node::<Int>(value).map(|int| int.value));
        Ok(None)
    };
    let end = options.visit(root, &wanted, &callback).expect("no errors");
    assert_eq!(end, None);
    met.into_inner()
}

#[test]
fn below_a_value_only_what_its_callback_asks_for_is_visited() {
    let sum = add(int(1), add(int(2), int(3)));
    assert_eq!(
        right_sides(&sum.clone().into(), WalkOptions::default()),
        [3]
    );
    // Values without a callback are traversed.
    let list = Value::from(List::from(vec![Value::from(&sum), int(7).into()]));
    assert_eq!(right_sides(&list, WalkOptions::default()), [3, 7]);
}

#[test]
fn an_object_is_visited_once_or_once_in_each_kind_of_region() {
    let x = var("x");
    let lambda = Value::from(Lambda::new(&x, [x.clone()]));
    let regions = |options: WalkOptions| {
        let met = RefCell::new(Vec::new());
        options
            .visit(&lambda, &of::<Var>(), &|_, visitor| {
                met.borrow_mut().push(visitor.region());
                Ok(None)
            })
            .expect("no errors");
        met.into_inner()
    };
    assert_eq!(regions(WalkOptions::default()), [RegionKind::Def]);
    assert_eq!(regions(regions_apart()), [RegionKind::Def, RegionKind::Use]);
    // An object with no other owner is visited once, however often requested.
    let count = Cell::new(0);
    let wanted = |ty| of::<Add>()(ty) || of::<Int>()(ty);
    regions_apart()
        .visit(add(int(1), int(2)), &wanted, &|value, visitor| {
            count.set(count.get() + 1);
            for _ in 0..3 {
                if let Some(sum) = as_node::<Add>(value) {
                    visitor.visit(&(&sum.lhs).into())?;
                    visitor.visit_children(value)?;
                }
            }
            Ok(None)
        })
        .expect("no errors");
    assert_eq!(count.get(), 3);
}

#[test]
fn a_callback_ends_the_visit_with_a_value() {
    let sum = add(int(1), add(int(2), int(3)));
    let end = structural_visit(&sum, &of::<Int>(), &|value, _| {
        let int = as_node::<Int>(value).expect("an integer");
        Ok((int.value == 2).then(|| "found".into()))
    });
    assert_eq!(end.expect("no errors"), Some("found".into()));
    let failed = structural_visit(&sum, &of::<Int>(), &|_, _| Err(Error::value_error("mine")));
    assert_eq!(failed.expect_err("fails").message(), "mine");
}

#[test]
fn what_failed_may_be_asked_for_again() {
    let sum = add(int(1), int(2));
    let (calls, failures) = (Cell::new(0), Cell::new(0));
    let wanted = |ty| of::<Add>()(ty) || of::<Int>()(ty);
    let end = regions_apart().visit(&sum, &wanted, &|value, visitor| {
        if let Some(sum) = as_node::<Add>(value) {
            failures.set(failures.get() + i32::from(visitor.visit(&(&sum.lhs).into()).is_err()));
            return visitor.visit(&(&sum.lhs).into());
        }
        calls.set(calls.get() + 1);
        match calls.get() {
            1 => Err(Error::value_error("the first time")),
            _ => Ok(None),
        }
    });
    assert_eq!(
        (end.expect("no errors"), calls.get(), failures.get()),
        (None, 2, 1)
    );
    let swallowed = structural_mutate(&sum, &wanted, &|value, mutator| {
        let Some(sum) = as_node::<Add>(value) else {
            calls.set(calls.get() + 1);
            return match calls.get() {
                3 => Err(Error::value_error("the first time")),
                _ => Ok(int(9).into()),
            };
        };
        assert!(mutator.mutate(&(&sum.lhs).into()).is_err());
        mutator.mutate(&(&sum.lhs).into())
    });
    assert!(structural_equal(swallowed.expect("no errors"), int(9)).unwrap());
}

#[test]
fn plain_values_have_callbacks_too() {
    let root = Value::from([Value::from(1), "a string that is not kept inline".into()]);
    let array = root.as_object().expect("an array").type_info().index();
    let plain = move |ty: Option<TypeIndex>| ty != Some(array);
    let met = RefCell::new(Vec::new());
    structural_visit(&root, &plain, &|value, _| {
        met.borrow_mut().push(repr(value));
        Ok(None)
    })
    .expect("no errors");
    assert_eq!(
        met.into_inner(),
        ["1", "\"a string that is not kept inline\""]
    );
    let same = structural_mutate(&root, &plain, &|value, _| Ok(value.clone()));
    assert_eq!(same.expect("no errors"), root);
    let changed = structural_mutate(&root, &plain, &|_, _| Ok(5.into()));
    assert_eq!(repr(changed.expect("no errors")), "(5, 5)");
}

#[test]
fn a_value_that_contains_itself_is_an_error_with_its_path() {
    let ring = List::<Value>::new();
    ring.push([Value::from(ring.clone())].into())
        .expect("any value fits");
    let nobody = |_| false;
    let root = Value::from(ring.clone());
    let visited = structural_visit(&root, &nobody, &|_, _| Ok(None));
    let mutated = structural_mutate(&root, &nobody, &|value, _| Ok(value.clone()));
    // The same error for a callback with a request for its own value.
    let asked = structural_visit(int(1), &of::<Int>(), &|value, it| it.visit(value));
    let errors = [visited.err(), mutated.err(), asked.err()].map(|error| error.expect("a cycle"));
    assert!(errors.iter().all(|error| error.kind() == ErrorKind::Value));
    let paths = errors.map(|error| error.path().map(|path| path.to_string()));
    assert_eq!(paths[0].as_deref(), Some("<root>[0][0]"));
    assert_eq!(paths[1].as_deref(), Some("<root>[0][0]"));
    ring.clear();
}

#[test]
fn callbacks_nest_to_a_limit_and_all_else_to_any_depth() {
    let deep = (0..MAX_HOOK_DEPTH + 1).fold(int(0), |sum, _| add(sum, int(1)));
    let root = Value::from(&deep);
    let visited = structural_visit(&root, &of::<Add>(), &|value, it| it.visit_children(value));
    let mutated = structural_mutate(&root, &of::<Add>(), &|value, it| it.mutate_children(value));
    for error in [
        visited.expect_err("too deep"),
        mutated.expect_err("too deep"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Recursion);
        let depth = error.path().map(|path| path.steps().len());
        assert_eq!(depth, Some(MAX_HOOK_DEPTH as usize));
    }
    let chain = Value::from(chain(scaled(1_000_000)));
    let nobody = |_| false;
    structural_visit(&chain, &nobody, &|_, _| Ok(None)).expect("a visit");
    let same = structural_mutate(&chain, &nobody, &|value, _| Ok(value.clone()));
    assert_eq!(same.expect("a rewrite"), chain);
}

#[test]
fn hooks_of_types_and_callbacks_meet() {
    let ty = pair_type("drive.Hooked");
    let visit = DynVisit::new(|object, visitor| visitor.visit(&field_value(object, "y")?));
    attrs::set_hook(ty, visit, false).unwrap();
    let mutate = DynMutate::new(move |object, mutator| {
        let y = mutator.mutate(&field_value(object, "y")?)?;
        Ok(construct(ty, vec![field_value(object, "x")?, y])?.into())
    });
    attrs::set_hook(ty, mutate, false).unwrap();
    let root = node(ty, int(1), [int(2), int(3)]);
    assert_eq!(right_sides(&root, WalkOptions::default()), [2, 3]);
    let ten = |_: &Value, _: &mut dyn MutateCallback| Ok(int(10).into());
    let mutated = structural_mutate(&root, &of::<Int>(), &ten).unwrap();
    assert_eq!(repr(field(&mutated, "x")), repr(int(1)));
    assert_eq!(repr(field(&mutated, "y")).matches("value=10").count(), 2);
    // The callback for the type comes before its hook, and can call the hook.
    let hooked = move |index: Option<TypeIndex>| index == Some(ty) || of::<Int>()(index);
    let mutated = structural_mutate(
        &root,
        &hooked,
        &|value, mutator| match as_node::<Int>(value) {
            Some(_) => Ok(int(10).into()),
            None => mutator.mutate_children(value),
        },
    );
    assert_eq!(repr(mutated.unwrap()).matches("value=10").count(), 2);
}

#[test]
fn what_does_not_change_keeps_its_identity_and_what_is_shared_stays_shared() {
    let shared = add(int(1), int(2));
    let root = Value::from([Value::from(&shared), Value::from(&shared), int(5).into()]);
    let calls = Cell::new(0);
    let increment = |value: &Value, _: &mut dyn MutateCallback| {
        calls.set(calls.get() + 1);
        let number = as_node::<Int>(value).expect("an integer").value;
        Ok(match number {
            5 => value.clone(),
            number => int(number + 1).into(),
        })
    };
    let wanted = of::<Int>();
    let result = structural_mutate(&root, &wanted, &increment).unwrap();
    let (old, new) = (
        root.extract::<Array>().unwrap(),
        result.extract::<Array>().unwrap(),
    );
    assert_eq!(calls.get(), 3);
    assert_eq!(new.values()[0], new.values()[1]);
    assert_ne!(new.values()[0], old.values()[0]);
    assert_eq!(new.values()[2], old.values()[2]);
    let same = structural_mutate(&root, &wanted, &|value, mutator| {
        mutator.mutate_children(value)
    });
    assert_eq!(same.unwrap(), root);
}

/// The variables of a lambda whose callback for sums records a new variable before or
/// after it rewrites the left side.
fn remapped(first: bool, options: MapOptions) -> Result<String> {
    let x = var("x");
    let root = Value::from(Lambda::new(add(&x, &x), [x.clone()]));
    let wanted = of::<Add>();
    let made = options.mutate(&root, &wanted, &|value, mutator| {
        let sum = as_node::<Add>(value).expect("a sum");
        let x = x.clone().into_object();
        if !first {
            mutator.mutate(&(&sum.lhs).into())?;
        }
        mutator.remap(&x, var("y").into());
        assert!(mutator.remapped(&x).is_some());
        mutator.mutate_children(value)
    })?;
    let text = repr(&made);
    let names = text.split("name=\"").skip(1).map(|rest| &rest[..1]);
    Ok(names.collect())
}

#[test]
fn what_is_recorded_for_a_variable_comes_in_its_place() {
    // The parameters, visited before the body, stay unchanged.
    assert_eq!(remapped(true, MapOptions::default()).unwrap(), "yyx");
    assert_eq!(remapped(false, MapOptions::default()).unwrap(), "yyx");
    let joined = MapOptions::default().regions_apart(false);
    assert_eq!(remapped(true, joined).unwrap(), "yyx");
}

#[test]
fn uses_are_replaced_whatever_callback_a_variable_has() {
    let x = var("x");
    let root = Value::from(Lambda::new(add(&x, &x), [x.clone()]));
    let wanted = |ty| of::<Var>()(ty) || of::<Lambda>()(ty);
    let made = structural_mutate(&root, &wanted, &|value, mutator| {
        if as_node::<Var>(value).is_some() {
            return Ok(value.clone());
        }
        let object = x.clone().into_object();
        assert_eq!(mutator.image(&object), None);
        mutator.remap_uses(&object, int(4).into());
        mutator.mutate_children(value)
    })
    .expect("no errors");
    let lambda = as_node::<Lambda>(&made).expect("a lambda");
    assert!(structural_equal(&lambda.body, add(int(4), int(4))).unwrap());
    assert_eq!(lambda.params.values(), [Value::from(x)]);
}

#[test]
fn a_result_that_does_not_fit_its_field_is_an_error_with_its_path() {
    let root = Value::from([add(int(1), int(2))]);
    let error = structural_mutate(&root, &of::<Int>(), &|_, _| Ok(1.into()));
    let error = error.expect_err("an expression is wanted");
    assert_eq!(error.kind(), ErrorKind::Type);
    assert_eq!(
        error.path().map(|path| path.to_string()).as_deref(),
        Some("<root>[0]")
    );
}
