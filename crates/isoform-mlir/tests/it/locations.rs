//! Locations, which are ignored unless they are the value of an attribute.

use isoform_mlir::{WriteOptions, read};

use super::support::{different_attributes, program, refused, same, same_attributes, written};

#[test]
fn locations_of_operations_are_ignored() {
    same(&[
        "\"x\"() : () -> ()",
        "\"x\"() : () -> () loc(\"f.py\":3:4)",
        "\"x\"() : () -> () loc(\"f.py\":3:4 to 5:6)",
        "\"x\"() : () -> () loc(\"f.py\":3:4 to :6)",
        "\"x\"() : () -> () loc(unknown)",
        "\"x\"() : () -> () loc(fused<{a}>[\"a\", \"b\"(callsite(\"c\" at \"d\":1:2))])",
        "\"x\"() : () -> () loc(#l) #l = loc(\"late\")",
        "#m = loc(\"m\") #n = loc(\"n\":1:2) \"x\"() : () -> () loc(#l)\n#l = loc(callsite(#m at #n))",
        "\"x\"() : () -> () loc(#x.where<1>)",
    ]);
    same(&[
        "\"r\"() ({^b(%a: i1 loc(\"x\"), %b: i1):}) : () -> ()",
        "\"r\"() ({^b(%a: i1, %b: i1 loc(#l)):}) : () -> () #l = loc(unknown)",
    ]);
}

#[test]
fn locations_in_attributes_are_data() {
    different_attributes(&[
        "loc(unknown)",
        "loc(\"f\")",
        "loc(\"f\":1:2)",
        "loc(\"f\":1)",
        "loc(\"f\":1:3)",
        "loc(\"f\":1:2 to 1:3)",
        "loc(\"g\"(\"f\"))",
        "loc(callsite(\"a\" at \"b\"))",
        "loc(callsite(\"b\" at \"a\"))",
        "loc(fused[\"a\", \"b\"])",
        "loc(fused<1>[\"a\", \"b\"])",
        "loc(fused<1>[])",
    ]);
    same_attributes(&[
        "loc(fused[\"a\"])",
        "loc(\"a\")",
        "loc(fused[\"a\", \"a\", unknown])",
    ]);
    same_attributes(&["loc(fused[])", "loc(unknown)"]);
    same_attributes(&["loc(\"f\":0x10:2)", "loc(\"f\":16:2)"]);
    same(&[
        "#l = loc(\"f\":1:2) \"x\"() {a = #l} : () -> ()",
        "\"x\"() {a = loc(\"f\":1:2)} : () -> ()",
    ]);
}

#[test]
fn locations_are_written_on_demand() {
    let text = "\"r\"() ({^b(%a: i1 loc(\"x\")): \"y\"() : () -> () loc(#l)}) : () -> () loc(callsite(\"a\" at fused<1>[\"b\", \"c\":1:2 to 3:4]))\n#l = loc(\"n\"(unknown))";
    assert!(!written(text).contains("loc"));
    let options = WriteOptions::default().locations(true);
    let with_locations = options.write(&program(text)).unwrap();
    assert!(with_locations.contains("^bb0(%arg0: i1 loc(\"x\")):"));
    assert!(with_locations.contains("\"y\"() : () -> () loc(\"n\"(unknown))"));
    assert!(
        with_locations.contains("loc(callsite(\"a\" at fused<1 : i64>[\"b\", \"c\":1:2 to 3:4]))")
    );
    let again = read(&with_locations).unwrap();
    assert_eq!(options.write(&again).unwrap(), with_locations);
}

#[test]
fn missing_locations_are_refused() {
    refused(
        "\"x\"() : () -> () loc(#l)",
        1,
        22,
        "expected a location that is defined, got #l",
    );
    refused(
        "\"x\"() : () -> () loc(here)",
        1,
        22,
        "expected a location, got 'here'",
    );
    refused(
        "\"x\"() {a = #l} : () -> () #l = loc(\"x\")",
        1,
        12,
        "expected an alias that is defined before, got #l",
    );
}
