//! Tests of `node_trait`: snapshots of the expansion, and errors.

use crate::node_trait::{TraitModel, node_trait};

/// Compares the whole expansion of a trait with its snapshot.
macro_rules! check {
    ($arguments:expr, $source:expr) => {
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(expansion($arguments, $source));
        })
    };
}

#[track_caller]
fn expansion(arguments: &str, source: &str) -> String {
    let parse = |source: &str| source.parse().expect("made of tokens");
    let tokens = node_trait(parse(arguments), parse(source));
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is made of items"))
}

#[test]
fn marker() {
    check!(
        r#""t.pure""#,
        "
        /// Has no effect.
        pub trait Pure {}
        "
    );
}

#[test]
fn one_method() {
    check!(
        r#""t.fold", crate = crate::isoform"#,
        "
        trait Fold: Send + Sync {
            /// The simpler form.
            fn fold(&self, depth: i64, name: &str) -> Result<Value>;
        }
        "
    );
}

#[test]
fn several_methods() {
    check!(
        r#""t.rule""#,
        "
        #[diagnostic::on_unimplemented(message = \"no rule\")]
        trait Rule {
            fn apply(&self) -> Result<Value>;
            fn benefit(&self, mut scale: i64) -> Result<i64> {
                scale += 1;
                Ok(scale)
            }
            #[node_trait(rust_only)]
            fn visit<T>(&self, state: &mut T) where Self: Sized {}
        }
        "
    );
}

#[test]
fn rust_only() {
    check!(
        r#""t.lower""#,
        "
        trait Lower {
            #[node_trait(rust_only)]
            fn lower(&self, target: &mut Target) -> u8;
        }
        "
    );
}

#[test]
fn the_trait_stays_after_an_error() {
    check!(
        r#""t.wrong""#,
        "
        trait Wrong: Clone {
            #[node_trait(rust_only)]
            fn f(&self) -> u8;
        }
        "
    );
}

/// Checks that the macro fails with exactly these messages.
#[track_caller]
fn check_error(arguments: &str, source: &str, messages: &[&str]) {
    let arguments = arguments.parse().expect("made of tokens");
    let item = syn::parse_str(source).expect("a trait");
    let errors = match TraitModel::new(arguments, item) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|error| error.to_string()).collect(),
    };
    assert_eq!(errors, messages, "for the trait\n{source}");
}

/// Checks a method of an otherwise right trait.
#[track_caller]
fn check_method(method: &str, what: &[&str]) {
    let messages: Vec<_> = what
        .iter()
        .map(|what| format!("expected method `f` {what}, or `#[node_trait(rust_only)]` on it"))
        .collect();
    let messages: Vec<_> = messages.iter().map(String::as_str).collect();
    check_error(r#""t.T""#, &format!("trait T {{ {method} }}"), &messages);
}

#[test]
fn arguments() {
    let expected = "expected `#[node_trait(\"name\")]` with the name of the attribute";
    let trailing = "expected nothing after the name and `crate = path`";
    for (arguments, message) in [
        ("", format!("unexpected end of input, {expected}")),
        ("name", expected.to_owned()),
        (
            r#""""#,
            "expected an attribute name that is not empty".to_owned(),
        ),
        (r#""a" "b""#, trailing.to_owned()),
        (r#""a", crate = b, c"#, trailing.to_owned()),
        (r#""a", path = b"#, "expected `crate`".to_owned()),
    ] {
        check_error(arguments, "trait T {}", &[&message]);
    }
    check_error(r#""a","#, "trait T {}", &[]);
}

#[test]
fn traits() {
    check_error(
        r#""a""#,
        "unsafe trait T<A>: Send + Clone + 'static where A: Copy { const N: usize; type B; }",
        &[
            "expected a node trait without generic parameters: an attribute name names one trait",
            "expected a node trait without a `where` clause",
            "expected a safe node trait: other languages can implement it",
            "expected no supertrait but `Send` and `Sync`, found `Clone`: an implementation in another language has no others",
            "expected no supertrait but `Send` and `Sync`, found `'static`: an implementation in another language has no others",
            "expected a node trait with nothing but methods",
            "expected a node trait with nothing but methods",
        ],
    );
    let result = syn::parse_str::<syn::ItemTrait>("struct S;").map(|_| ());
    assert!(result.is_err(), "only traits are parsed");
}

#[test]
fn methods() {
    check_method("fn f(&self, a: i64, b: &str) -> Result<()>;", &[]);
    check_method("fn f(self) -> R;", &["to take `&self`"]);
    check_method("fn f(self: &Self) -> R;", &["to take `&self`"]);
    check_method("fn f(a: i64) -> R;", &["to take `&self`"]);
    check_method("fn f() -> R;", &["to take `&self`"]);
    check_method(
        "fn f(&self) -> R where Self: Sized;",
        &["without a `where` clause"],
    );
    check_method(
        "async unsafe extern \"C\" fn f(&self) -> R;",
        &[
            "without `async`",
            "without `unsafe`",
            "without `extern \"C\"`",
        ],
    );
    check_method(
        "fn f(&self, (a, b): (i64, i64), _: i64) -> R;",
        &[
            "with a name for each argument",
            "with a name for each argument",
        ],
    );
    check_method("fn f(&self, a: impl Copy) -> R;", &["without `impl Trait`"]);
    check_method(
        "fn f(&self, a: &mut i64) -> R;",
        &["without mutable references"],
    );
    check_method(
        "fn f(&self, a: &'static str) -> R;",
        &["without named lifetimes"],
    );
    check_method(
        "#[cfg(test)] fn f(&self) -> R;",
        &["without conditions: other languages see one trait"],
    );
}

#[test]
fn methods_for_rust_only() {
    check_error(
        r#""a""#,
        "trait T { #[node_trait(rust_only)] fn f<A>(&self); }",
        &[],
    );
    check_error(
        r#""a""#,
        "trait T { #[node_trait(hidden)] fn f(&mut self); }",
        &["expected `#[node_trait(rust_only)]` on a method"],
    );
}
