//! Private symbols.

use super::support::{different, program, same, written};

/// A function of one operation.
fn function(name: &str, visibility: &str, body: &str) -> String {
    format!(
        "\"func.func\"() <{{sym_name = \"{name}\", sym_visibility = \"{visibility}\"}}> ({{ {body} }}) : () -> ()\n"
    )
}

fn call(name: &str) -> String {
    format!("\"call\"() {{callee = @{name}}} : () -> ()")
}

#[test]
fn private_names_do_not_matter() {
    let text = |helper: &str| {
        function("main", "public", &call(helper)) + &function(helper, "private", &call(helper))
    };
    same(&[&text("helper"), &text("f_3")]);
    // Public and nested names do.
    let public = |name: &str, visibility: &str| function(name, visibility, "\"x\"() : () -> ()");
    different(&[
        &public("a", "public"),
        &public("b", "public"),
        &public("a", "nested"),
        &public("a", "private"),
    ]);
    same(&[&public("a", "private"), &public("b", "private")]);
}

#[test]
fn two_private_functions() {
    let text = |first: &str, second: &str, called: &str| {
        function(first, "private", "\"one\"() : () -> ()")
            + &function(second, "private", "\"two\"() : () -> ()")
            + &function("main", "public", &call(called))
    };
    same(&[
        &text("p", "q", "p"),
        &text("q", "p", "q"),
        &text("a", "b", "a"),
    ]);
    different(&[
        &text("p", "q", "p"),
        &text("p", "q", "q"),
        &text("p", "q", "r"),
    ]);
}

#[test]
fn references_go_to_the_nearest_table() {
    let inner = |called: &str| {
        format!(
            "\"builtin.module\"() ({{ {} {} }}) : () -> ()\n",
            function("p", "private", "\"one\"() : () -> ()"),
            function("f", "public", &call(called))
        )
    };
    let outer = |called: &str, name: &str| {
        function(name, "private", "\"two\"() : () -> ()")
            + &inner(called)
            + &function("g", "public", &call(name))
    };
    same(&[&outer("p", "p"), &outer("p", "q")]);
    different(&[&outer("p", "p"), &outer("x", "p")]);
    // The inner table has no `q`, and the search ends there: the name counts.
    different(&[&outer("q", "q"), &outer("p", "q"), &outer("q", "p")]);
}

#[test]
fn names_stay_where_a_dialect_could_mean_them() {
    // A path goes through another symbol.
    let nested = |name: &str| {
        format!(
            "\"builtin.module\"() <{{sym_name = \"m\"}}> ({{ {} }}) : () -> () {}",
            function(name, "private", "\"one\"() : () -> ()"),
            call(&format!("m::@{name}"))
        )
    };
    different(&[&nested("a"), &nested("b")]);
    // An attribute of the table itself.
    let own = |first: &str, second: &str| {
        format!(
            "\"m\"() ({{ {} {} }}) {{entry = @a}} : () -> ()",
            function(first, "private", "\"one\"() : () -> ()"),
            function(second, "private", "\"two\"() : () -> ()")
        )
    };
    different(&[&own("a", "b"), &own("b", "a")]);
    // A region that looks like a table is around the reference.
    let around = |first: &str, second: &str| {
        function(first, "private", "\"one\"() : () -> ()")
            + &function(second, "private", "\"two\"() : () -> ()")
            + &function(
                "f",
                "public",
                &format!("\"w\"() {{sym_name = \"w\"}} : () -> () {}", call("a")),
            )
    };
    different(&[&around("a", "b"), &around("b", "a")]);
    // Two symbols of one name.
    let twice = |name: &str| {
        function(name, "private", "")
            + &function(name, "private", "\"x\"() : () -> ()")
            + &call(name)
    };
    different(&[&twice("a"), &twice("b")]);
}

