//! Attributes of types: both tiers, lookups, declarations, hooks.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use isoform::attrs::{self, AttrDef, Column, Lookup};
use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::hooks::{DynEqual, DynFromJson, DynHash, DynToJson, DynVerify};
use isoform::objects::{construct, verify};
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, find_type, register_type};
use isoform::{Array, Error, Node, Value, structural_equal, structural_hash};

fn node_type(key: &str) -> TypeIndex {
    let definition = TypeDef::new(key).field(FieldDef::new("a", Schema::Any));
    register_type(definition).expect("a new type")
}

fn message<T: std::fmt::Debug>(result: isoform::Result<T>) -> String {
    result.expect_err("an error").to_string()
}

#[test]
fn an_attribute_is_set_once_or_replaced_on_purpose() {
    let ty = node_type("attrs.Once");
    attrs::set(ty, "attrs.once", 1).expect("new");
    let text = message(attrs::set(ty, "attrs.once", 2));
    assert_eq!(
        text,
        "ValueError: attribute 'attrs.once' of type attrs.Once is set already, to 1; to replace \
         it, say so (override)"
    );
    assert_eq!(attrs::get(ty, "attrs.once", Lookup::Exact), Some(&1.into()));
    let old = attrs::get(ty, "attrs.once", Lookup::Exact);
    attrs::replace(ty, "attrs.once", "two, and more than fits into the value").expect("said so");
    // A value looked up before stays unchanged.
    assert_eq!(old, Some(&1.into()));
    let new = attrs::get(ty, "attrs.once", Lookup::Exact).and_then(Value::as_str);
    assert_eq!(new, Some("two, and more than fits into the value"));
    assert!(attrs::remove(ty, "attrs.once").expect("no hook"));
    assert!(!attrs::remove(ty, "attrs.once").expect("no hook"));
    assert!(!attrs::has(ty, "attrs.once", Lookup::Exact));
    attrs::set(ty, "attrs.once", 3).expect("free again");
    assert_eq!(
        message(attrs::set(ty, "", 1)),
        "ValueError: an attribute needs a name"
    );
}

#[test]
fn none_is_a_value_like_any_other() {
    let ty = node_type("attrs.Nothing");
    attrs::set(ty, "attrs.nothing", Value::NONE).expect("any value");
    assert!(attrs::has(ty, "attrs.nothing", Lookup::Exact));
    assert_eq!(
        attrs::get(ty, "attrs.nothing", Lookup::Exact),
        Some(&Value::NONE)
    );
}

#[test]
fn inheritance_is_chosen_at_the_lookup() {
    let base = node_type("attrs.Base");
    let middle = register_type(TypeDef::new("attrs.Middle").parent(base)).expect("new");
    let leaf = register_type(TypeDef::new("attrs.Leaf").parent(middle)).expect("new");
    attrs::set(base, "attrs.level", 1).expect("new");
    assert_eq!(attrs::get(leaf, "attrs.level", Lookup::Exact), None);
    assert_eq!(
        attrs::get(leaf, "attrs.level", Lookup::Nearest),
        Some(&1.into())
    );
    assert_eq!(attrs::owner(leaf, "attrs.level"), Some(base));
    attrs::set(middle, "attrs.level", 2).expect("new");
    assert_eq!(attrs::owner(leaf, "attrs.level"), Some(middle));
    let level = Column::<i64>::open("attrs.level").expect("ints");
    let node = construct(leaf, vec![Value::NONE]).expect("a leaf");
    assert_eq!(node.attr(&level), None);
    assert_eq!(node.attr_nearest(&level), Some(&2));
    // The root applies to every declared type.
    attrs::set(<isoform::Obj as Node>::type_index(), "attrs.root", true).expect("new");
    assert_eq!(
        attrs::get(leaf, "attrs.root", Lookup::Nearest),
        Some(&true.into())
    );
}

#[test]
fn types_and_attributes_are_listed_both_ways() {
    let (one, other) = (node_type("attrs.ListOne"), node_type("attrs.ListOther"));
    attrs::set(other, "attrs.list.b", 2).expect("new");
    attrs::set(one, "attrs.list.b", 1).expect("new");
    attrs::set(one, "attrs.list.a", "x").expect("new");
    let listed = attrs::attrs_of(one);
    assert_eq!(
        listed,
        [("attrs.list.a", &"x".into()), ("attrs.list.b", &1.into())]
    );
    assert_eq!(attrs::types_with("attrs.list.b"), [one, other]);
    assert_eq!(attrs::types_with("attrs.list.unknown"), []);
    assert!(attrs::info("attrs.list.unknown").is_none());
    let info = attrs::info("attrs.list.b").expect("set");
    assert_eq!(
        (info.count, info.dense, info.builtin, info.doc),
        (2, false, false, "")
    );
}

