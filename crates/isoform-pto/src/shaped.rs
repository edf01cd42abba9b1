//! The types of many numbers: tensors in memory, tiles in the buffers of a core,
//! and arrays; and the properties of these numbers that follow from an expression's type.

use isoform::types::{Enumerator, IntoField, NodeEnum};
use isoform::{Array, Error, Node, Ref, Result, export, structural_equal};

use super::arguments::{Extent, extents};
use super::datatype::{DataType, DataTypeObject};
use super::enums::{MemorySpace, MemorySpaceObject, TileLayout};
use super::expr::Expr;
use super::memory::MemRef;
use super::ty::{ScalarType, Type};
use super::views::{TensorView, TileView, is_one};

/// The base of the types for many numbers of one format.
#[derive(Node)]
#[node(key = "pto.ShapedType", no_new, init = refuse_shaped)]
#[repr(C)]
pub struct ShapedType {
    #[node(base, default)]
    base: Type,
    /// The sizes of the dimensions.
    pub shape: Array<Ref<Expr>>,
    /// The format of the elements.
    pub dtype: Enumerator<DataType>,
    /// The memory of the value, if known.
    #[node(default)]
    pub memref: Option<Ref<MemRef>>,
}

/// Always raises TypeError: use tensors, tiles or arrays.
#[export("pto.ShapedType")]
fn refuse_shaped() -> Result<Ref<ShapedType>> {
    Err(Error::type_error(
        "pto.ShapedType: expected one of the types that extend it: TensorType, TileType, ArrayType",
    ))
}

impl ShapedType {
    /// The fields of a type with this shape.
    fn of(
        shape: impl IntoField<Array<Ref<Expr>>>,
        dtype: impl IntoField<Enumerator<DataType>>,
        memref: Option<Ref<MemRef>>,
    ) -> Self {
        ShapedType {
            base: Type {},
            shape: shape.into_field(),
            dtype: dtype.into_field(),
            memref,
        }
    }
}

impl ShapedType {
    /// Returns the memory of the elements: main memory for a tensor, the memory of a
    /// core for an array, and the declared memory for a tile.
    pub fn memory_space(this: &Ref<Self>) -> Option<MemorySpace> {
        if let Some(tile) = this.downcast_ref::<TileType>() {
            return tile.memory_space.as_ref().map(|space| space.get());
        }
        if this.isa::<TensorType>() {
            return Some(MemorySpace::Ddr);
        }
        this.isa::<ArrayType>().then_some(MemorySpace::ScalarLocal)
    }

    /// True if both have the same memory reference.
    pub fn shares_memref_with(&self, other: &Ref<ShapedType>) -> bool {
        match (&self.memref, &other.memref) {
            (Some(one), Some(other)) => one.same_as(other),
            _ => false,
        }
    }
}

/// Returns the memory of the elements, if known.
#[export("pto.ShapedType.memory_space")]
fn memory_space(this: &Ref<ShapedType>) -> Option<Ref<MemorySpaceObject>> {
    ShapedType::memory_space(this).map(NodeEnum::object)
}

/// True if both types have the same memory reference.
#[export("pto.ShapedType.shares_memref_with")]
fn shares_memref_with(this: &Ref<ShapedType>, other: &Ref<ShapedType>) -> bool {
    this.shares_memref_with(other)
}

/// The type of a tensor in main memory.
#[derive(Node)]
#[node(key = "pto.TensorType", init = make_tensor_type, no_new)]
#[repr(C)]
pub struct TensorType {
    #[node(base)]
    base: ShapedType,
    /// The memory layout; None means row by row. The constructor of other languages stores
    /// None for a layout that says the same.
    pub tensor_view: Option<Ref<TensorView>>,
}

impl TensorType {
    /// The type of a tensor at an unknown place in memory.
    pub fn new(
        shape: impl IntoField<Array<Ref<Expr>>>,
        dtype: impl IntoField<Enumerator<DataType>>,
    ) -> Ref<Self> {
        Ref::new(TensorType {
            base: ShapedType::of(shape, dtype, None),
            tensor_view: None,
        })
    }

