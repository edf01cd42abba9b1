//! The writer of MLIR's generic textual form.
//!
//! What is to be written waits on a stack of pieces, so that depth takes no native stack.
//! Values and blocks have the names that MLIR's printer gives them; aliases are not used.
//!
//! | file | job |
//! |---|---|
//! | `operations.rs`, `names.rs` | operations, regions, blocks; names of values, blocks and symbols |
//! | `types.rs`, `attributes.rs`, `affine.rs`, `locations.rs` | what nests in attributes |
//! | `numbers.rs` | numbers, and literals of many numbers |
//! | `bodies.rs` | bodies of dialects, strings |
//! | `printed.rs` | a text with the places of its operations |

mod affine;
mod attributes;
mod bodies;
mod locations;
mod names;
mod numbers;
mod operations;
mod printed;
mod types;

pub use printed::ProgramText;

use isoform::{Error, Map, Obj, Ref, Result, Str};

use crate::nodes::{FunctionType, Operation, Program, Region};
use names::Names;

/// A type, an attribute or a location.
type Object = Ref<Obj>;

/// Options for writing a program.
///
/// ```
/// let text = "\"x.y\"() : () -> () loc(\"f.py\":3:4)";
/// let program = isoform_mlir::read(text)?;
/// assert_eq!(
///     isoform_mlir::WriteOptions::default().locations(true).write(&program)?,
///     "\"builtin.module\"() ({\n  \"x.y\"() : () -> () loc(\"f.py\":3:4)\n}) : () -> ()\n",
/// );
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// True to write the locations of operations and arguments.
    pub locations: bool,
    /// The length in bytes above which writing is an error. Parts that nodes share are
    /// written at each place, so a small program can have a very long text.
    pub max_length: usize,
    /// The largest number of elements of a constant that are written, for people: of larger
    /// constants, the first elements and the beginning of a digest are, which cannot be read
    /// back. None writes all.
    pub max_elements: Option<usize>,
    /// True to name values by the kinds of their operations, `%add_2` in place of `%7`, so that
    /// an edit changes few lines.
    pub kind_names: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            locations: false,
            max_length: 1 << 31,
            max_elements: None,
            kind_names: false,
        }
    }
}

/// Writes a program, without locations.
///
/// The text is the same for all programs that are equal apart from the names of private
/// symbols. MLIR's parser reads it, and [`read`](crate::read) gives an equal program.
///
/// # Errors
///
/// `ValueError` for an operand, a successor or a symbol that the program does not define,
/// and for a text of more than 2 GiB; `TypeError` for an attribute that is not of a node type
/// of this crate.
///
/// ```
/// let program = isoform_mlir::read("module { %x = arith.constant 255 : i8 }")?;
/// assert_eq!(isoform_mlir::write(&program)?, "\
/// \"builtin.module\"() ({
///   %0 = \"arith.constant\"() <{value = -1 : i8}> : () -> i8
/// }) : () -> ()
/// ");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn write(program: &Ref<Program>) -> Result<String> {
    WriteOptions::default().write(program)
}

impl WriteOptions {
    /// Sets whether to write the locations of operations and arguments.
    #[must_use]
    pub fn locations(mut self, locations: bool) -> Self {
        self.locations = locations;
        self
    }

    /// Sets the length in bytes above which writing is an error.
    #[must_use]
    pub fn max_length(mut self, max_length: usize) -> Self {
        self.max_length = max_length;
        self
    }

    /// Sets the largest number of elements of a constant that are written.
    ///
    /// ```
    /// use isoform_mlir::WriteOptions;
    /// let text = r#""x.y"() {v = dense<[1, 2, 3, 4]> : tensor<4xi8>} : () -> ()"#;
    /// let text = WriteOptions::default().max_elements(3).write(&isoform_mlir::read(text)?)?;
    /// assert!(text.contains("dense<[1, 2, 3, ...] #"), "{text}");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn max_elements(mut self, max_elements: impl Into<Option<usize>>) -> Self {
        self.max_elements = max_elements.into();
        self
    }

    /// Sets whether values are named by the kinds of their operations.
    ///
    /// ```
    /// use isoform_mlir::WriteOptions;
    /// let program = isoform_mlir::read("%0 = arith.constant 1 : i8 %1 = arith.constant 2 : i8")?;
    /// let text = WriteOptions::default().kind_names(true).write(&program)?;
    /// assert!(text.contains("%constant_2 = "), "{text}");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn kind_names(mut self, kind_names: bool) -> Self {
        self.kind_names = kind_names;
        self
    }

    /// [`write()`] with these options.
    ///
    /// # Errors
    ///
    /// As [`write()`].
    pub fn write(self, program: &Ref<Program>) -> Result<String> {
        let mut writer = Writer::new(self);
        writer.write_program(program)?;
        Ok(writer.out)
    }
}

/// The text of a type or attribute for a message, cut if it is long.
pub(crate) fn type_text(object: &Object) -> String {
    let mut writer = Writer::new(WriteOptions::default().max_length(100));
    writer.pieces.push(Piece::Object(object));
    match writer.run() {
        Ok(()) => writer.out,
        Err(_) => printed::cut(writer.out, 100),
    }
}

