//! Models as programs of passes: the main graph and the local functions.

use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::functions::Function;
use isoform::{Obj, Ref, Value};
use isoform_ir::transform::instruments::changes_text;
use isoform_ir::transform::{
    Cache, ContextOptions, FunctionPass, Memo, MemoryCache, PassContext, PassInfo, functions,
    script,
};
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
    isoform_ir::transform::register().unwrap();
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
    // Documentation does not matter, and neither do other facts kept by a pass.
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

/// A node is written with its operator and the names of the file; of large tensors only the
/// type and the start of a digest are.
#[test]
fn programs_are_written_by_the_names_of_the_file() {
    let mut model = calling();
    let branch = |op: &str| graph("", vec![node(op, "x w", "r")], "r");
    let mut choice = node("If", "x", "c");
    choice.attribute = vec![
        graph_attr("then_branch", branch("Add")),
        graph_attr("else_branch", branch("Mul")),
    ];
    let mut first = node("Softmax", "c", "s p");
    first.attribute = vec![int("axis", -1)];
    let main = model.graph.as_mut().unwrap();
    main.initializer = vec![tensor("w", &[0.5; 9]), tensor("v", &[0.25])];
    main.node = vec![
        choice,
        first,
        node("Outer", "s", "a b").in_domain("demo"),
        node("Sub", "a v", "y"),
    ];
    model.functions[1].output.truncate(1);
    main.node[2].output.truncate(1);
    main.input = vec![value("x", "N 4")];
    main.output = vec![value("y", "N 4")];
    let program = load(&model).program().clone();
    let text = script(program.as_object()).unwrap();
    let digest = text.split("float32[9]#").nth(1).unwrap()[..8].to_owned();
    assert!(digest.chars().all(|c| c.is_ascii_hexdigit()), "{text}");
    let expected = r#"graph main(x: float32[N, 4]) -> (float32[N, 4]) {
  c = If(x) {
    else_branch = () {
      r = Mul(x, float32[9]#DIGEST)
      return r
    }
    then_branch = () {
      r#2 = Add(x, float32[9]#DIGEST)
      return r#2
    }
  }
  s, p = Softmax(c) {axis=-1}
  a = demo.Outer(s)
  y = Sub(a, Tensor(float32, [1], [0.25]))
  return y
}
function demo.Outer(p#2) {
  i = demo.Inner(p#2)
  o = Exp(i)
  return o
}
function demo.Inner(q) {
  l = Log(q)
  return l
}
"#;
    assert_eq!(text, expected.replace("DIGEST", &digest));
}

#[test]
fn a_difference_shows_the_nodes_that_changed() {
    let program = load(&calling()).program().clone();
    let mut other = calling();
    other.functions[1].node[1].op_type = "Neg".to_owned();
    let other = load(&other).program().clone();
    let main: Vec<String> = changes_text(program.as_object(), other.as_object())
        .unwrap()
        .lines()
        .filter(|line| line.starts_with(['-', '+']))
        .map(str::to_owned)
        .collect();
    let expected = [
        "--- before/demo.Outer",
        "+++ after/demo.Outer",
        "-  o = Exp(i)",
        "+  o = Neg(i)",
    ];
    assert_eq!(main, expected);
}

/// The results for a function depend on the function alone, because a function contains
/// its callees.
#[test]
fn memoised_passes_compute_only_functions_that_changed() {
    isoform_ir::transform::register().unwrap();
    let computed = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&computed);
    let pass = FunctionPass::new(
        &PassInfo::new(0, "Count"),
        move |function: Ref<Obj>, _: &Ref<ir::Program>, _: &Ref<PassContext>| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(function)
        },
    )
    .with_memo(Memo::new("1").with_reads(Function::new(|_| Ok(Value::NONE))));
    let cache = Cache::of(MemoryCache::new(1 << 20));
    let run = |model: &ModelProto| {
        let program = load(model).program().clone();
        let ctx = ContextOptions::default().cache(&cache).make().unwrap();
        ctx.within(|| pass.run(&program)).unwrap();
        computed.swap(0, Ordering::Relaxed)
    };
    assert_eq!(run(&calling()), 3);
    assert_eq!(run(&calling()), 0);
    let mut edited = calling();
    edited
        .graph
        .as_mut()
        .unwrap()
        .node
        .push(node("Neg", "y", "z"));
    edited.graph.as_mut().unwrap().output[0].name = "z".to_owned();
    assert_eq!(run(&edited), 1);
    // Outer calls Inner, and the graph calls both.
    let mut edited = calling();
    edited.functions[0].node[0].op_type = "Neg".to_owned();
    assert_eq!(run(&edited), 3);
    let mut edited = calling();
    edited.functions[1].node[1].op_type = "Neg".to_owned();
    assert_eq!(run(&edited), 2);
}

/// Text and functions of long programs need no stack, and one line for each node. In a
/// long chain, a value used twice by every node is written once.
#[test]
fn long_programs_are_written() {
    let count = 100_000;
    let nodes = (0..count).map(|at| {
        let (before, after) = (format!("v{at}"), format!("v{}", at + 1));
        node("Add", &format!("{before} {before}"), &after)
    });
    let program = load(&model("v0", nodes.collect(), &format!("v{count}")))
        .program()
        .clone();
    let text = script(program.as_object()).unwrap();
    assert_eq!(text.lines().count(), count + 3);
    assert_eq!(
        text.lines().nth(count).unwrap().trim(),
        "v100000 = Add(v99999, v99999)"
    );
}