#[test]
fn values_of_builtin_types_have_attributes() {
    let values: [(&str, Value); 11] = [
        ("isoform.None", Value::NONE),
        ("isoform.Bool", true.into()),
        ("isoform.Int", 1.into()),
        ("isoform.Int", u64::MAX.into()),
        ("isoform.Float", 1.5.into()),
        ("isoform.Str", "short".into()),
        (
            "isoform.Str",
            "a string that does not fit into a value".into(),
        ),
        ("isoform.DType", isoform::values::DType::INT32.into()),
        ("isoform.Device", isoform::values::Device::CPU.into()),
        ("isoform.Array", Array::<Value>::new().into()),
        (
            "isoform.Function",
            Function::new(|_| Ok(Value::NONE)).into(),
        ),
    ];
    let name = Column::<isoform::Str>::open("attrs.pod.name").expect("new");
    for (key, value) in &values {
        let ty = find_type(key).expect("built in").index();
        name.replace(ty, *key).expect("any type");
        assert_eq!(
            value.attr(&name).map(|text| &**text),
            Some(*key),
            "{value:?}"
        );
    }
    // The objects that store large integers are not a separate type.
    let large = find_type("isoform.BigInt").expect("built in").index();
    assert_eq!(name.get(large).map(|text| &**text), Some("isoform.Int"));
}

#[test]
fn a_declared_type_of_values_is_enforced() {
    let ty = node_type("attrs.Declared");
    attrs::set(ty, "attrs.declared.late", "text").expect("undeclared");
    let late = AttrDef::new("attrs.declared.late").schema(Schema::Int);
    assert_eq!(
        message(attrs::declare(late)),
        "TypeError: attribute 'attrs.declared.late' of type attrs.Declared: expected int, got str"
    );
    let def = AttrDef::new("attrs.declared")
        .doc("How many.")
        .schema(Schema::Int);
    attrs::declare(def.clone()).expect("new");
    attrs::declare(def).expect("the same again");
    assert_eq!(
        message(attrs::set(ty, "attrs.declared", "text")),
        "TypeError: attribute 'attrs.declared' of type attrs.Declared: expected int, got str"
    );
    assert!(!attrs::has(ty, "attrs.declared", Lookup::Exact));
    // As in a field: a bool is converted.
    attrs::set(ty, "attrs.declared", true).expect("converts");
    assert_eq!(
        attrs::get(ty, "attrs.declared", Lookup::Exact),
        Some(&1.into())
    );
    let other = AttrDef::new("attrs.declared").schema(Schema::Str);
    assert_eq!(
        message(attrs::declare(other)),
        "ValueError: attribute 'attrs.declared' is declared already, for int, now for str"
    );
    assert!(message(Column::<bool>::open("attrs.declared")).contains("for int, now for bool"));
    // A property left open can be declared later.
    attrs::declare(AttrDef::new("attrs.open").dense()).expect("new");
    Column::<bool>::open("attrs.open").expect("was open");
    attrs::declare(AttrDef::new("attrs.open").doc("Late.")).expect("was open");
    let open = attrs::info("attrs.open").expect("declared");
    assert_eq!(
        (open.doc, open.schema, open.dense),
        ("Late.", Some(Schema::Bool), true)
    );
    let other = AttrDef::new("attrs.open").doc("Other.");
    assert!(message(attrs::declare(other)).contains("with another documentation"));
    let info = attrs::info("attrs.declared").expect("declared");
    assert_eq!((info.doc, info.schema), ("How many.", Some(Schema::Int)));
}

