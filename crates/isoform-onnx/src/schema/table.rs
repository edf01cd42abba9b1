//! The table of operators, read.

use std::collections::HashMap;
use std::sync::OnceLock;

use isoform::{Array, Value};

use crate::proto::AttributeType;

/// The table, as the script writes it.
const OPERATORS: &str = include_str!("operators.txt");

/// One version of an operator.
///
/// ```
/// use isoform_onnx::schema::lookup;
/// let has_allowzero = |version| {
///     let reshape = lookup("", "Reshape", version).unwrap();
///     reshape.attribute("allowzero").is_some()
/// };
/// assert!(!has_allowzero(13) && has_allowzero(14));
/// assert!(lookup("", "Gelu", 19).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// The version of the operator set that introduced this version of the operator.
    pub since: i64,
    /// The smallest and the largest number of inputs; `usize::MAX` if there is no limit.
    pub inputs: (usize, usize),
    /// The smallest and the largest number of outputs; `usize::MAX` if there is no limit.
    pub outputs: (usize, usize),
    /// True if models of this version may not use the operator.
    pub deprecated: bool,
    /// The attributes, sorted by name.
    pub attributes: Vec<SchemaAttribute>,
    /// The condition under which calls of the previous version keep their meaning in
    /// this version; None if the meaning changed.
    pub(super) continuation: Option<Continuation>,
}

/// The relation of a version to the previous version, if calls keep their meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Continuation {
    /// Calls that give one of these attributes a value other than the default are
    /// excepted.
    pub(super) without: Vec<&'static str>,
    /// Attributes of the previous version, and the inputs that replace them.
    pub(super) moved: Vec<(&'static str, usize)>,
}

impl Continuation {
    /// Reads a continuation from the table's text after `=`.
    fn read(text: &'static str) -> Option<Self> {
        let mut made = Continuation::default();
        for word in text.split(',').filter(|_| !text.is_empty()) {
            match word.split_once('>') {
                Some((name, position)) => made.moved.push((name, position.parse().ok()?)),
                None => made.without.push(word),
            }
        }
        Some(made)
    }
}

/// An attribute of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaAttribute {
    /// Name of the attribute.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: AttributeType,
    /// True if a node must give it.
    pub required: bool,
    /// The default value, in the notation of the table.
    default: Option<&'static str>,
}

impl SchemaAttribute {
    /// The value of an omitted attribute, in the form of
    /// [`Call::attrs`](crate::ir::Call::attrs). None if the standard does not define a
    /// default. O(1).
    ///
    /// ```
    /// use isoform_onnx::schema::lookup;
    /// let gemm = lookup("", "Gemm", 13).unwrap();
    /// let alpha = gemm.attribute("alpha").unwrap().default_value();
    /// assert_eq!(alpha, Some(1.0.into()));
    /// let conv = lookup("", "Conv", 13).unwrap();
    /// assert_eq!(conv.attribute("strides").unwrap().default_value(), None);
    /// ```
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        read_default(self.kind, self.default?)
    }
}

/// The default of a kind of attribute; None if damaged.
fn read_default(kind: AttributeType, text: &str) -> Option<Value> {
    use AttributeType as Kind;
    let list = || text.split(',');
    Some(match kind {
        Kind::Int => text.parse::<i64>().ok()?.into(),
        Kind::Float => text.parse::<f64>().ok()?.into(),
        Kind::String => text.into(),
        Kind::Ints => {
            let items = list().map(|item| item.parse::<i64>().ok().map(Value::from));
            Array::from(items.collect::<Option<Vec<_>>>()?).into()
        }
        Kind::Strings => Array::from(list().map(Value::from).collect::<Vec<_>>()).into(),
        _ => return None,
    })
}

impl Schema {
    /// The attribute of this name, if the operator has it. O(log attributes).
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&SchemaAttribute> {
        let found = self
            .attributes
            .binary_search_by_key(&name, |attr| attr.name);
        found.ok().map(|at| &self.attributes[at])
    }
}

/// The schema of an operator in a version of its domain's operator set; the empty
/// domain is `ai.onnx`. O(1).
///
/// None if the operator did not exist then, or if the standard does not define the domain:
/// [`newest`] tells these apart.
#[must_use]
pub fn lookup(domain: &str, op: &str, version: i64) -> Option<&'static Schema> {
    let versions = table().operators.get(domain)?.get(op)?;
    versions.iter().find(|schema| schema.since <= version)
}

/// The later versions of an operator, from old to new.
pub(super) fn later(domain: &str, op: &str, since: i64) -> impl Iterator<Item = &'static Schema> {
    let versions = table().operators.get(domain).and_then(|it| it.get(op));
    let newer: Vec<&Schema> = versions
        .into_iter()
        .flatten()
        .take_while(|schema| schema.since > since)
        .collect();
    newer.into_iter().rev()
}

/// The newest known version of a domain's operator set; None if the standard does not
/// define the domain. O(1).
#[must_use]
pub fn newest(domain: &str) -> Option<i64> {
    table().newest.get(domain).copied()
}

/// The first version of the file format that knows an operator set of `ai.onnx`.
pub(crate) fn ir_version_for(opset: i64) -> Option<i64> {
    let found = table()
        .ir_versions
        .iter()
        .find(|(_, newest)| *newest >= opset);
    found.map(|(ir_version, _)| *ir_version)
}

