//! Loading a model as a program.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isoform::paths::AccessPath;
use isoform::values::Tensor;
use isoform::{Error, Ref, Value};

use crate::{
    error::ResultExt,
    external::ExternalResolver,
    import::{Counts, Imported, import_model},
    ir::Program,
    options::{ExternalData, ImportOptions},
    origin::{NodeOrigin, origin_at},
    proto::ModelProto,
};

/// An ONNX model as a dataflow program.
///
/// ```no_run
/// use isoform_onnx::load;
/// let (model, other) = (load("model.onnx")?, load("other.onnx")?);
/// let same = isoform::structural_equal(model.to_value(), other.to_value())?;
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    program: Ref<Program>,
    counts: Counts,
    path: Option<PathBuf>,
    options: ImportOptions,
    /// The files of external data that were read, with their sizes.
    external: Arc<[(PathBuf, u64)]>,
    /// The locations of these files, as the model gives them.
    locations: Arc<[String]>,
    /// Tensors whose external data was not read, by identity.
    left_out: Arc<HashMap<u64, Tensor>>,
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

    /// The model with another program, for instance with fixed dimensions. Counts and
    /// path still describe the file.
    #[must_use]
    pub fn with_program(&self, program: Ref<Program>) -> Model {
        Model {
            program,
            ..self.clone()
        }
    }

    /// Returns the size of the model.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The path the model was loaded from, if it came from a file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The files of external data that were read, by their canonical paths, with their sizes in
    /// bytes; sorted.
    pub fn external_files(&self) -> &[(PathBuf, u64)] {
        &self.external
    }

    /// The locations of the external data that was read, as the model gives them: relative to
    /// its folder, and before any link is followed. Sorted.
    pub fn external_locations(&self) -> &[String] {
        &self.locations
    }

    /// True if the tensor is a constant of this model whose external data was not read:
    /// the elements are unknown. O(1).
    pub fn lacks_contents(&self, tensor: &Tensor) -> bool {
        // Only objects that are kept alive have a unique identity.
        self.left_out.contains_key(&identity(tensor))
    }

    /// True if the contents of all constants are known: no external data was left out. O(1).
    pub fn is_complete(&self) -> bool {
        self.left_out.is_empty()
    }

    /// Returns the model with the contents of all constants, read again if some were left out.
    ///
    /// # Errors
    ///
    /// As [`load`]; `ValueError` if the model has to be read again and is not from a file.
    pub fn complete(&self) -> isoform::Result<Model> {
        if self.left_out.is_empty() {
            return Ok(self.clone());
        }
        let Some(path) = &self.path else {
            return Err(Error::value_error(
                "the contents of constants were left out, and the model cannot be read again \
                 because it is not from a file",
            ));
        };
        self.options
            .external_data(ExternalData::Required)
            .load(path)
    }

    /// Returns the innermost node, input or output of the model that contains a place
    /// inside [`to_value`](Self::to_value). None if the place is above all nodes,
    /// inputs and outputs.
    ///
    /// A path to a missing item, as in an explained mismatch, leads to the part that
    /// lacks the item.
    pub fn node_at(&self, path: &AccessPath) -> Option<NodeOrigin> {
        origin_at(&self.to_value(), path)
    }
}

/// Loads a model from a file.
///
/// The weights are not copied: with [`ImportOptions::mmap`], tensors are views of the
/// mapped file and of the mapped files of external data.
///
/// Details that do not affect the computation are left out: names, documentation,
/// metadata, producer, listing order, unused operator set imports, types of values
/// between nodes, denotations, training steps, and quantisation annotations (which
/// repeat the parameters of quantised tensors for other tools).
///
/// # Errors
///
/// `OSError` if a file cannot be read, `ValueError` if the model is malformed or
/// contradicts itself, `KeyError` if it refers to a missing item, `TypeError` if it
/// stores tensors in an unsupported way. The message names the place:
/// `model 'm.onnx' > graph 'g' > node 'n' (Conv) > attribute 'pads': ...`.
pub fn load(path: impl AsRef<Path>) -> isoform::Result<Model> {
    ImportOptions::default().load(path)
}

/// Imports a model that is already decoded; see [`load`].
///
/// # Errors
///
/// As [`load`], without a file name in the message.
pub fn import(model: &ModelProto, resolver: &ExternalResolver) -> isoform::Result<Model> {
    ImportOptions::default().import(model, resolver)
}

impl ImportOptions {
    /// [`load`] with these options.
    ///
    /// # Errors
    ///
    /// As [`load`].
    pub fn load(self, path: impl AsRef<Path>) -> isoform::Result<Model> {
        let path = path.as_ref();
        let (model, resolver) = self.files().open(path)?.into_parts();
        let imported = import_model(&model, &resolver, self)
            .within(|| format!("model '{}'", path.display()))?;
        Ok(self.model(imported, &resolver, Some(path.to_path_buf())))
    }

    /// [`import`] with these options.
    ///
    /// # Errors
    ///
    /// As [`import`].
    pub fn import(self, model: &ModelProto, resolver: &ExternalResolver) -> isoform::Result<Model> {
        let imported = import_model(model, resolver, self)?;
        Ok(self.model(imported, resolver, None))
    }

    fn model(
        self,
        imported: Imported,
        resolver: &ExternalResolver,
        path: Option<PathBuf>,
    ) -> Model {
        let left_out = imported
            .left_out
            .into_iter()
            .map(|tensor| (identity(&tensor), tensor))
            .collect();
        Model {
            program: imported.program,
            counts: imported.counts,
            path,
            options: self,
            external: resolver.read_files().into(),
            locations: resolver.read_locations().into(),
            left_out: Arc::new(left_out),
        }
    }
}

fn identity(tensor: &Tensor) -> u64 {
    let value = Value::from(tensor.clone());
    value.as_object().map_or(0, |object| object.identity())
}
