//! A bound on the memory that decoding a file takes.
//!
//! An empty message costs two bytes in a file and hundreds in memory. Before a file is
//! decoded, its messages are therefore counted, without keeping anything and without
//! looking into names or weights. Numbers and strings need no count: they grow at most
//! sixteenfold.

use std::mem::size_of;

use crate::{
    error::{OnnxError, Result},
    proto,
};

/// The number of bytes of messages allowed for each byte of the file. The messages of
/// real models take about twenty bytes for each byte other than weights.
const FACTOR: u64 = 64;

/// The number of bytes of messages allowed in any file.
const FLOOR: u64 = 64 << 20;

/// The kinds of messages that lead to other messages or are large.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    SparseTensor,
    ValueInfo,
    Type,
    /// Sequence and optional types, and map types except for their field number.
    Element,
    TensorType,
    Shape,
    Dimension,
    Annotation,
    Function,
    Training,
    /// Messages of numbers and strings alone.
    Entry,
}

impl Kind {
    /// The kind of message in a field; None for other fields.
    fn child(self, field: u64) -> Option<Kind> {
        Some(match (self, field) {
            (Kind::Model, 7) | (Kind::Attribute, 6 | 11) | (Kind::Training, 1 | 2) => Kind::Graph,
            (Kind::Model, 20) => Kind::Training,
            (Kind::Model, 25) => Kind::Function,
            (Kind::Graph, 1) | (Kind::Function, 7) => Kind::Node,
            (Kind::Node, 5) | (Kind::Function, 11) => Kind::Attribute,
            (Kind::Graph, 5) | (Kind::Attribute, 5 | 10) | (Kind::SparseTensor, 1 | 2) => {
                Kind::Tensor
            }
            (Kind::Graph, 15) | (Kind::Attribute, 22 | 23) => Kind::SparseTensor,
            (Kind::Graph, 11..=13) | (Kind::Function, 12) => Kind::ValueInfo,
            (Kind::Graph, 14) => Kind::Annotation,
            (Kind::ValueInfo, 2) | (Kind::Attribute, 14 | 15) => Kind::Type,
            (Kind::Element, 1 | 2) => Kind::Type,
            (Kind::Type, 1 | 8) => Kind::TensorType,
            (Kind::Type, 4 | 5 | 9) => Kind::Element,
            (Kind::TensorType, 2) => Kind::Shape,
            (Kind::Shape, 1) => Kind::Dimension,
            (Kind::Model, 8 | 14)
            | (Kind::Graph, 16)
            | (Kind::Node, 9)
            | (Kind::Tensor, 3 | 13 | 16)
            | (Kind::ValueInfo, 4)
            | (Kind::Annotation, 2)
            | (Kind::Function, 9 | 14)
            | (Kind::Training, 3 | 4) => Kind::Entry,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Kind::Model => size_of::<proto::ModelProto>(),
            Kind::Graph => size_of::<proto::GraphProto>(),
            Kind::Node => size_of::<proto::NodeProto>(),
            Kind::Attribute => size_of::<proto::AttributeProto>(),
            Kind::Tensor => size_of::<proto::TensorProto>(),
            Kind::SparseTensor => size_of::<proto::SparseTensorProto>(),
            Kind::ValueInfo => size_of::<proto::ValueInfoProto>(),
            Kind::Type | Kind::Element => size_of::<proto::TypeProto>(),
            Kind::TensorType => size_of::<proto::TensorTypeProto>(),
            Kind::Shape => size_of::<proto::TensorShapeProto>(),
            Kind::Dimension => size_of::<proto::DimensionProto>(),
            Kind::Annotation => size_of::<proto::TensorAnnotation>(),
            Kind::Function => size_of::<proto::FunctionProto>(),
            Kind::Training => size_of::<proto::TrainingInfoProto>(),
            Kind::Entry => size_of::<proto::StringStringEntryProto>(),
        }
    }
}

/// Rejects a file whose messages would take far more memory than the messages of any
/// model.
///
/// Bytes that are not protobuf end the count; the decoder then reports the error.
pub(crate) fn check(data: &[u8]) -> Result<()> {
    let limit = (data.len() as u64)
        .saturating_mul(FACTOR)
        .saturating_add(FLOOR);
    let mut needed = 0_u64;
    // The messages around the current position, with their ends, which descend.
    let mut open = vec![(Kind::Model, data.len())];
    let mut offset = 0;
    while let Some(&(kind, end)) = open.last() {
        if offset >= end {
            open.pop();
            continue;
        }
        let Some((field, next)) = next_field(data, offset, end) else {
            return Ok(());
        };
        match next {
            Field::Skipped(next) => offset = next,
            Field::Bytes(start, next) => match kind.child(field) {
                Some(child) => {
                    needed = needed.saturating_add(child.size() as u64);
                    if needed > limit {
                        return Err(OnnxError::value(format!(
                            "the messages in it would take more than {FACTOR} times the \
                             memory of the file, which has {} bytes",
                            data.len()
                        )));
                    }
                    // The decoder refuses deeper nesting itself.
                    if open.len() > proto::RECURSION_LIMIT {
                        return Ok(());
                    }
                    open.push((child, next));
                    offset = start;
                }
                None => offset = next,
            },
        }
    }
    Ok(())
}

enum Field {
    /// A field without contents; the position after it.
    Skipped(usize),
    /// Start and end of the content.
    Bytes(usize, usize),
}

/// The number of the field at a position, and where it ends.
fn next_field(data: &[u8], at: usize, end: usize) -> Option<(u64, Field)> {
    let (key, after) = varint(data, at, end)?;
    let within = |next: usize| (next <= end).then_some(next);
    let field = match key & 7 {
        0 => Field::Skipped(varint(data, after, end)?.1),
        1 => Field::Skipped(within(after.checked_add(8)?)?),
        2 => {
            let (length, start) = varint(data, after, end)?;
            let next = start.checked_add(usize::try_from(length).ok()?)?;
            Field::Bytes(start, within(next)?)
        }
        // A group begins or ends. Its contents are skipped field by field, and can only
        // be overestimated.
        3 | 4 => Field::Skipped(after),
        5 => Field::Skipped(within(after.checked_add(4)?)?),
        _ => return None,
    };
    Some((key >> 3, field))
}

fn varint(data: &[u8], at: usize, end: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, &byte) in data.get(at..end)?.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((value, at + index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    #[test]
    fn refuses_a_file_of_empty_messages() {
        // A graph of empty nodes: two bytes each.
        let nodes = [0x0a, 0x00].repeat(1 << 20);
        let mut file = vec![0x3a];
        prost::encoding::encode_varint(nodes.len() as u64, &mut file);
        file.extend(nodes);
        let error = check(&file).unwrap_err().to_string();
        assert!(error.contains("more than 64 times the memory"), "{error}");
    }

    #[test]
    fn accepts_what_real_models_contain() {
        let attribute = proto::AttributeProto {
            name: "axis".to_owned(),
            i: Some(1),
            r#type: 2,
            ..Default::default()
        };
        let node = proto::NodeProto {
            input: vec!["x1".to_owned()],
            output: vec!["x2".to_owned()],
            op_type: "Relu".to_owned(),
            attribute: vec![attribute; 8],
            ..Default::default()
        };
        let model = proto::ModelProto {
            graph: Some(proto::GraphProto {
                node: vec![node; 100_000],
                ..Default::default()
            }),
            ..Default::default()
        };
        check(&model.encode_to_vec()).unwrap();
    }

    #[test]
    fn leaves_other_bytes_to_the_decoder() {
        for bytes in [
            &b"\x3a\xff"[..],
            b"\xff\xff\xff",
            b"\x0f",
            b"",
            b"\x3a\x02\x0a\x7f",
        ] {
            check(bytes).unwrap();
        }
    }
}
