//! Models of many nodes in which the operators of a failure are hidden.

use isoform_onnx::proto::{
    AttributeProto, AttributeType, DimensionProto, DimensionValue, GraphProto, ModelProto,
    NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    TypeValue, ValueInfoProto,
};

/// The structure of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// One node after the other.
    Chain,
    /// Blocks of products and sums around which a value passes unchanged.
    Residual,
    /// Ten chains from one input, whose ends are added.
    Wide,
    /// Each node uses one or two of the twenty values before.
    Random,
    /// As `Residual`, and every tenth block has another shape.
    Shapes,
    /// As `Chain`, and every tenth node is an If or a Loop with a chain inside.
    Bodies,
}

pub(super) const FAMILIES: [Family; 6] = [
    Family::Chain,
    Family::Residual,
    Family::Wide,
    Family::Random,
    Family::Shapes,
    Family::Bodies,
];

/// The nodes of a failure: operators that the model has nowhere else, each in place of a node
/// at a part of the model's length, in thousandths; an entry may hold several nodes in a row.
pub(super) type Planted = &'static [(usize, &'static [&'static str])];

const USUAL: [&str; 5] = ["Relu", "Neg", "Abs", "Tanh", "Sigmoid"];

/// A model with about this many nodes.
pub(super) fn model(family: Family, size: usize, planted: Planted, seed: u64) -> ModelProto {
    let mut builder = Builder {
        graph: GraphProto {
            name: "main".to_owned(),
            input: vec![value("x", 1, &[2, 8]), value("flag", 9, &[])],
            ..Default::default()
        },
        size,
        planted: planted
            .iter()
            .map(|(place, ops)| (place * size / 1000, *ops))
            .collect(),
        counted: 0,
        names: 0,
        random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        width: 8,
    };
    let ends = match family {
        Family::Chain => vec![builder.chain("x", size)],
        Family::Residual => vec![builder.residual(false)],
        Family::Shapes => vec![builder.residual(true)],
        Family::Wide => vec![builder.wide()],
        Family::Random => builder.random_graph(),
        Family::Bodies => vec![builder.bodies()],
    };
    assert!(
        builder.planted.is_empty(),
        "{family:?}: {:?}",
        builder.planted
    );
    let width = builder.width;
    let mut graph = builder.graph;
    graph.output = ends.iter().map(|end| value(end, 1, &[2, width])).collect();
    ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 17,
        }],
        ..Default::default()
    }
}

struct Builder {
    graph: GraphProto,
    size: usize,
    /// The nodes still to plant, with the number of nodes before.
    planted: Vec<(usize, &'static [&'static str])>,
    counted: usize,
    names: usize,
    random: u64,
    width: i64,
}

