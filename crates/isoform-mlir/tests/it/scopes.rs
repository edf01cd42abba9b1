//! Values, blocks and regions: what a name means where.

use super::support::{different, refused, same, written};

#[test]
fn regions_see_the_results_of_their_operation() {
    let text = "%0 = \"x.r\"() ({ \"x.u\"(%0) : (i1) -> () }) : () -> i1";
    written(text);
    different(&[
        text,
        "%1 = \"x.c\"() : () -> i1 %0 = \"x.r\"() ({ \"x.u\"(%1) : (i1) -> () }) : () -> i1",
    ]);
}

#[test]
fn siblings_have_their_own_names() {
    same(&[
        "\"x.r\"() ({ %0 = \"a\"() : () -> i1 }, { %0 = \"a\"() : () -> i1 \"u\"(%0) : (i1) -> () }) : () -> ()",
        "\"x.r\"() ({ %0 = \"a\"() : () -> i1 }, { %1 = \"a\"() : () -> i1 \"u\"(%1) : (i1) -> () }) : () -> ()",
    ]);
    different(&[
        "%2 = \"a\"() : () -> i1 \"x.r\"() ({ %0 = \"a\"() : () -> i1 \"u\"(%0) : (i1) -> () }) : () -> ()",
        "%2 = \"a\"() : () -> i1 \"x.r\"() ({ %0 = \"a\"() : () -> i1 \"u\"(%2) : (i1) -> () }) : () -> ()",
    ]);
}

#[test]
fn uses_precede_definitions() {
    let nested = "\"x.r\"() ({ \"x.u\"(%0) : (i1) -> () }) : () -> () %0 = \"d\"() : () -> i1";
    written(nested);
    different(&[
        nested,
        "\"x.r\"() ({ \"x.u\"(%1) : (i1) -> () }) : () -> () %0, %1 = \"d\"() : () -> (i1, i1)",
    ]);
    // A cycle, and an operation that uses its own result.
    let ring =
        |a: &str, b: &str| format!("%x = \"f\"({a}) : (i1) -> i1 %y = \"f\"({b}) : (i1) -> i1");
    same(&[
        &ring("%y", "%x"),
        "%1 = \"f\"(%0) : (i1) -> i1 %0 = \"f\"(%1) : (i1) -> i1",
    ]);
    different(&[
        &ring("%y", "%x"),
        &ring("%x", "%y"),
        &ring("%x", "%x"),
        &ring("%y", "%y"),
    ]);
}

#[test]
fn forward_uses_are_told_apart_by_their_definitions() {
    let text = |first: &str, second: &str| {
        format!(
            "\"u\"(%a, %b) : (i1, i1) -> () {first} = \"d\"() : () -> i1 {second} = \"d\"() : () -> i1"
        )
    };
    different(&[&text("%a", "%b"), &text("%b", "%a")]);
}

#[test]
fn an_inner_definition_is_for_inner_uses() {
    // The use in the first region waits for the definition outside; the second region has
    // its own.
    let text = "\"r\"() ({ \"u\"(%0) : (i1) -> () }, { \"u\"(%1) : (i1) -> () %1 = \"d\"() : () -> i1 }) : () -> () \
                %0 = \"d\"() : () -> i1";
    let other = "\"r\"() ({ \"u\"(%0) : (i1) -> () }, { \"u\"(%0) : (i1) -> () %1 = \"d\"() : () -> i1 }) : () -> () \
                 %0 = \"d\"() : () -> i1";
    different(&[text, other]);
    let inner = "\"r\"() ({ \"u\"(%0) : (i1) -> () }, { %0 = \"d\"() : () -> i1 }) : () -> ()";
    refused(inner, 1, 14, "expected a value that is defined, got '%0'");
}

#[test]
fn visible_names_are_not_defined_again() {
    let message = "expected a name that is not visible here, got %0 again";
    refused(
        "%0 = \"d\"() : () -> i1 %0 = \"d\"() : () -> i1",
        1,
        23,
        message,
    );
    refused(
        "%0 = \"d\"() : () -> i1 \"r\"() ({ %0 = \"d\"() : () -> i1 }) : () -> ()",
        1,
        32,
        message,
    );
}

#[test]
fn types_of_uses_and_definitions_agree() {
    let message = "expected the type i1 of '%0', got i8";
    refused(
        "%0 = \"d\"() : () -> i1 \"u\"(%0) : (i8) -> ()",
        1,
        27,
        message,
    );
    refused(
        "\"u\"(%0) : (i8) -> () %0 = \"d\"() : () -> i1",
        1,
        5,
        message,
    );
    refused(
        "%0 = \"r\"() ({ \"u\"(%0) : (i8) -> () }) : () -> i1",
        1,
        19,
        message,
    );
    let message = "expected a type for each of the 1 operands of \"u\", got 0";
    refused(
        "%0 = \"d\"() : () -> i1 \"u\"(%0) : () -> ()",
        1,
        23,
        message,
    );
    let message = "expected as many types as the 2 named results of \"d\", got 1";
    refused("%0:2 = \"d\"() : () -> i1", 1, 1, message);
}

