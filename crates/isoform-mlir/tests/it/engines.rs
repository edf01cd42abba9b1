//! Programs in the engines of the core: files, texts, copies, differences.

use isoform::compare::{diff, intern};
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::text::{from_text, to_text};
use isoform::traverse::{deep_copy, fresh_binders};
use isoform::{Ref, Value, structural_digest, structural_equal, structural_hash};
use isoform_mlir::{Program, write};

use super::support::program;

/// Programs with values before their definitions, branches, symbols, identities, locations,
/// bodies and resources.
const SAMPLES: [&str; 4] = [
    "%x = \"f\"(%y) : (i1) -> i1 %y = \"f\"(%x) {a = 1, b = -5 : i200, c = 0x7FC00000 : f32} : (i1) -> i1",
    "\"r\"() ({ \"br\"(%b)[^x, ^y] : (i8) -> () ^y: \"e\"() : () -> () ^x(%b: i8 loc(\"l\")): \"br\"()[^y] : () -> () }) : () -> ()",
    "\"f\"() <{sym_name = \"p\", sym_visibility = \"private\"}> ({ \"c\"() {callee = @p, mesh = #m<x<@p>, [@p, @q]>} : () -> () }) : () -> ()
     \"g\"() <{sym_name = \"g\"}> ({ \"c\"() {callee = @p} : () -> () }) {d = [distinct[0]<1>, distinct[0]<1>, distinct[1]<1>]} : () -> ()",
    "\"x\"() {a = dense_resource<k> : tensor<2xi8>, b = dense<[1, 2]> : vector<2xi4>, c = affine_map<(d0)[s0] -> (d0 + s0)>, s = \"\\FF\"} : () -> ()
     {-# dialect_resources: { builtin: { k: \"0x040000000102\" }, d: { l: \"0x0100000003\" } } #-}",
];

fn programs() -> Vec<Ref<Program>> {
    SAMPLES.iter().map(|text| program(text)).collect()
}

/// Checks that a copy is the program, and is written as the program is.
#[track_caller]
fn check_copy(program: &Ref<Program>, copy: &Value) {
    assert!(structural_equal(program, copy).unwrap());
    assert_eq!(
        structural_digest(program).unwrap(),
        structural_digest(copy).unwrap()
    );
    assert_eq!(
        structural_hash(program).unwrap(),
        structural_hash(copy).unwrap()
    );
    let copy = copy.extract::<Ref<Program>>().unwrap();
    assert_eq!(write(program).unwrap(), write(&copy).unwrap());
}

#[test]
fn copies_are_equal() {
    isoform_mlir::register().unwrap();
    for program in programs() {
        check_copy(&program, &from_bytes(&to_bytes(&program).unwrap()).unwrap());
        check_copy(
            &program,
            &from_json_graph(&to_json_graph(&program).unwrap()).unwrap(),
        );
        check_copy(&program, &from_text(&to_text(&program).unwrap()).unwrap());
        check_copy(&program, &deep_copy(&program).unwrap());
        check_copy(&program, &fresh_binders(&program).unwrap());
        check_copy(&program, &intern(&program).unwrap());
    }
}

#[test]
fn differences_lead_from_one_program_to_the_other() {
    let programs = programs();
    for left in &programs {
        for right in &programs {
            let difference = diff(left, right).unwrap();
            assert_eq!(difference.is_empty(), left.same_as(right));
            check_copy(right, &difference.apply(left).unwrap());
            check_copy(left, &difference.invert().unwrap().apply(right).unwrap());
        }
    }
}

#[test]
fn an_inserted_operation_is_one_change() {
    let text = |inserted: &str, last: &str| {
        format!(
            "func.func @f(%x: i32) -> i32 {{
               %a = \"add\"(%x, %x) : (i32, i32) -> i32
               {inserted}
               %c = \"mul\"({last}, %x) : (i32, i32) -> i32
               return %c : i32
             }}"
        )
    };
    let left = program(&text("", "%a"));
    let right = program(&text("%b = \"neg\"(%a) : (i32) -> i32", "%a"));
    let difference = diff(&left, &right).unwrap();
    assert_eq!(difference.changes().len(), 1, "{difference:?}");
}
