//! Depth and length: no native stack, and linear work.

use isoform::compare::last_visit_count;
use isoform::{structural_digest, structural_equal};
use isoform_mlir::{read, write};

use super::support::with;

/// Checks that a text is read, compared and written.
#[track_caller]
fn check(text: &str) {
    let program = read(text).unwrap_or_else(|error| panic!("{error}"));
    let again = read(write(&program).unwrap()).unwrap();
    assert!(structural_equal(&program, &again).unwrap());
    assert_eq!(
        structural_digest(&program).unwrap(),
        structural_digest(&again).unwrap()
    );
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + inner + &close.repeat(depth)
}

#[test]
fn regions_nest() {
    check(&nested("\"r\"() ({ ", "", " }) : () -> ()", 100_000));
    // A use at the bottom of a value at the top, before its definition.
    let text = nested(
        "\"r\"() ({ ",
        "\"u\"(%0) : (i1) -> ()",
        " }) : () -> ()",
        20_000,
    );
    check(&(text + " %0 = \"d\"() : () -> i1"));
}

#[test]
fn types_and_attributes_nest() {
    const DEPTH: usize = 100_000;
    check(&with(&nested("tuple<", "i1", ">", DEPTH)));
    check(&with(&nested("() -> (", "i1", ")", DEPTH)));
    check(&with(&nested("tensor<1x", "i1", ">", DEPTH)));
    check(&with(&nested("[", "", "]", DEPTH)));
    check(&with(&nested("{a = ", "1", "}", DEPTH)));
    check(&with(&nested("#x.t<", "", ">", DEPTH)));
    check(&with(&nested("#x.t<(", "", ")>", DEPTH)));
    check(&with(&format!(
        "loc({})",
        nested("\"n\"(", "unknown", ")", DEPTH)
    )));
    check(&with(&format!(
        "loc({})",
        nested("fused<1>[", "unknown", "]", DEPTH)
    )));
    check(&with(&format!(
        "affine_map<(d0) -> ({})>",
        nested("(", "d0", ")", DEPTH)
    )));
    check(&with(&format!(
        "affine_map<(d0) -> ({}d0)>",
        "-".repeat(DEPTH)
    )));
    check(&with(&format!(
        "affine_map<(d0)[s0] -> ({})>",
        nested("(", "d0", " + s0) mod s0", DEPTH)
    )));
}

#[test]
fn lists_of_literals_do_not_nest_on_the_stack() {
    let text = with(&format!(
        "dense<{}> : tensor<1xi8>",
        nested("[", "1", "]", 100_000)
    ));
    assert!(read(text).is_err());
}

#[test]
fn chains_of_aliases() {
    let mut text = "#a0 = [1]\n!t0 = tuple<i1>\n".to_owned();
    for number in 1..20_000 {
        text += &format!(
            "#a{number} = [#a{}]\n!t{number} = tuple<!t{}>\n",
            number - 1,
            number - 1
        );
    }
    check(&(text + "\"x\"() {a = #a19999, b = !t19999, c = #x.t<#a500>} : () -> ()"));
}

#[test]
fn work_is_linear() {
    let visits = |count: usize| {
        let mut text = String::new();
        for number in 0..count {
            text += &format!(
                "%{number} = \"x\"(%{}) {{a = {number} : i64}} : (i64) -> i64\n",
                (number + 1) % count
            );
        }
        let (left, right) = (read(&text).unwrap(), read(&text).unwrap());
        assert!(structural_equal(&left, &right).unwrap());
        last_visit_count()
    };
    let (small, large) = (visits(1_000), visits(10_000));
    assert!(large < small * 11, "{small} and {large} visits");
}

#[test]
fn many_waiting_uses_of_one_name() {
    // Each sibling defines the name for itself, while uses outside wait for theirs.
    let waiting = "\"u\"(%0) : (i1) -> ()\n".repeat(20_000);
    let siblings =
        "\"r\"() ({ \"u\"(%0) : (i1) -> () %0 = \"d\"() : () -> i1 }) : () -> ()\n".repeat(20_000);
    check(&(waiting + &siblings + "%0 = \"d\"() : () -> i1"));
}
