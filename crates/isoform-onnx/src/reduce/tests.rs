//! Programs without some nodes.

use isoform::{Ref, Value};
use isoform_testing::source::scaled;

use super::{Draft, Replacement};
use crate::ir::{Input, Program, TensorType};
use crate::proto::{
    AttributeProto, AttributeType, DimensionProto, DimensionValue, GraphProto, ModelProto,
    NodeProto, OperatorSetIdProto, TensorShapeProto, TensorTypeProto, TypeProto, TypeValue,
    ValueInfoProto,
};
use crate::{ExternalResolver, import};

fn value(name: &str, elem_type: i32, dims: &[&str]) -> ValueInfoProto {
    let dim = |dim: &&str| DimensionProto {
        value: Some(match dim.parse() {
            Ok(number) => DimensionValue::DimValue(number),
            Err(_) => DimensionValue::DimParam((*dim).to_owned()),
        }),
        ..Default::default()
    };
    let shape = TensorShapeProto {
        dim: dims.iter().map(dim).collect(),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::TensorType(TensorTypeProto {
                elem_type,
                shape: Some(shape),
            })),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Nodes from lines like `a b = Split(x)`, with a domain before the operator: `c = my.Op(a)`.
fn nodes(text: &str) -> Vec<NodeProto> {
    let words = |text: &str| -> Vec<String> {
        let words = text.split([' ', ',']).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let node = |line: &str| {
        let (outputs, rest) = line.split_once(" = ").unwrap();
        let (op, inputs) = rest.split_once('(').unwrap();
        let (domain, op) = op.rsplit_once('.').unwrap_or(("", op));
        NodeProto {
            domain: domain.to_owned(),
            op_type: op.to_owned(),
            input: words(inputs.trim_end_matches(')')),
            output: words(outputs),
            ..Default::default()
        }
    };
    lines.map(node).collect()
}

fn model(nodes: Vec<NodeProto>, results: &[&str]) -> ModelProto {
    let set = |domain: &str, version| OperatorSetIdProto {
        domain: domain.to_owned(),
        version,
    };
    ModelProto {
        ir_version: Some(8),
        graph: Some(GraphProto {
            name: "main".to_owned(),
            node: nodes,
            input: vec![
                value("x", 1, &["n", "4"]),
                value("flag", 9, &[]),
                value("trips", 7, &[]),
            ],
            output: results
                .iter()
                .map(|name| ValueInfoProto {
                    name: (*name).to_owned(),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }),
        opset_import: vec![set("", 17), set("my", 1)],
        ..Default::default()
    }
}

fn draft(model: &ModelProto) -> Draft {
    let model = import(model, &ExternalResolver::none()).unwrap();
    Draft::new(model.program()).unwrap()
}

/// Inputs with types, nodes and outputs, in a line.
fn shown(program: &Ref<Program>) -> String {
    let listing = crate::layout::list(program);
    let name = |value: &Value| -> String {
        if let Some((call, index)) = crate::values::made_by(value) {
            return call.output_names.get(index as usize).unwrap().to_string();
        }
        let input = value.as_object().and_then(|it| it.downcast_ref::<Input>());
        input.map_or_else(|| "_".to_owned(), |input| input.name.to_string())
    };
    let mut text = String::new();
    for param in program.graph.params.iter() {
        let ty = param.ty.as_object().unwrap();
        let ty = ty.downcast_ref::<TensorType>().unwrap();
        let shape = ty.shape.as_ref().unwrap().values().iter().map(|dim| {
            let dim_name = dim
                .as_object()
                .and_then(|it| it.downcast_ref::<crate::ir::Dim>());
            dim_name.map_or_else(
                || {
                    if dim.is_none() {
                        "?".to_owned()
                    } else {
                        format!("{dim}")
                    }
                },
                |dim| dim.name.to_string(),
            )
        });
        let shape: Vec<String> = shape.collect();
        text += &format!("{}[{}] ", param.name, shape.join(","));
    }
    for body in &listing.bodies {
        text += "| ";
        for node in &body.nodes {
            let inputs: Vec<String> = node.call.inputs.values().iter().map(name).collect();
            text += &format!("{}({}) ", node.call.op, inputs.join(","));
        }
        let results: Vec<String> = body.kind.results().values().iter().map(name).collect();
        text += &format!("-> {} ", results.join(" "));
    }
    text.trim_end().to_owned()
}

#[track_caller]
fn without(draft: &Draft, lost: &[usize], replacement: Replacement) -> String {
    let lost: Vec<bool> = (0..draft.len()).map(|at| lost.contains(&at)).collect();
    let found = draft.without(&lost, replacement).unwrap();
    found.map_or_else(|| "none".to_owned(), |draft| shown(draft.program()))
}

#[test]
fn values_of_lost_nodes_become_inputs_or_other_values() {
    let text = "a = Relu(x)
        b = Neg(a)
        c = Abs(b)
        d = Add(c,x)";
    let draft = draft(&model(nodes(text), &["d"]));
    let cases = [
        (
            &[0][..],
            Replacement::Input,
            "x[n,4] a[n,4] | Neg(a) Abs(b) Add(c,x) -> d",
        ),
        (
            &[0],
            Replacement::First,
            "x[n,4] | Neg(x) Abs(b) Add(c,x) -> d",
        ),
        (
            &[1, 2],
            Replacement::Input,
            "x[n,4] c[n,4] | Add(c,x) Relu(x) -> d a",
        ),
        (
            &[1, 2],
            Replacement::First,
            "x[n,4] | Relu(x) Add(a,x) -> d",
        ),
        (
            &[3],
            Replacement::Input,
            "x[n,4] | Relu(x) Neg(a) Abs(b) -> c",
        ),
        (
            &[3],
            Replacement::First,
            "x[n,4] | Relu(x) Neg(a) Abs(b) -> c",
        ),
        (
            &[3],
            Replacement::Last,
            "x[n,4] | Relu(x) Neg(a) Abs(b) -> c",
        ),
        (&[0, 1, 2, 3], Replacement::First, "none"),
        (&[], Replacement::First, "none"),
    ];
    for (lost, replacement, expected) in cases {
        let found = without(&draft, lost, replacement);
        assert_eq!(found, expected, "{lost:?} {replacement:?}");
    }
    let error = draft.without(&[true], Replacement::Input).unwrap_err();
    assert_eq!(
        error.message(),
        "lost: expected an entry for each of the 4 nodes, got 1"
    );
}

/// Only values of one type and shape replace each other.
#[test]
fn replacements_have_the_type_of_the_value() {
    let text = "s = Shape(x)
        t = Transpose(x)
        u = Relu(t)
        v = Transpose(u)
        y = Neg(v)";
    let draft = draft(&model(nodes(text), &["y", "s"]));
    // In the order of computation, the shape comes last.
    assert_eq!(
        without(&draft, &[0], Replacement::First),
        "x[n,4] t[4,n] | Relu(t) Transpose(u) Neg(v) Shape(x) -> y s"
    );
    assert_eq!(
        without(&draft, &[0, 1, 2], Replacement::First),
        "x[n,4] | Neg(x) Shape(x) -> y s"
    );
    assert_eq!(
        without(&draft, &[4], Replacement::First),
        "x[n,4] | Transpose(x) Relu(t) Transpose(u) Neg(v) -> y"
    );
}

/// The type of `a` is declared alone; nothing says what `b` is.
#[test]
fn nodes_with_values_of_unknown_types_stay() {
    let text = "a = my.Op(x)
        b = my.Op(a)
        c = Neg(b)
        d = my.Op(c)";
    let mut model = model(nodes(text), &["d"]);
    let graph = model.graph.as_mut().unwrap();
    graph.value_info = vec![value("a", 1, &["m", "7"])];
    let draft = draft(&model);
    assert_eq!(
        without(&draft, &[0], Replacement::First),
        "a[m,7] | Op(a) Neg(b) Op(c) -> d"
    );
    assert_eq!(without(&draft, &[1], Replacement::Input), "none");
    assert_eq!(without(&draft, &[1], Replacement::First), "none");
    assert_eq!(
        without(&draft, &[0, 1], Replacement::Input),
        "a[m,7] | Op(a) Neg(b) Op(c) -> d"
    );
}

fn graph(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Graph as i32,
        g: Some(Box::new(graph)),
        ..Default::default()
    }
}

/// `y = Neg(if flag then Exp(Abs(a)) else Log(a))` for `a = Relu(x)`.
fn choice() -> ModelProto {
    let branch = |text: &str, result: &str| GraphProto {
        name: result.to_owned(),
        node: nodes(text),
        output: vec![value(result, 1, &["n", "4"])],
        ..Default::default()
    };
    let mut all = nodes("a = Relu(x)\nc = If(flag)\ny = Neg(c)");
    all[1].attribute = vec![
        graph("then_branch", branch("p = Abs(a)\nq = Exp(p)", "q")),
        graph("else_branch", branch("r = Log(a)", "r")),
    ];
    model(all, &["y"])
}

#[test]
fn nodes_of_branches_go_and_branches_take_the_place_of_nodes() {
    let draft = draft(&choice());
    assert_eq!(
        shown(draft.program()),
        "x[n,4] flag[] trips[] | Relu(x) If(flag) Neg(c) -> y | Log(a) -> r | Abs(a) Exp(p) -> q"
    );
    // Relu, Log, Abs, Exp, If, Neg.
    assert_eq!(draft.len(), 6);
    assert_eq!(
        without(&draft, &[2, 3], Replacement::First),
        "x[n,4] flag[] | Relu(x) If(flag) Neg(c) -> y | Log(a) -> r | -> a"
    );
    assert_eq!(
        without(&draft, &[2], Replacement::Input),
        "x[n,4] flag[] p[n,4] | Relu(x) If(flag) Neg(c) -> y | Log(a) -> r | Exp(p) -> q"
    );
    assert_eq!(
        without(&draft, &[4], Replacement::First),
        "x[n,4] | Relu(x) Neg(a) -> y"
    );
    assert_eq!(draft.variants(), 2);
    let variant = |number| shown(draft.variant(number).unwrap().unwrap().program());
    assert_eq!(variant(0), "x[n,4] | Relu(x) Log(a) Neg(r) -> y");
    assert_eq!(variant(1), "x[n,4] | Relu(x) Abs(a) Exp(p) Neg(q) -> y");
    assert!(draft.variant(2).unwrap().is_none());
    assert_eq!(draft.needed_by(3), [true, false, true, true, false, false]);
    assert_eq!(draft.users_of(2), [false, false, true, true, true, true]);
}

/// A loop hands on a sum and collects products: `s, p = loop trips times (s + x, s * x)`.
#[test]
fn one_run_of_a_body_takes_the_place_of_a_loop() {
    let body = GraphProto {
        name: "body".to_owned(),
        node: nodes("t = Add(s,x)\nm = Mul(s,x)\ng = Identity(k)"),
        input: vec![
            value("i", 7, &[]),
            value("k", 9, &[]),
            value("s", 1, &["n", "4"]),
        ],
        output: vec![
            value("g", 9, &[]),
            value("t", 1, &["n", "4"]),
            value("m", 1, &["n", "4"]),
        ],
        ..Default::default()
    };
    let mut all = nodes("a = Relu(x)\nl p = Loop(trips,flag,a)\ny = Neg(l)\nz = Abs(p)");
    all[1].attribute = vec![graph("body", body)];
    let draft = draft(&model(all, &["y", "z"]));
    let variant = draft.variant(0).unwrap().unwrap();
    assert_eq!(
        shown(variant.program()),
        "x[n,4] p[?,?,?] | Relu(x) Add(a,x) Neg(t) Abs(p) -> y z"
    );
    // Users of the value that enters the loop, and of those in the loop that depend on it.
    assert!(draft.users_of(0).iter().all(|used| *used));
}

#[test]
fn outputs_go_one_by_one() {
    let draft = draft(&model(
        nodes("a = Relu(x)\nb = Neg(a)\nc = Abs(a)"),
        &["b", "a", "c"],
    ));
    assert_eq!(draft.variants(), 3);
    let variant = |number| shown(draft.variant(number).unwrap().unwrap().program());
    assert_eq!(variant(0), "x[n,4] | Relu(x) Abs(a) -> a c");
    assert_eq!(variant(1), "x[n,4] | Relu(x) Neg(a) Abs(a) -> b c");
}

#[test]
fn a_long_chain_loses_nodes() {
    let length = scaled(100_000);
    let text: Vec<String> = (0..length)
        .map(|at| match at {
            0 => "v0 = Relu(x)".to_owned(),
            _ => format!("v{at} = Relu(v{})", at - 1),
        })
        .collect();
    let last = format!("v{}", length - 1);
    let whole = draft(&model(nodes(&text.join("\n")), &[&last]));
    assert_eq!(whole.len(), length);
    assert!(whole.needed_by(length - 1).iter().all(|needed| *needed));
    assert!(whole.users_of(0).iter().all(|used| *used));
    let middle: Vec<bool> = (0..length)
        .map(|at| (1..length - 1).contains(&at))
        .collect();
    for (replacement, expected) in [
        (
            Replacement::First,
            format!("x[n,4] | Relu(x) Relu(v0) -> {last}"),
        ),
        (
            Replacement::Input,
            format!(
                "x[n,4] v{}[n,4] | Relu(v{}) Relu(x) -> {last} v0",
                length - 2,
                length - 2
            ),
        ),
    ] {
        let found = whole.without(&middle, replacement).unwrap().unwrap();
        assert_eq!(shown(found.program()), expected);
    }
    // Every second node.
    let odd: Vec<bool> = (0..length).map(|at| at % 2 == 1).collect();
    let found = whole.without(&odd, Replacement::First).unwrap().unwrap();
    assert_eq!(found.len(), length - length / 2);
}
