//! Programs as text, to write a test of a rule in two lines.
//!
//! ```text
//! x: float[N,3], c: bool[] => a, b = Split{axis=1}(x, [1, 2]); Where(c, a, Neg(b))
//! ```
//!
//! First come the inputs with their types (`[*]` is any shape), then assignments, then the
//! results. `[1, 2]` is a constant of int64, `float(1.5)` a scalar, `float<2,3>[0]` a
//! filled tensor, and `_` an omitted input or output. Attributes are ints, floats, strings,
//! lists, constants, `{inputs => body}` for graphs, and `@name` for the attribute of the
//! enclosing function. A text that begins with `fn(name=value)` is the body of a function
//! that the main graph calls with these attributes.

use bytes::Bytes;
use isoform_onnx::ElemType;
use isoform_onnx::proto::{
    AttributeProto, AttributeType, DimensionProto, DimensionValue, FunctionProto, GraphProto,
    ModelProto, NodeProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, TypeValue,
    ValueInfoProto,
};

use crate::build;

/// The model of a text, with this version of `ai.onnx`.
#[track_caller]
pub(crate) fn model(opset: i64, text: &str) -> ModelProto {
    let mut parser = Parser {
        text,
        at: 0,
        fresh: 0,
    };
    let function = parser.take("fn(").then(|| parser.attributes(")"));
    let inputs = parser.inputs();
    let (mut nodes, results) = parser.body();
    parser.space();
    if parser.at < text.len() {
        parser.fail("the end");
    }
    let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let mut model = ModelProto {
        ir_version: Some(8),
        opset_import: vec![build::opset("", opset), build::opset("demo", 1)],
        ..Default::default()
    };
    if let Some(attributes) = function {
        model.functions = vec![FunctionProto {
            name: "F".into(),
            domain: "demo".into(),
            input: names.clone(),
            output: results.clone(),
            attribute: attributes.iter().map(|attr| attr.name.clone()).collect(),
            node: nodes,
            opset_import: vec![build::opset("", opset), build::opset("demo", 1)],
            ..Default::default()
        }];
        nodes = vec![NodeProto {
            op_type: "F".into(),
            domain: "demo".into(),
            input: names,
            output: results.clone(),
            attribute: attributes,
            ..Default::default()
        }];
    }
    model.graph = Some(GraphProto {
        name: "main".into(),
        input: inputs,
        node: nodes,
        output: results.iter().map(|name| build::untyped(name)).collect(),
        ..Default::default()
    });
    model
}

/// The text with the inputs of another text.
pub(crate) fn with_header(of: &str, text: &str) -> String {
    let (header, _) = of.split_once("=>").expect("inputs come before `=>`");
    format!("{header}=> {text}")
}

/// The element type and the sizes of each input of a text.
pub(crate) fn input_types(text: &str) -> Vec<(String, ElemType, Option<Vec<String>>)> {
    let model = model(17, text);
    let inputs = model.graph.unwrap().input.into_iter();
    inputs
        .filter_map(|input| {
            let TypeValue::TensorType(ty) = input.r#type?.value? else {
                return None;
            };
            let dims = ty.shape.map(|shape| {
                let dims = shape.dim.into_iter().map(|dim| match dim.value {
                    Some(DimensionValue::DimValue(size)) => size.to_string(),
                    Some(DimensionValue::DimParam(name)) => name,
                    None => "?".into(),
                });
                dims.collect()
            });
            Some((input.name, ElemType::from_code(ty.elem_type)?, dims))
        })
        .collect()
}

/// The bytes of a number of a type.
pub(crate) fn element(elem: ElemType, number: f64) -> Vec<u8> {
    match elem {
        ElemType::Float => (number as f32).to_le_bytes().to_vec(),
        ElemType::Double => number.to_le_bytes().to_vec(),
        ElemType::Bfloat16 => (number as f32).to_le_bytes()[2..].to_vec(),
        ElemType::Float16 => half(number as f32).to_le_bytes().to_vec(),
        ElemType::Uint64 => (number as u64).to_le_bytes().to_vec(),
        ElemType::Bool => vec![u8::from(number != 0.0)],
        _ => {
            let width = elem.bits().expect("numbers have bits") as usize / 8;
            (number as i64).to_le_bytes()[..width].to_vec()
        }
    }
}

