//! Hooks of types for text, comparison by fields, copies and conversion.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use isoform::compare::{recursive_cmp, recursive_eq, recursive_hash};
use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::hooks::{
    DynConvert, DynCopy, DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash, DynRepr, Hook,
    MAX_HOOK_DEPTH,
};
use isoform::objects::{REPEATED_TOTAL, ReprOptions, construct, field_value, repr, set_field};
use isoform::traverse::shallow_copy;
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::List;
use isoform::{Array, Map, Obj, Ref, Value, attrs};

use crate::support::Int;

/// Registers a type with the fields `x` and `y`, both of any value and mutable.
pub(crate) fn pair_type(key: &str) -> TypeIndex {
    let field = |name| FieldDef::new(name, Schema::Any).mutable(true);
    register_type(TypeDef::new(key).field(field("x")).field(field("y"))).expect("a new key")
}

pub(crate) fn node(ty: TypeIndex, x: impl Into<Value>, y: impl Into<Value>) -> Value {
    construct(ty, vec![x.into(), y.into()])
        .expect("any value fits")
        .into()
}

pub(crate) fn field(value: &Value, name: &str) -> Value {
    field_value(value.as_object().expect("an object"), name).expect("a field")
}

pub(crate) fn set_function(
    ty: TypeIndex,
    name: &str,
    call: impl Fn(&[Value]) -> isoform::Result<Value> + Send + Sync + 'static,
) {
    attrs::set(ty, name, Function::new(call)).expect("a hook");
}

/// Shows `x` in brackets.
fn bracketed(key: &str) -> TypeIndex {
    let ty = pair_type(key);
    let text = DynRepr::new(|object, part| Ok(format!("<{}>", part(&field_value(object, "x")?)?)));
    attrs::set_hook(ty, text, false).expect("a hook");
    ty
}

#[test]
fn a_type_has_a_text_of_its_own() {
    let ty = bracketed("hooks.Repr");
    let inner = node(ty, 1, 2);
    assert_eq!(repr(&inner), "<1>");
    assert_eq!(repr(node(ty, Array::from([inner.clone()]), 0)), "<(<1>,)>");
    assert_eq!(repr(Value::from([inner.clone(), inner])), "(<1>, <1>)");
    // The text of a hook is shared like any other.
    let long = node(ty, "x".repeat(100), 0);
    let twice = repr(Value::from([long.clone(), long]));
    assert!(
        twice.starts_with("(#1=<\"xxx") && twice.ends_with(", #1#)"),
        "{twice}"
    );
}

#[test]
fn texts_of_cyclic_deep_and_shared_values_are_safe() {
    let ty = bracketed("hooks.ReprSafe");
    let ring = node(ty, Value::NONE, 0);
    set_field(ring.as_object().unwrap(), "x", Value::from([ring.clone()])).unwrap();
    assert_eq!(repr(&ring), "<(...,)>");
    set_field(ring.as_object().unwrap(), "x", Value::NONE).unwrap();

    let deep = (0..2 * MAX_HOOK_DEPTH).fold(Value::NONE, |x, _| node(ty, x, 0));
    let error = ReprOptions::default()
        .repr(&deep, &())
        .expect_err("too deep");
    assert_eq!(error.kind(), ErrorKind::Recursion);
    assert!(repr(&deep).contains("RecursionError: hooks.ReprSafe.__ffi_repr__: hooks nest deeper"));

    let sum = pair_type("hooks.ReprSum");
    let calls = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let text = DynRepr::new(move |object, part| {
        counted.fetch_add(1, Relaxed);
        let (x, y) = (field_value(object, "x")?, field_value(object, "y")?);
        Ok(format!("{}+{}", part(&x)?, part(&y)?))
    });
    attrs::set_hook(sum, text, false).unwrap();
    let shared = (0..60).fold(Value::from(1), |x, _| node(sum, x.clone(), x));
    let text = repr(&shared);
    assert_eq!(calls.load(Relaxed), 60);
    assert!(text.len() < 4 * REPEATED_TOTAL, "{}", text.len());
    assert!(text.contains("hooks.ReprSum(...)"));
}

#[test]
fn a_text_that_fails_is_reported() {
    let ty = pair_type("hooks.ReprBad");
    set_function(ty, "__ffi_repr__", |_| Ok(5.into()));
    let error = ReprOptions::default()
        .repr(node(ty, 1, 2), &())
        .expect_err("no text");
    let expected = "hooks.ReprBad.__ffi_repr__: expected a str as result, got int";
    assert_eq!((error.kind(), error.message()), (ErrorKind::Type, expected));
    let text = repr(Value::from([node(ty, 1, 2)]));
    assert_eq!(text, format!("(<hooks.ReprBad: TypeError: {expected}>,)"));
}