    /// The same type at a place in memory.
    #[must_use]
    pub fn at(&self, memref: impl IntoField<Option<Ref<MemRef>>>) -> Ref<Self> {
        Ref::new(TensorType {
            base: ShapedType::of(self.shape.clone(), &self.dtype, memref.into_field()),
            tensor_view: self.tensor_view.clone(),
        })
    }
}

/// Makes the type of a tensor; ints in its shape become literals of format
/// INDEX, and a view that says the default is left out.
#[export("pto.TensorType")]
fn make_tensor_type(
    shape: Vec<Extent>,
    dtype: Ref<DataTypeObject>,
    memref: Option<Ref<MemRef>>,
    tensor_view: Option<Ref<TensorView>>,
) -> Result<Ref<TensorType>> {
    let shape = extents(shape);
    let tensor_view = match tensor_view {
        Some(view) => {
            let whole = |view: &Ref<TensorView>| view.with_valid_shape(shape.clone());
            let of_whole = view.valid_shape.is_empty().then(|| whole(&view));
            let said = of_whole.as_ref().unwrap_or(&view);
            (!structural_equal(said, whole(&TensorView::new()))?).then_some(view)
        }
        None => None,
    };
    Ok(Ref::new(TensorType {
        base: ShapedType::of(shape, dtype, memref),
        tensor_view,
    }))
}

/// The type of a tile in a buffer of a core.
#[derive(Node)]
#[node(key = "pto.TileType", init = make_tile_type, no_new)]
#[repr(C)]
pub struct TileType {
    #[node(base)]
    base: ShapedType,
    /// The layout in the buffer; None means the usual layout of the buffer. The
    /// constructor of other languages stores None for a layout that says the same.
    pub tile_view: Option<Ref<TileView>>,
    /// The buffer.
    pub memory_space: Option<Enumerator<MemorySpace>>,
}

impl TileType {
    /// The type of a tile at an unknown place.
    pub fn new(
        shape: impl IntoField<Array<Ref<Expr>>>,
        dtype: impl IntoField<Enumerator<DataType>>,
    ) -> Ref<Self> {
        Ref::new(TileType {
            base: ShapedType::of(shape, dtype, None),
            tile_view: None,
            memory_space: None,
        })
    }

    /// The same type at a place in memory.
    #[must_use]
    pub fn at(&self, memref: impl IntoField<Option<Ref<MemRef>>>) -> Ref<Self> {
        Ref::new(TileType {
            base: ShapedType::of(self.shape.clone(), &self.dtype, memref.into_field()),
            tile_view: self.tile_view.clone(),
            memory_space: self.memory_space.clone(),
        })
    }

    /// Returns the layout of the tile in its buffer: the layout of the view, completed
    /// with the usual layout of the buffer.
    ///
    /// All of the shape is valid. The buffers around the matrix unit hold fractals:
    /// column by column of rows in `Mat`, `Left` and, with fractals twice as large, `Acc`;
    /// row by row of columns in `Right`. Elsewhere a column is stored as a column, and
    /// everything else row by row.
    pub fn effective_tile_view(&self) -> Ref<TileView> {
        if let Some(view) = &self.tile_view {
            return if view.valid_shape.is_empty() {
                view.with_valid_shape(self.shape.clone())
            } else {
                view.clone()
            };
        }
        let view = TileView::new().with_valid_shape(self.shape.clone());
        let (outer, inner) = match self.memory_space.as_ref().map(|space| space.get()) {
            Some(MemorySpace::Mat | MemorySpace::Left | MemorySpace::Acc) => {
                (TileLayout::ColMajor, TileLayout::RowMajor)
            }
            Some(MemorySpace::Right) => (TileLayout::RowMajor, TileLayout::ColMajor),
            _ if is_column(&self.shape) => (TileLayout::ColMajor, TileLayout::NoneBox),
            _ => (TileLayout::RowMajor, TileLayout::NoneBox),
        };
        let view = view.with_blayout(outer).with_slayout(inner);
        match &self.memory_space {
            Some(space) if **space == MemorySpace::Acc => view.with_fractal(2 * TileView::FRACTAL),
            _ => view,
        }
    }
}