/// The exact float of 16 bits for a number, limited to the numbers used in tests.
fn half(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = (bits >> 23 & 0xff) as i32 - 127;
    match exponent {
        128 => sign | 0x7c00 | u16::from(bits & 0x7f_ffff != 0) << 9,
        -14..16 => sign | ((exponent + 15) as u16) << 10 | (bits >> 13) as u16 & 0x3ff,
        _ => sign,
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    fresh: usize,
}

impl Parser<'_> {
    #[track_caller]
    fn fail(&self, expected: &str) -> ! {
        let (before, after) = self.text.split_at(self.at);
        panic!("expected {expected} at '{before}⟨here⟩{after}'");
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn sees(&mut self, token: &str) -> bool {
        self.space();
        self.text[self.at..].starts_with(token)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.sees(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn need(&mut self, token: &str) {
        if !self.take(token) {
            self.fail(token);
        }
    }

    fn word(&mut self) -> String {
        self.space();
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || "_-+.?*".contains(c);
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if length == 0 {
            self.fail("a name or a number");
        }
        self.at += length;
        rest[..length].to_owned()
    }

    fn list<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(item(self));
            if !self.sees(end) {
                self.need(",");
            }
        }
        items
    }

    fn number(&mut self) -> f64 {
        let word = self.word();
        word.parse().unwrap_or_else(|_| self.fail("a number"))
    }

    fn inputs(&mut self) -> Vec<ValueInfoProto> {
        self.list("=>", |parser| {
            let name = parser.word();
            let ty = parser.take(":").then(|| {
                let name = parser.word();
                let elem = ElemType::from_name(&name);
                let elem = elem.unwrap_or_else(|| parser.fail("an element type"));
                parser.need("[");
                let dims = parser.list("]", Self::word);
                (elem, dims)
            });
            ValueInfoProto {
                name,
                r#type: ty.map(|(elem, dims)| tensor_type(elem, &dims)),
                ..Default::default()
            }
        })
    }

    /// The nodes and the names of the results, up to the end of the text or a brace.
    fn body(&mut self) -> (Vec<NodeProto>, Vec<String>) {
        let mut nodes = Vec::new();
        loop {
            let start = self.at;
            let mut targets = vec![];
            // Names up to `=`, or else the results.
            let is_assignment = loop {
                self.space();
                let rest = &self.text[self.at..];
                if !rest.starts_with(|c: char| c.is_lowercase() || c == '_') {
                    break false;
                }
                targets.push(self.word());
                if self.take("=") {
                    break true;
                }
                if !self.take(",") {
                    break false;
                }
            };
            if is_assignment {
                self.expression(&mut nodes, Some(targets));
                self.need(";");
                continue;
            }
            self.at = start;
            let mut results = vec![self.expression(&mut nodes, None)];
            while self.take(",") {
                results.push(self.expression(&mut nodes, None));
            }
            return (nodes, results);
        }
    }

    fn new_name(&mut self) -> String {
        self.fresh += 1;
        format!("v{}", self.fresh)
    }

    /// Adds the nodes of an expression, and returns the name of its value.
    fn expression(&mut self, nodes: &mut Vec<NodeProto>, names: Option<Vec<String>>) -> String {
        if self.sees("[") {
            let tensor = self.constant(ElemType::Int64);
            return self.constant_node(nodes, names, tensor);
        }
        let mut word = self.word();
        if let Some(elem) = ElemType::from_name(&word) {
            let tensor = self.constant(elem);
            return self.constant_node(nodes, names, tensor);
        }
        let mut domain = String::new();
        if self.take("::") {
            domain = std::mem::replace(&mut word, self.word());
        }
        let attribute = if self.take("{") {
            self.attributes("}")
        } else {
            Vec::new()
        };
        if attribute.is_empty() && !self.sees("(") {
            return if word == "_" { String::new() } else { word };
        }
        self.need("(");
        let input = self.list(")", |parser| parser.expression(nodes, None));
        let output = names.unwrap_or_else(|| vec![self.new_name()]);
        let output: Vec<String> = output
            .into_iter()
            .map(|name| if name == "_" { String::new() } else { name })
            .collect();
        let first = output[0].clone();
        nodes.push(NodeProto {
            op_type: word,
            domain,
            input,
            output,
            attribute,
            ..Default::default()
        });
        first
    }

    fn constant_node(
        &mut self,
        nodes: &mut Vec<NodeProto>,
        names: Option<Vec<String>>,
        tensor: TensorProto,
    ) -> String {
        let name = match names {
            Some(mut names) => names.remove(0),
            None => self.new_name(),
        };
        let node = build::node("Constant", "", &name);
        nodes.push(build::NodeExt::with(
            node,
            build::tensor_attr("value", tensor),
        ));
        name
    }

    fn constant(&mut self, elem: ElemType) -> TensorProto {
        let shape = self.take("<").then(|| self.list(">", Self::number));
        if elem == ElemType::String {
            self.need("[");
            let texts = self.list("]", Self::word);
            let default_shape = [texts.len() as f64];
            let dims = shape.as_deref().unwrap_or(&default_shape).iter();
            let dims: Vec<i64> = dims.map(|size| *size as i64).collect();
            let count = dims.iter().product::<i64>() as usize;
            let texts = texts.into_iter().cycle().take(count);
            return TensorProto {
                dims,
                data_type: elem as i32,
                string_data: texts.map(Bytes::from).collect(),
                ..Default::default()
            };
        }
        let (numbers, dims) = if self.take("(") {
            (self.list(")", Self::number), Vec::new())
        } else {
            self.need("[");
            let numbers = self.list("]", Self::number);
            let length = numbers.len() as i64;
            (numbers, vec![length])
        };
        let dims = shape.map_or(dims, |shape| {
            shape.iter().map(|size| *size as i64).collect()
        });
        let count = dims.iter().product::<i64>() as usize;
        let data: Vec<u8> = (0..count)
            .flat_map(|index| element(elem, numbers[index % numbers.len()]))
            .collect();
        TensorProto {
            dims,
            data_type: elem as i32,
            raw_data: Some(data.into()),
            ..Default::default()
        }
    }

    fn attributes(&mut self, end: &str) -> Vec<AttributeProto> {
        self.list(end, |parser| {
            let name = parser.word();
            parser.need("=");
            parser.attribute(&name)
        })
    }

    fn attribute(&mut self, name: &str) -> AttributeProto {
        if self.take("@@") {
            return build::ref_attr(name, &self.word(), AttributeType::Ints);
        }
        if self.take("@") {
            return build::ref_attr(name, &self.word(), AttributeType::Int);
        }
        if self.take("{") {
            let input = self.inputs();
            let (node, results) = self.body();
            self.need("}");
            let graph = GraphProto {
                name: name.into(),
                input,
                node,
                output: results.iter().map(|name| build::untyped(name)).collect(),
                ..Default::default()
            };
            return build::graph_attr(name, graph);
        }
        if self.take("\"") {
            let text = self.word();
            self.need("\"");
            return build::string(name, text.as_bytes());
        }
        if self.take("[") {
            let words = self.list("]", Self::word);
            if words.iter().any(|word| word.contains('.')) {
                let floats: Vec<f32> = words.iter().map(|word| word.parse().unwrap()).collect();
                return build::floats(name, &floats);
            }
            let ints: Vec<i64> = words.iter().map(|word| word.parse().unwrap()).collect();
            return build::ints(name, &ints);
        }
        let word = self.word();
        if let Some(elem) = ElemType::from_name(&word) {
            if self.sees("[") || self.sees("(") || self.sees("<") {
                return build::tensor_attr(name, self.constant(elem));
            }
            return build::int(name, elem as i64);
        }
        match word.parse() {
            Ok(int) => build::int(name, int),
            Err(_) => build::float(name, word.parse().unwrap_or_else(|_| self.fail("a value"))),
        }
    }
}

fn tensor_type(elem: ElemType, dims: &[String]) -> TypeProto {
    let dim = |text: &String| DimensionProto {
        value: match text.parse() {
            Ok(size) => Some(DimensionValue::DimValue(size)),
            Err(_) if text == "?" => None,
            Err(_) => Some(DimensionValue::DimParam(text.clone())),
        },
        ..Default::default()
    };
    let is_any = dims == ["*"];
    TypeProto {
        value: Some(TypeValue::TensorType(TensorTypeProto {
            elem_type: elem as i32,
            shape: (!is_any).then(|| TensorShapeProto {
                dim: dims.iter().map(dim).collect(),
            }),
        })),
        ..Default::default()
    }
}
