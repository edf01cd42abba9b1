//! Compatibility of types.

use crate::*;
use isoform::Ref;

/// True if both formats are the same, or both are 64-bit integers of indices.
pub(super) fn same_number(one: DataType, other: DataType) -> bool {
    let is_wide = |dtype| matches!(dtype, DataType::Index | DataType::Int64);
    one == other || (is_wide(one) && is_wide(other))
}

/// True if a value of type `got` is acceptable where `expected` is required.
///
/// Classes, formats, ranks and sizes known on both sides must agree; sizes that are not
/// literals, memory locations and views may differ, like between a function and its
/// callers. Unknown parts are compatible with all types.
pub(super) fn compatible(expected: &Ref<Type>, got: &Ref<Type>) -> bool {
    let mut pairs = vec![(expected.clone(), got.clone())];
    // Types share their parts, and two long chains of pairs may meet again.
    let mut seen = hashbrown::HashSet::new();
    while let Some((expected, got)) = pairs.pop() {
        if expected.same_as(&got) || expected.isa::<UnknownType>() || got.isa::<UnknownType>() {
            continue;
        }
        if expected.type_index() != got.type_index() {
            return false;
        }
        if let (Some(left), Some(right)) = (
            expected.downcast_ref::<ScalarType>(),
            got.downcast_ref::<ScalarType>(),
        ) {
            if !same_number(left.dtype.get(), right.dtype.get()) {
                return false;
            }
        } else if let (Some(left), Some(right)) = (
            expected.downcast_ref::<ShapedType>(),
            got.downcast_ref::<ShapedType>(),
        ) {
            if left.dtype != right.dtype || left.shape.len() != right.shape.len() {
                return false;
            }
            let literal =
                |size: &Ref<Expr>| size.downcast_ref::<ConstInt>().map(|number| number.value);
            let sizes = left.shape.iter().zip(right.shape.iter());
            for (left, right) in sizes {
                if let (Some(left), Some(right)) = (literal(left), literal(right))
                    && left != right
                {
                    return false;
                }
            }
        } else if let (Some(left), Some(right)) = (
            expected.downcast_ref::<TupleType>(),
            got.downcast_ref::<TupleType>(),
        ) {
            if left.types.len() != right.types.len() {
                return false;
            }
            if seen.insert((expected.identity(), got.identity())) {
                let types = left.types.iter().cloned().zip(right.types.iter().cloned());
                pairs.extend(types);
            }
        }
    }
    true
}

/// A type in a message.
pub(super) fn shown(ty: &Ref<Type>) -> String {
    const LONGEST: usize = 80;
    let options = PrintOptions::default().prefix("");
    let text = options.print(ty).unwrap_or_else(|_| format!("{ty:?}"));
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
