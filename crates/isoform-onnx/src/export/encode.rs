//! Writes a model field by field: tensors go from the program to the file without being
//! collected in memory.
//!
//! Messages know their encoded lengths. This module takes apart only the parts that can
//! hold tensors; prost encodes everything else.

use std::io::{self, Write};

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, message};

use crate::import::kept::about;
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto,
    TensorProto,
};

/// Tensors of at least this many bytes are written from where they are.
const STREAMED: usize = 4096;

/// Writes a model.
pub(super) fn write_model(model: &ModelProto, out: &mut impl Write) -> io::Result<()> {
    let mut encoder = Encoder {
        out,
        scratch: Vec::new(),
    };
    encoder.rest(&ModelProto {
        ir_version: model.ir_version,
        ..about(model)
    })?;
    if let Some(graph) = &model.graph {
        encoder.head(7, graph)?;
        encoder.graph(graph)?;
    }
    encoder.all(20, &model.training_info)?;
    for function in &model.functions {
        encoder.head(25, function)?;
        encoder.function(function)?;
    }
    Ok(())
}

struct Encoder<'o, W> {
    out: &'o mut W,
    scratch: Vec<u8>,
}

impl<W: Write> Encoder<'_, W> {
    fn flush_scratch(&mut self) -> io::Result<()> {
        self.out.write_all(&self.scratch)?;
        self.scratch.clear();
        Ok(())
    }

    /// The start of a field that holds a message.
    fn head(&mut self, tag: u32, message: &impl Message) -> io::Result<()> {
        self.head_of(tag, message.encoded_len())
    }

    fn head_of(&mut self, tag: u32, length: usize) -> io::Result<()> {
        encode_key(tag, WireType::LengthDelimited, &mut self.scratch);
        encode_varint(length as u64, &mut self.scratch);
        self.flush_scratch()
    }

    /// The fields of a message without its own head.
    fn rest(&mut self, message: &impl Message) -> io::Result<()> {
        // Cannot fail: a vector grows.
        let _ = message.encode(&mut self.scratch);
        self.flush_scratch()
    }

    fn all<M: Message>(&mut self, tag: u32, messages: &[M]) -> io::Result<()> {
        for item in messages {
            message::encode(tag, item, &mut self.scratch);
            self.flush_scratch()?;
        }
        Ok(())
    }

    fn graph(&mut self, graph: &GraphProto) -> io::Result<()> {
        for node in &graph.node {
            self.node(1, node)?;
        }
        self.rest(&GraphProto {
            name: graph.name.clone(),
            doc_string: graph.doc_string.clone(),
            ..Default::default()
        })?;
        self.tensors(5, &graph.initializer)?;
        self.all(11, &graph.input)?;
        self.all(12, &graph.output)?;
        self.all(13, &graph.value_info)?;
        self.all(14, &graph.quantization_annotation)?;
        for sparse in &graph.sparse_initializer {
            self.sparse(15, sparse)?;
        }
        self.all(16, &graph.metadata_props)
    }

    fn function(&mut self, function: &FunctionProto) -> io::Result<()> {
        self.rest(&FunctionProto {
            name: function.name.clone(),
            input: function.input.clone(),
            output: function.output.clone(),
            attribute: function.attribute.clone(),
            doc_string: function.doc_string.clone(),
            opset_import: function.opset_import.clone(),
            domain: function.domain.clone(),
            overload: function.overload.clone(),
            metadata_props: function.metadata_props.clone(),
            ..Default::default()
        })?;
        for node in &function.node {
            self.node(7, node)?;
        }
        for attr in &function.attribute_proto {
            self.attribute(11, attr)?;
        }
        self.all(12, &function.value_info)
    }

    fn node(&mut self, tag: u32, node: &NodeProto) -> io::Result<()> {
        let has_tensors = |attr: &AttributeProto| {
            let has_one = attr.t.is_some() || attr.g.is_some() || attr.sparse_tensor.is_some();
            has_one
                || !(attr.tensors.is_empty()
                    && attr.graphs.is_empty()
                    && attr.sparse_tensors.is_empty())
        };
        if !node.attribute.iter().any(has_tensors) {
            return self.all(tag, std::slice::from_ref(node));
        }
        self.head(tag, node)?;
        self.rest(&NodeProto {
            input: node.input.clone(),
            output: node.output.clone(),
            name: node.name.clone(),
            op_type: node.op_type.clone(),
            doc_string: node.doc_string.clone(),
            domain: node.domain.clone(),
            overload: node.overload.clone(),
            metadata_props: node.metadata_props.clone(),
            attribute: Vec::new(),
        })?;
        for attr in &node.attribute {
            self.attribute(5, attr)?;
        }
        Ok(())
    }

    fn attribute(&mut self, tag: u32, attr: &AttributeProto) -> io::Result<()> {
        self.head(tag, attr)?;
        self.rest(&AttributeProto {
            name: attr.name.clone(),
            f: attr.f,
            i: attr.i,
            s: attr.s.clone(),
            floats: attr.floats.clone(),
            ints: attr.ints.clone(),
            strings: attr.strings.clone(),
            doc_string: attr.doc_string.clone(),
            tp: attr.tp.clone(),
            type_protos: attr.type_protos.clone(),
            r#type: attr.r#type,
            ref_attr_name: attr.ref_attr_name.clone(),
            ..Default::default()
        })?;
        if let Some(tensor) = &attr.t {
            self.tensors(5, std::slice::from_ref(&**tensor))?;
        }
        if let Some(graph) = &attr.g {
            self.head(6, &**graph)?;
            self.graph(graph)?;
        }
        self.tensors(10, &attr.tensors)?;
        for graph in &attr.graphs {
            self.head(11, graph)?;
            self.graph(graph)?;
        }
        if let Some(sparse) = &attr.sparse_tensor {
            self.sparse(22, sparse)?;
        }
        for sparse in &attr.sparse_tensors {
            self.sparse(23, sparse)?;
        }
        Ok(())
    }

    fn sparse(&mut self, tag: u32, sparse: &SparseTensorProto) -> io::Result<()> {
        self.head(tag, sparse)?;
        self.rest(&SparseTensorProto {
            dims: sparse.dims.clone(),
            ..Default::default()
        })?;
        self.tensors(1, sparse.values.as_slice())?;
        self.tensors(2, sparse.indices.as_slice())
    }

    fn tensors(&mut self, tag: u32, tensors: &[TensorProto]) -> io::Result<()> {
        for tensor in tensors {
            let Some(raw) = tensor.raw_data.as_ref().filter(|raw| raw.len() >= STREAMED) else {
                self.all(tag, std::slice::from_ref(tensor))?;
                continue;
            };
            self.head(tag, tensor)?;
            self.rest(&TensorProto {
                raw_data: None,
                ..tensor.clone()
            })?;
            self.head_of(9, raw.len())?;
            self.out.write_all(raw)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// Remembers where large pieces come from.
    #[derive(Default)]
    struct Pieces {
        large: Vec<(usize, usize)>,
        bytes: Vec<u8>,
    }

    impl Write for Pieces {
        fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
            if piece.len() >= STREAMED {
                self.large.push((piece.as_ptr() as usize, piece.len()));
            }
            self.bytes.extend_from_slice(piece);
            Ok(piece.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn tensor(bytes: &Bytes) -> TensorProto {
        TensorProto {
            raw_data: Some(bytes.clone()),
            ..Default::default()
        }
    }

    /// The test covers every place that can hold a tensor, and no other part is large.
    #[test]
    fn large_tensors_are_written_from_where_they_are() {
        let weights: Vec<Bytes> = (0..7).map(|byte| vec![byte; 100_000].into()).collect();
        let sparse = |bytes: &Bytes| SparseTensorProto {
            values: Some(tensor(bytes)),
            ..Default::default()
        };
        let node = NodeProto {
            attribute: vec![AttributeProto {
                t: Some(Box::new(tensor(&weights[0]))),
                g: Some(Box::new(GraphProto {
                    initializer: vec![tensor(&weights[1])],
                    ..Default::default()
                })),
                tensors: vec![tensor(&weights[2])],
                sparse_tensor: Some(Box::new(sparse(&weights[3]))),
                ..Default::default()
            }],
            ..Default::default()
        };
        let model = ModelProto {
            graph: Some(GraphProto {
                node: vec![node.clone()],
                initializer: vec![tensor(&weights[4])],
                sparse_initializer: vec![sparse(&weights[5])],
                ..Default::default()
            }),
            functions: vec![FunctionProto {
                attribute_proto: vec![AttributeProto {
                    t: Some(Box::new(tensor(&weights[6]))),
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        let mut pieces = Pieces::default();
        write_model(&model, &mut pieces).unwrap();
        let place = |bytes: &Bytes| (bytes.as_ptr() as usize, bytes.len());
        let mut expected: Vec<_> = weights.iter().map(place).collect();
        expected.sort_unstable();
        pieces.large.sort_unstable();
        assert_eq!(pieces.large, expected);
        assert_eq!(ModelProto::decode(pieces.bytes.as_slice()).unwrap(), model);
    }
}
