//! Files that appear completely or not at all.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{OnnxError, Result};

/// A file that is complete, but does not have its name yet. It is removed unless it gets
/// one.
pub(super) struct Pending {
    file: NamedTempFile,
    target: PathBuf,
}

/// Writes a file beside its target, with the permissions of the file that it replaces.
pub(super) fn write_beside(
    target: &Path,
    fill: impl FnOnce(&mut BufWriter<&mut fs::File>) -> io::Result<()>,
) -> Result<Pending> {
    let shown = target.display();
    let failed = |error| OnnxError::io(format_args!("cannot write '{shown}'"), error);
    let (target, replaced) = match fs::metadata(target) {
        Ok(found) if found.is_dir() => {
            return Err(OnnxError::value(format!(
                "cannot write '{shown}': it is a folder"
            )));
        }
        // Replacing a device would take it away from everyone.
        Ok(found) if !found.is_file() => {
            return Err(OnnxError::value(format!(
                "cannot write '{shown}': it is not a regular file"
            )));
        }
        // The target of a link, so that the link itself is kept.
        Ok(found) => (fs::canonicalize(target).map_err(failed)?, Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (target.to_owned(), None),
        Err(error) => return Err(failed(error)),
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".isoform-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of any new file; the user's mask is subtracted.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    (|| {
        if let Some(replaced) = &replaced {
            file.as_file().set_permissions(replaced.permissions())?;
        }
        let mut buffered = BufWriter::new(file.as_file_mut());
        fill(&mut buffered)?;
        buffered.flush()
    })()
    .map_err(failed)?;
    Ok(Pending { file, target })
}

impl Pending {
    /// Gives the file its name, replacing any other.
    pub(super) fn keep(self) -> Result<()> {
        let kept = self.file.persist(&self.target);
        kept.map(drop).map_err(|failed| {
            let target = self.target.display();
            OnnxError::io(format_args!("cannot write '{target}'"), failed.error)
        })
    }
}

/// The name of a file as text, which external data need.
pub(super) fn file_name(path: &Path) -> Result<&str> {
    let name = path.file_name().and_then(OsStr::to_str);
    name.ok_or_else(|| {
        OnnxError::value(format!(
            "cannot write '{}': expected the name of a file in UTF-8",
            path.display()
        ))
    })
}