#[test]
fn the_callback_of_a_hook_ends_with_the_hook() {
    static KEPT: std::sync::Mutex<Option<Value>> = std::sync::Mutex::new(None);
    let ty = pair_type("hooks.ReprKept");
    set_function(ty, "__ffi_repr__", |args| {
        let part = args[1]
            .as_object()
            .and_then(Function::of)
            .expect("a function");
        *KEPT.lock().unwrap() = Some(args[1].clone());
        // The second argument is only usable in this thread.
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| part.call(&[1.into()])).join());
        assert!(elsewhere.expect("no panic").is_err());
        let object = args[0].as_object().expect("an object");
        part.call(&[field_value(object, "x")?])
    });
    assert_eq!(repr(node(ty, 7, 0)), "7");
    let kept = KEPT.lock().unwrap().take().expect("kept");
    let error = Function::of(kept.as_object().unwrap())
        .unwrap()
        .call(&[1.into()])
        .expect_err("over");
    assert_eq!(error.kind(), ErrorKind::Runtime);
    assert!(
        error
            .message()
            .starts_with("the callback of __ffi_repr__ can be used only while")
    );
}

#[test]
fn a_hook_is_a_function_for_everybody() {
    let ty = bracketed("hooks.Shown");
    let shown = attrs::get(ty, DynRepr::NAME, attrs::Lookup::Exact).expect("set");
    let shown = shown
        .as_object()
        .and_then(Function::of)
        .expect("a function");
    let part = Function::new(|args| Ok(Value::from(&*format!("part {:?}", args[0]))));
    let text = shown.call(&[node(ty, 1, 2), part.into()]).expect("a text");
    assert_eq!(text.as_str(), Some("<part 1>"));
    let error = shown.call(&[1.into()]).expect_err("too few");
    assert_eq!(error.message(), "__ffi_repr__: expected 2 arguments, got 1");
    let error = shown.call(&[1.into(), 2.into()]).expect_err("no object");
    assert!(
        error.message().starts_with("__ffi_repr__: expected a"),
        "{error}"
    );
    // The same hook serves another type.
    let other = pair_type("hooks.ShownToo");
    attrs::set(other, DynRepr::NAME, shown.clone()).expect("a hook");
    assert_eq!(repr(node(other, 1, 2)), "<1>");
}

/// Compares by `x` alone, in either of two ways.
fn by_x(key: &str, hash: bool) -> TypeIndex {
    let ty = pair_type(key);
    let x = |object: &Ref<Obj>| field_value(object, "x");
    let equal = DynRecursiveEqual::new(move |l, r, cmp| cmp(&x(l)?, &x(r)?));
    let order = DynRecursiveCompare::new(move |l, r, cmp| cmp(&x(l)?, &x(r)?));
    attrs::set_hook(ty, equal, false).unwrap();
    attrs::set_hook(ty, order, false).unwrap();
    if hash {
        let hash = DynRecursiveHash::new(move |object, part| part(&x(object)?));
        attrs::set_hook(ty, hash, false).unwrap();
    }
    ty
}

#[test]
fn a_type_compares_in_its_own_way() {
    let ty = by_x("hooks.ByX", true);
    let (left, right) = (node(ty, [1, 2], 3), node(ty, [1, 2], 4));
    let wrap = |value: &Value| Value::from([value.clone()]);
    assert!(recursive_eq(wrap(&left), wrap(&right)).unwrap());
    assert_eq!(recursive_cmp(&left, &right).unwrap(), Ordering::Equal);
    assert_eq!(
        recursive_cmp(&left, node(ty, [1, 3], 0)).unwrap(),
        Ordering::Less
    );
    let hash = |value: &Value| recursive_hash(value).unwrap();
    assert_eq!(hash(&wrap(&left)), hash(&wrap(&right)));
    assert_ne!(hash(&left), hash(&node(ty, [1, 3], 3)));
    assert!(!recursive_eq(&left, node(ty, [1, 3], 3)).unwrap());
}

#[test]
fn functions_compare_too() {
    let ty = pair_type("hooks.ByFunction");
    let x = |object: &Value| field(object, "x");
    let call = move |args: &[Value]| {
        let cmp = args[2]
            .as_object()
            .and_then(Function::of)
            .expect("a function");
        cmp.call(&[x(&args[0]), x(&args[1])])
    };
    set_function(ty, "__ffi_eq__", call);
    set_function(ty, "__ffi_compare__", call);
    set_function(ty, "__ffi_hash__", move |args| {
        let part = args[1]
            .as_object()
            .and_then(Function::of)
            .expect("a function");
        part.call(&[x(&args[0])])
    });
    let (left, right) = (node(ty, 1, 3), node(ty, 1, 4));
    assert!(recursive_eq(&left, &right).unwrap());
    assert!(recursive_cmp(&left, &right).unwrap().is_eq());
    assert!(recursive_cmp(node(ty, 2, 0), &right).unwrap().is_gt());
    assert_eq!(
        recursive_hash(&left).unwrap(),
        recursive_hash(&right).unwrap()
    );
}

