//! The memory layout of tensors and tiles.

use isoform::types::{Enumerator, NodeEnum};
use isoform::{Array, Node, Ref, export};

use super::arguments::{Extent, extents};
use super::enums::{
    CompactMode, CompactModeObject, PadValue, PadValueObject, TensorLayout, TensorLayoutObject,
    TileLayout, TileLayoutObject,
};
use super::expr::{ConstInt, Expr};

/// The memory layout of a tensor.
#[derive(Node)]
#[node(key = "pto.TensorView", init = make_tensor_view)]
#[repr(C)]
pub struct TensorView {
    /// The distances between neighbours in the dimensions.
    #[node(default)]
    pub stride: Array<Ref<Expr>>,
    /// The order of the elements.
    #[node(default = TensorLayout::Nd.object())]
    pub layout: Enumerator<TensorLayout>,
    /// The part of the shape with data; empty for the whole shape.
    #[node(default)]
    pub valid_shape: Array<Ref<Expr>>,
    /// The contents outside of the part with data.
    #[node(default = PadValue::Null.object())]
    pub pad: Enumerator<PadValue>,
}

/// Makes a view; ints become literals of format INDEX.
#[export("pto.TensorView")]
fn make_tensor_view(
    #[default = Array::<Ref<Expr>>::new()] stride: Vec<Extent>,
    #[default = TensorLayout::Nd.object()] layout: Ref<TensorLayoutObject>,
    #[default = Array::<Ref<Expr>>::new()] valid_shape: Vec<Extent>,
    #[default = PadValue::Null.object()] pad: Ref<PadValueObject>,
) -> Ref<TensorView> {
    Ref::new(TensorView {
        stride: extents(stride),
        layout,
        valid_shape: extents(valid_shape),
        pad,
    })
}

/// The layout of a tile in the buffer of a core.
#[derive(Node)]
#[node(key = "pto.TileView", init = make_tile_view)]
#[repr(C)]
pub struct TileView {
    /// The part of the shape with data; empty for the whole shape.
    #[node(default)]
    pub valid_shape: Array<Ref<Expr>>,
    /// The distances between neighbours in the dimensions.
    #[node(default)]
    pub stride: Array<Ref<Expr>>,
    /// The offset of the first element.
    #[node(default)]
    pub start_offset: Option<Ref<Expr>>,
    /// The order of the fractals.
    #[node(default = TileLayout::RowMajor.object())]
    pub blayout: Enumerator<TileLayout>,
    /// The order of the elements of a fractal.
    #[node(default = TileLayout::NoneBox.object())]
    pub slayout: Enumerator<TileLayout>,
    /// The size of a fractal in bytes.
    #[node(default = TileView::FRACTAL)]
    pub fractal: i64,
    /// The contents outside of the part with data.
    #[node(default = PadValue::Null.object())]
    pub pad: Enumerator<PadValue>,
    /// The way to omit the part without data.
    #[node(default = CompactMode::Null.object())]
    pub compact: Enumerator<CompactMode>,
}

impl TileView {
    /// The default size of a fractal in bytes.
    pub const FRACTAL: i64 = 512;
}

/// Makes a view; ints become literals of format INDEX.
#[export("pto.TileView")]
#[allow(
    clippy::too_many_arguments,
    reason = "the parameters are those in Python"
)]
fn make_tile_view(
    valid_shape: Option<Vec<Extent>>,
    stride: Option<Vec<Extent>>,
    start_offset: Option<Extent>,
    #[default = TileLayout::RowMajor.object()] blayout: Ref<TileLayoutObject>,
    #[default = TileLayout::NoneBox.object()] slayout: Ref<TileLayoutObject>,
    #[default = TileView::FRACTAL] fractal: i64,
    #[default = PadValue::Null.object()] pad: Ref<PadValueObject>,
    #[default = CompactMode::Null.object()] compact: Ref<CompactModeObject>,
) -> Ref<TileView> {
    Ref::new(TileView {
        valid_shape: extents(valid_shape.unwrap_or_default()),
        stride: extents(stride.unwrap_or_default()),
        start_offset: start_offset.map(|offset| offset.0),
        blayout,
        slayout,
        fractal,
        pad,
        compact,
    })
}

/// True if an expression is the literal 1.
pub(super) fn is_one(expr: &Ref<Expr>) -> bool {
    let literal = expr.downcast_ref::<ConstInt>();
    literal.is_some_and(|literal| literal.value == 1)
}
