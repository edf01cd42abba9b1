//! A written program, with the places of its operations and the names of its values.

use std::sync::Arc;

use hashbrown::HashMap;
use isoform::{Obj, Ref, Result};
use rapidhash::fast::RandomState;

use super::names::Names;
use super::{Piece, WriteOptions, Writer};
use crate::nodes::{Label, Operation, Program, Value};

/// The text of a program, in which tools find operations and name values.
///
/// ```
/// use isoform_mlir::{ProgramText, WriteOptions};
///
/// let program = isoform_mlir::read("module { %x = arith.constant 255 : i8 }")?;
/// let text = ProgramText::new(&program, WriteOptions::default())?;
/// let constant = &program.module.regions[0].blocks[0].operations[0];
/// assert_eq!(text.line_number(constant), Some(2));
/// assert_eq!(text.line(constant), Some("%0 = \"arith.constant\"() <{value = -1 : i8}> : () -> i8"));
/// assert_eq!(text.value_name(&constant.results[0]).as_deref(), Some("%0"));
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct ProgramText<'p> {
    text: String,
    names: Names<'p>,
    options: WriteOptions,
    /// The byte and the line, counted from 1, of the beginning of each operation.
    starts: HashMap<u64, (usize, usize), RandomState>,
}

impl<'p> ProgramText<'p> {
    /// Writes a program. Linear in the text.
    ///
    /// # Errors
    ///
    /// As [`write()`](super::write()).
    pub fn new(program: &'p Ref<Program>, options: WriteOptions) -> Result<Self> {
        let mut writer = Writer::new(options);
        writer.starts = Some(Vec::new());
        writer.write_program(program)?;
        let mut starts: HashMap<u64, (usize, usize), RandomState> = HashMap::default();
        let (mut line, mut end) = (1, 0);
        for (operation, start) in writer.starts.take().unwrap_or_default() {
            let passed = writer.out.as_bytes()[end..start].iter();
            line += passed.filter(|&&byte| byte == b'\n').count();
            end = start;
            // A node at several places is the first of them.
            starts.entry(operation).or_insert((start, line));
        }
        Ok(ProgramText {
            text: writer.out,
            names: writer.names,
            options,
            starts,
        })
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole text, without a copy.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The number of the line on which an operation begins, counted from 1.
    pub fn line_number(&self, operation: &Ref<Operation>) -> Option<usize> {
        self.starts.get(&operation.identity()).map(|start| start.1)
    }

    /// The line on which an operation begins, without indentation.
    pub fn line(&self, operation: &Ref<Operation>) -> Option<&str> {
        let (start, _) = self.starts.get(&operation.identity())?;
        self.text[*start..].lines().next()
    }

    /// The name of a value as an operand: `%0`, `%0#1`, `%arg0`.
    pub fn value_name(&self, value: &Ref<Value>) -> Option<String> {
        self.names.value_text(value)
    }

    /// The name of a block: `^bb1`.
    pub fn label_name(&self, label: &Ref<Label>) -> Option<String> {
        self.names.label_text(label)
    }

    /// The text of a type, an attribute or a location of the program, of about `length` bytes at
    /// most; the rest is `...`.
    pub fn object(&self, object: &Ref<Obj>, length: usize) -> String {
        let mut writer = Writer::new(self.options.max_length(length));
        writer.names.symbols = Arc::clone(&self.names.symbols);
        writer.pieces.push(Piece::Object(object));
        match writer.run() {
            Ok(()) if writer.out.len() <= length => writer.out,
            _ => cut(writer.out, length),
        }
    }
}

impl std::fmt::Debug for ProgramText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramText")
            .field("bytes", &self.text.len())
            .field("operations", &self.starts.len())
            .finish_non_exhaustive()
    }
}

/// At most `length` characters of a text that goes on.
pub(super) fn cut(text: String, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text + "...",
    }
}
