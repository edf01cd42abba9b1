//! Registration of types, and construction through the type table.

use std::sync::{Arc, Barrier};
use std::thread;

use isoform::errors::ErrorKind;
use isoform::hooks::DynEqual;
use isoform::objects::{construct, construct_named, field_value, field_value_at, with_field};
use isoform::types::{
    FieldDef, FieldFlag, HostSchema, Kind, Schema, Storage, TypeDef, TypeIndex, find_type,
    register, register_type, registered_types,
};
use isoform::values::OpaqueObj;
use isoform::{Array, Node, Obj, Ref, Result, Value, host};

use crate::support::{Expr, Int, Var, int};

fn field(name: &str, schema: Schema) -> FieldDef {
    FieldDef::new(name, schema)
}

fn optional(schema: Schema) -> Schema {
    Schema::Optional(Box::new(schema))
}

/// A rejected definition leaves nothing registered.
#[track_caller]
fn refuses(definition: TypeDef, message: &str) {
    let key = definition.key().to_string();
    let before = find_type(&key).map(|info| (info.index(), format!("{info:?}")));
    let types = || -> Vec<TypeIndex> {
        let all = registered_types();
        let ours = all.iter().filter(|info| info.key() == key);
        ours.map(|info| info.index()).collect()
    };
    let count = types();
    let error = register_type(definition).expect_err("the definition is refused");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert_eq!(error.message(), message);
    let after = find_type(&key).map(|info| (info.index(), format!("{info:?}")));
    assert_eq!(before, after);
    assert_eq!(count, types());
}

#[test]
fn a_replaced_type_keeps_its_objects() {
    let key = "it.registry.Replaced";
    let definition = |schema| TypeDef::new(key).field(field("a", schema));
    let old = register_type(definition(Schema::Int)).unwrap();
    let user = register_type(
        TypeDef::new("it.registry.ReplacedUser").field(field("of", Schema::named(key))),
    )
    .unwrap();
    let one = Value::from(construct(old, vec![1.into()]).unwrap());
    assert!(construct(user, vec![one.clone()]).is_ok());

    let new = host::replace_type(definition(Schema::Str)).unwrap();
    assert_ne!(old, new);
    assert_eq!(find_type(key).map(|info| info.index()), Some(new));
    let listed = registered_types()
        .iter()
        .filter(|info| info.key() == key)
        .count();
    assert_eq!(listed, 1);
    assert!(host::type_info(old).is_replaced() && !host::type_info(new).is_replaced());
    // Fields that name the key take the new objects.
    let two = construct(new, vec!["a".into()]).unwrap();
    assert!(construct(user, vec![two.into()]).is_ok());
    let error = construct(user, vec![one]).unwrap_err();
    assert!(
        error
            .message()
            .contains("got it.registry.Replaced of an earlier declaration"),
        "{error}"
    );
    // Once more, and the type of a Rust struct stays.
    let newer = host::replace_type(definition(Schema::Bool)).unwrap();
    assert!(
        construct(
            user,
            vec![construct(newer, vec![true.into()]).unwrap().into()]
        )
        .is_ok()
    );
    let expr = register::<Int>().unwrap();
    assert!(host::replace_type(TypeDef::new(Int::TYPE_KEY)).is_err());
    assert_eq!(
        find_type(Int::TYPE_KEY).map(|info| info.index()),
        Some(expr)
    );
}

#[test]
fn the_same_definition_gives_the_same_index() {
    let definition = || {
        TypeDef::new("it.registry.Same")
            .kind(Kind::Dag)
            .doc("A type.")
            .field(field("a", Schema::Int).doc("A number.").default_value(1))
            .field(field("b", Schema::Any).flag(FieldFlag::Def))
    };
    let first = register_type(definition()).unwrap();
    assert_eq!(register_type(definition()).unwrap(), first);
    // Documentation is not part of a type's definition.
    assert_eq!(
        register_type(definition().doc("Other words.")).unwrap(),
        first
    );
    let info = find_type("it.registry.Same").expect("registered");
    assert_eq!(
        (info.index(), info.kind(), info.doc()),
        (first, Kind::Dag, "A type.")
    );
    assert_eq!(info.fields()[0].documentation(), "A number.");
    assert_eq!(info.field_index("b"), Some(1));
    assert_eq!(info.field_index("c"), None);
    let position = registered_types()
        .iter()
        .position(|info| info.index() == first);
    assert!(position.is_some());
    assert_eq!(register::<Int>().unwrap(), register::<Int>().unwrap());
    assert_eq!(
        find_type("it.registry.Nothing").map(|info| info.index()),
        None
    );
}