/// True for several rows, or an unknown number of rows, and one column.
fn is_column(shape: &Array<Ref<Expr>>) -> bool {
    match (shape.len(), shape.get(0), shape.get(1)) {
        (2, Some(rows), Some(columns)) => is_one(columns) && !is_one(rows),
        _ => false,
    }
}

/// Makes the type of a tile; ints in its shape become literals of format
/// INDEX, and a view that says the default is left out.
#[export("pto.TileType")]
fn make_tile_type(
    shape: Vec<Extent>,
    dtype: Ref<DataTypeObject>,
    memref: Option<Ref<MemRef>>,
    tile_view: Option<Ref<TileView>>,
    memory_space: Option<Ref<MemorySpaceObject>>,
) -> Result<Ref<TileType>> {
    let shape = extents(shape);
    let made = |tile_view| {
        Ref::new(TileType {
            base: ShapedType::of(shape.clone(), dtype.clone(), memref.clone()),
            tile_view,
            memory_space: memory_space.clone(),
        })
    };
    let usual = made(None);
    if tile_view.is_none() {
        return Ok(usual);
    }
    let given = made(tile_view);
    let is_usual = structural_equal(usual.effective_tile_view(), given.effective_tile_view())?;
    Ok(if is_usual { usual } else { given })
}

/// Returns the layout of the tile in its buffer: the layout of the view, completed with
/// the usual layout of the buffer.
#[export("pto.TileType.get_effective_tile_view")]
fn get_effective_tile_view(this: &Ref<TileType>) -> Ref<TileView> {
    this.effective_tile_view()
}

/// The type of an array of scalars on a core.
#[derive(Node)]
#[node(key = "pto.ArrayType", init = make_array_type, no_new)]
#[repr(C)]
pub struct ArrayType {
    #[node(base)]
    base: ShapedType,
}

impl ArrayType {
    /// The type of an array of this number of elements.
    pub fn new(
        dtype: impl IntoField<Enumerator<DataType>>,
        extent: impl IntoField<Ref<Expr>>,
    ) -> Ref<Self> {
        Ref::new(ArrayType {
            base: ShapedType::of([extent.into_field()], dtype, None),
        })
    }

    /// Returns the number of elements.
    ///
    /// # Errors
    ///
    /// `ValueError` if the shape, for example from a file, does not have one
    /// dimension.
    pub fn extent(&self) -> Result<&Ref<Expr>> {
        match (self.shape.len(), self.shape.get(0)) {
            (1, Some(extent)) => Ok(extent),
            (count, _) => Err(Error::value_error(format!(
                "pto.ArrayType.extent: expected a shape of one dimension, got {count}"
            ))),
        }
    }
}

/// Makes the type of an array; an int becomes a literal of format INDEX.
#[export("pto.ArrayType")]
fn make_array_type(dtype: Ref<DataTypeObject>, extent: Extent) -> Ref<ArrayType> {
    ArrayType::new(dtype, extent.0)
}

/// Returns the number of elements of the array.
#[export("pto.ArrayType.extent")]
fn array_extent(this: &Ref<ArrayType>) -> Result<Ref<Expr>> {
    this.extent().cloned()
}

impl Expr {
    /// Returns the format of the value or of the elements of the value; None for types
    /// without a format.
    pub fn dtype(&self) -> Option<DataType> {
        if let Some(scalar) = self.ty.downcast_ref::<ScalarType>() {
            return Some(scalar.dtype.get());
        }
        let shaped = self.ty.downcast_ref::<ShapedType>()?;
        Some(shaped.dtype.get())
    }

    /// Returns the buffer of the value, if known.
    pub fn memory_space(&self) -> Option<MemorySpace> {
        ShapedType::memory_space(self.ty.downcast_ref::<ShapedType>()?)
    }
}

/// Returns the format of the value of an expression or of its elements; None for types
/// without a format.
#[export("pto.Expr.dtype")]
fn expr_dtype(this: &Ref<Expr>) -> Option<Ref<DataTypeObject>> {
    this.dtype().map(NodeEnum::object)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { ShapedType: shares_memref_with = shares_memref_with }?;
    isoform::register_methods! { TileType: get_effective_tile_view = get_effective_tile_view }?;
    isoform::register_functions![memory_space, array_extent, expr_dtype]
}
