//! The order of visit: as declared, with definitions first, or defined
//! separately from the order of declaration.

use isoform::compare::{CompareOptions, first_structural_mismatch};
use isoform::files::to_json_graph;
use isoform::objects::{construct, field_value};
use isoform::paths::{AccessPath, AccessStep};
use isoform::traverse::{WalkResult, structural_map, structural_walk, substitute};
use isoform::types::{
    FieldDef, FieldFlag, Kind, Schema, TypeDef, TypeIndex, find_type, register_type,
};
use isoform::{Obj, Ref, Value, structural_hash};
use isoform_testing::oracle;

fn field(name: &str) -> FieldDef {
    FieldDef::new(name, Schema::Any)
}

fn def(name: &str) -> FieldDef {
    field(name).flag(FieldFlag::Def)
}

fn ty(definition: TypeDef) -> TypeIndex {
    register_type(definition).expect("the type is registered")
}

fn var() -> Value {
    let index = ty(TypeDef::new("order.Var").kind(Kind::Var));
    construct(index, vec![]).expect("a variable").into()
}

/// `for var in lo..hi: body`, whose constructor takes the variable first.
fn for_type() -> TypeIndex {
    ty(TypeDef::new("order.For")
        .scope(true)
        .visit_order(["lo", "hi", "var", "body"])
        .field(def("var"))
        .field(field("lo"))
        .field(field("hi"))
        .field(field("body")))
}

/// A `let` that does not bind the variable in the value.
fn let_type() -> TypeIndex {
    ty(TypeDef::new("order.Let")
        .scope(true)
        .defs_first(false)
        .field(field("value"))
        .field(def("var"))
        .field(field("body")))
}

fn make<const N: usize>(ty: TypeIndex, fields: [&Value; N]) -> Value {
    let fields = fields.into_iter().cloned().collect();
    construct(ty, fields).expect("the fields fit").into()
}

fn part(object: &Value, name: &str) -> Value {
    let object: &Ref<Obj> = object.as_object().expect("an object");
    field_value(object, name).expect("the field")
}

/// The engine and the oracle agree on two values.
#[track_caller]
fn check(left: &Value, right: &Value, expected: Option<&str>) {
    let found = first_structural_mismatch(left, right).expect("comparable");
    let found = found.map(|(path, _)| path);
    assert_eq!(
        found.as_ref().map(AccessPath::to_string).as_deref(),
        expected
    );
    let judge = oracle::first_mismatch(left, right, CompareOptions::default());
    assert_eq!(judge.expect("comparable").map(|(path, _)| path), found);
    let hashes = [left, right].map(|value| structural_hash(value).expect("a hash"));
    assert_eq!(hashes[0] == hashes[1], expected.is_none());
}

#[track_caller]
fn order_of(ty: TypeIndex, key: &str, expected: &[&str]) {
    let info = find_type(key).expect("registered");
    assert_eq!(info.index(), ty);
    let names: Vec<_> = info.fields_as_visited().map(FieldDef::name).collect();
    assert_eq!(names, expected);
}

#[test]
fn what_is_visited_before_a_definition_is_outside_of_it() {
    let (x, y) = (var(), var());
    let (one, zero) = (Value::from(1), Value::from(0));
    // The first x is a different variable from the two after it.
    let binding = make(let_type(), [&x, &x, &x]);
    let replaced = substitute(&binding, &[(x.clone(), one.clone())]).expect("replaced");
    assert_eq!(part(&replaced, "value"), one);
    assert_eq!(part(&replaced, "body"), x);
    check(&binding, &make(let_type(), [&x, &y, &y]), None);
    check(
        &binding,
        &make(let_type(), [&y, &y, &y]),
        Some("<root>.value"),
    );

    let each = make(for_type(), [&x, &zero, &x, &x]);
    let replaced = substitute(&each, &[(x.clone(), one.clone())]).expect("replaced");
    assert_eq!(part(&replaced, "hi"), one);
    assert_eq!(
        [part(&replaced, "var"), part(&replaced, "body")],
        [x.clone(), x.clone()]
    );
    check(&each, &make(for_type(), [&y, &zero, &x, &y]), None);
    check(
        &each,
        &make(for_type(), [&y, &zero, &y, &y]),
        Some("<root>.hi"),
    );
    check(
        &each,
        &make(for_type(), [&y, &one, &y, &x]),
        Some("<root>.lo"),
    );
}