#[test]
fn another_definition_of_a_key_is_refused() {
    let key = "it.registry.Clash";
    let base = || TypeDef::new(key).field(field("a", Schema::Int));
    let expr = register::<Expr>().unwrap();
    let hook = || DynEqual::new(|_, _, _| Ok(true));
    register_type(base()).unwrap();
    let clash = |what: &str| {
        format!("type key {key} is already registered with another definition: {what}")
    };
    refuses(
        base().kind(Kind::Dag),
        &clash("the kind was tree, is now dag"),
    );
    refuses(base().parent(expr), &clash("the parent differs"));
    refuses(base().scope(true), &clash("scope or defs_first differs"));
    refuses(
        base().defs_first(true),
        &clash("scope or defs_first differs"),
    );
    refuses(base().hook(hook()), &clash("the hook __s_equal__ differs"));
    refuses(
        base().field(field("b", Schema::Int)),
        &clash("it had 1 fields, now 2"),
    );
    refuses(TypeDef::new(key), &clash("it had 1 fields, now 0"));
    refuses(
        TypeDef::new(key).field(field("b", Schema::Int)),
        &clash("field 'a' is now 'b'"),
    );
    refuses(
        TypeDef::new(key).field(field("a", Schema::Float)),
        &clash("field 'a' was int, is now float"),
    );
    refuses(
        TypeDef::new(key).field(field("a", Schema::Int).flag(FieldFlag::Ignore)),
        &clash("field 'a' was None, is now Ignore"),
    );
    refuses(
        TypeDef::new(key).field(field("a", Schema::Int).default_value(1)),
        &clash("field 'a' has a default in only one of them"),
    );
    register_type(base()).expect("the first definition is still the one");
}

/// The difference of two numbers, under the key of their sum.
mod copied {
    #[derive(isoform::Node)]
    #[node(key = "it.registry.Sum")]
    #[repr(C)]
    pub(super) struct Difference {
        pub(super) left: i64,
        pub(super) right: i64,
    }
}

#[test]
fn another_rust_type_under_a_key_is_refused() {
    #[derive(Node)]
    #[node(key = "it.registry.Sum")]
    #[repr(C)]
    struct Sum {
        left: i64,
        right: i64,
    }

    // The definition by data comes first, like a declaration in Python before Rust.
    let as_data = TypeDef::new("it.registry.Sum")
        .field(field("left", Schema::Int))
        .field(field("right", Schema::Int));
    register_type(as_data).unwrap();
    let sum = register::<Sum>().unwrap();
    assert_eq!(register::<Sum>().unwrap(), sum);
    let error = register::<copied::Difference>().unwrap_err();
    let message = error.message();
    let parts = [
        "type key it.registry.Sum is already registered for ",
        "::Sum (",
        "registry.rs:",
        "::copied::Difference (",
        "needs another key",
    ];
    for part in parts {
        assert!(message.contains(part), "{message}");
    }
    let panic = std::panic::catch_unwind(|| copied::Difference::new(5, 3));
    assert!(panic.is_err());
    assert_eq!(Sum::new(5, 3).left, 5);
}

#[test]
fn one_rust_type_in_two_copies_of_a_library_is_registered_once() {
    use std::any::{TypeId, type_name};

    let mut copies = Vec::new();
    {
        #[derive(Node)]
        #[node(key = "it.registry.Copied")]
        #[repr(C)]
        struct Copied {
            number: i64,
        }
        let index = register::<Copied>().unwrap();
        copies.push((TypeId::of::<Copied>(), type_name::<Copied>(), index));
    }
    {
        #[derive(Node)]
        #[node(key = "it.registry.Copied")]
        #[repr(C)]
        struct Copied {
            number: i64,
        }
        let index = register::<Copied>().unwrap();
        copies.push((TypeId::of::<Copied>(), type_name::<Copied>(), index));
    }
    let [(first, name, index), (second, other_name, other)] = copies[..] else {
        unreachable!("there are two");
    };
    assert_ne!(first, second);
    assert_eq!((name, index), (other_name, other));
}

