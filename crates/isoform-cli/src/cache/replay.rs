//! The results of a run: output files, standard output, standard error, and the status.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use isoform::{Error, Result};
use isoform_onnx::WholeFile;
use serde::{Deserialize, Serialize};

use super::args::CacheRunArgs;
use super::bundle::{pack, unpack};
use super::child::Ended;
use crate::output::Output;

/// The results of a run.
pub(super) struct Results {
    outline: Outline,
    /// Standard output, standard error, and the output files that exist.
    parts: Vec<Bytes>,
}

/// The results without their bytes.
#[derive(Serialize, Deserialize)]
struct Outline {
    status: u8,
    /// The permissions of each output file; None for a file that a failing command did not
    /// write.
    modes: Vec<Option<u32>>,
}

impl Results {
    /// Reads the output files after a run.
    pub(super) fn of_run(args: &CacheRunArgs, ended: &Ended) -> Result<Results> {
        let mut parts = vec![ended.out.clone(), ended.err.clone()];
        let mut modes = Vec::new();
        for file in &args.outs {
            let read = fs::metadata(file).and_then(|found| Ok((mode_of(&found), fs::read(file)?)));
            match read {
                Ok((mode, bytes)) => {
                    modes.push(Some(mode));
                    parts.push(bytes.into());
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => modes.push(None),
                Err(error) => {
                    return Err(Error::value_error(format!("{}: {error}", file.display())));
                }
            }
        }
        let outline = Outline {
            status: ended.status,
            modes,
        };
        Ok(Results { outline, parts })
    }

    /// The results in the value of an entry; None for another form.
    pub(super) fn of_entry(value: &Bytes, args: &CacheRunArgs) -> Option<Results> {
        let (outline, parts): (Outline, _) = unpack(value)?;
        let files = outline.modes.iter().flatten().count();
        let fits = outline.modes.len() == args.outs.len() && parts.len() == files + 2;
        fits.then_some(Results { outline, parts })
    }

    pub(super) fn packed(&self) -> Result<Vec<u8>> {
        let parts: Vec<&[u8]> = self.parts.iter().map(|part| &**part).collect();
        pack(&self.outline, &parts)
    }

    /// Writes the output files, each completely or not at all.
    pub(super) fn write_files(&self, args: &CacheRunArgs) -> Result<(), (PathBuf, io::Error)> {
        let mut contents = self.parts.iter().skip(2);
        for (file, mode) in args.outs.iter().zip(&self.outline.modes) {
            let Some(mode) = mode else { continue };
            let bytes = contents.next().map(|bytes| &**bytes).unwrap_or_default();
            write_file(file, bytes, *mode).map_err(|error| (file.clone(), error))?;
        }
        Ok(())
    }

    /// Writes standard output and standard error, and sets the status.
    pub(super) fn replay(&self, output: &mut Output<'_, '_>) -> io::Result<()> {
        output.status = self.outline.status;
        if let [out, err, ..] = &self.parts[..] {
            output.bytes(out)?;
            output.bytes_aside(err)?;
        }
        Ok(())
    }
}

fn write_file(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder)?;
    }
    let mut whole = WholeFile::create(file)?;
    whole.write_all(bytes)?;
    whole.keep()?;
    set_mode(file, mode)
}

#[cfg(unix)]
fn mode_of(metadata: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o777
}

#[cfg(unix)]
fn set_mode(file: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // Bits such as setuid never come from a store.
    fs::set_permissions(file, fs::Permissions::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> u32 {
    0o666
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