#[test]
fn numbers_of_results_are_bounded() {
    let message = "expected a type for each of the 4000000000 results";
    refused("%0:4000000000 = \"d\"() : () -> i1", 1, 1, message);
    refused(
        "%0:0 = \"d\"() : () -> ()",
        1,
        4,
        "expected at least one result",
    );
}

#[test]
fn successors_of_any_order() {
    let region = |blocks: &str| format!("\"r\"() ({{ {blocks} }}) : () -> ()");
    let text = region(
        "\"br\"()[^a, ^a, ^b] : () -> () ^b: \"e\"() : () -> () ^a: \"br\"()[^b] : () -> ()",
    );
    let renamed = region(
        "^entry: \"br\"()[^x, ^x, ^a] : () -> () ^a: \"e\"() : () -> () ^x: // preds: ^entry\n \"br\"()[^a] : () -> ()",
    );
    same(&[&text, &renamed]);
    let other = region(
        "\"br\"()[^a, ^b, ^b] : () -> () ^b: \"e\"() : () -> () ^a: \"br\"()[^b] : () -> ()",
    );
    different(&[&text, &other]);
    let message = "expected a block of the region, got '^b'";
    refused(region("\"br\"()[^b] : () -> ()"), 1, 17, message);
    let message = "expected one block ^a in the region";
    refused(
        region("^a: \"e\"() : () -> () ^a: \"e\"() : () -> ()"),
        1,
        31,
        message,
    );
    // A branch does not leave its region.
    let outer = "^b: \"r\"() ({ \"br\"()[^b] : () -> () }) : () -> ()";
    refused(region(outer), 1, 30, message_of_missing("^b").as_str());
    let arguments = "expected ',' or ']', since the values for a successor are operands in the generic form, got '('";
    refused(region("\"br\"()[^b(%0 : i1)] : () -> ()"), 1, 19, arguments);
}

fn message_of_missing(block: &str) -> String {
    format!("expected a block of the region, got '{block}'")
}

#[test]
fn regions_and_blocks_that_are_empty() {
    different(&[
        "\"r\"() ({}) : () -> ()",
        "\"r\"() ({^bb0:}) : () -> ()",
        "\"r\"() ({}, {}) : () -> ()",
        "\"r\"() : () -> ()",
        "\"r\"() ({^bb0: ^bb1:}) : () -> ()",
        "\"r\"() ({^bb0(%a: i1):}) : () -> ()",
    ]);
    same(&[
        "\"r\"() ({^bb0():}) : () -> ()",
        "\"r\"() ({^b:}) : () -> ()",
    ]);
    same(&[
        "\"r\"() ({^b: \"x\"() : () -> ()}) : () -> ()",
        "\"r\"() ({\"x\"() : () -> ()}) : () -> ()",
    ]);
}

#[test]
fn arguments_are_bound_in_their_region() {
    let text = |first: &str, second: &str, used: &str| {
        format!(
            "\"r\"() ({{ ^b({first}: i1, {second}: i1): \"u\"({used}) : (i1) -> () }}) : () -> ()"
        )
    };
    same(&[&text("%a", "%b", "%a"), &text("%x", "%y", "%x")]);
    different(&[&text("%a", "%b", "%a"), &text("%a", "%b", "%b")]);
    // Of another block, further down.
    let far = |used: &str| {
        format!(
            "\"r\"() ({{ \"u\"({used}) : (i1) -> () ^b(%a: i1, %b: i1): \"e\"() : () -> () }}) : () -> ()"
        )
    };
    different(&[&far("%a"), &far("%b")]);
}

#[test]
fn rewrites_keep_the_bindings() {
    use isoform::traverse::{check_well_formed, free_variables, fresh_binders};
    // The field `forward` binds what the definition binds again; the check tells of it, and
    // everything else copes.
    let texts = [
        ("%x = \"f\"(%y) : (i1) -> i1 %y = \"f\"(%x) : (i1) -> i1", 1),
        (
            "%x = \"f\"(%x) : (i1) -> i1 \"r\"() ({ \"u\"(%z) : (i1) -> () }) : () -> () %z = \"d\"() : () -> i1",
            2,
        ),
        (
            "\"r\"() ({ \"u\"(%a)[^b] : (i1) -> () ^b(%a: i1): \"u\"(%a)[^b] : (i1) -> () }) : () -> ()",
            1,
        ),
        (
            "\"f\"() {sym_name = \"f\", sym_visibility = \"private\"} : () -> () \"c\"() {callee = @f} : () -> ()",
            0,
        ),
        ("%0 = \"r\"() ({ \"u\"(%0) : (i1) -> () }) : () -> i1", 0),
    ];
    for (text, count) in texts {
        let program = super::support::program(text);
        assert!(free_variables(&program).unwrap().is_empty(), "{text}");
        assert_eq!(check_well_formed(&program).unwrap().len(), count, "{text}");
        let fresh = fresh_binders(&program).unwrap();
        assert!(
            isoform::structural_equal(&program, &fresh).unwrap(),
            "{text}"
        );
        let digests = [program.into(), fresh]
            .map(|program: isoform::Value| isoform::structural_digest(program).unwrap());
        assert_eq!(digests[0], digests[1], "{text}");
    }
}