#[test]
fn the_keys_of_built_in_types_are_taken() {
    for key in ["isoform.Object", "isoform.Array", "isoform.Str"] {
        assert!(
            find_type(key).is_some_and(|info| info.is_builtin()),
            "{key}"
        );
        let error = register_type(TypeDef::new(key).field(field("a", Schema::Any)));
        assert!(error.is_err(), "{key}");
    }
    // `Obj` itself may be named by those who register their parents first.
    assert_eq!(register::<Obj>().map(TypeIndex::get).ok(), Some(0));
}

#[test]
fn bad_definitions_are_refused() {
    let new = |name: &str| TypeDef::new(&format!("it.registry.{name}"));
    refuses(TypeDef::new(""), "a type key must not be empty");
    refuses(
        new("Twice")
            .field(field("a", Schema::Int))
            .field(field("b", Schema::Int))
            .field(field("a", Schema::Str)),
        "type it.registry.Twice: field 'a' is declared twice",
    );
    refuses(
        new("Unnamed").field(field("", Schema::Int)),
        "type it.registry.Unnamed: field 0 has an empty name",
    );
    let array = find_type("isoform.Array").expect("built in").index();
    refuses(
        new("MyArray").parent(array),
        "type it.registry.MyArray: the built-in type isoform.Array cannot be extended",
    );
    let expr = register::<Expr>().unwrap();
    refuses(
        new("Inherits")
            .parent(expr)
            .field(field("note", Schema::Any)),
        "type it.registry.Inherits: field 'note' already exists in parent it.Expr",
    );
    for (kind, name) in [
        (Kind::Var, "var"),
        (Kind::None, "none"),
        (Kind::Singleton, "singleton"),
    ] {
        refuses(
            new("Scope").kind(kind).scope(true),
            &format!("type it.registry.Scope: kind {name} cannot be a scope"),
        );
    }
    refuses(
        new("Default").field(field("a", Schema::Int).default_value("one")),
        "type it.registry.Default: the default of field 'a': expected int, got str",
    );
    refuses(
        new("Default").field(field("a", Schema::object::<Var>()).default_value(int(1))),
        "type it.registry.Default: the default of field 'a': expected it.Var, got it.Int",
    );
}

#[test]
fn a_type_may_be_registered_after_an_attempt_that_failed() {
    let key = "it.registry.Retry";
    let twice = TypeDef::new(key)
        .field(field("a", Schema::Int))
        .field(field("a", Schema::Int));
    assert!(register_type(twice).is_err());
    assert!(find_type(key).is_none());
    let index = register_type(TypeDef::new(key).field(field("a", Schema::Str))).unwrap();
    let object = construct(index, vec!["text".into()]).unwrap();
    assert_eq!(field_value(&object, "a").unwrap(), Value::from("text"));
}

#[test]
fn kinds_and_flags_parse_and_name_the_choices() {
    for (kind, name) in Kind::ALL {
        assert_eq!(name.parse::<Kind>().unwrap(), kind);
        assert_eq!(kind.name(), name);
        assert_eq!(kind.to_string(), name);
    }
    for bad in ["", "Tree", "trees", "const_tree"] {
        let error = bad.parse::<Kind>().unwrap_err();
        assert_eq!(
            error.message(),
            format!(
                "unknown structural kind {bad:?}, expected one of tree, const-tree, dag, var, \
                 singleton, none"
            )
        );
    }
    for (name, flag) in [
        ("ignore", FieldFlag::Ignore),
        ("def", FieldFlag::Def),
        ("def-recursive", FieldFlag::Def),
        ("def-pattern", FieldFlag::Def),
        ("def-simple", FieldFlag::DefSimple),
        ("def-non-recursive", FieldFlag::DefSimple),
    ] {
        assert_eq!(name.parse::<FieldFlag>().unwrap(), flag);
    }
    let error = "define".parse::<FieldFlag>().unwrap_err();
    assert!(
        error.message().starts_with("unknown field flag \"define\""),
        "{error}"
    );
}

