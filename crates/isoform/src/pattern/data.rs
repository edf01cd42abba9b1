//! The types of patterns, holes and divided templates.
//!
//! A hole may contain a pattern, and a pattern contains its template in divided form,
//! with holes. This file therefore declares the types together; the files named after
//! the types have their functions.

use std::sync::Arc;

use super::scan::Variables;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::is_a;
use crate::kernel::path::AccessPath;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;
use crate::structural::{CompareOptions, Guard, HoleTable, variable};
use crate::traverse::roles::Commutes;

/// A template with holes; see the [module](crate::pattern).
///
/// ```
/// use isoform::pattern::Pattern;
/// use isoform::Value;
/// use isoform_ir::tir;
/// use isoform::values::DType;
///
/// let int = |name| tir::Var::new(name, DType::INT32);
/// let (x, a, b) = (int("x"), int("a"), int("b"));
/// // min(x, x) for any x.
/// let same = Pattern::new(tir::Min::new(&x, &x)?, [&x])?;
/// let sum = tir::Add::new(&a, &b)?;
/// let found = same.match_value(tir::Min::new(&sum, &sum)?)?.expect("it matches");
/// assert_eq!(found.get(x), Some(&Value::from(&sum)));
/// assert!(same.match_value(tir::Min::new(&a, &b)?)?.is_none());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
pub struct Pattern {
    pub(super) template: Value,
    pub(super) options: PatternOptions,
    pub(super) facts: Arc<PatternFacts>,
}

/// The facts about a pattern, shared by the pattern's copies: every match has a copy.
#[derive(Clone)]
pub(super) struct PatternFacts {
    pub(super) holes: Vec<Hole>,
    pub(super) table: Arc<HoleTable>,
    /// The objects that the pattern may match; of one kind, unless the pattern has
    /// alternatives.
    pub(super) roots: Vec<Root>,
    /// Set if comparison alone cannot match the template.
    pub(super) shell: Option<Arc<Skeleton>>,
    /// The shell for matches in a program with known users, where inner nodes must not
    /// have outside users.
    pub(super) tracked: Option<Arc<Skeleton>>,
    /// The number of levels of objects that a match sees.
    pub(super) height: u32,
    /// True if a match depends on more than these levels.
    pub(super) deep: bool,
    /// The types of the template's own parts that are not holes, by the order of visit:
    /// most attempts fail on these types, without any comparison.
    pub(super) parts: Vec<(usize, TypeIndex)>,
    /// The variables of the template.
    pub(super) variables: Variables,
}

/// The objects that a pattern may match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Root {
    /// Objects of exactly this type.
    Exactly(TypeIndex),
    /// Objects of this class: the template is a hole.
    Class(TypeIndex),
    /// Declared objects of any type.
    Anything,
    /// A plain value.
    Plain,
    /// Any value.
    Everything,
}

impl Root {
    /// The objects that a template may match by comparison.
    pub(super) fn of(template: &Value, table: &HoleTable) -> Root {
        let hole = variable(template).and_then(|ident| table.find(ident));
        match (hole, template.as_object()) {
            (Some(hole), _) => table.class(hole).map_or(Root::Anything, Root::Class),
            (None, Some(object)) => Root::Exactly(object.type_info().index()),
            (None, None) => Root::Plain,
        }
    }

    pub(super) fn admits(self, ty: Option<TypeIndex>) -> bool {
        match (self, ty) {
            (Root::Everything, _) => true,
            (Root::Exactly(wanted), Some(ty)) => wanted == ty,
            (Root::Class(wanted), Some(ty)) => is_a(ty, wanted),
            (Root::Anything, Some(ty)) => !crate::kernel::object::table::info(ty).is_builtin(),
            // A long string or a large integer is an object, too.
            (Root::Plain, ty) => {
                ty.is_none_or(|ty| crate::kernel::object::table::info(ty).is_builtin())
            }
            (_, None) => false,
        }
    }
}

impl Root {
    pub(super) fn admits_variables(self) -> bool {
        let is_var = |ty: TypeIndex| crate::kernel::object::table::info(ty).kind() == Kind::Var;
        match self {
            Root::Exactly(ty) => is_var(ty),
            Root::Class(_) | Root::Anything | Root::Everything => true,
            Root::Plain => false,
        }
    }
}

/// A variable of a template that matches any part of a value.
#[derive(Clone)]
pub struct Hole {
    pub(super) var: Value,
    pub(super) class: Option<TypeIndex>,
    pub(super) guard: Option<Arc<Guard>>,
    pub(super) tests: Vec<Test>,
    pub(super) form: Form,
}

