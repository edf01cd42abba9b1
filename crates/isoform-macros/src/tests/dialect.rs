//! Tests of `dialect!`.

use proc_macro2::TokenStream;

use crate::dialect::dialect;

#[track_caller]
fn refused(input: &str, expected: &str) {
    let input: TokenStream = input.parse().expect("tokens");
    let error = dialect(input).expect_err("the macro refuses this");
    assert_eq!(error.to_string(), expected);
}

/// The expansion without blanks.
#[track_caller]
fn expanded(input: &str) -> String {
    let input: TokenStream = input.parse().expect("tokens");
    let text = dialect(input).expect("an expansion").to_string();
    text.chars()
        .filter(|letter| !letter.is_whitespace())
        .collect()
}

#[test]
fn the_list_is_exported_and_registered() {
    let text = expanded(r#""calc"; pub use nodes::{Add, deep::IRNode}; use self::Num;"#);
    assert!(text.contains("pubusenodes::{Add,deep::IRNode};"), "{text}");
    assert!(!text.contains("self::Num"), "{text}");
    for name in ["Add", "IRNode", "Num"] {
        let call = format!("register_in::<{name}>(\"calc\",::core::option::Option::None)?;");
        assert!(text.contains(&call), "{text}");
    }
    assert!(!text.contains("trait"), "{text}");
}

#[test]
fn each_type_has_a_method_of_visitors_and_mutators() {
    let text = expanded(
        r#""calc", crate = a::b; pub use nodes::{Add, IRNode}; pub trait V {} pub(crate) trait M {}"#,
    );
    for part in [
        "pubtraitV{",
        "pub(crate)traitM{",
        "fnvisit_add(&mutself,op:&a::b::__private::Ref<Add>)",
        "fnmutate_ir_node(&mutself,op:&a::b::__private::Ref<IRNode>)",
        "register_in::<IRNode>(\"calc\",::core::option::Option::Some(\"ir_node\"))?;",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn misuse_says_what_was_expected() {
    refused(
        r#""calc"; pub use nodes::*;"#,
        "expected the names of node types, without `*` and `as`",
    );
    refused(
        r#""calc"; pub use nodes::Add as Sum;"#,
        "expected the names of node types, without `*` and `as`",
    );
    refused(
        r#""calc"; pub use nodes::{Add, Node}; trait V {}"#,
        "expected another name than `Node`: visitors have the method `visit_node` for types without \
         a method of their own",
    );
    let third =
        "expected the list of types, then at most an empty trait for visitors and one for mutators";
    refused(r#""calc"; trait A {} trait B {} trait C {}"#, third);
    refused(r#""calc"; trait A { fn a(); }"#, third);
    refused("pub use nodes::Add;", "expected string literal");
}
