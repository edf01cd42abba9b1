//! Locations. The location of an operation or a block argument is ignored; one that is
//! the value of an attribute is data.

use isoform::{Array, Node, Obj, Ref, Value};

/// No location.
#[derive(Node)]
#[node(key = "mlir.UnknownLocation")]
#[repr(C)]
pub struct UnknownLocation {}

/// A name, perhaps for another location.
#[derive(Node)]
#[node(key = "mlir.NameLocation")]
#[repr(C)]
pub struct NameLocation {
    /// As in [`StringAttr::value`](super::StringAttr).
    pub name: Value,
    /// The other location.
    pub child: Option<Ref<Obj>>,
}

/// A place or a range in a file.
#[derive(Node)]
#[node(key = "mlir.FileLocation")]
#[repr(C)]
pub struct FileLocation {
    /// The file, as in [`StringAttr::value`](super::StringAttr).
    pub file: Value,
    /// The first line.
    pub line: i64,
    /// The first column, or None.
    #[node(default)]
    pub column: Value,
    /// The last line of a range, or None.
    #[node(default)]
    pub end_line: Value,
    /// The last column of a range, or None.
    #[node(default)]
    pub end_column: Value,
}

/// A place inside of a function that was inlined elsewhere.
#[derive(Node)]
#[node(key = "mlir.CallSiteLocation")]
#[repr(C)]
pub struct CallSiteLocation {
    /// The place in the function.
    pub callee: Ref<Obj>,
    /// The place of the call.
    pub caller: Ref<Obj>,
}

/// Several locations.
#[derive(Node)]
#[node(key = "mlir.FusedLocation")]
#[repr(C)]
pub struct FusedLocation {
    /// The locations.
    pub locations: Array<Ref<Obj>>,
    /// An attribute.
    pub metadata: Option<Ref<Obj>>,
}
