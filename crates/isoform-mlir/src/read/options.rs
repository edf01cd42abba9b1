//! The entry points of the reader.

use isoform::{Error, Obj, Ref, Result};

use super::Reader;
use super::build::Problem;
use crate::nodes::Program;

/// The first bytes of MLIR's bytecode.
const BYTECODE: &[u8] = b"ML\xefR";

/// The mark that separates the programs of one text.
const SEPARATOR: &str = "// -----";

/// Options for reading a text.
///
/// ```
/// let error = isoform_mlir::ReadOptions::default().name("a.mlir").read("\"x.y\"(");
/// assert_eq!(error.unwrap_err().to_string(), "\
/// ValueError: a.mlir: line 1, column 7: expected a value, such as %0, got the end of the text
///   |
/// 1 | \"x.y\"(
///   |       ^");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The name of the text in messages.
    pub name: String,
    /// True to keep the names of private symbols: for programs that are parts of another one,
    /// which may refer to symbols outside.
    pub symbol_names: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            name: "MLIR".to_owned(),
            symbol_names: false,
        }
    }
}

/// Reads a program in the generic textual form.
///
/// If the text is not exactly one module, its operations are in a new one, as in MLIR.
/// Takes time and memory proportional to the text, even for malicious input.
///
/// # Errors
///
/// `ValueError` with line, column and the line itself, if the text is malformed.
///
/// ```
/// use isoform::structural_equal;
/// let left = isoform_mlir::read(r#"%0 = "x.make"() : () -> i32 "x.use"(%0) : (i32) -> ()"#)?;
/// let right = isoform_mlir::read(r#"%a = "x.make"() : () -> (i32) "x.use"(%a) : (i32) -> ()"#)?;
/// assert!(structural_equal(left, right)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn read(text: impl AsRef<[u8]>) -> Result<Ref<Program>> {
    ReadOptions::default().read(text)
}

/// Reads the programs of a text that lines `// -----` separate.
///
/// # Errors
///
/// As [`read`]; lines are those of the whole text.
///
/// ```
/// let programs = isoform_mlir::read_split("module {}\n// -----\nmodule @m {}")?;
/// assert_eq!(programs.len(), 2);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn read_split(text: impl AsRef<[u8]>) -> Result<Vec<Ref<Program>>> {
    ReadOptions::default().read_split(text)
}

/// Reads an attribute or a type in the syntax of MLIR, without aliases. Symbols stay names.
///
/// # Errors
///
/// As [`read`].
///
/// ```
/// use isoform_mlir::IntegerAttr;
/// let attribute = isoform_mlir::read_attribute("7 : i32")?;
/// let number = attribute.downcast_ref::<IntegerAttr>().expect("a number");
/// assert_eq!(number.value.as_int(), Some(7));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn read_attribute(text: impl AsRef<[u8]>) -> Result<Ref<Obj>> {
    ReadOptions::default().read_attribute(text)
}

impl ReadOptions {
    /// Sets the name of the text in messages.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets whether private symbols keep their names.
    ///
    /// ```
    /// use isoform_mlir::{ReadOptions, read};
    /// let text = "func.func private @f()";
    /// assert_eq!(read(text)?.module.regions[0].symbols.len(), 1);
    /// let program = ReadOptions::default().symbol_names(true).read(text)?;
    /// assert!(program.module.regions[0].symbols.is_empty());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn symbol_names(mut self, symbol_names: bool) -> Self {
        self.symbol_names = symbol_names;
        self
    }

    /// [`read`] with these options.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read(&self, text: impl AsRef<[u8]>) -> Result<Ref<Program>> {
        self.read_part(text.as_ref(), 0)
    }

    /// [`read_split`] with these options.
    ///
    /// # Errors
    ///
    /// As [`read_split`].
    pub fn read_split(&self, text: impl AsRef<[u8]>) -> Result<Vec<Ref<Program>>> {
        let text = text.as_ref();
        let mut programs = Vec::new();
        let mut start = 0;
        let mut line_start = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let line_end = line_start + line.len();
            if line.trim_ascii() == SEPARATOR.as_bytes() {
                programs.push(self.read_part(&text[..line_start], start)?);
                start = line_end;
            }
            line_start = line_end;
        }
        programs.push(self.read_part(text, start)?);
        Ok(programs)
    }

    /// [`read_attribute`] with these options.
    ///
    /// # Errors
    ///
    /// As [`read_attribute`].
    pub fn read_attribute(&self, text: impl AsRef<[u8]>) -> Result<Ref<Obj>> {
        let text = text.as_ref();
        self.check_length(text)?;
        Reader::read_attribute(text).map_err(|problem| self.error(problem, text))
    }

    /// Reads the part of a text from a position on.
    pub(crate) fn read_part(&self, text: &[u8], start: usize) -> Result<Ref<Program>> {
        if text[start..].starts_with(BYTECODE) {
            return Err(Error::value_error(format!(
                "{}: expected text, got MLIR bytecode: convert it with 'mlir-opt \
                 -mlir-print-op-generic FILE', or with 'jax.export' and \
                 'mlir_module_serialized' in Python",
                self.name
            )));
        }
        self.check_length(text)?;
        Reader::read(text, start, self.symbol_names).map_err(|problem| self.error(problem, text))
    }

    fn check_length(&self, text: &[u8]) -> Result<()> {
        match u32::try_from(text.len()) {
            Ok(_) => Ok(()),
            Err(_) => {
                let name = &self.name;
                Err(Error::value_error(format!(
                    "{name}: expected a text below 4 GiB"
                )))
            }
        }
    }

    fn error(&self, problem: Problem, text: &[u8]) -> Error {
        match problem {
            Problem::Fault(fault) => fault.into_error(&self.name, text),
            Problem::Error(error) => {
                Error::new(error.kind(), format!("{}: {}", self.name, error.message()))
            }
        }
    }
}