#[test]
fn walks_and_maps_go_in_the_order_of_visit_and_files_in_that_of_declaration() {
    let [a, b, c] = [1, 2, 3].map(Value::from);
    let each = make(for_type(), [&var(), &a, &b, &c]);
    let mut walked = Vec::new();
    structural_walk(&each, |visit| {
        if let Some(AccessStep::Attr(name)) = visit.path().steps().last() {
            walked.push(name.clone());
        }
        Ok(WalkResult::<()>::Advance)
    })
    .expect("a walk");
    assert_eq!(walked, ["lo", "hi", "var", "body"]);
    let mut mapped = Vec::new();
    structural_map(&each, |visit| {
        mapped.extend(visit.value().as_int());
        Ok(None)
    })
    .expect("a map");
    assert_eq!(mapped, [1, 2, 3]);
    let json = to_json_graph(&each).expect("a text");
    let place = |name: &str| json.find(&format!("\"{name}\"")).expect("the field");
    assert!(
        place("var") < place("lo") && place("lo") < place("body"),
        "{json}"
    );
}

#[test]
fn inherited_fields_come_first_unless_they_are_named() {
    let parent = for_type();
    let child = |name: &str| TypeDef::new(name).parent(parent);
    let plain = ty(child("order.Plain").scope(true).field(def("result")));
    // The order defined by the parent applies to its own fields.
    order_of(plain, "order.Plain", &["lo", "hi", "var", "body", "result"]);
    let first = ty(child("order.First").defs_first(true).field(def("result")));
    order_of(first, "order.First", &["var", "result", "lo", "hi", "body"]);
    let stated = child("order.Stated").visit_order(["step", "var", "note", "body"]);
    let ignored = field("note").flag(FieldFlag::Ignore);
    let late = field("late").flag(FieldFlag::Ignore);
    let stated = ty(stated.field(field("step")).field(late).field(ignored));
    let expected = ["lo", "hi", "step", "var", "note", "body", "late"];
    order_of(stated, "order.Stated", &expected);
    // The oracle reads it from the declarations.
    let (x, y) = (var(), var());
    let five = |body: &Value, bound: &Value| {
        let [zero, none] = [Value::from(0), Value::NONE];
        make(stated, [bound, &zero, &zero, body, bound, &none, &none])
    };
    check(&five(&x, &x), &five(&y, &y), Some("<root>.step"));
}

#[test]
fn a_wrong_order_of_visit_is_refused() {
    #[track_caller]
    fn refused(definition: TypeDef, expected: &str) {
        let error = register_type(definition).expect_err("the order is wrong");
        assert_eq!(error.message(), format!("type order.Wrong: {expected}"));
    }
    let wrong = |names: &[&str]| {
        let definition = TypeDef::new("order.Wrong").visit_order(names.iter().copied());
        definition.field(field("a")).field(def("b"))
    };
    refused(
        wrong(&["a", "c", "b"]),
        "visit_order: unknown field 'c', expected some of a, b",
    );
    refused(
        wrong(&["a", "b", "a"]),
        "visit_order: field 'a' is named twice",
    );
    refused(
        wrong(&["a"]),
        "visit_order: field 'b' is missing, expected every field of the type's own that \
         comparison visits",
    );
    refused(
        wrong(&["a", "b"]).defs_first(true),
        "visit_order puts 'b' behind 'a', and defs_first in front of it; leave out one of them",
    );
    ty(TypeDef::new("order.Clash")
        .field(field("a"))
        .field(field("b")));
    let clash = TypeDef::new("order.Clash").visit_order(["b", "a"]);
    let clash = register_type(clash.field(field("a")).field(field("b")));
    let error = clash.expect_err("another definition");
    assert!(error.message().ends_with("visit_order differs"), "{error}");
    let first = TypeDef::new("order.DefsFirst").defs_first(true);
    ty(first
        .visit_order(["b", "a"])
        .field(field("a"))
        .field(def("b")));
}
