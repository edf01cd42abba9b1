//! Small models to test on, and a folder for them.

use std::fs;
use std::path::{Path, PathBuf};

use isoform_onnx::proto::{
    AttributeProto, AttributeType, DimensionProto, DimensionValue, FunctionProto, GraphProto,
    ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto,
    TypeProto, TypeValue, ValueInfoProto,
};
use prost::Message;
use tempfile::TempDir;

use crate::support::{Ran, run_in};

/// A folder of models.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().expect("there is room for temporary files"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a model and returns its name.
    pub(crate) fn model(&self, name: &str, model: &ModelProto) -> PathBuf {
        self.file(name, &model.encode_to_vec())
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("the folder can be made");
        }
        fs::write(&path, content).expect("the file can be written");
        path
    }

    /// Runs the command with the words of a line, in this folder.
    pub(crate) fn run(&self, line: &str) -> Ran {
        run_in(self.path(), line.split_whitespace())
    }
}

/// The code of 32-bit floats.
pub(crate) const FLOAT: i32 = 1;

#[derive(Clone, Copy)]
pub(crate) enum Dim {
    Size(i64),
    Symbol(&'static str),
}

pub(crate) fn value(name: &str, elem_type: i32, dims: &[Dim]) -> ValueInfoProto {
    let dim = |dim: &Dim| DimensionProto {
        value: Some(match dim {
            Dim::Size(size) => DimensionValue::DimValue(*size),
            Dim::Symbol(name) => DimensionValue::DimParam((*name).to_owned()),
        }),
        ..Default::default()
    };
    let ty = TensorTypeProto {
        elem_type,
        shape: Some(TensorShapeProto {
            dim: dims.iter().map(dim).collect(),
        }),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::TensorType(ty)),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// A tensor of floats; its shape is their number.
pub(crate) fn floats(name: &str, numbers: &[f32]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![numbers.len() as i64],
        data_type: FLOAT,
        float_data: numbers.to_vec(),
        ..Default::default()
    }
}

pub(crate) fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    NodeProto {
        op_type: op.to_owned(),
        name: format!("{op}_{}", outputs.concat()),
        input: texts(inputs),
        output: texts(outputs),
        ..Default::default()
    }
}

pub(crate) fn with_attributes(mut node: NodeProto, attributes: &[AttributeProto]) -> NodeProto {
    node.attribute.extend_from_slice(attributes);
    node
}

pub(crate) fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Ints as i32,
        ints: ints.to_vec(),
        ..Default::default()
    }
}

pub(crate) fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Int as i32,
        i: Some(i),
        ..Default::default()
    }
}

pub(crate) fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Float as i32,
        f: Some(f),
        ..Default::default()
    }
}

pub(crate) fn graph_attribute(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Graph as i32,
        g: Some(Box::new(graph)),
        ..Default::default()
    }
}

pub(crate) fn model(graph: GraphProto) -> ModelProto {
    ModelProto {
        ir_version: Some(8),
        producer_name: "isoform tests".to_owned(),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 13,
        }],
        ..Default::default()
    }
}

/// The parts of the small model.
pub(crate) struct Small {
    pub(crate) bias: f32,
    pub(crate) pads: [i64; 2],
    /// Every name ends with this.
    pub(crate) suffix: &'static str,
    pub(crate) final_op: &'static str,
}

impl Default for Small {
    fn default() -> Self {
        Small {
            bias: 0.5,
            pads: [1, 1],
            suffix: "",
            final_op: "Relu",
        }
    }
}

/// `y = Relu(Add(Conv(x, w), b))`, with long weights.
pub(crate) fn small(parts: &Small) -> ModelProto {
    let name = |name: &str| format!("{name}{}", parts.suffix);
    let [x, w, b, c, s, y] = ["x", "w", "b", "c", "s", "y"].map(name);
    let mut weights = floats(&w, &[0.25; 12]);
    weights.dims = vec![2, 2, 3];
    let dims = [Dim::Symbol("N"), Dim::Size(2), Dim::Symbol("L")];
    let conv = with_attributes(node("Conv", &[&x, &w], &[&c]), &[ints("pads", &parts.pads)]);
    model(GraphProto {
        name: name("main"),
        node: vec![
            conv,
            node("Add", &[&c, &b], &[&s]),
            node(parts.final_op, &[&s], &[&y]),
        ],
        initializer: vec![weights, floats(&b, &[parts.bias])],
        input: vec![value(&x, FLOAT, &dims)],
        output: vec![value(&y, FLOAT, &dims)],
        ..Default::default()
    })
}

/// A model with a subgraph and a local function.
pub(crate) fn nested() -> ModelProto {
    let branch = |op: &str, out: &str| GraphProto {
        name: format!("{op}_branch"),
        node: vec![node(op, &["t"], &[out])],
        output: vec![value(out, FLOAT, &[Dim::Size(2)])],
        ..Default::default()
    };
    let choose = with_attributes(
        node("If", &["flag"], &["z"]),
        &[
            graph_attribute("then_branch", branch("Exp", "p")),
            graph_attribute("else_branch", branch("Neg", "q")),
        ],
    );
    let call = NodeProto {
        domain: "local".to_owned(),
        ..with_attributes(node("Twice", &["z"], &["y"]), &[float("gain", 2.5)])
    };
    let scale = AttributeProto {
        name: "alpha".to_owned(),
        r#type: AttributeType::Float as i32,
        ref_attr_name: "gain".to_owned(),
        ..Default::default()
    };
    let mut out = model(GraphProto {
        name: "main".to_owned(),
        node: vec![node("Abs", &["x"], &["t"]), choose, call],
        input: vec![value("x", FLOAT, &[Dim::Size(2)]), value("flag", 9, &[])],
        output: vec![value("y", FLOAT, &[Dim::Size(2)])],
        ..Default::default()
    });
    out.opset_import.push(OperatorSetIdProto {
        domain: "local".to_owned(),
        version: 1,
    });
    out.functions.push(FunctionProto {
        name: "Twice".to_owned(),
        domain: "local".to_owned(),
        input: vec!["a".to_owned()],
        output: vec!["b".to_owned()],
        attribute: vec!["gain".to_owned()],
        node: vec![with_attributes(node("Elu", &["a"], &["b"]), &[scale])],
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 12,
        }],
        ..Default::default()
    });
    out
}

/// A chain of this many nodes.
pub(crate) fn chain(length: usize) -> ModelProto {
    let name = |index: usize| format!("v{index}");
    model(GraphProto {
        name: "main".to_owned(),
        node: (0..length)
            .map(|index| node("Relu", &[&name(index)], &[&name(index + 1)]))
            .collect(),
        input: vec![value("v0", FLOAT, &[Dim::Size(1)])],
        output: vec![value(&name(length), FLOAT, &[Dim::Size(1)])],
        ..Default::default()
    })
}
