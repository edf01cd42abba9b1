//! Loading a model as a program.

use std::path::{Path, PathBuf};

use isoform::{AccessPath, Ref, Value};

use crate::{
    error::ResultExt,
    external::ExternalResolver,
    import::{Counts, import_model},
    ir::Program,
    options::{ImportOptions, LoadOptions},
    origin::{NodeOrigin, origin_at},
    proto::ModelProto,
    source::ModelFile,
};

/// An ONNX model as a dataflow program.
///
/// ```no_run
/// use isoform_onnx::{ImportOptions, load};
/// let model = load("model.onnx", &ImportOptions::new())?;
/// let other = load("other.onnx", &ImportOptions::new())?;
/// let same = isoform::structural_equal(model.to_value(), other.to_value())?;
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    program: Ref<Program>,
    counts: Counts,
    path: Option<PathBuf>,
}

impl Model {
    /// The program.
    pub fn program(&self) -> &Ref<Program> {
        &self.program
    }

    /// The program as a value, to compare, hash or walk.
    pub fn to_value(&self) -> Value {
        Value::from(&self.program)
    }

    /// How much the model contains.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The path the model was loaded from, if it came from a file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The innermost node, input or output of the model that a place inside
    /// [`to_value`](Self::to_value) lies in; None above all of them.
    ///
    /// A path to something missing, as in an explained mismatch, leads to what lacks it.
    pub fn node_at(&self, path: &AccessPath) -> Option<NodeOrigin> {
        origin_at(&self.to_value(), path)
    }
}

/// Loads a model from a file.
///
/// The weights stay where they are: with [`ImportOptions::mmap`], tensors are views of
/// the mapped file and of the mapped files of external data.
///
/// What does not say what is computed is left out: names, documentation, metadata,
/// producer, listing order, operator set imports nobody uses, types of values between
/// nodes, denotations, training steps, and quantisation annotations (which repeat, for
/// other tools, the parameters of quantised tensors).
///
/// # Errors
///
/// `OSError` if a file cannot be read, `ValueError` if the model is malformed or
/// contradicts itself, `KeyError` if it names what it does not contain, `TypeError` if
/// it uses a way of storing tensors that is not supported. The message names the place:
/// `model 'm.onnx' > graph 'g' > node 'n' (Conv) > attribute 'pads': ...`.
pub fn load(path: impl AsRef<Path>, options: &ImportOptions) -> isoform::Result<Model> {
    let path = path.as_ref();
    let loading = LoadOptions::new().with_mmap(options.mmap);
    let (model, resolver) = ModelFile::open_with(path, loading)?.into_parts();
    let (program, counts) = import_model(&model, &resolver, options)
        .within(|| format!("model '{}'", path.display()))?;
    Ok(Model {
        program,
        counts,
        path: Some(path.to_path_buf()),
    })
}

/// Imports a model that is already decoded; see [`load`].
///
/// # Errors
///
/// As [`load`], without a file name in the message.
pub fn import(
    model: &ModelProto,
    resolver: &ExternalResolver,
    options: &ImportOptions,
) -> isoform::Result<Model> {
    let (program, counts) = import_model(model, resolver, options)?;
    Ok(Model {
        program,
        counts,
        path: None,
    })
}
