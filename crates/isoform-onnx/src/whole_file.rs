//! Files that appear completely or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// A file that appears under its name only when complete.
///
/// Until [`keep`](Self::keep), the new contents are invisible, and an existing file of the
/// same name stays unchanged, even if writing fails or the process is killed. A file that
/// is replaced keeps its permissions, and a symbolic link stays a link.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::io::Write;
///
/// use isoform_onnx::WholeFile;
///
/// let folder = tempfile::tempdir()?;
/// let name = folder.path().join("notes.txt");
/// let mut file = WholeFile::create(&name)?;
/// file.write_all(b"complete")?;
/// assert!(!name.exists());
/// file.keep()?;
/// assert_eq!(std::fs::read(&name)?, b"complete");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WholeFile {
    contents: BufWriter<Contents>,
    target: PathBuf,
}

#[derive(Debug)]
enum Contents {
    /// A file without a name, which the system removes however the process ends.
    Nameless(File),
    /// A temporary file in the same folder, for file systems without nameless files.
    Beside(NamedTempFile),
}

/// The permissions of any new file; the user's mask is subtracted.
#[cfg(unix)]
const MODE: u32 = 0o666;

impl WholeFile {
    /// Starts a file for a target, which may exist.
    ///
    /// # Errors
    ///
    /// If the target is a folder or a device, or its folder cannot be written.
    pub fn create(target: &Path) -> io::Result<Self> {
        let replaced = replaceable(target)?;
        let target = match &replaced {
            // The target of a link, to keep the link itself.
            Some(_) => fs::canonicalize(target)?,
            None => target.to_owned(),
        };
        let contents = match nameless(folder_of(&target)) {
            Some(file) => Contents::Nameless(file),
            None => Contents::Beside(beside(folder_of(&target))?),
        };
        if let Some(replaced) = replaced {
            contents.file().set_permissions(replaced.permissions())?;
        }
        Ok(WholeFile {
            contents: BufWriter::new(contents),
            target,
        })
    }

    /// Gives the file its name, replacing any other file with that name.
    ///
    /// # Errors
    ///
    /// If the contents cannot be stored, or the name cannot be given.
    pub fn keep(self) -> io::Result<()> {
        self.finish(true)
    }

    /// Gives the file its name, but never replaces an existing file.
    ///
    /// # Errors
    ///
    /// As [`keep`](Self::keep), and `AlreadyExists`.
    pub fn keep_new(self) -> io::Result<()> {
        self.finish(false)
    }

    fn finish(self, replaces: bool) -> io::Result<()> {
        let contents = self.contents.into_inner()?;
        // The name must not survive a loss of power that the contents do not.
        contents.file().sync_all()?;
        let file = match contents {
            Contents::Beside(file) => file,
            Contents::Nameless(mut file) => match link(&file, &self.target) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !replaces {
                        return Err(error);
                    }
                    // No call both gives a name and takes it from another file.
                    let linked = temporary().make_in(folder_of(&self.target), |name| {
                        link(&file, name)?;
                        file.try_clone()
                    });
                    linked?
                }
                Err(_) => copied(&mut file, folder_of(&self.target))?,
            },
        };
        let kept = if replaces {
            file.persist(&self.target)
        } else {
            file.persist_noclobber(&self.target)
        };
        kept.map(drop).map_err(|failed| failed.error)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.contents.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.contents.flush()
    }
}

impl Contents {
    fn file(&self) -> &File {
        match self {
            Contents::Nameless(file) => file,
            Contents::Beside(file) => file.as_file(),
        }
    }
}

impl Write for Contents {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

/// The metadata of the file to be replaced by a target; `None` if there is no such
/// file.
///
/// # Errors
///
/// If it is a folder or a device, or cannot be looked at.
pub fn replaceable(target: &Path) -> io::Result<Option<Metadata>> {
    let found = match fs::metadata(target) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if found.is_dir() {
        let text = "this is a folder, expected the name of a file";
        return Err(io::Error::new(io::ErrorKind::IsADirectory, text));
    }
    if !found.is_file() {
        // Replacing a device would take it away from everyone.
        let text = "this is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(Some(found))
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Opens a file without a name. None if the file system does not support nameless
/// files.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(MODE)).ok()?);
    open_file(&file).exists().then_some(file)
}

/// The path that an open file has even without a name.
#[cfg(target_os = "linux")]
fn open_file(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;

    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Gives a file without a name one.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    let linked = linkat(CWD, open_file(file), CWD, name, AtFlags::SYMLINK_FOLLOW);
    linked.map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_folder: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _name: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a temporary file with a unique name. The file is removed unless renamed.
fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::Permissions::from_mode(MODE);
        temporary().permissions(mode).tempfile_in(folder)
    }
    #[cfg(not(unix))]
    temporary().tempfile_in(folder)
}

/// A copy of a file that cannot get a name.
fn copied(file: &mut File, folder: &Path) -> io::Result<NamedTempFile> {
    use std::io::Seek;

    file.rewind()?;
    let mut copy = beside(folder)?;
    copy.as_file()
        .set_permissions(file.metadata()?.permissions())?;
    io::copy(file, copy.as_file_mut())?;
    copy.as_file().sync_all()?;
    Ok(copy)
}

fn temporary() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".isoform-");
    builder
}