fn point() -> TypeIndex {
    let definition = TypeDef::new("it.registry.Point")
        .field(field("x", Schema::Int))
        .field(field("y", Schema::Float).default_value(1))
        .field(
            field("tags", optional(Schema::Array(Box::new(Schema::Str))))
                .default_fn(|| Value::NONE),
        );
    register_type(definition).expect("a valid definition")
}

#[track_caller]
fn fails(outcome: Result<Ref<Obj>>, message: &str) {
    assert_eq!(outcome.expect_err("it fails").to_string(), message);
}

#[test]
fn construction_checks_and_converts_every_field() {
    let index = point();
    let object = construct(index, vec![true.into(), 2.into(), Value::NONE]).unwrap();
    assert_eq!(
        format!("{object:?}"),
        "it.registry.Point(x=1, y=2.0, tags=None)"
    );
    fails(
        construct(index, vec![]),
        "TypeError: it.registry.Point: expected 3 field values, got 0",
    );
    fails(
        construct(index, vec![Value::NONE; 4]),
        "TypeError: it.registry.Point: expected 3 field values, got 4",
    );
    fails(
        construct(index, vec!["a".into(), 0.5.into(), Value::NONE]),
        "TypeError: it.registry.Point.x: expected int, got str",
    );
    fails(
        construct(index, vec![1.into(), Value::NONE, Value::NONE]),
        "TypeError: it.registry.Point.y: expected float, got None",
    );
    fails(
        construct(index, vec![1.into(), 1.into(), vec![1].into()]),
        "TypeError: it.registry.Point.tags: element [0]: expected str, got int",
    );
    fails(
        construct(index, vec![1.into(), 1.into(), 5.into()]),
        "TypeError: it.registry.Point.tags: expected Array[str] | None, got int",
    );
    let builtin = find_type("isoform.Array").expect("built in").index();
    fails(
        construct(builtin, vec![]),
        "TypeError: isoform.Array: built-in types are not constructed from fields",
    );
}

#[test]
fn construction_by_name_fills_in_defaults() {
    let index = point();
    let object = construct_named(index, vec![("x", 5.into())]).unwrap();
    assert_eq!(
        format!("{object:?}"),
        "it.registry.Point(x=5, y=1.0, tags=None)"
    );
    let named = vec![
        ("tags", vec!["a"].into()),
        ("x", 5.into()),
        ("y", 2.5.into()),
    ];
    let object = construct_named(index, named).unwrap();
    assert_eq!(
        format!("{object:?}"),
        "it.registry.Point(x=5, y=2.5, tags=[\"a\"])"
    );
    fails(
        construct_named(index, vec![("y", 1.into())]),
        "TypeError: it.registry.Point: missing field 'x'",
    );
    fails(
        construct_named(index, vec![("x", 1.into()), ("z", 1.into())]),
        "TypeError: it.registry.Point: unknown field 'z'",
    );
    fails(
        construct_named(index, vec![("x", 1.into()), ("x", 2.into())]),
        "TypeError: it.registry.Point: field 'x' given twice",
    );
    fails(
        construct_named(index, vec![("x", 1.5.into())]),
        "TypeError: it.registry.Point.x: expected int, got float",
    );
}

#[test]
fn defaults_that_are_made_are_made_anew_and_checked() {
    let definition = TypeDef::new("it.registry.Fresh")
        .field(
            field("list", Schema::List(Box::new(Schema::Any)))
                .default_fn(|| isoform::values::List::<Value>::new().into()),
        )
        .field(field("wrong", Schema::Int).default_fn(|| "no".into()));
    let index = register_type(definition).unwrap();
    let make = || construct_named(index, vec![("wrong", 1.into())]).unwrap();
    let (first, second) = (make(), make());
    let list = |object: &Ref<Obj>| field_value(object, "list").unwrap();
    assert_ne!(list(&first), list(&second));
    assert_eq!(list(&first), list(&first));
    fails(
        construct_named(index, vec![]),
        "TypeError: it.registry.Fresh.wrong: expected int, got str",
    );
}