/// Something to write.
enum Piece<'p> {
    Text(&'static str),
    /// A type or an attribute.
    Object(&'p Object),
    /// A location without `loc(…)`.
    Location(&'p Object),
    /// The entries of a dictionary in braces.
    Dict(&'p Map<Str, Object>),
    Key(&'p Str),
    /// An expression; true if a sum needs parentheses, and then if any operation does.
    Affine(&'p Object, bool, bool),
    /// An operation with its line, and its indentation.
    Operation(&'p Ref<Operation>, usize),
    Region(&'p Ref<Region>, usize),
    Block(&'p Ref<Region>, usize, usize),
    EndRegion(usize),
    /// Text that is made while writing.
    Owned(String),
}

struct Writer<'p> {
    out: String,
    /// The last piece is written first.
    pieces: Vec<Piece<'p>>,
    names: Names<'p>,
    options: WriteOptions,
    /// The bytes at which operations begin, if they are wanted.
    starts: Option<Vec<(u64, usize)>>,
}

impl<'p> Writer<'p> {
    fn new(options: WriteOptions) -> Self {
        Writer {
            out: String::new(),
            pieces: Vec::new(),
            names: Names::by_kind(options.kind_names),
            options,
            starts: None,
        }
    }

    fn write_program(&mut self, program: &'p Ref<Program>) -> Result<()> {
        self.names.number_results(&program.module);
        self.pieces.push(Piece::Operation(&program.module, 0));
        self.run()?;
        if self.options.max_elements.is_none() {
            self.write_resources(&program.resources);
        }
        self.check_length()
    }

    fn check_length(&self) -> Result<()> {
        if self.out.len() > self.options.max_length {
            let limit = self.options.max_length;
            return Err(Error::value_error(format!(
                "expected a program with a text of at most {limit} bytes"
            )));
        }
        Ok(())
    }

    /// Writes all pieces.
    fn run(&mut self) -> Result<()> {
        while let Some(piece) = self.pieces.pop() {
            self.check_length()?;
            let first = self.pieces.len();
            match piece {
                Piece::Text(text) => self.out.push_str(text),
                Piece::Owned(text) => self.out.push_str(&text),
                Piece::Key(key) => bodies::write_key(key, &mut self.out),
                Piece::Object(object) => self.write_object(object)?,
                Piece::Location(location) => self.write_location(location)?,
                Piece::Dict(entries) => self.write_dict(entries),
                Piece::Affine(expression, sum, all) => {
                    self.write_affine_expression(expression, sum, all)?;
                }
                Piece::Operation(operation, indent) => self.write_operation(operation, indent)?,
                Piece::Region(region, indent) => self.begin_region(region, indent),
                Piece::Block(region, position, indent) => {
                    self.write_block(region, position, indent)?;
                }
                Piece::EndRegion(indent) => self.end_region(indent),
            }
            // Pieces are added in the order of the text.
            self.pieces[first..].reverse();
        }
        Ok(())
    }

    fn write_object(&mut self, object: &'p Object) -> Result<()> {
        if self.write_type(object)? || self.write_attribute(object)? {
            return Ok(());
        }
        if locations::is_location(object) {
            self.wrap("loc(", Piece::Location(object), ")");
            return Ok(());
        }
        Err(Error::type_error(format!(
            "expected a type or an attribute of MLIR, got {}",
            object.type_info().key()
        )))
    }

    /// Adds a piece between two texts.
    fn wrap(&mut self, before: &'static str, piece: Piece<'p>, after: &'static str) {
        self.pieces
            .extend([Piece::Text(before), piece, Piece::Text(after)]);
    }

    /// Adds pieces with commas between them.
    fn list(&mut self, pieces: impl Iterator<Item = Piece<'p>>) {
        for (position, piece) in pieces.enumerate() {
            if position > 0 {
                self.pieces.push(Piece::Text(", "));
            }
            self.pieces.push(piece);
        }
    }

    /// Adds the results of a function type, in parentheses unless a single one can do without.
    fn results(&mut self, types: impl Iterator<Item = &'p Object> + Clone) {
        let mut some = types.clone();
        match (some.next(), some.next()) {
            (Some(only), None) if !only.isa::<FunctionType>() => {
                self.pieces.push(Piece::Object(only));
            }
            _ => {
                self.pieces.push(Piece::Text("("));
                self.list(types.map(Piece::Object));
                self.pieces.push(Piece::Text(")"));
            }
        }
    }

    /// Adds the location of an operation or argument, if locations are wanted.
    fn place(&mut self, location: Option<&'p Object>) {
        if let (true, Some(location)) = (self.options.locations, location) {
            self.wrap(" loc(", Piece::Location(location), ")");
        }
    }

    fn write_dict(&mut self, entries: &'p Map<Str, Object>) {
        self.pieces.push(Piece::Text("{"));
        for (position, (key, value)) in sorted(entries).into_iter().enumerate() {
            if position > 0 {
                self.pieces.push(Piece::Text(", "));
            }
            self.pieces.push(Piece::Key(key));
            if !value.isa::<crate::nodes::UnitAttr>() {
                self.pieces.push(Piece::Text(" = "));
                self.pieces.push(Piece::Object(value));
            }
        }
        self.pieces.push(Piece::Text("}"));
    }
}

/// The entries in the order of their keys.
fn sorted<V: isoform::types::ElementType>(entries: &Map<Str, V>) -> Vec<(&Str, &V)> {
    let mut sorted: Vec<(&Str, &V)> = entries.iter().collect();
    sorted.sort_by(|left, right| left.0.as_bytes().cmp(right.0.as_bytes()));
    sorted
}
