//! Reads ONNX models as isoform dataflow programs.
//!
//! | concept | where |
//! |---|---|
//! | a model as a program | [`load`], [`import`], [`Model`], [`ImportOptions`] |
//! | the types of the program's nodes | [`ir`] |
//! | from a place in the program to the node of the file | [`NodeOrigin`] |
//! | an ONNX file on disk | [`ModelFile`], [`LoadOptions`], [`decode_model`] |
//! | the messages of the file format | [`proto`] |
//! | element types | [`ElemType`] |
//! | constants as plain bytes | [`decode_tensor`], [`decode_sparse_tensor`], [`TensorData`] |
//! | constants stored in other files | [`ExternalResolver`] |
//! | errors and where they happened | [`OnnxError`] |
//!
//! [`load`] and [`import`] fail with the library's [`isoform::Error`], the readers below
//! them with [`OnnxError`], which converts into it.
//!
//! Nothing in a file is trusted: sizes are checked before memory is reserved, other
//! files are read only inside the model's folder, and whatever is wrong comes back as
//! an [`OnnxError`] that names the place.

mod budget;
mod elem_type;
mod error;
mod external;
mod import;
pub mod ir;
mod mmap;
mod model;
mod options;
mod origin;
pub mod proto;
mod source;
mod sparse;
mod tensor_data;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;

pub use self::{
    elem_type::ElemType,
    error::{OnnxError, OnnxErrorKind, Result, ResultExt},
    external::ExternalResolver,
    import::Counts,
    model::{Model, import, load},
    options::{ImportOptions, LoadOptions},
    origin::{NodeOrigin, OriginKind},
    source::{ModelFile, decode_model},
    sparse::{SparseTensorData, decode_sparse_tensor},
    tensor_data::{TensorData, TensorPayload, decode_tensor},
};