#[test]
fn fields_are_read_and_replaced_by_name() {
    let object = construct(point(), vec![1.into(), 2.5.into(), Value::NONE]).unwrap();
    assert_eq!(field_value(&object, "y").unwrap(), Value::from(2.5));
    assert_eq!(field_value_at(&object, 0), Some(Value::from(1)));
    assert_eq!(field_value_at(&object, 3), None);
    let error = field_value(&object, "z").unwrap_err();
    assert_eq!(
        error.to_string(),
        "AttributeError: type it.registry.Point has no field 'z'"
    );
    let changed = with_field(&object, "x", 7.into()).unwrap();
    assert_eq!(field_value(&changed, "x").unwrap(), Value::from(7));
    assert_eq!(field_value(&object, "x").unwrap(), Value::from(1));
    fails(
        with_field(&object, "x", "a".into()),
        "TypeError: it.registry.Point.x: expected int, got str",
    );
    fails(
        with_field(&object, "z", 1.into()),
        "AttributeError: type it.registry.Point has no field 'z'",
    );
    let array = Value::from(Array::<Value>::new());
    let array = array.as_object().expect("an object");
    assert!(with_field(array, "x", 1.into()).is_err());
    assert!(field_value(array, "x").is_err());
}

#[test]
fn a_type_may_refer_to_itself() {
    let key = "it.registry.Node";
    let definition = TypeDef::new(key)
        .field(field("next", optional(Schema::named(key))))
        .field(field("all", Schema::Array(Box::new(Schema::named(key)))));
    let index = register_type(definition).unwrap();
    let empty = || Value::from(Array::<Value>::new());
    let end = construct(index, vec![Value::NONE, empty()]).unwrap();
    let node = construct(index, vec![Value::from(&end), vec![&end].into()]).unwrap();
    assert_eq!(field_value(&node, "next").unwrap(), Value::from(&end));
    assert_eq!(end.owners(), 3);
    fails(
        construct(index, vec![int(1).into(), empty()]),
        "TypeError: it.registry.Node.next: expected it.registry.Node | None, got it.Int",
    );
    let info = find_type(key).expect("registered");
    assert_eq!(info.fields()[0].storage(), Storage::NullableObject);
    assert_eq!(info.fields()[1].storage(), Storage::Object);
}

#[test]
fn a_type_may_refer_to_one_that_is_registered_later() {
    let later = "it.registry.Later";
    let definition = TypeDef::new("it.registry.Early").field(field("later", Schema::named(later)));
    let early = register_type(definition).unwrap();
    fails(
        construct(early, vec![int(1).into()]),
        "TypeError: it.registry.Early.later: expected it.registry.Later, which is not a \
         registered type, got it.Int",
    );
    let later = register_type(TypeDef::new(later)).unwrap();
    let inner = construct(later, vec![]).unwrap();
    let outer = construct(early, vec![inner.clone().into()]).unwrap();
    assert_eq!(field_value(&outer, "later").unwrap(), Value::from(inner));
}

#[test]
fn subtypes_fit_where_a_parent_is_expected() {
    let base =
        register_type(TypeDef::new("it.registry.Base").field(field("a", Schema::Bool))).unwrap();
    let middle = TypeDef::new("it.registry.Middle").parent(base);
    let middle = register_type(middle.field(field("b", Schema::Bool))).unwrap();
    let leaf = TypeDef::new("it.registry.Leaf").parent(middle);
    let leaf = register_type(leaf.field(field("c", Schema::Any))).unwrap();
    let holder =
        TypeDef::new("it.registry.Holder").field(field("base", Schema::named("it.registry.Base")));
    let holder = register_type(holder).unwrap();

    let object = construct(leaf, vec![true.into(), false.into(), "text".into()]).unwrap();
    assert_eq!(
        format!("{object:?}"),
        "it.registry.Leaf(a=True, b=False, c=\"text\")"
    );
    let names: Vec<_> = object
        .type_info()
        .fields()
        .iter()
        .map(FieldDef::name)
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    construct(holder, vec![object.into()]).expect("a leaf is a base");
    let unrelated = construct(point(), vec![1.into(), 1.into(), Value::NONE]).unwrap();
    assert!(construct(holder, vec![unrelated.into()]).is_err());
}

