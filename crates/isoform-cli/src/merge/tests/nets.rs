//! Random models of vectors, and random edits of them.

use isoform_onnx::proto::{
    AttributeProto, AttributeType, DimensionProto, DimensionValue, GraphProto, ModelProto,
    NodeProto, OperatorSetIdProto, TensorShapeProto, TensorTypeProto, TypeProto, TypeValue,
    ValueInfoProto,
};

/// Random numbers.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A name and the only dimension of the type.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) dim: &'static str,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Operation {
    pub(super) op: &'static str,
    pub(super) alpha: u32,
    pub(super) operands: Vec<String>,
    pub(super) result: String,
}

/// A model of vectors. Values are named after inputs or operations; an output has a name, and
/// the value that it gives.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) inputs: Vec<Port>,
    pub(super) operations: Vec<Operation>,
    pub(super) outputs: Vec<(Port, String)>,
}

pub(super) const UNARY: [&str; 5] = ["Sin", "Cos", "Tanh", "Exp", "LeakyRelu"];
const BINARY: [&str; 3] = ["Add", "Mul", "Sub"];
const DIMS: [&str; 4] = ["3", "3", "n", "m"];

impl Net {
    pub(super) fn draw(random: &mut Random) -> Net {
        let port = |name: String, random: &mut Random| Port {
            name,
            dim: random.pick(&DIMS),
        };
        let inputs = 1 + random.below(4);
        let inputs = (0..inputs).map(|number| port(format!("in{number}"), random));
        let mut net = Net {
            inputs: inputs.collect(),
            operations: Vec::new(),
            outputs: Vec::new(),
        };
        for number in 0..1 + random.below(7) {
            let count = 1 + random.below(2);
            let values = net.values(number);
            // Long chains, and some wide parts.
            let operands = (0..count).map(|_| match values.last() {
                Some(last) if random.chance(50) => last.clone(),
                _ => random.pick(&values),
            });
            let operands = operands.collect();
            net.operations.push(Operation {
                op: operator(count, random),
                alpha: 1,
                operands,
                result: format!("v{number}"),
            });
        }
        let values = net.values(net.operations.len());
        for number in 0..1 + random.below(3) {
            let value = match values.last() {
                Some(last) if number == 0 => last.clone(),
                _ => random.pick(&values),
            };
            let name = format!("out{number}");
            net.outputs.push((Port { name, dim: "o" }, value));
        }
        net
    }

    /// The values before an operation.
    fn values(&self, operation: usize) -> Vec<String> {
        let inputs = self.inputs.iter().map(|port| port.name.clone());
        let results = self.operations[..operation]
            .iter()
            .map(|operation| operation.result.clone());
        inputs.chain(results).collect()
    }

    /// All uses of values, as places to write to.
    fn uses(&mut self) -> Vec<&mut String> {
        let operations = self.operations.iter_mut();
        let operands = operations.flat_map(|operation| operation.operands.iter_mut());
        let outputs = self.outputs.iter_mut().map(|(_, value)| value);
        operands.chain(outputs).collect()
    }

    fn replace(&mut self, old: &str, new: &str) {
        for place in self.uses() {
            if *place == old {
                new.clone_into(place);
            }
        }
    }

    /// Inserts an operation on an operand, or after a value for all of its uses.
    fn insert(&mut self, name: String, random: &mut Random) {
        let count = self.operations.len();
        let position = random.below(count + 1);
        let values = self.values(position);
        let mut operand = random.pick(&values);
        let number = random.below(4);
        if number == 0 {
            // The uses in operations before the position stay.
            for operation in &mut self.operations[position..] {
                for place in &mut operation.operands {
                    if *place == operand {
                        place.clone_from(&name);
                    }
                }
            }
            for (_, value) in &mut self.outputs {
                if *value == operand {
                    value.clone_from(&name);
                }
            }
        } else if position < count && random.chance(70) {
            let operands = &mut self.operations[position].operands;
            let place = random.below(operands.len());
            operand = std::mem::replace(&mut operands[place], name.clone());
        } else {
            let output = random.below(self.outputs.len());
            if let Some((_, value)) = self.outputs.get_mut(output) {
                operand = std::mem::replace(value, name.clone());
            }
            self.operations.push(operation(name, vec![operand], random));
            return;
        }
        let inserted = operation(name, vec![operand], random);
        self.operations.insert(position, inserted);
    }

