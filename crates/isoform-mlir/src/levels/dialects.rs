//! The knowledge of dialects.

use std::sync::{Arc, OnceLock};

use hashbrown::{HashMap, HashSet};
use isoform::{Obj, Ref, Result, Str, structural_equal};
use rapidhash::fast::RandomState;

use super::table;
use crate::nodes::Operation;

/// The knowledge of the operations of dialects: names, constants, commutative operations and
/// default values.
///
/// `docs/mlir.md` describes the table.
///
/// ```
/// use isoform::structural_equal;
/// use isoform_mlir::{Dialects, Level, read};
///
/// let own = Dialects::parse("own.toml", r#"commutative = ["my.join"]"#)?;
/// let dialects = Dialects::builtin().with(&own);
/// let level = Level::strict().semantics(true).dialects(dialects.into());
///
/// let program = |operands: &str| read(format!(r#"
///     %a, %b = "my.make"() : () -> (i32, i32)
///     %c = "my.join"({operands}) : (i32, i32) -> i32"#));
/// let (left, right) = (program("%a, %b")?, program("%b, %a")?);
/// assert!(structural_equal(level.apply(&left)?, level.apply(&right)?)?);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Dialects {
    /// The keys of names in the dictionaries of arguments and results.
    pub(super) names: HashSet<Str, RandomState>,
    pub(super) operations: HashMap<Str, Knowledge, RandomState>,
}

/// The knowledge of an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    /// The keys of the contents of a constant.
    pub(super) contents: Option<Vec<Str>>,
    pub(super) swap: Option<Swap>,
    /// The spellings of the default value of a key, all of one meaning.
    pub(super) defaults: HashMap<Str, Vec<Ref<Obj>>, RandomState>,
}

/// Operands without order.
#[derive(Clone, Debug, Default)]
pub(super) struct Swap {
    /// The number of the first operands that have no order; None for all.
    pub(super) first: Option<usize>,
    /// Attributes, each of which has one of its values.
    pub(super) when: Vec<(Str, Vec<Ref<Obj>>)>,
}

/// The keys of the contents of a constant whose operation is not listed.
const CONTENTS: [&str; 2] = ["value", "values"];

impl Dialects {
    /// The built-in knowledge: the dialects of MLIR itself and StableHLO.
    pub fn builtin() -> &'static Arc<Dialects> {
        static BUILTIN: OnceLock<Arc<Dialects>> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let text = include_str!("dialects.toml");
            // A test reads the table, so the default is never used.
            Arc::new(Dialects::parse("dialects.toml", text).unwrap_or_default())
        })
    }

    /// Reads a table in TOML. `name` names the text in messages.
    ///
    /// # Errors
    ///
    /// `ValueError` with line, column and key.
    ///
    /// ```
    /// let error = isoform_mlir::Dialects::parse("own.toml", "commutative = [1]");
    /// assert_eq!(error.unwrap_err().to_string(), "\
    /// ValueError: own.toml: line 1, column 16: commutative: expected an operation, got an integer: \
    /// write \"dialect.operation\" or { operation = \"dialect.operation\", first = 2 }
    ///   |
    /// 1 | commutative = [1]
    ///   |                ^");
    /// ```
    pub fn parse(name: &str, text: &str) -> Result<Dialects> {
        table::read(name, text)
    }

    /// Both together; where they differ, `other` counts.
    #[must_use]
    pub fn with(&self, other: &Dialects) -> Dialects {
        let mut joined = self.clone();
        joined.names.extend(other.names.iter().cloned());
        for (name, known) in &other.operations {
            let mine = joined.operations.entry(name.clone()).or_default();
            if known.contents.is_some() {
                mine.contents.clone_from(&known.contents);
            }
            if known.swap.is_some() {
                mine.swap.clone_from(&known.swap);
            }
            let defaults = known.defaults.iter();
            mine.defaults
                .extend(defaults.map(|(key, values)| (key.clone(), values.clone())));
        }
        joined
    }

    /// True if an entry holds the contents of a constant.
    pub(super) fn is_contents(&self, operation: &Str, key: &str) -> bool {
        let known = self.operations.get(operation);
        if let Some(keys) = known.and_then(|known| known.contents.as_ref()) {
            return keys.iter().any(|known| **known == *key);
        }
        let last = operation.rsplit('.').next().unwrap_or_default();
        matches!(last, "constant" | "const") && CONTENTS.contains(&key)
    }

    /// The number of the first operands of an operation that have no order.
    pub(super) fn unordered_operands(&self, operation: &Operation) -> Result<usize> {
        let Some(known) = self.operations.get(&operation.name) else {
            return Ok(0);
        };
        let Some(swap) = &known.swap else {
            return Ok(0);
        };
        for (key, values) in &swap.when {
            let value = operation.attributes.get(key);
            let value = value.or_else(|| operation.properties.get(key));
            // Defaults are dropped before.
            let value = value.or_else(|| known.defaults.get(key)?.first());
            match value {
                Some(value) if is_one_of(value, values)? => {}
                _ => return Ok(0),
            }
        }
        let count = operation.operands.len();
        Ok(swap.first.map_or(count, |first| first.min(count)))
    }
}

impl Knowledge {
    /// True if an entry has its default value.
    pub(super) fn is_default(&self, key: &Str, value: &Ref<Obj>) -> Result<bool> {
        match self.defaults.get(key) {
            Some(defaults) => is_one_of(value, defaults),
            None => Ok(false),
        }
    }
}

fn is_one_of(value: &Ref<Obj>, values: &[Ref<Obj>]) -> Result<bool> {
    for other in values {
        if structural_equal(value, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}
