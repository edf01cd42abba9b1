//! Conversion of a program to the messages of a file.
//!
//! `values` finds where each value of a main graph or function is defined and used.
//! `names` names the value in its body; `body`, `attribute` and `types` write the
//! messages. `layout` decides the order of nodes and the graph that lists each node.
//! Facts outside of the program come from the fields called `meta`, as far as they
//! describe existing parts.
//!
//! | file | job |
//! |---|---|
//! | `values.rs`, `names.rs` | where values are defined and used, and their names |
//! | `model.rs`, `functions.rs`, `writer.rs` | the outer messages |
//! | `body.rs`, `attribute.rs`, `types.rs` | the inner messages |
//! | `schema/check.rs` | each node against the schema of its operator |
//! | `encode.rs`, `external.rs`, `src/whole_file.rs` | bytes, tensors in other files, whole files |
//!
//! Tensors are written from the mapped file. A model that is loaded, written and loaded
//! again has the same digest.

mod attribute;
mod body;
mod encode;
mod external;
mod functions;
mod meta;
mod model;
mod names;
mod options;
mod place;
mod types;
mod values;
mod writer;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isoform::Ref;
use prost::Message;

use crate::{
    error::{OnnxError, Result, ResultExt},
    external::check_location,
    ir::Program,
    proto::ModelProto,
    whole_file::WholeFile,
};

use external::{DataFile, externalize, locations};

pub use options::{SaveOptions, Saved};

/// The largest message that readers of the format accept.
const MAX_MESSAGE: usize = i32::MAX as usize;

/// Writes a program as a model.
///
/// The model has the names of values, nodes, inputs and outputs from the program. It
/// also has everything kept from the original file: metadata, documentation, types of
/// values between nodes, quantisation and training steps, as far as their subjects
/// still exist. Loading the model results in an equal program, except that a result
/// outside of the format, for instance an input under another name, becomes an
/// `Identity`.
///
/// The version of the file format is raised if the program needs features missing from
/// its version ([`Saved::raised_from`]).
///
/// Weights are written directly, without a copy in memory. The file, and files of
/// external data, appear completely or not at all, and may replace the original files
/// of the program. O(nodes × depth of bodies + bytes).
///
/// # Errors
///
/// `OSError` if a file cannot be written. `ValueError` for a program that is not a
/// valid model: nodes of one domain in several versions, nodes that the operator set
/// does not allow and that were not like this in a file, uses of inputs outside of
/// their graph, one graph in two places, two inputs of the main graph with one name,
/// values and attributes of types that the format lacks. The message names the place:
/// `graph 'g' > node 'n' (Conv) > attribute 'pads': ...`.
pub fn save(program: &Ref<Program>, path: impl AsRef<Path>) -> isoform::Result<Saved> {
    SaveOptions::default().save(program, path)
}

/// Encodes a program as a model in memory; see [`save`].
///
/// # Errors
///
/// As [`save`], and `ValueError` if the model is too large for a single file of the
/// format.
pub fn to_bytes(program: &Ref<Program>) -> isoform::Result<Vec<u8>> {
    SaveOptions::default().to_bytes(program)
}

impl SaveOptions {
    /// [`save`] with these options.
    ///
    /// # Errors
    ///
    /// As [`save`], and `ValueError` for a location outside of the model's folder, and
    /// for an existing location, unless it holds the data of the replaced model.
    pub fn save(&self, program: &Ref<Program>, path: impl AsRef<Path>) -> isoform::Result<Saved> {
        let path = path.as_ref();
        let saved = self.save_to(program, path);
        Ok(saved.within(|| format!("model '{}'", path.display()))?)
    }

    /// [`to_bytes`] with these options.
    ///
    /// # Errors
    ///
    /// As [`to_bytes`], and `ValueError` if external data are requested, because
    /// external data require a file.
    pub fn to_bytes(&self, program: &Ref<Program>) -> isoform::Result<Vec<u8>> {
        if self.save_as_external_data {
            let reason = "external data are written beside a file; save the model to a file";
            return Err(OnnxError::value(reason).into());
        }
        let model = self.to_proto(program)?;
        let length = model.encoded_len();
        if length > MAX_MESSAGE {
            return Err(too_large(length).into());
        }
        let mut bytes = Vec::with_capacity(length);
        encode::write_model(&model, &mut bytes)
            .map_err(|error| OnnxError::io("cannot encode the model", error))?;
        Ok(bytes)
    }