    /// One random edit; new parts get names that end with the tag, or a name from a small pool.
    pub(super) fn edit(&mut self, tag: &str, random: &mut Random) {
        let name = match random.below(3) {
            0 => format!("new{}", random.below(2)),
            _ => format!("{tag}{}", random.below(1000)),
        };
        if self.inputs.iter().any(|port| port.name == name)
            || self.outputs.iter().any(|(port, _)| port.name == name)
            || self
                .operations
                .iter()
                .any(|operation| operation.result == name)
        {
            return;
        }
        match random.below(16) {
            0 | 1 => self.add_input(name, random),
            2 => self.remove_input(random),
            3 if self.inputs.len() > 1 => {
                let [one, other] = [(); 2].map(|()| random.below(self.inputs.len()));
                self.inputs.swap(one, other);
            }
            4 => {
                let input = random.below(self.inputs.len());
                let old = std::mem::replace(&mut self.inputs[input].name, name.clone());
                self.replace(&old, &name);
            }
            5 => {
                let input = random.below(self.inputs.len());
                self.inputs[input].dim = random.pick(&DIMS);
            }
            6 | 7 => {
                let values = self.values(self.operations.len());
                let mut value = random.pick(&values);
                if random.chance(70) {
                    let result = format!("{name}_value");
                    let made = operation(result.clone(), vec![value], random);
                    self.operations.push(made);
                    value = result;
                }
                let position = random.below(self.outputs.len() + 1);
                self.outputs
                    .insert(position, (Port { name, dim: "o" }, value));
            }
            8 if self.outputs.len() > 1 => {
                self.outputs.remove(random.below(self.outputs.len()));
            }
            9 if self.outputs.len() > 1 => {
                let [one, other] = [(); 2].map(|()| random.below(self.outputs.len()));
                self.outputs.swap(one, other);
            }
            10 => {
                let output = random.below(self.outputs.len());
                self.outputs[output].0.name = name;
            }
            11 | 12 => self.insert(name, random),
            13 if !self.operations.is_empty() => {
                let removed = self.operations.remove(random.below(self.operations.len()));
                self.replace(&removed.result, &removed.operands[0]);
            }
            14 if !self.operations.is_empty() => {
                let number = random.below(self.operations.len());
                let values = self.values(number);
                let operation = &mut self.operations[number];
                match random.below(3) {
                    0 => operation.alpha += 1 + random.below(2) as u32,
                    1 => operation.op = operator(operation.operands.len(), random),
                    _ => {
                        let place = random.below(operation.operands.len());
                        operation.operands[place] = random.pick(&values);
                    }
                }
            }
            _ => {
                let values = self.values(self.operations.len());
                let output = random.below(self.outputs.len());
                self.outputs[output].1 = random.pick(&values);
            }
        }
    }

    /// Adds an input, mostly with a use.
    fn add_input(&mut self, name: String, random: &mut Random) {
        let like = random.pick(&self.inputs);
        let position = random.below(self.inputs.len() + 1);
        let dim = like.dim;
        self.inputs.insert(
            position,
            Port {
                name: name.clone(),
                dim,
            },
        );
        if random.chance(80) {
            let count = self.uses().len();
            let number = random.below(count);
            let result = format!("{name}_sum");
            let operand = std::mem::replace(self.uses()[number], result.clone());
            let user = self
                .operations
                .iter()
                .position(|user| user.operands.contains(&result));
            let added = Operation {
                op: random.pick(&BINARY),
                alpha: 1,
                operands: vec![operand, name],
                result,
            };
            let position = user.unwrap_or(self.operations.len());
            self.operations.insert(position, added);
        }
    }

    fn remove_input(&mut self, random: &mut Random) {
        if self.inputs.len() > 1 {
            let removed = self.inputs.remove(random.below(self.inputs.len()));
            let other = random.pick(&self.inputs);
            self.replace(&removed.name, &other.name);
        }
    }

    pub(super) fn model(&self) -> ModelProto {
        let node = |operation: &Operation| NodeProto {
            op_type: operation.op.to_owned(),
            input: operation.operands.clone(),
            output: vec![operation.result.clone()],
            attribute: match operation.op {
                "LeakyRelu" => vec![alpha(operation.alpha as f32)],
                _ => Vec::new(),
            },
            ..Default::default()
        };
        // An output is a value of its own, so that it can have any name.
        let outputs = self.outputs.iter().map(|(port, value)| NodeProto {
            op_type: "Identity".to_owned(),
            input: vec![value.clone()],
            output: vec![port.name.clone()],
            ..Default::default()
        });
        ModelProto {
            ir_version: Some(8),
            graph: Some(GraphProto {
                name: "main".to_owned(),
                node: self.operations.iter().map(node).chain(outputs).collect(),
                input: self.inputs.iter().map(value_info).collect(),
                output: (self.outputs.iter())
                    .map(|(port, _)| value_info(port))
                    .collect(),
                ..Default::default()
            }),
            opset_import: vec![OperatorSetIdProto {
                domain: String::new(),
                version: 13,
            }],
            ..Default::default()
        }
    }
}

fn operator(operands: usize, random: &mut Random) -> &'static str {
    match operands {
        1 => random.pick(&UNARY),
        _ => random.pick(&BINARY),
    }
}

fn operation(result: String, operands: Vec<String>, random: &mut Random) -> Operation {
    Operation {
        op: operator(operands.len(), random),
        alpha: 1,
        operands,
        result,
    }
}

fn alpha(number: f32) -> AttributeProto {
    AttributeProto {
        name: "alpha".to_owned(),
        r#type: AttributeType::Float as i32,
        f: Some(number),
        ..Default::default()
    }
}

fn value_info(port: &Port) -> ValueInfoProto {
    let dim = DimensionProto {
        value: Some(match port.dim.parse() {
            Ok(size) => DimensionValue::DimValue(size),
            Err(_) => DimensionValue::DimParam(port.dim.to_owned()),
        }),
        ..Default::default()
    };
    let ty = TensorTypeProto {
        elem_type: 1,
        shape: Some(TensorShapeProto { dim: vec![dim] }),
    };
    ValueInfoProto {
        name: port.name.clone(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::TensorType(ty)),
            ..Default::default()
        }),
        ..Default::default()
    }
}
