//! The parts of a model besides its computation are written back as long as their
//! subjects exist.

use isoform::{Array, Node, Ref, Value};
use isoform_onnx::{
    ExternalResolver, ImportOptions, Model, SaveOptions, import,
    ir::{Call, Graph, Output, Program},
    proto::{AttributeType, GraphProto, ModelProto},
};
use prost::Message;

use crate::build::*;
use crate::export::models::{
    annotated, attributes, defaults, described, functions, listed_weights, plain,
};
use crate::export::round_trip::check;
use crate::parts::named_input;

/// A model written again, in the order of nodes of the file.
fn again(proto: &ModelProto) -> ModelProto {
    check("model", proto)
}

#[test]
fn everything_about_a_model_is_kept() {
    let source = annotated();
    let copy = again(&source);
    let (old, new) = (source.graph.as_ref().unwrap(), copy.graph.as_ref().unwrap());
    let strip = |model: &ModelProto| ModelProto {
        graph: None,
        ..model.clone()
    };
    assert_eq!(strip(&copy), strip(&source));
    assert_eq!((&new.input, &new.output), (&old.input, &old.output));
    assert_eq!((&new.name, &new.doc_string), (&old.name, &old.doc_string));
    assert_eq!(new.metadata_props, old.metadata_props);
    // A value and a constant that nothing needs are gone, together with their
    // descriptions.
    assert_eq!(new.value_info, [described("a")]);
    assert_eq!(
        new.quantization_annotation,
        old.quantization_annotation[..1]
    );
    let weight = new
        .initializer
        .iter()
        .find(|weight| weight.name == "w")
        .unwrap();
    assert_eq!(weight.doc_string, "a weight");
    assert_eq!(weight.metadata_props, old.initializer[0].metadata_props);
    // A constant from a node becomes an initializer, and keeps the description of the
    // node.
    let constant = new
        .initializer
        .iter()
        .find(|weight| weight.name == "c")
        .unwrap();
    assert_eq!(constant.doc_string, "two");
    assert_eq!(constant.metadata_props, old.node[1].metadata_props);
    let others: Vec<_> = old
        .node
        .iter()
        .filter(|node| node.op_type != "Constant")
        .collect();
    assert_eq!(new.node.iter().collect::<Vec<_>>(), others);
}

#[test]
fn functions_are_written_as_they_were() {
    let source = functions();
    let mut copy = again(&source);
    let key = |function: &isoform_onnx::proto::FunctionProto| {
        (function.name.clone(), function.overload.clone())
    };
    copy.functions.sort_by_key(key);
    let mut old = source.functions.clone();
    old.sort_by_key(key);
    for (new, old) in copy.functions.iter().zip(&mut old) {
        old.value_info.retain(|info| info.name != "gone");
        assert_eq!(new.value_info, old.value_info);
        assert_eq!((&new.input, &new.output), (&old.input, &old.output));
        assert_eq!(
            (&new.attribute, &new.attribute_proto),
            (&old.attribute, &old.attribute_proto)
        );
        assert_eq!(new.opset_import, old.opset_import);
        assert_eq!(
            (&new.doc_string, &new.metadata_props),
            (&old.doc_string, &old.metadata_props)
        );
    }
    assert_eq!(copy.functions.len(), 3);
    let nodes = &copy.graph.unwrap().node;
    let other = nodes.iter().find(|node| node.op_type == "Other").unwrap();
    assert_eq!(
        (other.overload.as_str(), other.domain.as_str()),
        ("none", "demo")
    );
}

