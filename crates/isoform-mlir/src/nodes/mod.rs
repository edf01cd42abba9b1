//! The node types.

mod affine;
mod attributes;
mod locations;
mod operations;
mod region;
mod types;

pub(crate) use region::private_symbol;
pub use region::with_bindings;

isoform::dialect! {
    "mlir";
    pub use operations::{Program, Operation, Region, Block, Value, Label, Symbol};
    pub use types::{
        IntegerType, FloatType, IndexType, NoneType, ComplexType, TupleType, FunctionType,
        VectorType, TensorType, UnrankedTensorType, MemRefType, UnrankedMemRefType, DialectType,
    };
    pub use attributes::{
        UnitAttr, IntegerAttr, FloatAttr, StringAttr, ArrayAttr, DictAttr, SymbolRefAttr,
        DenseArrayAttr, DenseAttr, DenseStringsAttr, SparseAttr, ResourceAttr, StridedAttr,
        DistinctAttr, DialectAttr,
    };
    pub use affine::{
        AffineDim, AffineSymbol, AffineConstant, AffineBinary, AffineMapAttr, AffineConstraint,
        AffineSetAttr,
    };
    pub use locations::{
        UnknownLocation, NameLocation, FileLocation, CallSiteLocation, FusedLocation,
    };
}
