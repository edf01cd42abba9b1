//! The pretty forms that are read.

use super::support::{different, refused, same};

#[test]
fn modules() {
    same(&[
        "module @m attributes {x.a = 1} { \"y\"() : () -> () } loc(\"f\")",
        "builtin.module @m attributes {x.a = 1} { \"y\"() : () -> () }",
        "\"builtin.module\"() <{sym_name = \"m\"}> ({ \"y\"() : () -> () }) {x.a = 1} : () -> ()",
    ]);
    same(&["module { \"y\"() : () -> () }", "\"y\"() : () -> ()"]);
    different(&[
        "module @m {}",
        "module @n {}",
        "module {}",
        "module { module {} }",
    ]);
}

#[test]
fn functions() {
    same(&[
        "module { func.func @f(%x: i32 {a.b}, %y: i32) -> (i32 {c}, i32) attributes {d.e, no_inline} {
           %r:2 = call @g(%x, %y) : (i32, i32) -> (i32, i32)
           return %r#1, %r#0 : i32, i32 }
         func.func private @g(i32, i32) -> (i32, i32) }",
        "\"builtin.module\"() ({
           \"func.func\"() <{arg_attrs = [{a.b}, {}], function_type = (i32, i32) -> (i32, i32), no_inline,
             res_attrs = [{c}, {}], sym_name = \"f\"}> ({
           ^bb0(%x: i32, %y: i32):
             %r:2 = \"func.call\"(%x, %y) <{callee = @g}> : (i32, i32) -> (i32, i32)
             \"func.return\"(%r#1, %r#0) : (i32, i32) -> ()
           }) {d.e} : () -> ()
           \"func.func\"() <{function_type = (i32, i32) -> (i32, i32), sym_name = \"g\",
             sym_visibility = \"private\"}> ({}) : () -> ()
         }) : () -> ()",
    ]);
    same(&[
        "func.func @f() { return }",
        "\"func.func\"() <{function_type = () -> (), sym_name = \"f\"}> ({ \"func.return\"() : () -> () }) : () -> ()",
    ]);
}

#[test]
fn constants_and_conversions() {
    same(&[
        "%a = arith.constant {x} 1 : i8 %b = arith.constant true %c = arith.constant dense<1> : tensor<2xi8> %d = arith.constant 2.0 : f32",
        "%a = \"arith.constant\"() <{value = 1 : i8}> {x} : () -> i8 %b = \"arith.constant\"() <{value = true}> : () -> i1 \
         %c = \"arith.constant\"() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<2xi8> %d = \"arith.constant\"() <{value = 2.0 : f32}> : () -> f32",
    ]);
    same(&[
        "%a = arith.constant 1 : i8 %b:2 = builtin.unrealized_conversion_cast %a : i8 to i4, i4 {x}",
        "%a = \"arith.constant\"() <{value = 1 : i8}> : () -> i8 %b:2 = \"builtin.unrealized_conversion_cast\"(%a) {x} : (i8) -> (i4, i4)",
    ]);
    refused(
        "%a = arith.constant unit",
        1,
        21,
        "expected an attribute with a type",
    );
}

#[test]
fn other_pretty_forms_name_the_remedy() {
    let message = "expected an operation in the generic form, such as \"arith.addi\"(), got 'arith.addi': only its dialect can \
                   read the pretty form; print the program with 'mlir-opt -mlir-print-op-generic' or \
                   'get_asm(print_generic_op_form=True)'";
    refused("%0 = arith.addi %a, %b : i32", 1, 6, message);
}