#[test]
fn promotion_keeps_every_value() {
    let types: Vec<_> = (0..100)
        .map(|n| node_type(&format!("attrs.Promoted{n}")))
        .collect();
    for (n, ty) in types.iter().enumerate().filter(|(n, _)| n % 3 == 0) {
        attrs::set(*ty, "attrs.promoted", n).expect("new");
    }
    let column = Column::<i64>::open("attrs.promoted").expect("ints");
    let read = || {
        types
            .iter()
            .map(|ty| column.get(*ty).copied())
            .collect::<Vec<_>>()
    };
    let before = read();
    assert!(!attrs::info("attrs.promoted").expect("set").dense);
    attrs::declare_dense("attrs.promoted").expect("a name");
    attrs::declare_dense("attrs.promoted").expect("again");
    assert!(attrs::info("attrs.promoted").expect("set").dense);
    assert_eq!(read(), before);
    assert_eq!(before.iter().flatten().count(), 34);
    for (n, ty) in types.iter().enumerate().filter(|(n, _)| n % 3 == 1) {
        attrs::set(*ty, "attrs.promoted", n).expect("new");
    }
    let entries: Vec<_> = column.iter().map(|(ty, value)| (ty, *value)).collect();
    let expected = types.iter().enumerate().filter(|(n, _)| n % 3 != 2);
    assert_eq!(
        entries,
        expected.map(|(n, ty)| (*ty, n as i64)).collect::<Vec<_>>()
    );
    assert!(message(attrs::set(types[0], "attrs.promoted", 1)).contains("set already"));
}

#[test]
fn many_attributes_and_types_stay_apart() {
    let types: Vec<_> = (0..60)
        .map(|n| node_type(&format!("attrs.Many{n}")))
        .collect();
    let name = |n: usize| format!("attrs.many.{n}");
    for attribute in 0..80 {
        for (n, ty) in types.iter().enumerate() {
            if (n * 7 + attribute) % 5 == 0 {
                attrs::set(*ty, &name(attribute), n * 1000 + attribute).expect("new");
            }
        }
    }
    for attribute in 0..80 {
        for (n, ty) in types.iter().enumerate() {
            let expected =
                ((n * 7 + attribute) % 5 == 0).then(|| Value::from(n * 1000 + attribute));
            let found = attrs::get(*ty, &name(attribute), Lookup::Exact);
            assert_eq!(found, expected.as_ref(), "{attribute} of type {n}");
        }
    }
}

/// Random changes, in both tiers, against a map of the standard library.
#[test]
fn the_table_answers_as_a_plain_map_does() {
    let types: Vec<_> = (0..50)
        .map(|n| node_type(&format!("attrs.Model{n}")))
        .collect();
    let mut model = BTreeMap::new();
    // A linear congruence is random enough, and the same in every run.
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    for step in 0..20_000u64 {
        let name = format!("attrs.model.{}", random(12));
        let ty = types[random(50) as usize];
        let current_value = model.get(&(name.clone(), ty)).copied();
        match random(8) {
            0..3 => match attrs::set(ty, &name, step) {
                Ok(()) => {
                    assert_eq!(current_value, None, "{name} was set");
                    model.insert((name.clone(), ty), step);
                }
                Err(error) => assert!(current_value.is_some(), "{error}"),
            },
            3..5 => {
                attrs::replace(ty, &name, step).expect("any value");
                model.insert((name.clone(), ty), step);
            }
            5..7 => {
                let removed = attrs::remove(ty, &name).expect("no hook");
                assert_eq!(removed, model.remove(&(name.clone(), ty)).is_some());
            }
            _ if random(400) == 0 => attrs::declare_dense(&name).expect("a name"),
            _ => {
                let holders = attrs::types_with(&name);
                let expected = types
                    .iter()
                    .filter(|ty| model.contains_key(&(name.clone(), **ty)));
                assert_eq!(holders, expected.copied().collect::<Vec<_>>());
            }
        }
        let expected = model
            .get(&(name.clone(), ty))
            .map(|value| Value::from(*value));
        assert_eq!(attrs::get(ty, &name, Lookup::Exact), expected.as_ref());
    }
    assert!(
        (0..12).any(|n| attrs::info(&format!("attrs.model.{n}")).is_some_and(|info| info.dense))
    );
}

