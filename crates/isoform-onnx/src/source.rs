//! Opening model files.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use prost::Message;

use crate::{
    budget,
    error::{OnnxError, Result, ResultExt},
    external::ExternalResolver,
    options::LoadOptions,
    proto::ModelProto,
};

/// The first IR version that requires a model to list its operator sets.
const FIRST_IR_VERSION_WITH_OPSETS: i64 = 3;

/// A model read from a file, together with the means to read its external data.
///
/// The tensors of the model share memory with the file during their whole life; see
/// [`LoadOptions::mmap`] for the requirements on the file.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    model: ModelProto,
    resolver: ExternalResolver,
}

impl ModelFile {
    /// Opens and decodes a model with the default options, which map the file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or does not contain an ONNX model; the error names
    /// the file and the problem.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        LoadOptions::default().open(path)
    }

    /// The path the model was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The decoded model, whose `graph` is present.
    pub fn model(&self) -> &ModelProto {
        &self.model
    }

    /// Reads the external data of the model's tensors.
    pub fn resolver(&self) -> &ExternalResolver {
        &self.resolver
    }

    /// Splits the file into its parts.
    pub fn into_parts(self) -> (ModelProto, ExternalResolver) {
        (self.model, self.resolver)
    }
}

impl LoadOptions {
    /// [`ModelFile::open`] with these options.
    ///
    /// # Errors
    ///
    /// As [`ModelFile::open`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<ModelFile> {
        let path = path.as_ref();
        let data = self.read(path)?;
        let model = decode_model(data).within(|| format!("file '{}'", path.display()))?;
        Ok(ModelFile {
            path: path.to_path_buf(),
            model,
            resolver: ExternalResolver::beside(path, self),
        })
    }
}

/// Decodes a model from memory, sharing that memory with the model's tensors.
///
/// A model is refused if it lacks a graph, an IR version, or the operator sets required
/// by the IR version. Other files often happen to be valid protobuf, and cutting a
/// model short between two fields leaves valid protobuf too.
///
/// A file is also refused if decoding would take far more memory than for any model of
/// the same size.
///
/// # Errors
///
/// Fails if the bytes are not an ONNX model.
pub fn decode_model(data: Bytes) -> Result<ModelProto> {
    if data.is_empty() {
        return Err(OnnxError::value("not an ONNX model: it is empty"));
    }
    budget::check(&data)?;
    let model = ModelProto::decode(data).map_err(|error| {
        OnnxError::value(format!(
            "not an ONNX model, or cut short or damaged: {error}"
        ))
        .with_source(error)
    })?;
    if model.graph.is_none() {
        return Err(OnnxError::value("not an ONNX model: it has no graph"));
    }
    let Some(ir_version) = model.ir_version else {
        return Err(OnnxError::value("not an ONNX model: it has no IR version"));
    };
    if ir_version >= FIRST_IR_VERSION_WITH_OPSETS && model.opset_import.is_empty() {
        return Err(OnnxError::value(
            "not a complete ONNX model: it does not say which operator sets it uses",
        ));
    }
    Ok(model)
}

#[cfg(test)]
mod tests;
