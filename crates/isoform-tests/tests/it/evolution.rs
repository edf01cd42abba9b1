//! Files of earlier versions of a type: aliases, skipped fields, digests of declarations.

use isoform::compare::declaration_digest;
use isoform::files::{from_json_graph, to_json_graph};
use isoform::text::{TextReadOptions, from_text, to_text};
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeDef, TypeIndex, register_type};
use isoform::{Node, Ref, Result, Value, structural_equal};

/// A sum, once called `evolution.Add`, with other names of its fields.
#[derive(Node)]
#[node(key = "evolution.Sum", aliases = ["evolution.Add", "evolution.Plus"])]
#[repr(C)]
struct Sum {
    #[node(aliases = ["lhs", "l"])]
    left: i64,
    #[node(name = "right", aliases = ["rhs"])]
    second: i64,
}

#[test]
fn derived_aliases_are_read_in_every_format() -> Result<()> {
    let sum: Value = Sum::new(1, 2).into();
    for key in ["evolution.Add", "evolution.Plus", "evolution.Sum"] {
        for left in ["lhs", "l", "left"] {
            let old = format!("{key}({left}=1, rhs=2)");
            assert!(structural_equal(from_text(&old)?, sum.clone())?, "{old}");
            let graph = to_json_graph(&sum)?
                .replace("evolution.Sum", key)
                .replace("left", left)
                .replace("right", "rhs");
            assert!(
                structural_equal(from_json_graph(&graph)?, sum.clone())?,
                "{graph}"
            );
        }
    }
    assert_eq!(
        to_text(&from_text("evolution.Add(lhs=1, rhs=2)")?)?,
        "evolution.Sum(left=1, right=2)\n"
    );
    Ok(())
}

fn refusal(definition: TypeDef) -> String {
    let error = register_type(definition).expect_err("the aliases clash");
    error.message().to_owned()
}

#[test]
fn clashes_are_refused() {
    let _ = Sum::type_index();
    let int = |name: &str| FieldDef::new(name, Schema::Int);
    let clash = || TypeDef::new("evolution.Clash");
    assert_eq!(
        refusal(clash().field(int("a")).field(int("b").aliases(["a"]))),
        "type evolution.Clash: alias 'a' of field 'b' is a name or an alias of field 'a'"
    );
    assert_eq!(
        refusal(clash().parent(Sum::type_index()).field(int("lhs"))),
        "type evolution.Clash: alias 'lhs' of field 'left' is a name or an alias of field 'lhs'"
    );
    assert_eq!(
        refusal(clash().aliases(["evolution.Sum"])),
        "type evolution.Clash: alias 'evolution.Sum' is the key of another registered type"
    );
    assert_eq!(
        refusal(clash().aliases(["evolution.Add"])),
        "type evolution.Clash: alias 'evolution.Add' is an alias of type evolution.Sum, too"
    );
    assert_eq!(
        refusal(TypeDef::new("evolution.Add")),
        "type key evolution.Add is an alias of type evolution.Sum, so files with it are read as \
         that type; choose another key, or remove the alias"
    );
}

#[test]
fn skipped_fields_of_texts_are_still_read() -> Result<()> {
    let _ = Sum::new(1, 2); // The first object registers the type.
    let options = TextReadOptions::default().ignore_unknown_fields(true);
    let sum = options.read("evolution.Sum(left=%a, gone={1: [%a: 7]}, right=%a)")?;
    let sum: Ref<Sum> = sum.extract()?;
    assert_eq!((sum.left, sum.second), (7, 7));
    let error = options
        .read("evolution.Sum(left=1, gone=[1")
        .expect_err("no end");
    assert!(error.message().contains("line 1"), "{error}");
    Ok(())
}

fn declared(key: &str, kind: Kind, fields: Vec<FieldDef>) -> TypeIndex {
    let definition = TypeDef::new(key).kind(kind);
    let definition = fields.into_iter().fold(definition, TypeDef::field);
    isoform::host::replace_type(definition).expect("a type that can be declared")
}

#[test]
fn digests_of_declarations_cover_named_types() -> Result<()> {
    let item = || {
        FieldDef::new(
            "item",
            Schema::Array(Schema::named("evolution.Item").into()),
        )
    };
    let own = FieldDef::new(
        "own",
        Schema::Optional(Schema::named("evolution.Root").into()),
    );
    let number = |schema| FieldDef::new("number", schema);
    declared("evolution.Item", Kind::Tree, vec![number(Schema::Int)]);
    let root = declared("evolution.Root", Kind::Tree, vec![item(), own]);
    let first = declaration_digest(root)?;
    let mut digests = vec![first];
    let variants = [
        (Kind::Dag, number(Schema::Int)),
        (Kind::Tree, number(Schema::Float)),
        (Kind::Tree, number(Schema::Int).default_value(1)),
        (Kind::Tree, number(Schema::Int).default_value(2)),
        (Kind::Tree, number(Schema::Int).flag(FieldFlag::Def)),
        (Kind::Tree, number(Schema::Int).flag(FieldFlag::Ignore)),
    ];
    for (kind, field) in variants {
        declared("evolution.Item", kind, vec![field]);
        let digest = declaration_digest(root)?;
        assert!(!digests.contains(&digest));
        digests.push(digest);
    }
    let field = number(Schema::Int).doc("text").aliases(["count"]);
    declared("evolution.Item", Kind::Tree, vec![field.repr(false)]);
    assert_eq!(declaration_digest(root)?, first);
    Ok(())
}
