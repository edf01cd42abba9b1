//! The reader of MLIR's generic textual form.
//!
//! The text is read once, front to back, into tables (`records.rs`); then the tables become
//! nodes (`build.rs`). Nothing recurses: nested operations wait on a stack, nested types and
//! attributes on another (`values.rs`).
//!
//! | file | job |
//! |---|---|
//! | `lexer.rs`, `cursor.rs` | tokens, and a place in the text |
//! | `fault.rs` | mistakes with their places |
//! | `operation.rs`, `names.rs`, `pretty.rs` | operations, regions, blocks, values |
//! | `records.rs`, `build.rs`, `symbols.rs` | from tables to nodes; private symbols |
//! | `values.rs` | the machine that reads what nests |
//! | `types.rs`, `attributes.rs`, `locations.rs`, `bodies.rs`, `tokens.rs` | its parts by topic |
//! | `numbers.rs`, `floats.rs`, `dense.rs`, `hex.rs` | numbers, and literals of many numbers |
//! | `affine.rs`, `affine_expressions.rs` | affine maps and sets, and their simplification |
//! | `aliases.rs`, `resources.rs` | the other parts of a file |
//! | `options.rs` | the entry points |

mod affine;
mod affine_expressions;
mod aliases;
mod attributes;
mod bodies;
mod build;
mod cursor;
mod dense;
mod fault;
pub(crate) mod floats;
mod hex;
pub(crate) mod lexer;
mod locations;
mod names;
pub(crate) mod numbers;
mod operation;
mod options;
mod pretty;
mod records;
mod resources;
mod symbols;
mod tokens;
mod types;
mod values;

pub use options::{ReadOptions, read, read_attribute, read_split};

use hashbrown::{HashMap, HashSet};
use isoform::{Map, Ref, Str};
use rapidhash::fast::RandomState;

use crate::nodes::Program;
use aliases::Aliases;
use build::Problem;
use cursor::Cursor;
use fault::Read;
use lexer::{Kind, Token};
use names::{Names, OpenRegion};
use operation::OpenOperation;
use records::{Dict, Id, Records};
use resources::Resources;
use values::{Object, Rest, Want};

/// The state of reading one file.
struct Reader<'t> {
    cursor: Cursor<'t>,
    /// The rests of types, attributes and locations whose parts are being read.
    rests: Vec<Rest<'t>>,
    /// The position in the body that is being read.
    body_at: usize,
    /// Operations whose regions are being read.
    operations: Vec<OpenOperation>,
    regions: Vec<OpenRegion<'t>>,
    names: Names<'t>,
    records: Records<'t>,
    /// Uses that preceded the type of their value: operand, type, place.
    late_checks: Vec<(Id, Object, Token)>,
    aliases: Aliases<'t>,
    resources: Resources,
    has_resources: bool,
    /// Types and attributes that mean the same everywhere, by their text.
    known: HashMap<&'t [u8], Object, RandomState>,
    operation_names: HashMap<&'t [u8], Str, RandomState>,
    distinct: HashMap<i64, Object, RandomState>,
    /// The count of references to symbols and resources so far.
    unsettled: usize,
    /// The names after the first one of references.
    nested_names: HashSet<Str, RandomState>,
    /// The number of tokens that replaced aliases in bodies.
    spliced: usize,
    no_entries: Dict,
    /// True if private symbols keep their names.
    keeps_names: bool,
}

impl<'t> Reader<'t> {
    fn read(text: &'t [u8], start: usize, keeps_names: bool) -> Result<Ref<Program>, Problem> {
        let mut reader = Reader::new(text, start)?;
        reader.keeps_names = keeps_names;
        reader.read_file()?;
        build::check_end(&reader)?;
        reader.build()
    }

    /// Reads a text that is one attribute; symbols and resources stay names.
    fn read_attribute(text: &'t [u8]) -> Result<Object, Problem> {
        let mut reader = Reader::new(text, 0)?;
        let attribute = reader.value(Want::Attribute)?;
        let end = "the end of the attribute";
        reader.cursor.expect_kind(Kind::End, end)?;
        Ok(attribute)
    }

    fn new(text: &'t [u8], start: usize) -> Read<Self> {
        Ok(Reader {
            cursor: Cursor::at(text, start)?,
            rests: Vec::new(),
            body_at: 0,
            operations: Vec::new(),
            regions: Vec::new(),
            names: Names::default(),
            records: Records::default(),
            late_checks: Vec::new(),
            aliases: Aliases::default(),
            resources: Resources::default(),
            has_resources: false,
            known: HashMap::default(),
            operation_names: HashMap::default(),
            distinct: HashMap::default(),
            unsettled: 0,
            nested_names: HashSet::default(),
            spliced: 0,
            no_entries: Map::new(),
            keeps_names: false,
        })
    }

    /// The innermost region that is being read; the file's own is always open.
    fn region(&self) -> &OpenRegion<'t> {
        &self.regions[self.regions.len() - 1]
    }

    fn region_mut(&mut self) -> &mut OpenRegion<'t> {
        let last = self.regions.len() - 1;
        &mut self.regions[last]
    }
}