#[test]
fn attributes_come_with_the_definition_or_not_at_all() {
    attrs::declare(AttrDef::new("attrs.def.count").schema(Schema::Int)).expect("new");
    let definition = |count: Value| {
        TypeDef::new("attrs.Def")
            .attr("attrs.def.pure", true)
            .attr("attrs.def.count", count)
    };
    assert_eq!(
        message(register_type(definition("x".into()))),
        "TypeError: attribute 'attrs.def.count' of type attrs.Def: expected int, got str"
    );
    assert!(find_type("attrs.Def").is_none());
    let ty = register_type(definition(3.into())).expect("good now");
    assert_eq!(register_type(definition(3.into())).expect("the same"), ty);
    assert!(
        message(register_type(definition(4.into())))
            .contains("the attribute 'attrs.def.count' differs")
    );
    assert!(message(register_type(TypeDef::new("attrs.Def"))).contains("'attrs.def.pure' differs"));
    assert_eq!(attrs::attrs_of(ty).len(), 2);
    // Constants are compared by content, regardless of storage.
    let constants = |text: &str| {
        let list: Array<Value> = [1.into(), text.into()].into_iter().collect();
        TypeDef::new("attrs.DefConstants")
            .attr("attrs.def.text", text)
            .attr("attrs.def.list", list)
            .attr("attrs.def.f", Function::new(|_| Ok(Value::NONE)))
    };
    let text = "a string that does not fit into a value";
    let first = register_type(constants(text)).expect("new");
    assert_eq!(register_type(constants(text)).expect("the same"), first);
    let other = constants("another string that does not fit into a value");
    assert!(message(register_type(other)).contains("'attrs.def.text' differs"));
    let list: Array<Value> = [1.into()].into_iter().collect();
    let other = TypeDef::new("attrs.DefConstants")
        .attr("attrs.def.f", Function::new(|_| Ok(Value::NONE)))
        .attr("attrs.def.text", text)
        .attr("attrs.def.list", list);
    assert!(message(register_type(other)).contains("'attrs.def.list' differs"));
    let twice = TypeDef::new("attrs.DefTwice").attr("a", 1).attr("a", 2);
    assert!(message(register_type(twice)).contains("attribute 'a' is set twice"));
    let no_hook = TypeDef::new("attrs.DefHook").attr("__verify__", 1);
    assert_eq!(
        message(register_type(no_hook)),
        "TypeError: type attrs.DefHook: __verify__: expected a function, got 1"
    );
    assert!(find_type("attrs.DefHook").is_none());
}

fn by_first_letter() -> (DynEqual, DynHash) {
    fn letter(value: &Value) -> Option<char> {
        value.as_str().and_then(|text| text.chars().next())
    }
    fn field(object: &isoform::Ref<isoform::Obj>) -> isoform::Result<Option<char>> {
        Ok(letter(&isoform::objects::field_value(object, "a")?))
    }
    (
        DynEqual::new(|l, r, _| Ok(field(l)? == field(r)?)),
        DynHash::new(|object, init, _| Ok(init ^ u64::from(field(object)?.map_or(0, u32::from)))),
    )
}

#[test]
fn hooks_set_after_registration_take_effect() {
    let ty = node_type("attrs.Late");
    let value = |text: &str| Value::from(construct(ty, vec![text.into()]).expect("a node"));
    let (l, r) = (value("abc"), value("axyz"));
    assert!(!structural_equal(&l, &r).expect("comparable"));
    let (equal, hash) = by_first_letter();
    attrs::set_hook(ty, equal, false).expect("new");
    attrs::set_hook(ty, hash, false).expect("new");
    assert!(structural_equal(&l, &r).expect("comparable"));
    assert!(!structural_equal(&l, value("b")).expect("comparable"));
    let hash = |value: &Value| structural_hash(value).expect("hashable");
    assert_eq!(hash(&l), hash(&r));
    let (equal, _) = by_first_letter();
    assert!(message(attrs::set_hook(ty, equal, false)).contains("is set already"));
    // The hooks are callable attributes.
    let shown = attrs::get(ty, "__s_equal__", Lookup::Exact).expect("set");
    let shown = shown
        .as_object()
        .and_then(Function::of)
        .expect("a function");
    let callback = Function::new(|_| Ok(true.into()));
    let answer = shown.call(&[l, r, callback.into()]).expect("comparable");
    assert_eq!(answer, true.into());
    assert!(message(attrs::remove(ty, "__s_equal__")).contains("cannot be removed"));
}

#[test]
fn a_plain_function_can_be_a_hook() {
    let ty = node_type("attrs.Verified");
    let check = Function::new(|args| match args {
        [value] if value.as_object().is_some() => Err(Error::value_error("never good")),
        _ => Err(Error::type_error("one object")),
    });
    attrs::set(ty, "__verify__", check).expect("a function");
    let value = Value::from(construct(ty, vec![1.into()]).expect("a node"));
    let failures = verify(&value, &()).expect("no cycle");
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].1.message(), "never good");
    attrs::replace(ty, "__verify__", Function::new(|_| Ok(Value::NONE))).expect("replaced");
    assert!(verify(&value, &()).expect("no cycle").is_empty());
    assert_eq!(
        message(attrs::replace(ty, "__verify__", 5)),
        "TypeError: type attrs.Verified: __verify__: expected a function, got 5"
    );
    let array = find_type("isoform.Array").expect("built in").index();
    let error = attrs::set_hook(array, DynVerify::new(|_| Ok(())), false);
    assert_eq!(error.as_ref().map_err(Error::kind), Err(ErrorKind::Type));
    assert_eq!(
        message(error),
        "TypeError: the built-in type isoform.Array takes no hook __verify__"
    );
}

