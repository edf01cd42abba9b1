//! Modules of the IR: every property for about a second on random bytes, and
//! the coverage that the generator must reach.

use std::collections::BTreeMap;

use isoform::compare::first_structural_mismatch;
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::text::{from_text, to_text};
use isoform::traverse::deep_copy;
use isoform::types::{Kind, registered_types};
use isoform::values::DType;
use isoform::{Array, Node, Ref, Value, structural_digest, structural_equal};
use isoform_ir::ir::{IRModule, PrimType, Type};
use isoform_testing::ir::{IR_PROPERTIES, random_incomparable, random_module};

use isoform_testing::coverage::count_nodes;
use isoform_testing::properties::check_named;

use crate::ir::MAPPED;

macro_rules! properties {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check_named(IR_PROPERTIES, stringify!($name));
            }
        )*

        #[test]
        fn none_is_left_out() {
            let known: Vec<_> = IR_PROPERTIES.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, [$(stringify!($name)),*]);
        }
    };
}

properties! {
    ir_json_round_trips,
    ir_binary_round_trips,
    ir_text_round_trips,
    ir_deep_copies_are_equal,
    ir_incomparable_round_trips,
    ir_hints_are_invisible,
    ir_ignored_fields_are_invisible,
    ir_edits_are_found,
}

/// Free variables of the left value may map to free variables of the right value.
#[test]
fn every_class_comes_up() {
    let mut classes = BTreeMap::new();
    let mut shared = 0;
    for seed in 0..200 {
        let module = random_module(seed, 400).expect("a module");
        shared += count_nodes(&module.into(), &mut classes);
        count_nodes(&random_incomparable(seed).expect("nodes"), &mut classes);
    }
    assert!(shared > 400, "only {shared} nodes are shared");
    let missing: Vec<_> = registered_types()
        .into_iter()
        .map(|info| info.key())
        .filter(|key| {
            // Values of evaluation are not part of programs.
            !key.starts_with("relay.value.")
                && ["ir.", "tir.", "relay."]
                    .iter()
                    .any(|of| key.starts_with(of))
        })
        .filter(|key| classes.get(key).is_none_or(|count| *count < 2))
        .collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}\n{classes:?}");
}

#[test]
fn modules_can_be_compared() {
    let mut classes = BTreeMap::new();
    for seed in 0..10 {
        let module = random_module(seed, 200).expect("a module");
        count_nodes(&module.clone().into(), &mut classes);
        MAPPED.digest(&module).expect("a digest");
    }
    let incomparable: Vec<_> = registered_types()
        .into_iter()
        .filter(|info| info.kind() == Kind::None && classes.contains_key(info.key()))
        .collect();
    assert!(incomparable.is_empty(), "{incomparable:?}");
}

#[test]
fn a_seed_gives_the_same_module() {
    let text = |module: &Ref<IRModule>| to_text(module).expect("text");
    for seed in [0, 1, u64::MAX] {
        let module = random_module(seed, 150).expect("a module");
        let again = random_module(seed, 150).expect("a module");
        assert!(!module.same_as(&again));
        assert_eq!(text(&module), text(&again));
        assert!(MAPPED.equal(&module, &again).expect("an answer"));
    }
    let (one, other) = (random_module(1, 150), random_module(2, 150));
    let equal = MAPPED.equal(one.expect("one"), other.expect("other"));
    assert!(!equal.expect("an answer"));
}

#[test]
fn modules_have_about_the_size_that_was_asked_for() {
    for size in [0, 100, 1_000, 10_000] {
        let mut classes = BTreeMap::new();
        let module = random_module(3, size).expect("a module");
        count_nodes(&module.into(), &mut classes);
        let nodes: usize = classes.values().sum();
        assert!(
            (size / 4..=size * 4 + 20).contains(&nodes),
            "{nodes} of {size}"
        );
    }
}

/// The types of several values, declared as in [`isoform_ir::ir`] and used nowhere
/// else.
#[derive(Node)]
#[node(key = "it.ir_properties.ProductType")]
#[repr(C)]
pub(crate) struct ProductType {
    #[node(base, default)]
    base: Type,
    /// The types of its parts.
    pub(crate) fields: Array<Ref<Type>>,
}

#[test]
fn a_declaration_is_all_that_a_class_needs() {
    let product = |dtype: DType| {
        let part: Ref<Type> = PrimType::new(dtype).upcast();
        Value::from(ProductType::new([part.clone(), part]))
    };
    let value = product(DType::INT32);
    let json = to_json_graph(&value).expect("JSON");
    let text = to_text(&value).expect("text");
    assert_eq!(
        text,
        "%0 = ir.PrimType(dtype=int32)\nit.ir_properties.ProductType(fields=[%0, %0])\n"
    );
    let bytes = to_bytes(&value).expect("bytes");
    for again in [
        from_json_graph(&json),
        from_text(&text),
        from_bytes(&bytes),
        deep_copy(&value),
    ] {
        let again = again.expect("a value");
        assert!(structural_equal(&value, &again).expect("an answer"));
        assert_eq!(
            structural_digest(&value).expect("a digest"),
            structural_digest(&again).expect("a digest")
        );
    }
    let other = product(DType::INT64);
    let paths = first_structural_mismatch(&value, &other).expect("an answer");
    let (path, _) = paths.expect("a mismatch");
    assert_eq!(path.to_string(), "<root>.fields[0].dtype");
}

#[test]
fn a_declaration_has_the_lines_that_are_told() {
    let source = include_str!("../../src/ir/ty.rs");
    let start = source
        .find("/// The type of a tuple.\n")
        .expect("TupleType");
    let declaration = &source[start..];
    let end = declaration.find("\n}\n").expect("its end") + "\n}\n".len();
    let declaration = &declaration[..end];
    assert!(declaration.contains("pub struct TupleType {"));
    let page = include_str!("../../../../ARCHITECTURE.md");
    assert!(
        page.contains(declaration),
        "the page shows another one:\n{declaration}"
    );
    let is_doc = |line: &&str| line.trim_start().starts_with("///");
    let code = declaration.lines().filter(|line| !is_doc(line)).count();
    let all = declaration.lines().count();
    assert!(code < 10);
    let told = format!("its declaration has {code} lines, {all} with its documentation");
    assert!(page.contains(&told), "{told}");
}