impl Builder {
    fn number(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % below
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn add(&mut self, op: &str, inputs: &[&str]) -> String {
        let name = self.name();
        self.graph.node.push(node(op, inputs, &name));
        self.counted += 1;
        name
    }

    /// A node with one input, or planted nodes if it is their turn.
    fn unary(&mut self, input: &str) -> String {
        let first = self.planted.first().copied();
        if let Some((place, ops)) = first
            && self.counted >= place
        {
            self.planted.remove(0);
            let mut end = input.to_owned();
            for op in ops {
                end = self.add(op, &[&end]);
            }
            return end;
        }
        let op = USUAL[self.number(USUAL.len())];
        self.add(op, &[input])
    }

    fn chain(&mut self, start: &str, length: usize) -> String {
        let until = self.counted + length;
        let mut end = start.to_owned();
        while self.counted < until {
            end = self.unary(&end);
        }
        end
    }

    fn weight(&mut self, rows: i64, columns: i64) -> String {
        let name = format!("w{}", self.graph.initializer.len());
        let count = (rows * columns) as usize;
        let numbers = (0..count).map(|_| self.number(1000) as f32).collect();
        self.graph.initializer.push(TensorProto {
            name: name.clone(),
            dims: vec![rows, columns],
            data_type: 1,
            float_data: numbers,
            ..Default::default()
        });
        name
    }

    fn product(&mut self, input: &str, rows: i64, columns: i64) -> String {
        let weight = self.weight(rows, columns);
        self.add("MatMul", &[input, &weight])
    }

    fn residual(&mut self, changes_shape: bool) -> String {
        let mut value = "x".to_owned();
        let mut block = 0;
        while self.counted < self.size {
            let width = self.width;
            let wide = self.product(&value, width, 2 * width);
            let middle = self.unary(&wide);
            let narrow = self.product(&middle, 2 * width, width);
            let branch = self.unary(&narrow);
            value = self.add("Add", &[&value, &branch]);
            block += 1;
            if changes_shape && block % 10 == 0 {
                let next = if width == 8 { 12 } else { 8 };
                value = self.product(&value, width, next);
                self.width = next;
            }
        }
        value
    }

    fn wide(&mut self) -> String {
        let mut end: Option<String> = None;
        for _ in 0..10 {
            let chain = self.chain("x", self.size / 10 - 1);
            end = Some(match end {
                None => chain,
                Some(end) => self.add("Add", &[&end, &chain]),
            });
        }
        end.unwrap()
    }

    fn random_graph(&mut self) -> Vec<String> {
        let mut values = vec!["x".to_owned()];
        let mut unused: Vec<String> = Vec::new();
        while self.counted < self.size {
            let recent = values.len().min(20);
            let pick = |this: &mut Self| {
                let at = values.len() - 1 - this.number(recent);
                values[at].clone()
            };
            let first = pick(self);
            let made = if self.number(3) == 0 {
                let second = pick(self);
                unused.retain(|name| *name != second);
                let op = ["Add", "Mul", "Sub"][self.number(3)];
                self.add(op, &[&first, &second])
            } else {
                self.unary(&first)
            };
            unused.retain(|name| *name != first);
            unused.push(made.clone());
            values.push(made);
        }
        unused
    }

    fn bodies(&mut self) -> String {
        let mut end = "x".to_owned();
        let ones = TensorProto {
            name: "trips".to_owned(),
            data_type: 7,
            int64_data: vec![3],
            ..Default::default()
        };
        self.graph.initializer.push(ones);
        let mut number = 0;
        while self.counted < self.size {
            end = self.chain(&end, 9);
            number += 1;
            let outer = std::mem::take(&mut self.graph.node);
            let made = if number % 2 == 0 {
                let first = self.chain(&end, 5);
                let then = self.body("then", &[], &[(&first, 1, &[2, 8])]);
                let second = self.chain(&end, 5);
                let other = self.body("else", &[], &[(&second, 1, &[2, 8])]);
                let mut choice = node("If", &["flag"], &self.name());
                choice.attribute = vec![graph("then_branch", then), graph("else_branch", other)];
                choice
            } else {
                let [count, condition, state] = [self.name(), self.name(), self.name()];
                let result = self.chain(&state, 10);
                let again = self.add("Identity", &[&condition]);
                let body = self.body(
                    "body",
                    &[
                        value(&count, 7, &[]),
                        value(&condition, 9, &[]),
                        value(&state, 1, &[2, 8]),
                    ],
                    &[(&again, 9, &[]), (&result, 1, &[2, 8])],
                );
                let mut repeated = node("Loop", &["trips", "", &end], &self.name());
                repeated.attribute = vec![graph("body", body)];
                repeated
            };
            self.graph.node = outer;
            end = made.output[0].clone();
            self.graph.node.push(made);
            self.counted += 1;
        }
        end
    }

    /// A body with the nodes made since the last body.
    fn body(
        &mut self,
        name: &str,
        inputs: &[ValueInfoProto],
        results: &[(&str, i32, &[i64])],
    ) -> GraphProto {
        GraphProto {
            name: name.to_owned(),
            node: std::mem::take(&mut self.graph.node),
            input: inputs.to_vec(),
            output: results
                .iter()
                .map(|(name, elem, dims)| value(name, *elem, dims))
                .collect(),
            ..Default::default()
        }
    }
}

pub(super) fn node(op: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: op.to_owned(),
        name: format!("{op}_{output}"),
        input: inputs.iter().map(|name| (*name).to_owned()).collect(),
        output: vec![output.to_owned()],
        ..Default::default()
    }
}

fn graph(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Graph as i32,
        g: Some(Box::new(graph)),
        ..Default::default()
    }
}

pub(super) fn value(name: &str, elem_type: i32, dims: &[i64]) -> ValueInfoProto {
    let dim = |size: &i64| DimensionProto {
        value: Some(DimensionValue::DimValue(*size)),
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
