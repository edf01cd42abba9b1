//! The macro's errors about wrong declarations, message by message.
//!
//! The UI tests of the isoform crate have a case of each mistake, with message and position;
//! these are its other forms.

use crate::model::NodeModel;

/// Checks that deriving on `source` fails with exactly these `messages`.
#[track_caller]
fn check(source: &str, messages: &[&str]) {
    let found = match syn::parse_str(source).and_then(NodeModel::new) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|error| error.to_string()).collect(),
    };
    assert_eq!(found, messages, "for the declaration\n{source}");
}

/// Checks a struct attribute on an otherwise right declaration.
#[track_caller]
fn check_struct(attribute: &str, messages: &[&str]) {
    check(
        &format!(r#"#[node(key = "t.A", {attribute})] #[repr(C)] struct A {{ x: i64 }}"#),
        messages,
    );
}

/// Checks the fields of an otherwise right declaration.
#[track_caller]
fn check_fields(fields: &str, messages: &[&str]) {
    check(
        &format!(r#"#[node(key = "t.A")] #[repr(C)] struct A {{ {fields} }}"#),
        messages,
    );
}

#[test]
fn right_declarations() {
    check_struct("", &[]);
    check_struct(
        "kind = none, scope, defs_first, hooks(hash), no_new, no_with, crate = crate",
        &[],
    );
    check_struct(
        "kind = const_tree, defs_first = true, hooks(equal, hash, verify,)",
        &[],
    );
    check_struct(
        r#"attrs(dyn Pure, dyn crate::traits::Fold, "t.cost" = 5, "t.name" = "a",)"#,
        &[],
    );
    check_fields(
        "#[node(compare = false, hash = true, repr = false)] n: i64",
        &[],
    );
    check_fields("", &[]);
    check_fields(
        "#[node(base, default = Expr::default())] b: Expr, #[node(default = -1)] n: i64",
        &[],
    );
    check(
        r#"#[node(key = "t.A")] #[node(scope)] #[repr(C, align(16))] struct A;"#,
        &[],
    );
}

#[test]
fn generics() {
    check(
        r#"#[node(key = "t.A")] #[repr(C)] struct A<'a, const N: usize> { x: &'a [u8; N] }"#,
        &["expected a node type without generic parameters: a type key names one type"],
    );
}

#[test]
fn key() {
    let missing = "node type `A` has no key, expected `#[node(key = \"dialect.A\")]`";
    check("#[node(scope)] #[repr(C)] struct A { x: i64 }", &[missing]);
    let wrong = |attribute: &str, message: &str| {
        check(
            &format!("#[node({attribute})] #[repr(C)] struct A;"),
            &[message],
        );
    };
    wrong("key", r#"expected `key = "..."`, found `key` alone"#);
    wrong("key = 1", r#"expected `key = "..."`, found `key = 1`"#);
    wrong(
        r#"key("t.A")"#,
        r#"expected `key = "..."`, found `key("t.A")`"#,
    );
    check(
        "#[node] #[repr(C)] struct A;",
        &["expected attribute arguments in parentheses: #[node(...)]"],
    );
}

#[test]
fn struct_attributes() {
    check_struct("scope, scope", &["struct attribute `scope` is given twice"]);
    check_struct(r#"key = "t.B""#, &["struct attribute `key` is given twice"]);
    let names = "expected `visit_order(first, second, ...)`, found";
    check_struct("visit_order", &[&format!("{names} `visit_order` alone")]);
    check_struct("visit_order()", &[&format!("{names} `visit_order()`")]);
    check_struct(
        r#"visit_order("a")"#,
        &[&format!(r#"{names} `visit_order("a")`"#)],
    );
    check_struct("crate = 5", &["expected `crate = path`, found `crate = 5`"]);
    check_struct("init", &["expected `init = path`, found `init` alone"]);
    check_struct(
        "convert(x)",
        &["expected `convert = path`, found `convert(x)`"],
    );
    let kinds = "expected `kind = tree|const_tree|dag|var|singleton|none`, found";
    check_struct(r#"kind = "tree""#, &[&format!("{kinds} `kind = \"tree\"`")]);
    check_struct("kind", &[&format!("{kinds} `kind` alone")]);
}

#[test]
fn hooks() {
    let expected = "expected `hooks(...)` of `equal`, `hash` and `verify`, found";
    check_struct("hooks", &[&format!("{expected} `hooks` alone")]);
    check_struct("hooks()", &[&format!("{expected} `hooks()`")]);
    check_struct("hooks(1)", &[&format!("{expected} `hooks(1)`")]);
    check_struct("hooks(hash, hash)", &["hook `hash` is given twice"]);
}

#[test]
fn attrs() {
    let expected = "expected `attrs(...)` of `dyn Trait` and `\"name\" = value`, found";
    check_struct("attrs()", &[&format!("{expected} `attrs()`")]);
    check_struct("attrs = 1", &[&format!("{expected} `attrs = 1`")]);
    let one = "expected `dyn Trait` or `\"name\" = value`";
    check_struct("attrs(Pure)", &[one]);
    check_struct("attrs(dyn Pure, cost = 5)", &[one]);
    check_struct(
        r#"attrs("" = 5)"#,
        &["expected an attribute name that is not empty"],
    );
    check_struct(
        r#"attrs(dyn Pure, "a" = 1, dyn Pure, "a" = 2)"#,
        &[
            "attribute `dyn Pure` is given twice",
            "attribute `\"a\"` is given twice",
        ],
    );
}

#[test]
fn aliases() {
    let expected = r#"expected `aliases = ["former name", ...]`, found"#;
    check_struct("aliases", &[&format!("{expected} `aliases` alone")]);
    check_struct(
        r#"aliases = "old""#,
        &[&format!(r#"{expected} `aliases = "old"`"#)],
    );
    check_fields(
        "#[node(aliases = [])] x: i64",
        &[&format!("{expected} `aliases = []`")],
    );
}

#[test]
fn field_attributes() {
    check_fields(
        "#[node(key)] x: i64",
        &[
            "unknown field attribute `key`, expected one of `base`, `ignore`, `def`, `def_simple`, `uses`, `default`, `name`, `aliases`, `compare`, `hash`, `repr`",
        ],
    );
    check_fields(
        "#[node(def)] #[node(def)] x: i64",
        &["field attribute `def` is given twice"],
    );
    check_fields(
        "#[node(ignore = true)] x: i64",
        &["expected `ignore` without a value, found `ignore = true`"],
    );
    check_fields(
        "#[node(repr = 1)] x: i64",
        &["expected `repr = true|false`, found `repr = 1`"],
    );
    check_fields(
        "#[node(def, def_simple)] x: i64",
        &[
            "expected at most one of `ignore`, `def`, `def_simple` and `uses` on field `x`, found `def` and `def_simple`",
        ],
    );
}

#[test]
fn registered_names() {
    check_fields(
        r#"#[node(name = "type")] x: i64, r#type: i64"#,
        &["field name `type` is registered twice, first by field `x`"],
    );
    check_fields(
        r#"#[node(name = "")] x: i64"#,
        &["expected a `name` that is not empty"],
    );
}

#[test]
fn bases() {
    check_fields(
        r#"#[node(base, ignore, name = "c", hash = false)] b: Expr"#,
        &[
            "expected no `ignore` on the base: its fields keep the flags of their own type",
            "expected no `hash` on the base: its fields keep the settings of their own type",
            "expected no `name` on the base: it is not a registered field",
        ],
    );
}

#[test]
fn every_mistake_is_reported() {
    check(
        r#"#[node(kind = leaf, colour)] struct A<T> { #[node(ignore, def, size = 3)] x: T, #[node(base)] b: Expr }"#,
        &[
            "expected a node type without generic parameters: a type key names one type",
            "node type `A` has no fixed layout, expected `#[repr(C)]` on it",
            "unknown struct attribute `colour`, expected one of `key`, `kind`, `scope`, `defs_first`, `visit_order`, `aliases`, `hooks`, `init`, `convert`, `attrs`, `define`, `no_new`, `no_with`, `crate`",
            "expected `kind = tree|const_tree|dag|var|singleton|none`, found `kind = leaf`",
            "node type `A` has no key, expected `#[node(key = \"dialect.A\")]`",
            "unknown field attribute `size`, expected one of `base`, `ignore`, `def`, `def_simple`, `uses`, `default`, `name`, `aliases`, `compare`, `hash`, `repr`",
            "expected at most one of `ignore`, `def`, `def_simple` and `uses` on field `x`, found `ignore` and `def`",
            "expected the base to be the first field, found `b` at position 1",
        ],
    );
}