#[test]
fn equality_without_hash_has_no_hash() {
    let ty = by_x("hooks.NoHash", false);
    let error = recursive_hash([node(ty, 1, 2)]).expect_err("no hash");
    assert_eq!(error.kind(), ErrorKind::Type);
    assert_eq!(
        error.message(),
        "type hooks.NoHash has __ffi_eq__ but no __ffi_hash__, so it has no recursive hash"
    );
}

#[test]
fn wrong_answers_name_type_and_hook() {
    let ty = pair_type("hooks.Wrong");
    for name in ["__ffi_eq__", "__ffi_compare__", "__ffi_hash__"] {
        set_function(ty, name, |_| Ok("no".into()));
    }
    let (left, right) = (node(ty, 1, 2), node(ty, 1, 2));
    let message = |result: isoform::Result<()>| result.expect_err("wrong").message().to_owned();
    assert_eq!(
        message(recursive_eq(&left, &right).map(drop)),
        "hooks.Wrong.__ffi_eq__: expected a bool as result, got str"
    );
    assert_eq!(
        message(recursive_cmp(&left, &right).map(drop)),
        "hooks.Wrong.__ffi_compare__: expected an int as result, got str"
    );
    assert_eq!(
        message(recursive_hash(&left).map(drop)),
        "hooks.Wrong.__ffi_hash__: expected an int as result, got str"
    );
}

#[test]
fn a_hook_may_try_alternatives() {
    let ty = pair_type("hooks.Unordered");
    let equal = DynRecursiveEqual::new(|l, r, cmp| {
        let (lx, ly) = (field_value(l, "x")?, field_value(l, "y")?);
        let (rx, ry) = (field_value(r, "x")?, field_value(r, "y")?);
        Ok(cmp(&lx, &rx)? && cmp(&ly, &ry)? || cmp(&lx, &ry)? && cmp(&ly, &rx)?)
    });
    attrs::set_hook(ty, equal, false).unwrap();
    let list = |n: i64| Value::from([[n, n], [n, n]].map(Value::from));
    let pair = |x: i64, y: i64| node(ty, list(x), list(y));
    assert!(recursive_eq(pair(1, 2), pair(2, 1)).unwrap());
    assert!(!recursive_eq(pair(1, 2), pair(2, 2)).unwrap());
    // Values assumed equal in a failed alternative need not be.
    let (a, b) = (list(1), list(2));
    let left = node(ty, [a.clone(), a.clone()], 0);
    let right = node(ty, [a.clone(), b.clone()], 0);
    assert!(!recursive_eq(Value::from([left, a]), Value::from([right, b])).unwrap());
    // Linear, whatever the sharing.
    let deep = || (0..100).fold(Value::from(1), |x, _| node(ty, x.clone(), x));
    assert!(recursive_eq(deep(), deep()).unwrap());
    let (left, right) = (1..=MAX_HOOK_DEPTH + 1).fold((Value::NONE, Value::NONE), |(l, r), n| {
        (node(ty, l, n), node(ty, r, n))
    });
    let error = recursive_eq(&left, &right).expect_err("too deep");
    assert_eq!(error.kind(), ErrorKind::Recursion);
}

#[test]
fn a_cycle_through_a_hook_has_no_hash() {
    let ty = by_x("hooks.HashRing", true);
    let ring = node(ty, Value::NONE, 0);
    let object = ring.as_object().unwrap();
    set_field(object, "x", Value::from(List::from(vec![ring.clone()]))).unwrap();
    let error = recursive_hash(&ring).expect_err("cyclic");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert!(recursive_eq(&ring, &ring).unwrap());
    set_field(object, "x", Value::NONE).unwrap();
}

#[test]
fn a_type_copies_in_its_own_way() {
    let ty = pair_type("hooks.Copied");
    let copy = DynCopy::new(move |object| {
        construct(ty, vec![field_value(object, "x")?, "copy".into()]).map(Value::from)
    });
    attrs::set_hook(ty, copy, false).unwrap();
    let original = node(ty, 1, 2);
    let copy = shallow_copy(original.as_object().unwrap()).unwrap();
    assert_eq!(repr(Value::from(copy)), "hooks.Copied(x=1, y=\"copy\")");
    let other = pair_type("hooks.CopiedBadly");
    set_function(other, "__ffi_shallow_copy__", |_| Ok(Int::new(1).into()));
    let error = shallow_copy(node(other, 1, 2).as_object().unwrap()).expect_err("no copy");
    assert_eq!(
        error.message(),
        "hooks.CopiedBadly.__ffi_shallow_copy__: expected an object of type hooks.CopiedBadly as \
         result, got it.Int"
    );
}

