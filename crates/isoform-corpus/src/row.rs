//! A row of an index, and the order of rows.

use std::cmp::Ordering;

/// Names with numbers, in the order of the names.
pub type Counts = Vec<(String, u64)>;

/// The contents of one file of a collection: a row of an index.
///
/// | part | of which files |
/// |---|---|
/// | `path`, `size`, `stamp`, `files` | all |
/// | `error` | files that cannot be read; the parts below are empty then |
/// | `kind`, `digest`, `architecture`, `nodes`, `parameters` | models, IR files, files of tensors |
/// | `operators`, `elements`, `blocks` | the same, as far as they have any |
/// | `opsets`, `inputs`, `outputs` | ONNX models |
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Row {
    /// The path, which begins with the root as the root was given. The parts are separated
    /// by `/`, and an archive counts as a folder.
    pub path: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// A number that changes with the file, and 0 if the next update has to read the file
    /// again.
    pub stamp: u64,
    /// The names of the further files that belong to this file, relative to its folder:
    /// external data of a model, shards of an index.
    pub files: Vec<String>,
    /// The format: `onnx`, `safetensors`, `gguf`, `json`, ...
    pub kind: Option<String>,
    /// The digest of the program, in hexadecimal digits.
    pub digest: Option<String>,
    /// The digest of the program without the elements of its tensors.
    pub architecture: Option<String>,
    /// The number of nodes of a model, or of objects of an IR.
    pub nodes: Option<u64>,
    /// The number of elements of all weights.
    pub parameters: Option<u64>,
    /// How often each operator, or type of objects, occurs.
    pub operators: Counts,
    /// The version of each operator set; the newest if there are several.
    pub opsets: Counts,
    /// The number of elements of weights of each element type.
    pub elements: Counts,
    /// The inputs, like `x: float32[batch, 3]`.
    pub inputs: Vec<String>,
    /// The outputs, in the same form.
    pub outputs: Vec<String>,
    /// The blocks that occur at least twice in the program.
    pub blocks: Vec<Block>,
    /// The reason why the file could not be read.
    pub error: Option<String>,
}

/// A block of nodes that occurs several times in a program, such as a layer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// The digest of the block without the elements of its tensors; equal for the same
    /// block of another program.
    pub digest: String,
    /// The number of nodes.
    pub nodes: u64,
    /// How often the block occurs.
    pub count: u64,
}

impl Row {
    /// The row of a file that could not be read.
    pub fn failed(path: impl Into<String>, error: impl Into<String>) -> Row {
        Row {
            path: path.into(),
            error: Some(error.into()),
            ..Row::default()
        }
    }

    /// An upper bound of the memory of the row in bytes, up to a constant factor.
    pub(crate) fn weight(&self) -> usize {
        let texts = |texts: &[String]| texts.iter().map(|text| text.len() + 24).sum::<usize>();
        let counts = |counts: &Counts| {
            let sizes = counts.iter().map(|(name, _)| name.len() + 32);
            sizes.sum::<usize>()
        };
        let error = self.error.as_ref().map_or(0, String::len);
        320 + self.path.len()
            + error
            + 88 * self.blocks.len()
            + texts(&self.files)
            + texts(&self.inputs)
            + texts(&self.outputs)
            + counts(&self.operators)
            + counts(&self.opsets)
            + counts(&self.elements)
    }
}

/// The order of rows: that of a walk which visits the entries of each folder by name.
///
/// ```
/// use std::cmp::Ordering;
/// use isoform_corpus::path_order;
///
/// assert_eq!(path_order("a/z.onnx", "a.onnx"), Ordering::Less);
/// assert_eq!(path_order("a/b/c", "a/b"), Ordering::Greater);
/// ```
pub fn path_order(left: &str, right: &str) -> Ordering {
    left.split('/').cmp(right.split('/'))
}
