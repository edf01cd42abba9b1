//! Random models: other names and another order are the same program.

use isoform_onnx::proto::{ModelProto, NodeProto};
use proptest::{prelude::*, sample::Index};

use crate::build::*;

const OPERATORS: [&str; 3] = ["Add", "Sub", "Exp"];

/// A node: operator, inputs among the earlier values, attribute, and true for a body
/// that uses the first input.
type Choice = (usize, [Index; 2], i64, bool);

fn choices() -> impl Strategy<Value = (Vec<Choice>, Vec<Index>)> {
    let node = (
        0..3_usize,
        any::<[Index; 2]>(),
        0..2_i64,
        prop::bool::weighted(0.2),
    );
    (
        prop::collection::vec(node, 1..12),
        prop::collection::vec(any::<Index>(), 1..4),
    )
}

/// Builds a model from choices; `name` names values, `order` sorts nodes.
fn build(
    (nodes, outputs): &(Vec<Choice>, Vec<Index>),
    name: impl Fn(usize) -> String,
    order: Option<&[u64]>,
) -> ModelProto {
    // Values 0 and 1 are inputs, 2 is a weight.
    let mut list: Vec<NodeProto> = Vec::new();
    for (position, (op, inputs, attr, has_body)) in nodes.iter().enumerate() {
        let read = inputs.map(|index| name(index.index(position + 3)));
        let mut node =
            node(OPERATORS[*op], &read.join(" "), &name(position + 3)).with(int("k", *attr));
        if *has_body {
            let inner = name(1000 + position);
            let body = graph(
                "",
                vec![crate::build::node("Log", &read[0], &inner)],
                &inner,
            );
            node = node.with(graph_attr("body", body));
        }
        list.push(node);
    }
    if let Some(keys) = order {
        let mut keyed: Vec<_> = keys.iter().zip(list).collect();
        keyed.sort_by_key(|(key, _)| **key);
        list = keyed.into_iter().map(|(_, node)| node).collect();
    }
    let results: Vec<String> = outputs
        .iter()
        .map(|index| name(index.index(nodes.len() + 3)))
        .collect();
    let inputs = format!("{} {}", name(0), name(1));
    let mut graph = graph(&inputs, list, &results.join(" "));
    graph.initializer = vec![tensor(&name(2), &[1.0, 2.0])];
    model_of(graph)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn renamed_and_shuffled_models_are_equal(
        choices in choices(),
        keys in prop::collection::vec(any::<u64>(), 12),
    ) {
        let left = build(&choices, |at| format!("v{at}"), None);
        let right = build(&choices, |at| format!("other/{}", at * 7), Some(&keys));
        check_same(&left, &right);
        prop_assert_eq!(load(&left).counts(), load(&right).counts());
    }

    #[test]
    fn an_edit_of_a_needed_node_is_a_difference(choices in choices(), at in any::<Index>()) {
        let base = build(&choices, |at| format!("v{at}"), None);
        let mut other = base.clone();
        let nodes = &mut other.graph.as_mut().unwrap().node;
        let at = at.index(nodes.len());
        *nodes[at].attribute[0].i.get_or_insert_default() += 1;
        // The node is needed exactly if making it a result drops no fewer nodes.
        let mut marked = base.clone();
        let graph = marked.graph.as_mut().unwrap();
        let name = graph.node[at].output[0].clone();
        graph.output.push(untyped(&name));
        let needed = load(&marked).counts().dropped == load(&base).counts().dropped;
        let equal = isoform::structural_equal(load(&base).to_value(), load(&other).to_value());
        prop_assert_eq!(equal.unwrap(), !needed);
    }
}
