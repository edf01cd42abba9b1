//! Files that commands write: completely or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::args::ConvertArgs;
use crate::input::is_dash;
use crate::output::Failure;

/// Checks that the target may be written, and returns the metadata of an existing one.
pub(crate) fn check_target(args: &ConvertArgs) -> Result<Option<Metadata>, Failure> {
    if is_dash(&args.target) {
        return Ok(None);
    }
    let found = match fs::metadata(&args.target) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string().into()),
    };
    if found.is_dir() {
        return Err("this is a folder, expected the name of a file".into());
    }
    if !found.is_file() {
        // Replacing a device would take it away from everyone.
        return Err("this is not a regular file; standard output is '-'".into());
    }
    match args.force {
        true => Ok(Some(found)),
        false => Err(EXISTS.into()),
    }
}

const EXISTS: &str = "the file exists; --force replaces it";

/// Writes the target completely or not at all, also if the process is killed meanwhile.
pub(crate) fn write(args: &ConvertArgs, bytes: &[u8]) -> Result<(), Failure> {
    // Somebody may have written it in the meantime.
    let replaced = check_target(args)?;
    let path = real_target(&args.target).map_err(|error| error.to_string())?;
    let target = Target {
        path,
        replaced,
        force: args.force,
    };
    let written = match target.write_nameless(bytes) {
        Some(written) => written,
        None => target.write_beside(bytes),
    };
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => EXISTS.into(),
        _ => error.to_string().into(),
    })
}

/// The target of a link, so that the link itself is kept.
fn real_target(target: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(target.to_owned()),
        found => found,
    }
}

/// The permissions of any new file; the user's mask is subtracted.
#[cfg(unix)]
const MODE: u32 = 0o666;

struct Target {
    path: PathBuf,
    /// The file that is replaced, whose permissions are kept.
    replaced: Option<Metadata>,
    force: bool,
}

impl Target {
    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    fn fill(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Some(replaced) = &self.replaced {
            file.set_permissions(replaced.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn persist<F>(&self, file: NamedTempFile<F>) -> io::Result<()> {
        let kept = match self.force {
            true => file.persist(&self.path),
            false => file.persist_noclobber(&self.path),
        };
        kept.map(drop).map_err(|failed| failed.error)
    }

    /// Writes a file that gets its name when it is complete, so that nothing is left if the
    /// process ends before. None if the file system has no such files.
    #[cfg(target_os = "linux")]
    fn write_nameless(&self, bytes: &[u8]) -> Option<io::Result<()>> {
        use std::os::fd::AsRawFd;

        use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mut file = File::from(open(self.folder(), flags, Mode::from_raw_mode(MODE)).ok()?);
        let open_file = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        if !open_file.exists() {
            return None;
        }
        if let Err(error) = self.fill(&mut file, bytes) {
            return Some(Err(error));
        }
        let name = |name: &Path| {
            let linked = linkat(CWD, &open_file, CWD, name, AtFlags::SYMLINK_FOLLOW);
            linked.map_err(io::Error::from)
        };
        match name(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.force => {
                let beside = temporary().make_in(self.folder(), name);
                Some(beside.and_then(|file| self.persist(file)))
            }
            // A file without a name cannot get one here.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => None,
            named => Some(named),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn write_nameless(&self, _bytes: &[u8]) -> Option<io::Result<()>> {
        None
    }

    /// Writes a file with another name, and gives it its own when it is complete.
    fn write_beside(&self, bytes: &[u8]) -> io::Result<()> {
        let mut builder = temporary();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(MODE));
        }
        let mut file = builder.tempfile_in(self.folder())?;
        self.fill(file.as_file_mut(), bytes)?;
        self.persist(file)
    }
}

fn temporary() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".isoform-");
    builder
}
