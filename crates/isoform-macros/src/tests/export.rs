//! `#[export]`: its expansion, and its errors about unsuitable functions.

/// The formatted expansion, or the messages.
fn expand(options: &str, function: &str) -> Result<String, Vec<String>> {
    let tokens = |source: &str| source.parse().expect("it is made of tokens");
    match crate::export::export(tokens(options), tokens(function)) {
        Ok(tokens) => {
            let file = syn::parse2(tokens).expect("the expansion is made of items");
            Ok(prettyplease::unparse(&file))
        }
        Err(errors) => Err(errors.into_iter().map(|error| error.to_string()).collect()),
    }
}

/// Checks that the attribute with `options` on `function` fails with exactly these `messages`.
#[track_caller]
fn check(options: &str, function: &str, messages: &[&str]) {
    let found = expand(options, function).err().unwrap_or_default();
    assert_eq!(
        found, messages,
        "for the function\n#[export({options})] {function}"
    );
}

/// Checks a list of arguments.
#[track_caller]
fn check_arguments(arguments: &str, messages: &[&str]) {
    check(r#""t.f""#, &format!("fn f({arguments}) {{}}"), messages);
}

#[test]
fn every_option() {
    let expansion = expand(
        r#""demo.scale", crate = isoform"#,
        r#"
        /// The scaled node.
        ///
        /// With a second paragraph.
        #[inline]
        pub(crate) fn scale(node: &Ref<Node>, r#type: &str, #[default = 2] mut factor: i64, _: Option<Str>)
            -> Result<Ref<Node>>
        {
            node.scale(factor)
        }
        "#,
    );
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(expansion.expect("the function is right"));
    });
}

#[test]
fn right_functions() {
    check_arguments("", &[]);
    check_arguments("x: i64, y: &[Value], z: Option<Ref<Expr>>", &[]);
    check_arguments(
        "#[default = -1] x: i64, y: Option<i64>, #[default = \"\"] z: &str",
        &[],
    );
    check(
        r#""t.f", crate = crate"#,
        "fn f() -> Result<(), MyError> { Ok(()) }",
        &[],
    );
}

#[test]
fn names() {
    let expected = "expected the global name, as in `#[export(\"dialect.name\")]`";
    check("", "fn f() {}", &[expected]);
    check("t.f", "fn f() {}", &[expected]);
    check(r#""""#, "fn f() {}", &[expected]);
    let expected = "expected nothing or `crate = path` after the name";
    check(r#""t.f" = 3"#, "fn f() {}", &[expected]);
    check(r#""t.f", name = 3"#, "fn f() {}", &[expected]);
}

#[test]
fn what_is_no_plain_function() {
    let expected = "expected a function outside of an impl block";
    check(r#""t.f""#, "struct F;", &[expected]);
    let without = |what: &str| format!("expected an exported function without {what}");
    check(r#""t.f""#, "async fn f() {}", &[&without("`async`")]);
    check(r#""t.f""#, "unsafe fn f() {}", &[&without("`unsafe`")]);
    let generic = without("generic parameters: a name refers to one function");
    check(r#""t.f""#, "fn f<'a>(x: &str) {}", &[&generic]);
}

#[test]
fn arguments() {
    let pattern = "expected the name of an argument, not a pattern";
    check_arguments("(a, b): (i64, i64), ref c: i64", &[pattern, pattern]);
    check_arguments(
        "x: &'static str",
        &["expected a reference without a named lifetime"],
    );
}

#[test]
fn defaults() {
    check_arguments(
        "#[default = 1] x: i64, y: i64, #[default = 3] z: i64",
        &["expected no default before `y`, which has none"],
    );
    check_arguments(
        "#[default(1)] x: i64",
        &["expected `#[default = expression]`"],
    );
    check_arguments(
        "#[default = 1] #[default = 2] x: i64",
        &["`default` is given twice"],
    );
}
