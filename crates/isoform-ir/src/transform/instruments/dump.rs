//! Programs after every pass, as numbered files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::{Obj, Ref, Result, Str, export};

use crate::transform::info::PassInfo;
use crate::transform::instrument::{Instrument, PassInstrument};
use crate::transform::reproducer::file_name;
use crate::transform::root::script;

/// Options of an instrument for writing the program after every pass to a file.
///
/// The files are called `<number>_<pass><suffix>`, from `000` on. Failures to write are
/// reported as warnings of `tracing`, and the pipeline goes on.
#[derive(Clone, Debug)]
pub struct DumpIr {
    folder: PathBuf,
    suffix: String,
    refresh: bool,
}

impl DumpIr {
    /// Writes to a folder, created at the end of the first pass.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        DumpIr {
            folder: folder.into(),
            suffix: ".iso".to_owned(),
            refresh: false,
        }
    }

    /// Sets the end of the names of files; by default, `.iso`.
    #[must_use]
    pub fn suffix(mut self, suffix: &str) -> Self {
        suffix.clone_into(&mut self.suffix);
        self
    }

    /// Sets whether to delete the files of an earlier run: the whole folder, unless the
    /// folder contains other files.
    #[must_use]
    pub fn refresh(mut self, refresh: bool) -> Self {
        self.refresh = refresh;
        self
    }

    /// Returns the instrument.
    pub fn instrument(self) -> Ref<PassInstrument> {
        if self.refresh
            && let Err(problem) = self.clear()
        {
            warn(&self.folder, &problem);
        }
        PassInstrument::of(Dump {
            options: self,
            count: AtomicUsize::new(0),
        })
    }

    /// Deletes the folder if the folder contains only files of this instrument.
    fn clear(&self) -> std::result::Result<(), String> {
        let message = |error: std::io::Error| error.to_string();
        if !self.folder.exists() {
            return Ok(());
        }
        for entry in fs::read_dir(&self.folder).map_err(message)? {
            let entry = entry.map_err(message)?;
            let name = entry.file_name();
            let is_file = entry.file_type().map_err(message)?.is_file();
            if !is_file || !self.is_own(&name.to_string_lossy()) {
                return Err(format!(
                    "the folder is kept, because it contains {}, which is not a dump",
                    name.display()
                ));
            }
        }
        fs::remove_dir_all(&self.folder).map_err(message)
    }

    fn is_own(&self, name: &str) -> bool {
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        digits >= 3 && name[digits..].starts_with('_') && name.ends_with(&self.suffix)
    }
}

fn warn(folder: &Path, problem: &str) {
    tracing::warn!(target: "isoform.transform", "DumpIR({}): {problem}", folder.display());
}

struct Dump {
    options: DumpIr,
    count: AtomicUsize,
}

impl Dump {
    fn write(&self, root: &Ref<Obj>, name: &str) -> Result<()> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let text = script(root)?;
        fs::create_dir_all(&self.options.folder)?;
        let name = format!("{number:03}_{}{}", file_name(name), self.options.suffix);
        Ok(fs::write(self.options.folder.join(name), text)?)
    }
}

impl Instrument for Dump {
    fn name(&self) -> String {
        "DumpIR".to_owned()
    }

    fn after(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        if let Err(error) = self.write(root, &info.name) {
            warn(&self.options.folder, &error.to_string());
        }
        Ok(())
    }
}

/// Makes an instrument that writes the program after every pass to a numbered file.
#[export("instrument.dump_ir")]
fn dump_exported(folder: &str, refresh: bool, suffix: Str) -> Ref<PassInstrument> {
    DumpIr::new(folder)
        .refresh(refresh)
        .suffix(&suffix)
        .instrument()
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![dump_exported]
}
