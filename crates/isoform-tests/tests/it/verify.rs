//! `verify`.

use isoform::hooks::DynVerify;
use isoform::objects::{VerifyHooks, construct, field_value, verify};
use isoform::types::{FieldDef, FieldFlag, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::List;
use isoform::{Error, Obj, Ref, Result, Value};

fn types() -> (TypeIndex, TypeIndex) {
    static TYPES: std::sync::OnceLock<(TypeIndex, TypeIndex)> = std::sync::OnceLock::new();
    *TYPES.get_or_init(|| {
        let number =
            |object: &Ref<Obj>| Ok::<_, Error>(field_value(object, "n")?.as_int().unwrap_or(0));
        let positive = DynVerify::new(move |object| match number(object)? {
            n if n < 0 => Err(Error::value_error(format!(
                "expected a positive number, got {n}"
            ))),
            _ => Ok(()),
        });
        let even = DynVerify::new(move |object| match number(object)? {
            n if n % 2 != 0 => Err(Error::value_error(format!(
                "expected an even number, got {n}"
            ))),
            _ => Ok(()),
        });
        let base = register_type(
            TypeDef::new("verify.Base")
                .field(FieldDef::new("n", Schema::Int))
                .field(FieldDef::new("below", Schema::Any))
                .field(FieldDef::new("note", Schema::Any).flag(FieldFlag::Ignore))
                .hook(positive),
        );
        let base = base.expect("registered");
        let even = TypeDef::new("verify.Even").parent(base).hook(even);
        (base, register_type(even).expect("registered"))
    })
}

fn node(ty: TypeIndex, n: i64, below: impl Into<Value>, note: impl Into<Value>) -> Value {
    construct(ty, vec![n.into(), below.into(), note.into()])
        .unwrap()
        .into()
}

#[track_caller]
fn check(root: &Value, hooks: &dyn VerifyHooks, expected: &[&str]) {
    let failures = verify(root, hooks).expect("no cycle");
    let texts: Vec<_> = failures
        .iter()
        .map(|(path, error)| format!("{path}: {}", error.message()))
        .collect();
    assert_eq!(texts, expected);
}

#[test]
fn all_failures_are_collected_from_below_and_from_parents() {
    let (base, even) = types();
    let root = node(
        even,
        -3,
        [
            node(base, -1, 0, 0),
            node(base, 1, 0, 0),
            node(even, 1, 0, 0),
        ],
        node(base, -2, 0, 0),
    );
    let expected = [
        "<root>.below[0]: expected a positive number, got -1",
        "<root>.below[2]: expected an even number, got 1",
        "<root>.note: expected a positive number, got -2",
        "<root>: expected a positive number, got -3",
        "<root>: expected an even number, got -3",
    ];
    check(&root, &(), &expected);
    check(&node(even, 2, Value::NONE, 1), &(), &[]);
    check(&5.into(), &(), &[]);
}

#[test]
fn shared_objects_are_verified_once() {
    let (base, _) = types();
    let bad = node(base, -1, 0, 0);
    let root = Value::from([bad.clone(), bad]);
    check(
        &root,
        &(),
        &["<root>[0]: expected a positive number, got -1"],
    );
}

struct NoList;

impl VerifyHooks for NoList {
    fn verify(&self, object: &Ref<Obj>) -> Result<()> {
        match field_value(object, "below")?.type_name() {
            "List" => Err(Error::type_error("expected no list")),
            _ => Ok(()),
        }
    }
}

#[test]
fn more_can_be_demanded() {
    let (base, _) = types();
    let root = node(base, -1, List::<Value>::new(), 0);
    let expected = [
        "<root>: expected a positive number, got -1",
        "<root>: expected no list",
    ];
    check(&root, &NoList, &expected);
}

#[test]
fn a_cycle_is_an_error_and_another_verifier_another_definition() {
    let list: List = List::new();
    list.push(list.clone().into()).unwrap();
    assert!(verify(list.clone(), &()).is_err());
    list.clear();
    let (base, _) = types();
    let again = TypeDef::new("verify.Even").parent(base);
    let error = register_type(again).expect_err("another definition");
    assert!(
        error.message().ends_with("the hook __verify__ differs"),
        "{error}"
    );
}