#[derive(Default)]
struct Table {
    ir_versions: Vec<(i64, i64)>,
    newest: HashMap<&'static str, i64>,
    /// By domain and name, newest first.
    operators: HashMap<&'static str, HashMap<&'static str, Vec<Schema>>>,
    /// The number of unreadable lines; the tests expect zero.
    unread: usize,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| read(OPERATORS))
}

fn read(text: &'static str) -> Table {
    let mut table = Table::default();
    let (mut domain, mut op) = ("", "");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&'static str> = line.split(' ').collect();
        let mut number = |word: &str| {
            word.parse().unwrap_or_else(|_| {
                table.unread += 1;
                0
            })
        };
        match words.as_slice() {
            ["ir", ir_version, newest] => {
                let entry = (number(ir_version), number(newest));
                table.ir_versions.push(entry);
            }
            ["opset", name, newest] => {
                domain = if *name == "." { "" } else { name };
                let newest = number(newest);
                table.newest.insert(domain, newest);
            }
            ["op", name] => op = name,
            words => match schema(words) {
                Some(schema) => {
                    let operators = table.operators.entry(domain).or_default();
                    operators.entry(op).or_default().push(schema);
                }
                None => table.unread += 1,
            },
        }
    }
    table
}

fn schema(words: &[&'static str]) -> Option<Schema> {
    let [since, inputs, outputs, rest @ ..] = words else {
        return None;
    };
    let deprecated = rest.first() == Some(&"deprecated");
    let attributes = rest[usize::from(deprecated)..].iter();
    let (since, continuation) = match since.split_once('=') {
        Some((since, text)) => (since, Some(Continuation::read(text)?)),
        None => (*since, None),
    };
    Some(Schema {
        since: since.parse().ok()?,
        inputs: span(inputs)?,
        outputs: span(outputs)?,
        deprecated,
        attributes: attributes
            .map(|word| attribute(word))
            .collect::<Option<_>>()?,
        continuation,
    })
}

fn span(word: &str) -> Option<(usize, usize)> {
    let (low, high) = word.split_once('-')?;
    let high = match high {
        "*" => usize::MAX,
        number => number.parse().ok()?,
    };
    Some((low.parse().ok()?, high))
}

fn attribute(word: &'static str) -> Option<SchemaAttribute> {
    use AttributeType as Kind;
    let (name, kind) = word.split_once(':')?;
    let (kind, default) = match kind.split_once('=') {
        Some((kind, default)) => (kind, Some(default)),
        None => (kind, None),
    };
    let (kind, required) = match kind.strip_suffix('!') {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let kind = match kind {
        "float" => Kind::Float,
        "int" => Kind::Int,
        "string" => Kind::String,
        "tensor" => Kind::Tensor,
        "graph" => Kind::Graph,
        "floats" => Kind::Floats,
        "ints" => Kind::Ints,
        "strings" => Kind::Strings,
        "tensors" => Kind::Tensors,
        "graphs" => Kind::Graphs,
        "sparse_tensor" => Kind::SparseTensor,
        "sparse_tensors" => Kind::SparseTensors,
        "type_proto" => Kind::TypeProto,
        "type_protos" => Kind::TypeProtos,
        _ => return None,
    };
    if let Some(default) = default {
        read_default(kind, default)?;
    }
    Some(SchemaAttribute {
        name,
        kind,
        required,
        default,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_completely() {
        let table = table();
        assert_eq!(table.unread, 0);
        let operators = || table.operators.values().flat_map(HashMap::values);
        let versions: usize = operators().map(Vec::len).sum();
        let heads = |line: &&str| line.starts_with(['#', 'i', 'o']);
        let lines = OPERATORS.lines().count() - OPERATORS.lines().filter(heads).count();
        assert_eq!(versions, lines);
        for schemas in operators() {
            assert!(schemas.windows(2).all(|pair| pair[0].since > pair[1].since));
            for schema in schemas {
                assert!(schema.attributes.is_sorted_by_key(|attr| attr.name));
            }
        }
    }

    #[test]
    fn a_damaged_table_is_noticed() {
        for text in [
            "ir x 1",
            "op A\n1 1-1",
            "op A\n1 1-1 1-1 a:nothing",
            "op A\n1 1 1-1",
            "op A\n1 1-1 1-1 a:int=x",
            "op A\n1 1-1 1-1 a:ints=1,",
            "op A\n1 1-1 1-1 a:tensor=1",
            "op A\n1=a>b 1-1 1-1",
        ] {
            assert_eq!(read(text).unread, 1, "{text}");
        }
    }

    #[test]
    fn versions_are_found() {
        assert_eq!(lookup("", "Split", 1).unwrap().inputs, (1, 2));
        assert_eq!(lookup("", "Split", 12).unwrap().since, 11);
        assert_eq!(lookup("", "Concat", 13).unwrap().inputs, (1, usize::MAX));
        let norm = lookup("", "MeanVarianceNormalization", 13).unwrap();
        let axes = norm.attribute("axes").unwrap().default_value();
        let expected = Array::from([0, 2, 3].map(Value::from).to_vec());
        assert!(isoform::structural_equal(axes.unwrap(), expected).unwrap());
        assert!(lookup("", "Upsample", 10).unwrap().deprecated);
        let axis = *lookup("", "Concat", 13).unwrap().attribute("axis").unwrap();
        assert_eq!((axis.kind, axis.required), (AttributeType::Int, true));
        assert_eq!((newest("demo"), newest("ai.onnx.ml")), (None, Some(5)));
        assert_eq!((ir_version_for(17), ir_version_for(9999)), (Some(8), None));
    }
}