#[test]
fn strings_are_no_references() {
    let text = |name: &str, target: &str| {
        function(name, "private", "") + &format!("\"c\"() {{target = \"{target}\"}} : () -> ()")
    };
    different(&[&text("f", "f"), &text("f", "g")]);
    same(&[&text("f", "f"), &text("g", "f")]);
}

#[test]
fn references_in_types_bodies_and_aliases() {
    let text = |name: &str, attribute: &str| {
        format!(
            "#alias = [#y.z<mesh = @{name}>, @{name}]
             \"sdy.mesh\"() {{sym_name = \"{name}\", sym_visibility = \"private\"}} : () -> ()
             %0 = \"x\"() {{a = {attribute}}} : () -> !x.t<@{name}>
             \"u\"(%0) : (!x.t<@{name}>) -> ()
             \"r\"() ({{^b(%a: tensor<4xf32, #x.e<@{name}>>):}}) : () -> ()"
        )
    };
    same(&[
        &text("m", "[#y.z<mesh = @m>, @m]"),
        &text("n", "[#y.z<mesh = @n>, @n]"),
        &text("m", "#alias"),
        &text("n", "#alias"),
    ]);
    different(&[&text("m", "#alias"), &text("m", "[#y.z<mesh = @n>, @m]")]);
}

#[test]
fn an_alias_means_another_symbol_in_each_table() {
    let module = |name: &str| {
        format!(
            "\"builtin.module\"() ({{ {} \"u\"() {{a = #a}} : () -> () }}) : () -> ()\n",
            function(name, "private", "")
        )
    };
    let text = format!("#a = [@p] {} {}", module("p"), module("p"));
    written(&text);
    let inline = text.replace("#a = [@p]", "").replace("#a", "[@p]");
    same(&[&text, &inline]);
    let regions = |index: usize| {
        let program = program(&text);
        let outer = &super::support::operations(&program)[index];
        let region = outer.regions[0].clone();
        assert_eq!(region.symbols.len(), 1);
        region.symbols[0].identity()
    };
    assert_ne!(regions(0), regions(1));
}

#[test]
fn names_of_other_symbols_are_kept_apart_when_written() {
    use isoform_mlir::{Symbol, WriteOptions};
    let text = function("a", "private", "") + &function("b", "public", &call("a"));
    let old = program(&text);
    // The private symbol gets the name of the public one.
    let symbol = Symbol::new("b");
    let renamed = isoform::traverse::structural_map(&old, |visit| {
        let is_symbol = visit.downcast::<Symbol>().is_some();
        Ok(is_symbol.then(|| symbol.clone().into()))
    });
    let renamed = renamed.unwrap().extract().unwrap();
    let written = WriteOptions::default().write(&renamed).unwrap();
    assert!(written.contains("callee = @b_0"), "{written}");
    assert!(isoform::structural_equal(isoform_mlir::read(written).unwrap(), old).unwrap());
}

#[test]
fn references_in_types_of_definitions_are_uses() {
    let mesh = |name: &str| {
        format!(
            "\"sdy.mesh\"() {{sym_name = \"{name}\", sym_visibility = \"private\"}} : () -> ()\n"
        )
    };
    let argument = |name: &str| {
        mesh("m") + &mesh("n") + &format!("\"r\"() ({{^b(%a: !x.t<@{name}>):}}) : () -> ()")
    };
    different(&[&argument("m"), &argument("n")]);
    let result = |name: &str| {
        let operation = format!("\"x\"() : () -> !x.t<@{name}>");
        mesh("m") + &mesh("n") + &format!("{operation} \"r\"() ({{ {operation} }}) : () -> ()")
    };
    different(&[&result("m"), &result("n")]);
    let early = |name: &str| {
        let user = format!("\"u\"(%0) : (!x.t<@{name}>) -> ()");
        mesh("m") + &mesh("n") + &user + &format!("%0 = \"x\"() : () -> !x.t<@{name}>")
    };
    different(&[&early("m"), &early("n")]);
}
