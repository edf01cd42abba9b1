//! Tests of the sparse module, hostile input included.

use super::*;
use crate::proto::TensorProto;

fn tensor(elem: ElemType, dims: &[i64]) -> TensorProto {
    TensorProto {
        dims: dims.to_vec(),
        data_type: elem.code(),
        ..Default::default()
    }
}

fn sparse(dims: &[i64], shape: &[i64], indices: &[i64]) -> SparseTensorProto {
    let count = shape[0];
    SparseTensorProto {
        dims: dims.to_vec(),
        values: Some(TensorProto {
            name: "s".into(),
            float_data: vec![1.0; count as usize],
            ..tensor(ElemType::Float, &[count])
        }),
        indices: Some(TensorProto {
            int64_data: indices.to_vec(),
            ..tensor(ElemType::Int64, shape)
        }),
    }
}

fn read_sparse(sparse: &SparseTensorProto) -> Result<SparseTensorData> {
    decode_sparse_tensor(sparse, &ExternalResolver::none())
}

#[test]
fn both_ways_of_writing_positions_are_equal() {
    let linear = read_sparse(&sparse(&[2, 3], &[2], &[1, 5])).unwrap();
    assert_eq!(linear.positions, [1, 5]);
    assert_eq!(
        linear,
        read_sparse(&sparse(&[2, 3], &[2, 2], &[0, 1, 1, 2])).unwrap()
    );
    assert!(
        read_sparse(&sparse(&[2, 3], &[0], &[]))
            .unwrap()
            .positions
            .is_empty()
    );
}

#[test]
fn bad_sparse_tensors_are_errors() {
    for (case, expected) in [
        (sparse(&[2, 3], &[1], &[6]), "outside of the 6 elements"),
        (sparse(&[2, 3], &[1], &[-1]), "negative"),
        (sparse(&[2, 3], &[2], &[2, 2]), "ascend"),
        (
            sparse(&[2, 3], &[1, 2], &[0, 3]),
            "outside of a dimension of 3",
        ),
        (
            sparse(&[2, 3], &[1, 3], &[0, 0, 0]),
            "expected shape [1] or [1, 2]",
        ),
        (sparse(&[2, -3], &[1], &[0]), "negative dimension"),
        (sparse(&[0], &[1], &[0]), "outside of the 0 elements"),
        (
            SparseTensorProto {
                values: None,
                ..sparse(&[2], &[1], &[0])
            },
            "values are missing",
        ),
        (
            SparseTensorProto {
                indices: None,
                ..sparse(&[2], &[1], &[0])
            },
            "indices are missing",
        ),
    ] {
        let error = read_sparse(&case).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
