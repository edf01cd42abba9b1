//! The Python extension module of Isoform, `isoform._core`, as a library: the crate
//! `isoform-python` builds the module, and extension modules of other libraries
//! [`embed`] the library.
//!
//! The package `isoform` re-exports the module with documentation and typing; users should
//! not import it directly. A library that declares node types in Rust calls [`embed`] and
//! [`register_all`] in its module.
//!
//! | file | package `isoform` | subject |
//! |---|---|---|
//! | `object/` | `core/` | wrappers, metaclass, constructors, descriptors |
//! | `convert/` | | values of the core from Python objects, and back |
//! | `type_attrs.rs` | `_traits.py`, `dataclasses/_attributes.py` | attributes of types |
//! | `transform.rs` | `transform/` | passes: options of contexts, messages for `logging` |
//! | `cli.rs` | `__main__.py`, `_importing.py` | the command, and its option `--import` |
//! | `onnx.rs` | `onnx.py`, `_onnx_load.py`, `_onnx_values.py` | reading, writing and computing ONNX models |
//! | `onnx_diff.rs` | `_onnx_diff.py` | differences of ONNX models |
//! | `onnx_diff_run.rs` | `_onnx_diff_run.py`, `_onnxruntime.py` | where the results of ONNX models part |
//! | `onnx_summary.rs` | `_onnx_summary.py` | summaries of ONNX models |
//! | | `_results.py` | results of models as objects of the classes that declare them |
//! | `onnx_shapes.rs` | `_onnx_shapes.py` | derived types, fixed dimensions |
//! | `onnx_optimize.rs` | `_onnx_optimizer.py`, `_onnxruntime.py` | optimisation, verification |
//! | `corpus/` | `corpus.py`, `_corpus_ray.py` | indexes of collections |
//! | `store/` | `store.py`, `transform/cache.py` | stores, and functions that keep their results |
//! | `pages.rs` | `pages.py`, `_paged.py` | pages and pictures, also in notebooks |
//! | `text.rs` | `text.py`, `ir/printing.py` | text for people |
//! | `nodes/` | `visitors.py` | visitors, mutators and functors |
//! | `pattern.rs`, `uses.rs` | `pattern.py`, `uses.py` | patterns, and uses of values |
//!
//! `types/` of the package maps type keys to classes; `stubgen.py` writes stubs from the
//! registry, and `scripts/make_stubs.py` writes the stubs of the package itself. A type
//! declared in Rust needs no line of Python: class, properties, constructor,
//! documentation and stub come from its registration.
//!
//! Absent: the limited API of CPython. Construction and field access need internals
//! hidden by the limited API, so wheels are specific to a version.

mod callbacks;
mod classes;
mod cli;
mod containers;
mod convert;
mod corpus;
mod difference;
mod embed;
mod error;
mod functions;
mod global_functions;
mod hooks;
mod incremental;
mod key;
mod merge;
mod missing;
mod mlir;
mod nodes;
mod object;
mod objects;
mod onnx;
mod onnx_diff;
mod onnx_diff_run;
mod onnx_optimize;
mod onnx_shapes;
mod onnx_summary;
mod pages;
mod path;
mod pattern;
mod plain;
mod register;
mod serialization;
mod state;
mod store;
mod structural;
mod tensor;
mod testing;
mod testing_functions;
mod testing_kernels;
mod text;
mod transform;
mod type_attrs;
mod type_info;
mod uses;
mod value_classes;
mod walk;

use pyo3::prelude::*;

use crate::error::IntoPyResult;

pub use crate::embed::{embed, register, register_all, register_functions, register_method};
pub use crate::store::StoreCache;

