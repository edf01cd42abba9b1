//! Ranges of integers for loops and buffers.

use isoform::types::Schema;
use isoform::{Error, Node, Ref, Result, Value, export};

use super::literal::constant;
use super::literal::is_zero;
use super::operators::sub;
use crate::ir::{PrimExpr, Span};

/// The integers from `min` on; `extent` is their number.
///
/// A tuple or list of one or two numbers is converted to a range, where a range is
/// expected.
#[derive(Node)]
#[node(key = "ir.Range", init = make_range, convert = range_from)]
#[repr(C)]
pub struct Range {
    /// The first.
    pub min: Ref<PrimExpr>,
    /// The number of integers.
    pub extent: Ref<PrimExpr>,
    /// The source location.
    #[node(ignore, default, repr = false)]
    pub span: Option<Ref<Span>>,
}

impl Range {
    /// The range from `begin` up to and without `end`.
    ///
    /// # Errors
    ///
    /// As for subtraction.
    pub fn between(begin: &Ref<PrimExpr>, end: &Ref<PrimExpr>) -> Result<Ref<Range>> {
        let extent = if is_zero(begin) {
            end.clone()
        } else {
            sub(end, begin)?
        };
        Ok(Range::new(begin, extent))
    }
}

/// Makes the range [begin, end), or [0, begin) without an end.
#[export("ir.Range")]
fn make_range(
    begin: &Ref<PrimExpr>,
    end: Option<Ref<PrimExpr>>,
    span: Option<Ref<Span>>,
) -> Result<Ref<Range>> {
    let range = match end {
        Some(end) => Range::between(begin, &end)?,
        None => Range::new(constant(begin.dtype, 0)?, begin),
    };
    Ok(range.with_span(span))
}

/// Makes the range [min_value, min_value + extent).
#[export("ir.Range.from_min_extent")]
fn from_min_extent(
    min_value: Ref<PrimExpr>,
    extent: Ref<PrimExpr>,
    span: Option<Ref<Span>>,
) -> Ref<Range> {
    Range::new(min_value, extent).with_span(span)
}

/// Converts a sequence of one or two expressions to a range.
#[export("ir.Range.__ffi_convert__")]
fn range_from(value: Value) -> Result<Ref<Range>> {
    let items = value.items().ok_or_else(|| {
        let got = value.type_name();
        Error::type_error(format!("expected a sequence, got {got}"))
    })?;
    let expr = |position: usize| -> Result<Ref<PrimExpr>> {
        let schema = Schema::object::<PrimExpr>();
        let item = items.get(position).cloned().unwrap_or_default();
        schema.convert(item)?.extract()
    };
    match items.len() {
        1 => make_range(&expr(0)?, None, None),
        2 => make_range(&expr(0)?, Some(expr(1)?), None),
        count => Err(Error::value_error(format!(
            "expected the begin and end of a range, got {count} elements"
        ))),
    }
}

pub(super) fn register() -> Result<()> {
    // The key belongs to the dialect `ir`, so the list of `tir` does not contain the
    // type.
    isoform::types::register::<Range>()?;
    isoform::register_functions![from_min_extent]
}
