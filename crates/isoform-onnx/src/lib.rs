//! Reads ONNX models as isoform dataflow programs, and writes programs as models.
//!
//! | concept | items |
//! |---|---|
//! | a model as a program | [`load`], [`import`], [`Model`], [`ImportOptions`] |
//! | a program as a model | [`save`], [`to_bytes`], [`SaveOptions`], [`Saved`] |
//! | the types of the program's nodes | [`ir`] |
//! | the nodes in an order for printing and writing | [`layout`] |
//! | the operators of the standard, by version | [`schema`] |
//! | finding the node of the file for a place in the program | [`NodeOrigin`] |
//! | an ONNX file on disk | [`ModelFile`], [`LoadOptions`], [`decode_model`] |
//! | the messages of the file format | [`proto`] |
//! | element types | [`ElemType`] |
//! | values of operators and programs | `eval` |
//! | smaller programs, and proof that they compute the same | `optimize`, `verify` |
//! | which differences of two models count | [`levels`] |
//! | where the results of two models part | `divergence` |
//! | numbers about a model, or about two | [`summary`] |
//! | how two models differ, in words | `report` |
//! | elements of tensors as text | `elements` |
//! | programs that lose nodes, to find a small one that still fails | [`reduce`] |
//! | the part of a program between values | [`extract`](extract()) |
//! | constants as plain bytes | [`decode_tensor`], [`decode_sparse_tensor`], [`TensorData`] |
//! | constants stored in other files | [`ExternalResolver`] |
//! | errors and where they happened | [`OnnxError`] |
//!
//! [`load`] and [`import`] fail with the library's [`isoform::Error`]. The lower-level
//! readers fail with [`OnnxError`], which converts into the library's error.
//!
//! Files are not trusted: sizes are checked before memory is reserved, other files are
//! read only inside the model's folder, and every error is reported as an [`OnnxError`]
//! that names the place.

mod budget;
mod data;
pub mod divergence;
mod elem_type;
pub mod elements;
mod error;
pub mod eval;
mod export;
mod external;
mod extract;
pub mod facts;
mod import;
pub mod ir;
pub mod layout;
pub mod levels;
mod mmap;
mod model;
mod node_count;
mod op;
pub mod optimize;
mod options;
mod origin;
mod passes;
pub mod proto;
pub mod reduce;
pub mod report;
mod roles;
pub mod schema;
mod script;
mod source;
mod sparse;
pub mod summary;
mod tensor_data;
#[doc(hidden)]
pub mod testing;
mod values;
pub mod verify;
mod whole_file;

pub use self::{
    elem_type::ElemType,
    error::{OnnxError, OnnxErrorKind, Result, ResultExt},
    export::{SaveOptions, Saved, save, to_bytes},
    external::ExternalResolver,
    extract::extract,
    import::Counts,
    model::{Model, import, load},
    op::Unknown,
    options::{ExternalData, ImportOptions, LoadOptions},
    origin::{NodeOrigin, OriginKind},
    source::{ModelFile, decode_model},
    sparse::{SparseTensorData, decode_sparse_tensor},
    tensor_data::{TensorData, TensorPayload, decode_tensor},
    whole_file::{WholeFile, replaceable},
};
