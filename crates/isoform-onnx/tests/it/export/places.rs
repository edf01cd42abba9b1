//! The graph that lists a node, and names in nested graphs.

use std::collections::HashSet;

use isoform::traverse::{MapOptions, WalkOrder};
use isoform::{Node, Ref};
use isoform_onnx::{
    ImportOptions,
    ir::{Call, Program},
    layout::list,
    proto::{GraphProto, ModelProto},
};
use proptest::{prelude::*, sample::Index};

use crate::build::*;
use crate::export::models::{branch, clashes, if_node, scopes};
use crate::export::round_trip::check;

fn graphs_in(graph: &GraphProto) -> impl Iterator<Item = &GraphProto> {
    let attrs = graph.node.iter().flat_map(|node| &node.attribute);
    attrs.flat_map(|attr| attr.g.as_deref().into_iter().chain(&attr.graphs))
}

/// Operators by the number of graphs around the graph that lists the operator.
fn depths(proto: &ModelProto) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut pending = vec![(proto.graph.as_ref().unwrap(), 0)];
    while let Some((graph, depth)) = pending.pop() {
        for node in &graph.node {
            found.push((node.op_type.clone(), depth));
        }
        pending.extend(graphs_in(graph).map(|inner| (inner, depth + 1)));
    }
    found.sort();
    found
}

/// No graph repeats a name, or uses a name of an enclosing graph. Every name is defined
/// before use.
fn check_names(graph: &GraphProto, around: &HashSet<String>) {
    let mut names = around.clone();
    let mut define = |name: &str| {
        if !name.is_empty() {
            assert!(names.insert(name.to_owned()), "'{name}' is defined twice");
        }
    };
    let initializers: HashSet<&str> = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name.as_str())
        .collect();
    let inputs = graph.input.iter().map(|input| input.name.as_str());
    inputs
        .filter(|name| !initializers.contains(name))
        .for_each(&mut define);
    initializers.iter().for_each(|name| define(name));
    // Names that are defined later are visible to readers, too.
    let mut all = names.clone();
    all.extend(graph.node.iter().flat_map(|node| node.output.clone()));
    for node in &graph.node {
        for name in node.input.iter().filter(|name| !name.is_empty()) {
            assert!(
                names.contains(name),
                "'{name}' is not defined before its use"
            );
        }
        let attrs = node.attribute.iter();
        for inner in attrs.flat_map(|attr| attr.g.as_deref().into_iter().chain(&attr.graphs)) {
            check_names(inner, &all);
        }
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            assert!(names.insert(name.clone()), "'{name}' is defined twice");
        }
    }
    for output in &graph.output {
        assert!(
            names.contains(&output.name) && !around.contains(&output.name),
            "'{}'",
            output.name
        );
    }
}

#[test]
fn nodes_stay_in_the_graph_that_listed_them() {
    let source = scopes();
    let made = check("scopes", &source);
    let (mut old, new) = (depths(&source), depths(&made));
    // Nothing needs it.
    old.retain(|(op, _)| op != "Tanh");
    assert_eq!(new, old);
    assert!(new.contains(&("RandomNormalLike".into(), 0)));
    check_names(made.graph.as_ref().unwrap(), &HashSet::new());
}

#[test]
fn names_that_scopes_share_stay_apart() {
    let made = check("clashes", &clashes());
    check_names(made.graph.as_ref().unwrap(), &HashSet::new());
}

/// A recorded place is followed only as far as the uses of the node permit.
#[test]
fn recorded_places_give_way_to_uses() {
    let body = |nodes| GraphProto {
        name: "body".into(),
        ..graph("i go s", nodes, "go s2")
    };
    let nodes = vec![node("Exp", "s", "e"), node("Add", "e x", "s2")];
    let lp = node("Loop", "n _ x", "y").with(graph_attr("body", body(nodes)));
    let source = model("n x", vec![lp], "y");
    let model = load_with(&source, ImportOptions::default());
    let listing = list(model.program());
    let depth = |op: &str| {
        let mut nodes = listing
            .bodies
            .iter()
            .flat_map(|body| body.nodes.iter().map(move |node| (&node.call, body.depth)));
        nodes.find(|(call, _)| call.op == op).unwrap().1
    };
    assert_eq!((depth("Exp"), depth("Loop")), (1, 0));

    // As if a pass had declared that the nodes of the body are listed outside.
    let options = MapOptions::default().order(WalkOrder::Post);
    let program = options.map_selected(
        model.program(),
        |ty| ty == Some(Call::type_index()),
        |visit| {
            Ok(visit.downcast::<Call>().map(|call| {
                let fields = call.clone_fields();
                Ref::new(Call { depth: 0, ..fields }).into()
            }))
        },
    );
    let program: Ref<Program> = program.unwrap().extract().unwrap();
    let proto = isoform_onnx::SaveOptions::default()
        .check(false)
        .to_proto(&program)
        .unwrap();
    let expected = [("Add".into(), 1), ("Exp".into(), 1), ("Loop".into(), 0)];
    assert_eq!(depths(&proto), expected);
    check_names(proto.graph.as_ref().unwrap(), &HashSet::new());
}