/// The demands of a hole that comparison cannot decide alone.
#[derive(Clone, Default)]
pub(super) struct Form {
    pub(super) anything: bool,
    pub(super) items: bool,
    pub(super) constant: bool,
    pub(super) one_use: bool,
    /// The part matches all of these patterns.
    pub(super) patterns: Vec<Pattern>,
    /// The values at these places below the part match these patterns.
    pub(super) fields: Vec<(String, Pattern)>,
}

impl Form {
    pub(super) fn is_plain(&self) -> bool {
        !(self.anything || self.items || self.constant || self.one_use)
            && self.patterns.is_empty()
            && self.fields.is_empty()
    }
}

/// A requirement on a part that depends only on the part.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Field(String, Value),
    Attr(String, Value),
}

/// The users that the inner nodes of a match may have. Inner nodes are the nodes
/// between the root of a match and the parts of its holes, which a replacement makes
/// superfluous.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum InteriorUses {
    /// Like `Inside` for nodes of kind [`dag`](crate::types::Kind::Dag), for
    /// definitions that were looked through, and for nodes on the way from the root to
    /// them. Like `Anywhere` for all remaining nodes: their sharing has no meaning. A
    /// replacement then computes no value twice.
    #[default]
    Auto,
    /// Only the match uses the nodes.
    Inside,
    /// Any object may use the nodes.
    Anywhere,
}

/// Options of a pattern; the defaults are those of [`Pattern::new`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct PatternOptions {
    /// True if free variables of the template map to variables of the value one to one,
    /// false if a variable matches only itself.
    pub map_free_vars: bool,
    /// True if operands match in any order where the type of the template's node has the
    /// attribute [`COMMUTATIVE`](crate::traverse::COMMUTATIVE).
    pub commutative: bool,
    /// True if an object that occurs several times in the template matches one and the
    /// same object of the value, false if equal objects suffice.
    pub identity: bool,
    /// True if a node of the template also matches a variable whose definition matches
    /// the node.
    pub definitions: bool,
    /// The users that inner nodes may have.
    pub interior_uses: InteriorUses,
}

/// The number of a node of the shell.
pub(super) type NodeNumber = usize;
/// The number of a part of the match.
pub(super) type PartNumber = usize;

/// A template, divided.
#[derive(Clone, Default)]
pub(super) struct Skeleton {
    pub(super) nodes: Vec<ShellNode>,
    pub(super) root: NodeNumber,
    pub(super) cores: Vec<Core>,
    pub(super) holes: Vec<ShellHole>,
    /// The variables whose parts make up a match.
    pub(super) parts: Vec<Value>,
    /// True if all parts occur once and no other condition ties one place to another.
    /// The first way in which a part of the template matches is then as good as any
    /// other way.
    pub(super) linear: bool,
}

#[derive(Clone)]
pub(super) struct ShellNode {
    pub(super) shape: Shape,
    /// The part of the template from which the node was made.
    pub(super) template: Value,
    pub(super) options: PatternOptions,
}

#[derive(Clone)]
pub(super) enum Shape {
    /// An inline value, or a built-in object without parts.
    Plain,
    Hole(usize),
    Core(usize),
    Node {
        ty: TypeIndex,
        is_dag: bool,
        /// By their positions in the order of visit.
        kids: Vec<NodeNumber>,
        commutes: Option<Commutes>,
    },
    Items {
        ty: TypeIndex,
        items: Vec<NodeNumber>,
    },
    AnyOf(Vec<NodeNumber>),
}

/// A part of the template matched by comparison.
#[derive(Clone)]
pub(super) struct Core {
    pub(super) template: Value,
    pub(super) table: Arc<HoleTable>,
    /// The parts of the holes in the table.
    pub(super) parts: Arc<[PartNumber]>,
    pub(super) options: CompareOptions,
    pub(super) root: Root,
}

/// A hole as declared by one pattern.
#[derive(Clone)]
pub(super) struct ShellHole {
    pub(super) part: PartNumber,
    pub(super) hole: Hole,
    pub(super) guard: Option<Arc<Guard>>,
    /// The comparison with a declared object.
    pub(super) core: usize,
    /// The patterns that the part has to match.
    pub(super) patterns: Vec<NodeNumber>,
    pub(super) fields: Vec<(AccessPath, NodeNumber)>,
}