    /// A program as a message, which shares the memory of the program's constants.
    ///
    /// # Errors
    ///
    /// `ValueError` as [`save`].
    pub fn to_proto(&self, program: &Ref<Program>) -> isoform::Result<ModelProto> {
        Ok(model::model_proto(program, self.check)?)
    }

    fn save_to(&self, program: &Ref<Program>, path: &Path) -> Result<Saved> {
        let name = file_name(path)?;
        let mut model = model::model_proto(program, self.check)?;
        let data = self.split(&mut model, name)?;
        let ir_version = model.ir_version.unwrap_or(0);
        let mut saved = Saved {
            ir_version,
            raised_from: (program.ir_version > 0 && program.ir_version < ir_version)
                .then_some(program.ir_version),
            bytes: model.encoded_len() as u64,
            external_files: Vec::new(),
            external_bytes: 0,
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        for file in &data {
            saved.external_bytes += file.len();
            saved.external_files.push(folder.join(&file.location));
        }
        check_unclaimed(path, &data, &saved.external_files)?;
        let mut files = Vec::new();
        for (file, target) in data.iter().zip(&saved.external_files) {
            files.push(written(target, |out| write_data(file, out))?);
        }
        files.push(written(path, |out| encode::write_model(&model, out))?);
        for (file, target) in files {
            file.keep().map_err(|error| cannot_write(target, error))?;
        }
        Ok(saved)
    }

    /// Moves constants to other files, if requested or necessary.
    fn split(&self, model: &mut ModelProto, name: &str) -> Result<Vec<DataFile>> {
        if let Some(location) = &self.location {
            check_location(location).within(|| format!("location '{location}'"))?;
            if location == name {
                return Err(OnnxError::value(
                    "expected another location for external data than the model's own file",
                ));
            }
        }
        let mut data = Vec::new();
        if self.save_as_external_data || model.encoded_len() > MAX_MESSAGE {
            data = externalize(model, self, name);
        }
        match model.encoded_len() {
            length if length > MAX_MESSAGE => Err(too_large(length)),
            _ => Ok(data),
        }
    }
}

fn too_large(length: usize) -> OnnxError {
    OnnxError::value(format!(
        "a model of {length} bytes is larger than the 2 GB that the format can hold; save it to \
         a file with external data, in attributes, too (save_as_external_data, \
         convert_attribute)"
    ))
}

/// Refuses to replace a file of external data that may belong to another model. Only
/// files referred to by the replaced model may be replaced.
fn check_unclaimed(path: &Path, data: &[DataFile], targets: &[PathBuf]) -> Result<()> {
    let mut own = None;
    for (file, target) in data.iter().zip(targets) {
        if !target.exists() {
            continue;
        }
        let own = own.get_or_insert_with(|| locations(path));
        if !own.contains(&file.location) {
            return Err(OnnxError::value(format!(
                "cannot write external data to '{}': the file exists, and may be the data of \
                 another model; remove it, or choose another location",
                target.display()
            )));
        }
    }
    Ok(())
}

/// Writes a file under a temporary name.
fn written(
    target: &Path,
    fill: impl FnOnce(&mut WholeFile) -> io::Result<()>,
) -> Result<(WholeFile, &Path)> {
    let written = WholeFile::create(target).and_then(|mut file| {
        fill(&mut file)?;
        Ok((file, target))
    });
    written.map_err(|error| cannot_write(target, error))
}

fn cannot_write(target: &Path, error: io::Error) -> OnnxError {
    OnnxError::io(format_args!("cannot write '{}'", target.display()), error)
}

/// The name of a file as text, required for external data.
fn file_name(path: &Path) -> Result<&str> {
    let name = path.file_name().and_then(OsStr::to_str);
    name.ok_or_else(|| {
        OnnxError::value(format!(
            "cannot write '{}': expected the name of a file in UTF-8",
            path.display()
        ))
    })
}

fn write_data(file: &DataFile, out: &mut impl Write) -> io::Result<()> {
    let mut at = 0;
    for (offset, bytes) in &file.tensors {
        io::copy(&mut io::Read::take(io::repeat(0), offset - at), out)?;
        out.write_all(bytes)?;
        at = offset + bytes.len() as u64;
    }
    Ok(())
}
