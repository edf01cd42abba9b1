//! The passes of the example `four_traits`: dead code, and simplification by traits, over types of
//! Rust and types declared by other code.

#[allow(
    unreachable_pub,
    reason = "an example has the visibilities of a program"
)]
#[path = "../../../isoform/examples/four_traits.rs"]
mod example;

use example::{
    Add, Bind, Block, Commutative, Const, Fusible, HasCanonicalizer, Print, SideEffectFree, Var,
    eliminate_dead_code, kernels, program, register_relu, show, simplify,
};
use isoform::attrs::{self, Lookup};
use isoform::functions::Function;
use isoform::objects::construct;
use isoform::types::{FieldDef, Schema, TypeDef, register_type};
use isoform::{Node, Obj, Ref, Value};

#[track_caller]
fn check(block: &Block, lines: &[&str]) {
    let mut text = Vec::new();
    show(block, &mut text).expect("memory can be written");
    let text = String::from_utf8(text).expect("text");
    let found: Vec<_> = text.lines().map(str::trim).collect();
    assert_eq!(found, lines);
}

#[test]
fn dead_code_is_eliminated() {
    let before = program().expect("built");
    check(
        &before,
        &[
            "a = Add(1, 2)",
            "b = Add(0, x)",
            "c = Add(b, x)",
            "d = Relu(c)",
            "e = Add(d, 7)",
            "f = Print(a)",
            "d",
        ],
    );
    // `e` is not needed and has no effect; `f` is not needed, and prints.
    check(
        &eliminate_dead_code(&before).expect("no cycles"),
        &[
            "a = Add(1, 2)",
            "b = Add(0, x)",
            "c = Add(b, x)",
            "d = Relu(c)",
            "f = Print(a)",
            "d",
        ],
    );
}

#[test]
fn dead_code_goes_with_what_it_alone_needs() {
    let [a, b, x] = ["a", "b", "x"].map(Var::new);
    let bind = |var: &Ref<Var>, value: Ref<Obj>| Bind::new(var, value);
    let block = Block::new(
        [
            bind(&a, Add::new(x.as_object(), x.as_object()).into_object()),
            bind(&b, Add::new(a.as_object(), x.as_object()).into_object()),
        ],
        x.into_object(),
    );
    check(&eliminate_dead_code(&block).expect("no cycles"), &["x"]);
}

#[test]
fn four_traits_simplify_a_program() {
    let after = simplify(&program().expect("built")).expect("no overflow");
    check(
        &after,
        &[
            // Folded by its canonicalizer.
            "a = 3",
            // Swapped, because it is commutative, and then simplified.
            "b = x",
            "c = Add(b, x)",
            "d = Relu(c)",
            "f = Print(a)",
            "d",
        ],
    );
    assert_eq!(kernels(&after).expect("named"), ["add_relu"]);
    // A Relu ends the kernel, declared by a function instead of Rust code.
    let before = program().expect("built");
    assert_eq!(
        kernels(&before).expect("named"),
        ["add_add_add_relu", "add"]
    );
}

#[test]
fn errors_of_a_canonicalizer_end_the_pass() {
    let [a] = ["a"].map(Var::new);
    let number = |value: i64| Const::new(value).into_object();
    let bind = Bind::new(&a, Add::new(number(i64::MAX), number(1)).into_object());
    let error = simplify(&Block::new([bind], a.into_object())).expect_err("it overflows");
    assert_eq!(
        error.to_string(),
        "ValueError: 9223372036854775807 + 1 overflows"
    );

    let failing = Function::new(|_| Err(isoform::Error::type_error("no rule today")));
    let ty = TypeDef::new("four_traits.Failing")
        .field(FieldDef::new("n", Schema::Int))
        .attr("ir_trait.has_canonicalizer", failing);
    let node = construct(register_type(ty).expect("free"), vec![1.into()]).expect("fits");
    let a = Var::new("a");
    let error = simplify(&Block::new([Bind::new(&a, node)], a.into_object())).expect_err("fails");
    assert_eq!(error.to_string(), "TypeError: no rule today");
}

#[test]
fn traits_list_their_types() {
    let relu = register_relu().expect("the same definition");
    let free = [Const::type_index(), Add::type_index(), relu];
    let types = attrs::types_with("ir_trait.side_effect_free");
    for ty in free {
        assert!(types.contains(&ty));
        assert!(attrs::implements::<dyn SideEffectFree>(ty, Lookup::Exact));
    }
    assert!(!types.contains(&Print::type_index()));
    let print: Value = Print::new(Const::new(1).into_object()).into();
    let print = print.as_object().expect("a node");
    assert!(print.implements::<dyn SideEffectFree>().is_none());
    assert!(print.implements::<dyn Commutative>().is_none());
    assert!(print.implements::<dyn HasCanonicalizer>().is_none());
    assert!(print.implements::<dyn Fusible>().is_none());
}