#[test]
fn a_host_tells_its_own_values_apart() {
    let is_handle = |value: &Value| {
        let opaque = value
            .as_object()
            .and_then(|o| o.downcast_ref::<OpaqueObj>());
        value.is_none() || opaque.is_some_and(|opaque| opaque.content::<u8>().is_some())
    };
    let handle = Schema::Host(HostSchema::new("host.Handle", is_handle));
    let ty = TypeDef::new("it.registry.Handles")
        .field(field("one", handle.clone()))
        .field(field("many", Schema::Array(Box::new(handle.clone()))));
    let ty = register_type(ty).unwrap();
    let values = [Value::NONE, Value::opaque(3u8)];
    for value in &values {
        let object = construct(ty, vec![value.clone(), values.to_vec().into()]).unwrap();
        assert_eq!(field_value(&object, "one").unwrap(), *value);
        assert!(optional(handle.clone()).check(value).is_ok());
    }
    for (value, got) in [(Value::from(1), "int"), (Value::opaque(3u16), "u16")] {
        fails(
            construct(ty, vec![value.clone(), Value::from(values.to_vec())]),
            &format!("TypeError: it.registry.Handles.one: expected host.Handle, got {got}"),
        );
        let outcome = construct(ty, vec![Value::NONE, Value::from(vec![Value::NONE, value])]);
        let error = outcome.expect_err("no handle").to_string();
        assert!(
            error.contains(&format!("element [1]: expected host.Handle, got {got}")),
            "{error}"
        );
    }
}

#[test]
fn values_outlive_a_failed_construction() {
    let witness = int(5);
    let outcome = construct(point(), vec![1.into(), Value::from(&witness), Value::NONE]);
    assert!(outcome.is_err());
    assert_eq!(witness.owners(), 1);
}

#[test]
fn threads_register_and_read_at_once() {
    const THREADS: usize = 8;
    const TYPES: usize = 40;
    let barrier = Arc::new(Barrier::new(THREADS));
    let workers: Vec<_> = (0..THREADS)
        .map(|worker| {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || {
                barrier.wait();
                let mut indices = Vec::new();
                let mut parent = TypeIndex::clone(&Obj::type_index());
                for number in 0..TYPES {
                    // All threads register the same types, and a private type.
                    let shared = TypeDef::new(&format!("it.registry.threads.Shared{number}"))
                        .parent(parent)
                        .field(field(&format!("f{number}"), Schema::Int));
                    parent = register_type(shared).expect("the same definition");
                    let own = format!("it.registry.threads.Own{worker}_{number}");
                    let own = register_type(TypeDef::new(&own).field(field("a", Schema::Any)))
                        .expect("a key of its own");
                    indices.push((parent, own));

                    let values = (0..=number as i64).map(Value::from).collect();
                    let object = construct(parent, values).expect("the values fit");
                    assert_eq!(
                        field_value(&object, &format!("f{number}")).unwrap(),
                        Value::from(number)
                    );
                    assert!(registered_types().len() > number);
                    let held = construct(own, vec![object.into()]).expect("anything fits");
                    assert_eq!(held.type_info().index(), own);
                }
                indices
            })
        })
        .collect();
    let results: Vec<_> = workers
        .into_iter()
        .map(|worker| worker.join().expect("no thread panics"))
        .collect();
    let mut own: Vec<TypeIndex> = results.iter().flatten().map(|(_, own)| *own).collect();
    own.sort();
    own.dedup();
    assert_eq!(own.len(), THREADS * TYPES);
    for result in &results {
        let shared = |list: &[(TypeIndex, TypeIndex)]| -> Vec<TypeIndex> {
            list.iter().map(|(shared, _)| *shared).collect()
        };
        assert_eq!(shared(result), shared(&results[0]));
    }
}

#[test]
fn one_of_two_clashing_definitions_wins_on_all_threads() {
    let barrier = Arc::new(Barrier::new(8));
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || {
                let schema = if worker % 2 == 0 {
                    Schema::Int
                } else {
                    Schema::Str
                };
                let definition = TypeDef::new("it.registry.Race").field(field("a", schema));
                barrier.wait();
                (worker % 2, register_type(definition).ok())
            })
        })
        .collect();
    let outcomes: Vec<_> = workers
        .into_iter()
        .map(|worker| worker.join().expect("no thread panics"))
        .collect();
    let winner = find_type("it.registry.Race").expect("one was registered");
    let parity = usize::from(winner.fields()[0].schema() == &Schema::Str);
    for (worker, index) in outcomes {
        let expected = (worker == parity).then_some(winner.index());
        assert_eq!(index, expected);
    }
}