#[test]
fn attributes_keep_their_kinds() {
    let source = attributes();
    let made = again(&source);
    let kinds = |graph: &GraphProto| {
        let attrs = graph.node.iter().flat_map(|node| &node.attribute);
        let mut kinds: Vec<(String, AttributeType)> = attrs
            .map(|attr| (attr.name.clone(), attr.r#type()))
            .collect();
        kinds.sort();
        kinds
    };
    let (old, new) = (source.graph.unwrap(), made.graph.unwrap());
    assert_eq!(kinds(&new), kinds(&old));
    assert_eq!(kinds(&new).len(), 26);
    let named = new.node[0]
        .attribute
        .iter()
        .find(|attr| attr.name == "tensor");
    assert_eq!(named.unwrap().t.as_ref().unwrap().name, "named");
}

/// The inputs and initializers of the main graph, by name.
fn listed(proto: &ModelProto) -> (Vec<&str>, Vec<&str>) {
    let graph = proto.graph.as_ref().unwrap();
    let inputs = graph.input.iter().map(|input| input.name.as_str());
    let initializers = graph.initializer.iter().map(|tensor| tensor.name.as_str());
    let mut initializers: Vec<&str> = initializers.collect();
    initializers.sort_unstable();
    (inputs.collect(), initializers)
}

#[test]
fn before_version_4_weights_are_inputs() {
    let made = again(&listed_weights());
    assert_eq!(made.ir_version, Some(3));
    // The unused weight is gone as an input, too; the remaining inputs keep their
    // order.
    assert_eq!(listed(&made), (vec!["w", "x", "b", "cond"], vec!["b", "w"]));
    let graph = made.graph.as_ref().unwrap();
    assert_eq!(graph.input[0].doc_string, "about w");
    assert_eq!(graph.input[0].metadata_props.len(), 1);
    // No initializer can be new: constants from nodes stay nodes, where they are needed.
    let branches = graph.node.iter().flat_map(|node| &node.attribute);
    for branch in branches.filter_map(|attr| attr.g.as_ref()) {
        assert_eq!(branch.initializer.len() + branch.input.len(), 0);
        assert_eq!(branch.node[0].op_type, "Constant");
    }
}

#[test]
fn from_version_4_on_initializers_that_are_inputs_are_defaults() {
    let made = again(&defaults());
    let all = vec!["w", "x", "unused", "b", "cond"];
    assert_eq!(listed(&made), (all, vec!["b", "unused", "w"]));
}

fn value_of(call: &Ref<Call>) -> Value {
    Ref::new(Output {
        call: call.clone(),
        index: 0,
    })
    .into()
}

/// The program with another main graph.
fn with_graph(program: &Program, edit: impl FnOnce(Graph) -> Graph) -> Ref<Program> {
    Ref::new(Program {
        graph: Ref::new(edit(program.graph.clone_fields())),
        ..program.clone_fields()
    })
}

fn proto_of(program: &Ref<Program>) -> ModelProto {
    SaveOptions::default().to_proto(program).unwrap()
}

fn imported(proto: &ModelProto) -> Model {
    import(proto, &ExternalResolver::none()).unwrap()
}

/// Annotations and types go with the value they are about, and weights with their inputs.
#[test]
fn nothing_is_said_about_values_that_are_gone() {
    let model = imported(&annotated());
    let input = model.program().graph.params.get(0).cloned().unwrap();
    let program = with_graph(model.program(), |graph| Graph {
        results: Array::from(vec![Value::from(&input), Value::from(&input)]),
        ..graph
    });
    let proto = proto_of(&program);
    let graph = proto.graph.as_ref().unwrap();
    assert_eq!(
        (graph.value_info.len(), graph.quantization_annotation.len()),
        (0, 0)
    );
    // The training step updates a weight that is gone.
    assert_eq!(proto.training_info.len(), 0);
    assert_eq!(proto.metadata_props, annotated().metadata_props);

    let model = imported(&listed_weights());
    let input = model.program().graph.params.get(0).cloned().unwrap();
    let program = with_graph(model.program(), |graph| Graph {
        results: Array::from(vec![Value::from(&input)]),
        ..graph
    });
    assert_eq!(listed(&proto_of(&program)), (vec!["x", "cond"], vec![]));
}

/// Outputs keep their names and order, whatever they became.
#[test]
fn results_without_a_node_of_their_own_get_one() {
    let proto = model(
        "x",
        vec![node("Relu", "x", "y"), node("Exp", "x", "z")],
        "y z",
    );
    let model = imported(&proto);
    let input: Value = model.program().graph.params.get(0).unwrap().into();
    let exp = model.program().graph.results.get(1).cloned().unwrap();
    for (results, ops) in [
        (vec![input.clone(), exp.clone()], vec!["Exp", "Identity"]),
        (vec![exp.clone(), exp.clone()], vec!["Exp", "Identity"]),
        (
            vec![input.clone(), input.clone()],
            vec!["Identity", "Identity"],
        ),
    ] {
        let program = with_graph(model.program(), |graph| Graph {
            results: Array::from(results),
            ..graph
        });
        let proto = proto_of(&program);
        let graph = proto.graph.as_ref().unwrap();
        let outputs: Vec<&str> = graph
            .output
            .iter()
            .map(|output| output.name.as_str())
            .collect();
        assert_eq!(outputs, ["y", "z"]);
        let mut op_types: Vec<&str> = graph
            .node
            .iter()
            .map(|node| node.op_type.as_str())
            .collect();
        op_types.sort_unstable();
        assert_eq!(op_types, ops);
        imported(&proto);
    }
}

/// A branch may not return a value of the graph around it.
#[test]
fn branches_that_return_outer_values_get_a_node() {
    let then = crate::export::models::branch(vec![node("Identity", "x", "t")], "t");
    let other = crate::export::models::branch(vec![node("Exp", "x", "e")], "e");
    let proto = model(
        "c x",
        vec![crate::export::models::if_node("c", then, other, "y")],
        "y",
    );
    let model = imported(&proto);
    let output: Ref<Output> = model
        .program()
        .graph
        .results
        .get(0)
        .unwrap()
        .extract()
        .unwrap();
    let input = model.program().graph.params.get(1).unwrap();
    let attrs = output.call.attrs.iter().map(|(name, value)| {
        let value = if name == "then_branch" {
            let graph: Ref<Graph> = value.extract().unwrap();
            let results = Array::from(vec![Value::from(input)]);
            Ref::new(Graph {
                results,
                ..graph.clone_fields()
            })
            .into()
        } else {
            value.clone()
        };
        (name.clone(), value)
    });
    let call = Ref::new(Call {
        attrs: attrs.collect(),
        ..output.call.clone_fields()
    });
    let program = with_graph(model.program(), |graph| Graph {
        results: Array::from(vec![value_of(&call)]),
        ..graph
    });
    let proto = proto_of(&program);
    assert_eq!(
        proto.encode_to_vec(),
        proto_of(model.program()).encode_to_vec()
    );
}

#[test]
fn versions_are_raised_only_if_something_needs_it() {
    assert_eq!(again(&plain()).ir_version, Some(8));
    let mut old = functions();
    old.ir_version = Some(3);
    let model = load_with(&old, ImportOptions::default());
    let folder = tempfile::tempdir().unwrap();
    let saving = SaveOptions::default().check(false);
    let saved = saving
        .save(model.program(), folder.path().join("m.onnx"))
        .unwrap();
    assert_eq!((saved.ir_version, saved.raised_from), (10, Some(3)));

    // Before operator sets had versions, none were imported.
    let mut first = plain();
    first.ir_version = Some(2);
    first.opset_import.clear();
    let made = again(&first);
    assert_eq!((made.ir_version, made.opset_import.len()), (Some(2), 0));
}

/// A program made by hand needs only the compared fields.
#[test]
fn programs_without_names_are_written() {
    let input = named_input("", Value::NONE);
    let template: Ref<Call> = {
        let model = imported(&plain());
        let output: Ref<Output> = model
            .program()
            .graph
            .results
            .get(0)
            .unwrap()
            .extract()
            .unwrap();
        output.call.clone()
    };
    let call = |op: &str, operand: Value| {
        Ref::new(Call {
            op: op.into(),
            inputs: Array::from(vec![operand]),
            name: "".into(),
            op_name: "".into(),
            input_names: Array::new(),
            output_names: Array::new(),
            depth: -1,
            meta: None,
            ..template.clone_fields()
        })
    };
    let exp = call("Exp", Value::from(&input));
    let relu = call("Relu", value_of(&exp));
    let program = Ref::new(Program {
        graph: Ref::new(Graph {
            params: Array::from(vec![input]),
            result_types: Array::from(vec![Value::NONE]),
            results: Array::from(vec![value_of(&relu)]),
            name: "".into(),
            result_names: Array::new(),
            doc: "".into(),
            meta: None,
        }),
        io_names: Array::new(),
        ir_version: 0,
        producer: "".into(),
        meta: None,
    });
    let proto = proto_of(&program);
    assert_eq!(
        (proto.ir_version, proto.opset_import.clone()),
        (Some(8), vec![opset("", 17)])
    );
    let nodes = &proto.graph.as_ref().unwrap().node;
    assert_eq!(nodes[0].output, ["Exp_1"]);
    assert_eq!(
        (&nodes[1].input, nodes[1].output.as_slice()),
        (&nodes[0].output, &["output_1".to_owned()][..])
    );
    let (left, right) = (Value::from(&program), imported(&proto).to_value());
    assert!(isoform::structural_equal(left, right).unwrap());
}

/// Both branches and the main graph use one small constant, as after a merge of equal
/// constants. No node is needed.
#[test]
fn small_constants_that_are_results_are_repeated() {
    let body =
        |op: &str, name: &str| crate::export::models::branch(vec![node(op, "w", name)], name);
    let nodes = vec![
        crate::export::models::if_node("c", body("Exp", "t"), body("Log", "e"), "y"),
        node("Neg", "w", "z"),
    ];
    let mut graph = graph("c", nodes, "y z w2");
    graph.node.push(node("Identity", "w", "w2"));
    graph.initializer = vec![tensor("w", &[1.0])];
    let model = imported(&model_of(graph));
    // Every body returns the operand of its last node.
    let operand = |value: &Value| {
        let output: Ref<Output> = value.extract().unwrap();
        output.call.inputs.get(0).cloned().unwrap()
    };
    let old = &model.program().graph.results;
    let branch: Ref<Output> = old.get(0).unwrap().extract().unwrap();
    let attrs = branch.call.attrs.iter().map(|(name, value)| {
        let graph: Ref<Graph> = value.extract().unwrap();
        let results = Array::from(vec![operand(graph.results.get(0).unwrap())]);
        let graph = Ref::new(Graph {
            results,
            ..graph.clone_fields()
        });
        (name.clone(), Value::from(&graph))
    });
    let call = Ref::new(Call {
        attrs: attrs.collect(),
        ..branch.call.clone_fields()
    });
    let results = vec![
        value_of(&call),
        old.get(1).cloned().unwrap(),
        operand(old.get(2).unwrap()),
    ];
    let program = with_graph(model.program(), |graph| Graph {
        results: results.into(),
        ..graph
    });
    let proto = proto_of(&program);
    let graph = proto.graph.as_ref().unwrap();
    let mut ops: Vec<&str> = graph
        .node
        .iter()
        .map(|node| node.op_type.as_str())
        .collect();
    ops.sort_unstable();
    assert_eq!(ops, ["If", "Neg"]);
    let attrs = graph.node.iter().flat_map(|node| &node.attribute);
    for branch in attrs.filter_map(|attr| attr.g.as_ref()) {
        assert_eq!((branch.node.len(), branch.initializer.len()), (0, 1));
    }
    // The result of the main graph names the constant used by the node.
    assert_eq!(graph.initializer.len(), 1);
    let (left, right) = (Value::from(&program), imported(&proto).to_value());
    assert!(isoform::structural_equal(left, right).unwrap());
}