/// One thread registers types with attributes and hooks, one sets, replaces and
/// promotes attributes, one reads attributes and traverses objects.
#[test]
fn three_threads_register_read_and_traverse() {
    let types: Vec<_> = (0..40)
        .map(|n| node_type(&format!("attrs.Race{n}")))
        .collect();
    let node = |ty, n: usize| construct(ty, vec![n.into()]).expect("a node");
    let nodes: Array<Value> = (0..400)
        .map(|n| Value::from(node(types[n % 40], n)))
        .collect();
    let (left, right) = (Value::from(nodes.clone()), Value::from(nodes));
    let right = isoform::traverse::deep_copy(&right).expect("no cycle");
    let (start, done) = (Barrier::new(3), AtomicBool::new(false));
    let column = Column::<i64>::open("attrs.race").expect("new");
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0u64;
            start.wait();
            loop {
                // The last round begins after all attributes are set.
                let last = done.load(Ordering::Acquire);
                for (n, ty) in types.iter().enumerate() {
                    if let Some(value) = column.get(*ty) {
                        assert_eq!(*value as usize % 100, n, "a value of another type");
                        seen += 1;
                    }
                }
                assert!(structural_equal(&left, &right).expect("comparable"));
                for holder in attrs::types_with("attrs.race.new") {
                    let value = attrs::get(holder, "attrs.race.new", Lookup::Exact);
                    let number = value.and_then(Value::as_int).expect("set with the type");
                    let object = node(holder, number as usize);
                    // Its hook was registered with the type, and returns this error.
                    let error = isoform::files::to_json_graph(object);
                    assert!(error.is_err_and(|error| error.message() == "not for files"));
                }
                if last {
                    break;
                }
            }
            seen
        });
        let registrar = scope.spawn(|| {
            start.wait();
            for n in 0..200 {
                let refuse = DynToJson::new(|_| Err(Error::value_error("not for files")));
                let read = DynFromJson::new(|_| Err(Error::value_error("not from files")));
                let definition = TypeDef::new(&format!("attrs.RaceNew{n}"))
                    .field(FieldDef::new("a", Schema::Any))
                    .hook(refuse)
                    .hook(read)
                    .attr("attrs.race.new", n);
                let ty = register_type(definition).expect("new");
                let number = attrs::get(ty, "attrs.race.new", Lookup::Exact);
                assert_eq!(number, Some(&n.into()));
            }
        });
        start.wait();
        for round in 0..300i64 {
            for (n, ty) in types.iter().enumerate() {
                let value = round * 100 + n as i64;
                column.replace(*ty, value).expect("an int");
            }
            let extra = format!("attrs.race.extra{round}");
            attrs::set(types[0], &extra, round).expect("new");
            if round == 100 {
                attrs::declare_dense("attrs.race").expect("a name");
            }
            if round == 200 {
                let (equal, hash) = by_field();
                for ty in &types {
                    attrs::set_hook(*ty, equal.clone(), false).expect("new");
                    attrs::set_hook(*ty, hash.clone(), false).expect("new");
                }
            }
        }
        registrar.join().expect("no panic");
        done.store(true, Ordering::Release);
        assert!(reader.join().expect("no panic") >= 40);
    });
    assert_eq!(attrs::types_with("attrs.race.new").len(), 200);
    assert!(structural_equal(&left, &right).expect("comparable"));
}

/// Hooks that compare the field, like the comparison without hooks.
fn by_field() -> (DynEqual, DynHash) {
    (
        DynEqual::new(|l, r, eq| {
            eq.equal(
                &isoform::objects::field_value(l, "a")?,
                &isoform::objects::field_value(r, "a")?,
                "a",
            )
        }),
        DynHash::new(|object, init, hash| {
            hash.hash(&isoform::objects::field_value(object, "a")?, init)
        }),
    )
}
