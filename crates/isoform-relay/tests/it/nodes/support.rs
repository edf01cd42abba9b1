//! Helpers of the tests.

use isoform::compare::CompareOptions;
use isoform::functions::Function;
use isoform::values::{DType, Tensor};
use isoform::{Ref, Value, structural_digest, structural_equal, structural_hash};
use isoform_ir::ir::{Op, OpRegistry, RelayExpr, TensorType, Type};
use isoform_relay::{AsExpr, Call, Constant};

/// A constant without dimensions.
pub(crate) fn int(value: i32) -> Ref<RelayExpr> {
    let data = Tensor::new(DType::INT32, Vec::new(), value.to_le_bytes().to_vec());
    Constant::new(data.expect("four bytes")).expr()
}

pub(crate) fn op(name: &str) -> Ref<Op> {
    OpRegistry::get_or_register(name)
        .expect("a name")
        .op()
        .clone()
}

/// An operator of one input with a relation between the type parameters.
pub(crate) fn primitive() -> Ref<Op> {
    static MADE: std::sync::OnceLock<Ref<Op>> = std::sync::OnceLock::new();
    MADE.get_or_init(|| {
        let relation = Function::new(|_| Ok(Value::from(true)));
        OpRegistry::get_or_register("relay_test.primitive")
            .expect("a name")
            .num_inputs(1)
            .type_relation("relay_test.primitive", Some(relation))
            .expect("a new relation")
            .op()
            .clone()
    })
    .clone()
}

pub(crate) fn call(callee: &Ref<RelayExpr>, args: &[Ref<RelayExpr>]) -> Ref<Call> {
    Call::new(callee, args.to_vec())
}

/// The type of a scalar.
pub(crate) fn scalar(dtype: DType) -> Ref<Type> {
    TensorType::new([]).with_dtype(dtype).upcast()
}

/// Checks whether two values are equal, in both directions; equal ones share their hash.
#[track_caller]
pub(crate) fn check(left: impl Into<Value>, right: impl Into<Value>, equal: bool) {
    let (left, right) = (left.into(), right.into());
    let compare = |left, right| structural_equal(left, right).expect("comparable");
    assert_eq!(compare(&left, &right), equal, "{left:?}\n{right:?}");
    assert_eq!(compare(&right, &left), equal, "{right:?}\n{left:?}");
    if equal {
        let hash = |value| structural_hash(value).expect("hashable");
        assert_eq!(hash(&left), hash(&right), "{left:?}\n{right:?}");
    }
}

/// Like [`check`], for values with free variables, which are mapped.
#[track_caller]
pub(crate) fn check_open(left: impl Into<Value>, right: impl Into<Value>, equal: bool) {
    let options = CompareOptions {
        map_free_vars: true,
        ..Default::default()
    };
    let (left, right) = (left.into(), right.into());
    let found = options.equal(&left, &right).expect("comparable");
    assert_eq!(found, equal, "{left:?}\n{right:?}");
    if equal && let (Ok(one), Ok(other)) = (structural_digest(&left), structural_digest(&right)) {
        assert_eq!(one, other);
    }
}