/// A node: its inputs among the visible values, whether other scopes share the name of
/// its result, and its contents.
#[derive(Clone, Debug)]
enum Choice {
    Node([Index; 2], bool),
    Constant(bool, bool),
    If(Index, Vec<Choice>, Vec<Choice>),
    Call(Index),
}

fn choice() -> impl Strategy<Value = Choice> {
    let leaf = prop_oneof![
        4 => (any::<[Index; 2]>(), any::<bool>()).prop_map(|(inputs, shared)| Choice::Node(inputs, shared)),
        1 => any::<(bool, bool)>().prop_map(|(node, shared)| Choice::Constant(node, shared)),
        1 => any::<Index>().prop_map(Choice::Call),
    ];
    leaf.prop_recursive(3, 40, 6, |inner| {
        let body = || prop::collection::vec(inner.clone(), 0..5);
        (any::<Index>(), body(), body())
            .prop_map(|(condition, then, other)| Choice::If(condition, then, other))
    })
}

/// Builds graphs from choices.
struct Builder {
    next: usize,
}

impl Builder {
    fn name(&mut self, shared: bool, own: &[String]) -> String {
        let common = format!("shared{}", self.next % 3);
        self.next += 1;
        if shared && !own.contains(&common) {
            common
        } else {
            format!("v{}", self.next)
        }
    }

    /// A body that sees `visible` values, and returns its last value.
    fn body(&mut self, choices: &[Choice], visible: &[String], inputs: &str) -> GraphProto {
        let mut seen = visible.to_vec();
        let mut own: Vec<String> = names(inputs);
        seen.extend(own.clone());
        let mut proto = graph(inputs, vec![], "");
        for choice in choices {
            let value_name = |index: &Index| seen[index.index(seen.len())].clone();
            let (mut node, shared) = match choice {
                Choice::Node(inputs, shared) => {
                    let inputs = inputs.each_ref().map(value_name).join(" ");
                    (node("Add", &inputs, ""), *shared)
                }
                Choice::Call(input) => (node("F", &value_name(input), "").in_domain("demo"), false),
                Choice::Constant(true, shared) => {
                    let value = tensor_attr("value", tensor("", &[self.next as f32]));
                    (node("Constant", "", "").with(value), *shared)
                }
                Choice::Constant(false, shared) => {
                    let name = self.name(*shared, &own);
                    proto.initializer.push(tensor(&name, &[self.next as f32]));
                    hide(&mut seen, &name);
                    own.push(name);
                    continue;
                }
                Choice::If(condition, then, other) => {
                    let condition = value_name(condition);
                    let then = self.body(then, &seen, "");
                    let other = self.body(other, &seen, "");
                    (if_node(&condition, then, other, ""), false)
                }
            };
            let name = self.name(shared, &own);
            node.output = vec![name.clone()];
            proto.node.push(node);
            hide(&mut seen, &name);
            own.push(name);
        }
        // A separate result.
        let result = self.name(false, &own);
        proto
            .node
            .push(node("Neg", seen.last().map_or("", String::as_str), &result));
        proto.output = vec![untyped(&result)];
        proto
    }
}

/// Adds a value that hides another value of the same name.
fn hide(seen: &mut Vec<String>, name: &str) {
    seen.retain(|other| other != name);
    seen.push(name.to_owned());
}

/// True if a body uses a name before redefining it: readers disagree about the meaning.
fn is_ambiguous(proto: &ModelProto) -> bool {
    isoform_onnx::import(proto, &isoform_onnx::ExternalResolver::none()).is_err()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_scopes_are_written_as_they_were(
        choices in prop::collection::vec(choice(), 1..8),
        ir_version in 3..11_i64,
    ) {
        let mut builder = Builder { next: 0 };
        let graph = builder.body(&choices, &[], "c x");
        let mut source = model_of(graph);
        source.ir_version = Some(ir_version);
        source.functions = vec![function("F", "p", vec![node("Constant", "", "v1").with(int("value_int", 1)), node("Mul", "p v1", "shared1")], "shared1")];
        prop_assume!(!is_ambiguous(&source));
        let made = check("random", &source);
        check_names(made.graph.as_ref().unwrap(), &HashSet::new());
        let old = &source.graph.as_ref().unwrap();
        let new = made.graph.as_ref().unwrap();
        prop_assert_eq!(&new.output, &old.output);
        let fed = |graph: &GraphProto| graph.input.iter().map(|input| input.name.clone()).collect::<Vec<_>>();
        prop_assert_eq!(fed(new), fed(old));
    }
}

#[test]
fn constants_are_written_in_the_outermost_graph_that_needs_them() {
    // A name shared by both branches and the graph around them, for a node, a constant
    // and an input.
    let mut then = branch(vec![node("Add", "x k", "r")], "r");
    then.initializer = vec![tensor("k", &[1.0])];
    let other = branch(vec![node("Sub", "x k", "r")], "r");
    let mut source = model(
        "c x",
        vec![if_node("c", then, other, "y"), node("Mul", "y k", "z")],
        "z",
    );
    source.graph.as_mut().unwrap().initializer = vec![tensor("k", &[2.0])];
    let made = check("branches", &source);
    check_names(made.graph.as_ref().unwrap(), &HashSet::new());
    // The constant needed by both branches is written once, where both see it.
    assert_eq!(made.graph.as_ref().unwrap().initializer.len(), 1);
}