#[test]
fn a_field_converts_what_it_gets() {
    let id = TypeDef::new("hooks.Id").field(FieldDef::new("n", Schema::Int));
    let id = register_type(id).unwrap();
    let convert = DynConvert::new(move |value| match value.as_str() {
        Some("loop") => construct(id, vec!["n".into()]).map(Value::from),
        Some("io") => Err(isoform::Error::new(ErrorKind::Io, "gone")),
        Some("other") => Ok(1.into()),
        _ => construct(id, vec![value.clone()]).map(Value::from),
    });
    attrs::set_hook(id, convert, false).unwrap();
    let holder = TypeDef::new("hooks.Holder")
        .field(FieldDef::new("id", Schema::named("hooks.Id")).mutable(true))
        .field(
            FieldDef::new("ids", Schema::Array(Box::new(Schema::named("hooks.Id"))))
                .default_value(Value::from(Array::<Value>::new())),
        );
    let holder = register_type(holder).unwrap();
    let make = |id: Value, ids: Value| construct(holder, vec![id, ids]);
    let object = make(1.into(), Value::from([2, 3])).unwrap();
    assert_eq!(
        repr(Value::from(&object)),
        "hooks.Holder(id=hooks.Id(n=1), ids=(hooks.Id(n=2), hooks.Id(n=3)))"
    );
    set_field(&object, "id", 9.into()).unwrap();
    assert_eq!(repr(field_value(&object, "id").unwrap()), "hooks.Id(n=9)");
    let empty = || Value::from(Array::<Value>::new());
    let message = |result: isoform::Result<_>| result.map(|_| ()).expect_err("no").to_string();
    assert_eq!(
        message(make("s".into(), empty())),
        "TypeError: hooks.Holder.id: expected hooks.Id, got str (hooks.Id.__ffi_convert__: \
         hooks.Id.n: expected int, got str)"
    );
    assert_eq!(
        message(make("other".into(), empty())),
        "TypeError: hooks.Holder.id: expected hooks.Id, got str (hooks.Id.__ffi_convert__: the \
         result is int)"
    );
    assert_eq!(
        message(make(1.into(), Value::from([Value::from(1), 1.5.into()]))),
        "TypeError: hooks.Holder.ids: element [1]: expected hooks.Id, got float \
         (hooks.Id.__ffi_convert__: hooks.Id.n: expected int, got float)"
    );
    // Only a rejection is converted; other errors are returned unchanged.
    assert_eq!(message(make("io".into(), empty())), "OSError: gone");
    assert_eq!(
        message(make(1.into(), Value::from(["io"]))),
        "OSError: gone"
    );
}

#[test]
fn conversion_that_needs_itself_ends() {
    let ty =
        TypeDef::new("hooks.Selfish").field(FieldDef::new("x", Schema::named("hooks.Selfish")));
    let ty = register_type(ty).unwrap();
    let convert = DynConvert::new(move |value| construct(ty, vec![value.clone()]).map(Value::from));
    attrs::set_hook(ty, convert, false).unwrap();
    let error = construct(ty, vec![1.into()]).expect_err("endless");
    assert_eq!(error.kind(), ErrorKind::Recursion);
    // With another value for the hook, construction ends.
    assert!(construct(ty, vec![Map::<Value, Value>::new().into()]).is_err());
}

#[test]
fn what_is_no_hook_is_refused() {
    let ty = pair_type("hooks.Refused");
    let error = attrs::set(ty, "__ffi_repr__", 5).expect_err("no function");
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(
        error.message().contains("hooks.Refused") && error.message().contains("__ffi_repr__"),
        "{error}"
    );
    let definition = TypeDef::new("hooks.RefusedWhole").attr("__any_hash__", "text");
    let error = register_type(definition).expect_err("no function");
    assert!(error.message().contains("__any_hash__"), "{error}");
    assert!(isoform::types::find_type("hooks.RefusedWhole").is_none());
}

#[test]
fn hooks_belong_to_exactly_their_type() {
    let parent = bracketed("hooks.Parent");
    let child = register_type(TypeDef::new("hooks.Child").parent(parent)).unwrap();
    assert_eq!(repr(node(parent, 1, 2)), "<1>");
    assert_eq!(repr(node(child, 1, 2)), "hooks.Child(x=1, y=2)");
}
