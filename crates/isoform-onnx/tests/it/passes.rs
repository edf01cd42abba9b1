//! Models as programs of passes: the main graph and the local functions.

use isoform::transform::{FunctionPass, PassContext, PassInfo, functions};
use isoform::{Obj, Ref};
use isoform_onnx::ir;
use isoform_onnx::proto::{FunctionProto, ModelProto};

use crate::build::*;

/// A model whose function `Outer` calls `Inner`, and whose graph calls both.
fn calling() -> ModelProto {
    let inner = || node("Inner", "p", "i").in_domain("demo");
    let mut outer: FunctionProto =
        function("Outer", "p", vec![inner(), node("Exp", "i", "o")], "o");
    outer.opset_import.push(opset("demo", 1));
    let graph = vec![
        node("Outer", "x", "a").in_domain("demo"),
        node("Inner", "a", "y").in_domain("demo"),
    ];
    let mut model = model("x", graph, "y");
    model.functions = vec![
        function("Inner", "q", vec![node("Log", "q", "l")], "l"),
        outer,
    ];
    model
}

fn names(program: &Ref<ir::Program>) -> Vec<String> {
    let all = functions(program.as_object()).unwrap();
    all.iter().map(|(name, _)| name.to_string()).collect()
}

/// A pass that marks the documentation of some functions.
fn marking(wanted: &'static [&'static str]) -> Ref<FunctionPass> {
    FunctionPass::new(
        &PassInfo::new(0, "Mark"),
        move |function: Ref<Obj>, _: &Ref<ir::Program>, _: &Ref<PassContext>| {
            let name = match function.downcast_ref::<ir::Function>() {
                Some(local) => local.name.to_string(),
                None => "graph".to_owned(),
            };
            if !wanted.contains(&name.as_str()) {
                return Ok(function);
            }
            match function.downcast_ref::<ir::Function>() {
                Some(local) => Ok(local.with_doc("marked").into_object()),
                None => {
                    let graph: Ref<ir::Graph> = function.cast()?;
                    Ok(graph.with_doc("marked").into_object())
                }
            }
        },
    )
}

#[track_caller]
fn check_marked(wanted: &'static [&'static str]) {
    isoform::transform::register().unwrap();
    let program = load(&calling()).program().clone();
    let done = marking(wanted).run(&program).unwrap();
    assert_eq!(done.same_as(&program), wanted.is_empty());
    for (name, function) in functions(done.as_object()).unwrap() {
        let doc = match function.downcast_ref::<ir::Function>() {
            Some(local) => local.doc.to_string(),
            None => function
                .downcast_ref::<ir::Graph>()
                .unwrap()
                .doc
                .to_string(),
        };
        assert_eq!(doc == "marked", wanted.contains(&&*name), "{name}: {doc}");
    }
    // Documentation does not matter, and neither does anything else that a pass kept.
    assert!(isoform::structural_equal(&program, &done).unwrap());
    assert_eq!(names(&done), names(&program));
}

#[test]
fn functions_come_before_their_callers() {
    let program = load(&calling()).program().clone();
    assert_eq!(names(&program), ["demo.Inner", "demo.Outer", "graph"]);
}

#[test]
fn any_functions_can_be_replaced() {
    check_marked(&[]);
    check_marked(&["demo.Inner"]);
    check_marked(&["demo.Outer"]);
    check_marked(&["demo.Inner", "demo.Outer"]);
    check_marked(&["graph"]);
    check_marked(&["demo.Inner", "demo.Outer", "graph"]);
}