/// Initialises the module; also for extension modules that embed this crate together
/// with node types.
///
/// # Errors
///
/// Exceptions from CPython while types are made.
pub fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    cli::init(module)?;
    onnx::init(module)?;
    onnx_optimize::init(module)?;
    onnx_shapes::init(module)?;
    onnx_diff::init(module)?;
    onnx_diff_run::init(module)?;
    onnx_summary::init(module)?;
    pages::init(module)?;
    mlir::init(module)?;
    isoform_ir::ir::register().into_py()?;
    isoform_ir::transform::register().into_py()?;
    isoform_ir::tir::register().into_py()?;
    isoform_relay::register().into_py()?;
    isoform_pto::register().into_py()?;
    let (meta, object) = object::meta::init(py)?;
    module.add("ObjectMeta", meta)?;
    module.add("Object", &object)?;
    module.add("class_lock", object::bind::class_lock(py)?)?;
    object::property::init(py);
    object::gc::init(module)?;
    module.add_class::<object::property::Property>()?;
    module.add_class::<object::init_function::InitFunction>()?;
    module.add_class::<convert::SchemaHandle>()?;
    module.add_class::<type_info::TypeInfoHandle>()?;
    module.add_class::<type_info::TypeFieldHandle>()?;
    module.add_class::<type_info::TypeMethodHandle>()?;
    module.add("_DataFault", py.get_type::<hooks::DataFault>())?;
    module.add("MISSING", missing::missing(py)?)?;
    module.add("KWARGS", missing::kwargs(py)?)?;
    module.add_class::<containers::SequenceIterator>()?;
    module.add_class::<containers::MapIterator>()?;
    module.add_function(wrap_pyfunction!(containers::install, module)?)?;
    module.add_function(wrap_pyfunction!(convert::set_python_types, module)?)?;
    module.add_function(wrap_pyfunction!(convert::set_value_class, module)?)?;
    module.add_function(wrap_pyfunction!(convert::value_object, module)?)?;
    module.add_function(wrap_pyfunction!(convert::dtype_parts, module)?)?;
    module.add_function(wrap_pyfunction!(convert::dtype_name, module)?)?;
    module.add_function(wrap_pyfunction!(convert::device_parts, module)?)?;
    module.add_function(wrap_pyfunction!(convert::device_name, module)?)?;
    module.add_function(wrap_pyfunction!(functions::install, module)?)?;
    module.add_function(wrap_pyfunction!(functions::convert, module)?)?;
    module.add_function(wrap_pyfunction!(functions::describe, module)?)?;
    module.add_function(wrap_pyfunction!(functions::signature_of, module)?)?;
    module.add_function(wrap_pyfunction!(functions::callable_of, module)?)?;
    module.add_function(wrap_pyfunction!(functions::convert_func, module)?)?;
    module.add_function(wrap_pyfunction!(tensor::install, module)?)?;
    module.add_function(wrap_pyfunction!(tensor::from_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(tensor::from_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(register::register_class, module)?)?;
    module.add_function(wrap_pyfunction!(register::bind_class, module)?)?;
    module.add_function(wrap_pyfunction!(register::class_of, module)?)?;
    module.add_function(wrap_pyfunction!(register::registered_type_keys, module)?)?;
    module.add_function(wrap_pyfunction!(register::structural_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(register::field_flags, module)?)?;
    module.add_function(wrap_pyfunction!(type_info::type_info, module)?)?;
    module.add_class::<path::PathHandle>()?;
    module.add_class::<path::StepHandle>()?;
    module.add_function(wrap_pyfunction!(path::_set_access_kind, module)?)?;
    structural::init(module)?;
    classes::init(module)?;
    difference::init(module)?;
    merge::init(module)?;
    incremental::init(module)?;
    object::fast::init(module)?;
    key::init(module)?;
    walk::init(module)?;
    nodes::init(module)?;
    pattern::init(module)?;
    uses::init(module)?;
    objects::init(module, &object)?;
    module.add_function(wrap_pyfunction!(plain::_to_plain, module)?)?;
    serialization::init(module)?;
    text::init(module)?;
    transform::init(module)?;
    corpus::init(module)?;
    store::init(module)?;
    global_functions::init(module)?;
    module.add_function(wrap_pyfunction!(object::bind::set_import_hook, module)?)?;
    module.add_function(wrap_pyfunction!(object::bind::set_native_hook, module)?)?;
    type_attrs::init(module)?;
    testing::init(module)?;
    Ok(())
}
