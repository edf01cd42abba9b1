//! The data types of expressions and their operands.

use super::super::source::Source;
use isoform::types::TypeInfo;
use isoform::values::{DType, DTypeCode};

const UINT8: DType = DType::new(DTypeCode::UInt, 8);
const FLOAT16: DType = DType::new(DTypeCode::Float, 16);
const HANDLE: DType = DType::new(DTypeCode::Handle, 64);

/// The data types of scalars in random expressions.
const SCALARS: [DType; 6] = [
    DType::INT32,
    DType::INT64,
    DType::BOOL,
    DType::FLOAT32,
    UINT8,
    FLOAT16,
];

/// The lanes of vectors in random expressions.
const LANES: u16 = 4;

/// A data type that expressions may have.
pub(super) fn draw(source: &mut Source<'_>) -> DType {
    let scalar = *source.pick(&SCALARS);
    if source.chance(15) {
        scalar.with_lanes(LANES)
    } else {
        scalar
    }
}

/// The data types of an expression whose fields have not been drawn yet.
#[derive(Clone, Copy)]
pub(super) struct Typing {
    pub(super) dtype: DType,
    /// The data type of the operands, possibly different from the result.
    operand: DType,
    /// That of its condition.
    condition: DType,
}

impl Typing {
    /// The data type that the expression in a field has to have, if any.
    pub(super) fn of_field(&self, info: &TypeInfo, field: &str) -> Option<DType> {
        match (info.key(), field) {
            ("tir.Select", "condition") => Some(self.condition),
            ("tir.Let", "var" | "value") => Some(self.operand),
            ("tir.Cast" | "tir.Broadcast", "value") => Some(self.operand),
            ("tir.Ramp", "base" | "stride") => Some(self.operand),
            ("tir.Let", "body") | ("tir.Select", _) => Some(self.dtype),
            ("tir.Not", "a") => Some(self.dtype),
            (_, "a" | "b") => Some(self.operand),
            _ => None,
        }
    }
}

fn is_float(dtype: DType) -> bool {
    matches!(dtype.code(), DTypeCode::Float | DTypeCode::BFloat)
}

fn is_bool(dtype: DType) -> bool {
    dtype.code() == DTypeCode::Bool
}

fn is_integer(dtype: DType) -> bool {
    matches!(dtype.code(), DTypeCode::Int | DTypeCode::UInt)
}

/// True if an expression of a class may have a data type.
pub(super) fn may_be(info: &TypeInfo, dtype: DType) -> bool {
    let is_scalar = dtype.lanes() == 1;
    let parent = info.parent().map_or("", TypeInfo::key);
    match (info.key(), parent) {
        ("ir.IntImm", _) => is_scalar && (is_integer(dtype) || is_bool(dtype)),
        ("ir.FloatImm", _) => is_scalar && is_float(dtype),
        ("tir.StringImm", _) => dtype == HANDLE,
        ("tir.SizeVar", _) => is_scalar && is_integer(dtype),
        ("tir.Broadcast", _) => !is_scalar && dtype.lanes() == LANES,
        ("tir.Ramp", _) => dtype.lanes() == LANES && is_integer(dtype),
        ("tir.Not" | "tir.CmpExpr" | "tir.LogicalExpr", _)
        | (_, "tir.CmpExpr" | "tir.LogicalExpr") => is_bool(dtype),
        _ => true,
    }
}

/// True if vectors of a class have no vector as a part.
pub(super) fn is_simple_vector(info: &TypeInfo) -> bool {
    matches!(info.key(), "tir.Broadcast" | "tir.Ramp" | "tir.Var")
}

/// The data types of an expression of a class, with the requested type if given.
pub(super) fn of(info: &TypeInfo, want: Option<DType>, source: &mut Source<'_>) -> Typing {
    let parent = info.parent().map_or("", TypeInfo::key);
    let mut dtype = want.unwrap_or_else(|| draw(source));
    if want.is_none() && !may_be(info, dtype) {
        dtype = match info.key() {
            "ir.FloatImm" => DType::FLOAT32,
            "tir.StringImm" => HANDLE,
            "ir.IntImm" | "tir.SizeVar" => DType::INT32,
            "tir.Ramp" => DType::INT32.with_lanes(LANES),
            "tir.Broadcast" => dtype.with_lanes(LANES),
            _ => DType::BOOL,
        };
    }
    let scalar = dtype.with_lanes(1);
    let another = |source: &mut Source<'_>| match dtype.code() {
        DTypeCode::Handle => dtype,
        _ => source.pick(&SCALARS).with_lanes(dtype.lanes()),
    };
    let operand = match (info.key(), parent) {
        ("tir.Broadcast" | "tir.Ramp", _) => scalar,
        ("tir.Cast" | "tir.CmpExpr", _) | (_, "tir.CmpExpr") => another(source),
        ("tir.Let", _) => *source.pick(&SCALARS),
        _ => dtype,
    };
    let condition = if source.chance(50) {
        DType::BOOL
    } else {
        DType::BOOL.with_lanes(dtype.lanes())
    };
    Typing {
        dtype,
        operand,
        condition,
    }
}
