//! Operators on each element: of one tensor, and of two with broadcasting.

use super::relations::broadcast;
use super::spec::operators;

operators! {
    /// The natural logarithm of each element.
    log = "log"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The logarithm to base 2 of each element.
    log2 = "log2"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The logarithm to base 10 of each element.
    log10 = "log10"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The exponential of each element.
    exp = "exp"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The square root of each element.
    sqrt = "sqrt"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The reciprocal of the square root of each element.
    rsqrt = "rsqrt"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The logistic function of each element: `1 / (1 + exp(-x))`.
    sigmoid = "sigmoid"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The hyperbolic tangent of each element.
    tanh = "tanh"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The cosine of each element.
    cos = "cos"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The hyperbolic cosine of each element.
    cosh = "cosh"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The sine of each element.
    sin = "sin"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The hyperbolic sine of each element.
    sinh = "sinh"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The tangent of each element.
    tan = "tan"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The inverse cosine of each element.
    acos = "acos"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The inverse hyperbolic cosine of each element.
    acosh = "acosh"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The inverse sine of each element.
    asin = "asin"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The inverse hyperbolic sine of each element.
    asinh = "asinh"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The inverse tangent of each element.
    atan = "atan"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The inverse hyperbolic tangent of each element.
    atanh = "atanh"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// The error function of each element.
    erf = "erf"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 1;

    /// Each element rounded down.
    floor = "floor"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 3;

    /// Each element rounded up.
    ceil = "ceil"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 3;

    /// Each element rounded towards zero.
    trunc = "trunc"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 3;

    /// Each element rounded to the nearest integer, halves to even ones.
    round = "round"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 3;

    /// The absolute value of each element.
    abs = "abs"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 3;

    /// The sign of each element: -1, 0 or 1.
    sign = "sign"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 3;

    /// The negation of each element.
    negative = "negative"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 3;

    /// A copy of the tensor.
    copy = "copy"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 3;

    /// The negation of each truth value.
    logical_not = "logical_not"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 4;

    /// The bits of each element, inverted.
    bitwise_not = "bitwise_not"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 4;

    /// Zeros in the shape and data type of the input.
    zeros_like = "zeros_like"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 4;

    /// Ones in the shape and data type of the input.
    ones_like = "ones_like"(data: "The input tensor.") -> "Identity" broadcast::identity, ElemWise, 4;

    /// True for each element that is not a number.
    isnan = "isnan"(data: "The input tensor.") -> "IdentityCompRel" broadcast::identity_comparison, ElemWise, 3;

    /// True for each element that is neither infinite nor not a number.
    isfinite = "isfinite"(data: "The input tensor.") -> "IdentityCompRel" broadcast::identity_comparison, ElemWise, 3;

    /// True for each element that is infinite.
    isinf = "isinf"(data: "The input tensor.") -> "IdentityCompRel" broadcast::identity_comparison, ElemWise, 3;

    /// The sum of the elements of two tensors.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    add = "add"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1, Commutative;

    /// The difference of the elements of two tensors.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    subtract = "subtract"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1;

    /// The product of the elements of two tensors.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    multiply = "multiply"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1, Commutative;

    /// The quotient of the elements of two tensors.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    divide = "divide"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1, MayFail;

    /// The remainder of the elements of two tensors, with the sign of the left one.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    modulo = "mod"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1, MayFail;

    /// The quotient of the elements of two tensors, rounded down.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    floor_divide = "floor_divide"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1, MayFail;

    /// The remainder of the quotient that is rounded down.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    floor_mod = "floor_mod"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1, MayFail;

    /// The quotient of the elements of two tensors, rounded towards zero.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    trunc_divide = "trunc_divide"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1, MayFail;

    /// The remainder of the quotient that is rounded towards zero.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    trunc_mod = "trunc_mod"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 1, MayFail;

    /// The elements of the left tensor to the power of those of the right.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    power = "power"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4;

    /// The larger one of each pair of elements.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    maximum = "maximum"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, Commutative;

    /// The smaller one of each pair of elements.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    minimum = "minimum"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, Commutative;

    /// The bits of the elements, shifted right.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    right_shift = "right_shift"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, MayFail;

    /// The bits of the elements, shifted left.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    left_shift = "left_shift"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, MayFail;

    /// The bits that are set in both elements.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    bitwise_and = "bitwise_and"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, Commutative;

    /// The bits that are set in at least one of both elements.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    bitwise_or = "bitwise_or"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, Commutative;

    /// The bits that are set in exactly one of both elements.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    bitwise_xor = "bitwise_xor"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, Commutative;

    /// True where both elements are true.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    logical_and = "logical_and"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, Commutative;

    /// True where at least one of both elements is true.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    logical_or = "logical_or"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, Commutative;

    /// True where exactly one of both elements is true.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    logical_xor = "logical_xor"(lhs: "The left input.", rhs: "The right input.")
        -> "Broadcast" broadcast::broadcast, Broadcast, 4, Commutative;

    /// True where the elements are equal.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    equal = "equal"(lhs: "The left input.", rhs: "The right input.")
        -> "BroadcastComp" broadcast::comparison, Broadcast, 4, Commutative;

    /// True where the elements differ.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    not_equal = "not_equal"(lhs: "The left input.", rhs: "The right input.")
        -> "BroadcastComp" broadcast::comparison, Broadcast, 4, Commutative;

    /// True where the left element is less than the right one.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    less = "less"(lhs: "The left input.", rhs: "The right input.")
        -> "BroadcastComp" broadcast::comparison, Broadcast, 4;

    /// True where the left element is at most the right one.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    less_equal = "less_equal"(lhs: "The left input.", rhs: "The right input.")
        -> "BroadcastComp" broadcast::comparison, Broadcast, 4;

    /// True where the left element is greater than the right one.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    greater = "greater"(lhs: "The left input.", rhs: "The right input.")
        -> "BroadcastComp" broadcast::comparison, Broadcast, 4;

    /// True where the left element is at least the right one.
    ///
    /// Sizes are aligned at the last axis, and axes of size 1 are repeated; both inputs
    /// have the same data type.
    greater_equal = "greater_equal"(lhs: "The left input.", rhs: "The right input.")
        -> "BroadcastComp" broadcast::comparison, Broadcast, 4;
}
