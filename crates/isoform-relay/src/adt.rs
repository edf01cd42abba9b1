//! Values of algebraic data types: patterns, clauses, matches.
//!
//! Their types and constructors are [`TypeData`](isoform_ir::ir::TypeData) and
//! [`Constructor`].

use isoform::{Array, Node, Ref, export};
use isoform_ir::ir::{Constructor, RelayExpr, Span};

use super::expr::ExprWithOp;
use super::var::Var;

/// The base of patterns.
#[derive(Node, Default)]
#[node(key = "relay.Pattern")]
#[repr(C)]
pub struct Pattern {
    /// The source location.
    #[node(ignore, default, repr = false)]
    pub span: Option<Ref<Span>>,
}

/// Matches every value.
#[derive(Node)]
#[node(key = "relay.PatternWildcard")]
#[repr(C)]
pub struct PatternWildcard {
    #[node(base, default)]
    base: Pattern,
}

/// Matches every value, and binds a variable to the value.
#[derive(Node)]
#[node(key = "relay.PatternVar")]
#[repr(C)]
pub struct PatternVar {
    #[node(base, default)]
    base: Pattern,
    /// The variable.
    #[node(def)]
    pub var: Ref<Var>,
}

/// Matches the values of one constructor with matching fields.
#[derive(Node)]
#[node(key = "relay.PatternConstructor", init = make_pattern_constructor)]
#[repr(C)]
pub struct PatternConstructor {
    #[node(base, default)]
    base: Pattern,
    /// The constructor.
    pub constructor: Ref<Constructor>,
    /// The patterns of the fields.
    #[node(default)]
    pub patterns: Array<Ref<Pattern>>,
}

/// Makes a pattern for the values of a constructor.
#[export("relay.PatternConstructor")]
fn make_pattern_constructor(
    constructor: Ref<Constructor>,
    patterns: Option<Array<Ref<Pattern>>>,
    span: Option<Ref<Span>>,
) -> Ref<PatternConstructor> {
    Ref::new(PatternConstructor {
        base: Pattern { span },
        constructor,
        patterns: patterns.unwrap_or_default(),
    })
}

/// Matches tuples with matching fields.
#[derive(Node)]
#[node(key = "relay.PatternTuple", init = make_pattern_tuple)]
#[repr(C)]
pub struct PatternTuple {
    #[node(base, default)]
    base: Pattern,
    /// The patterns of the fields.
    #[node(default)]
    pub patterns: Array<Ref<Pattern>>,
}

/// Makes a pattern for tuples.
#[export("relay.PatternTuple")]
fn make_pattern_tuple(
    patterns: Option<Array<Ref<Pattern>>>,
    span: Option<Ref<Span>>,
) -> Ref<PatternTuple> {
    Ref::new(PatternTuple {
        base: Pattern { span },
        patterns: patterns.unwrap_or_default(),
    })
}

/// One case of a match: the result can use the variables of the pattern.
#[derive(Node)]
#[node(key = "relay.Clause", scope)]
#[repr(C)]
pub struct Clause {
    /// The pattern.
    pub lhs: Ref<Pattern>,
    /// The result.
    pub rhs: Ref<RelayExpr>,
}

/// The result of the first clause with a pattern that matches a value.
#[derive(Node)]
#[node(key = "relay.Match", kind = dag, init = make_match)]
#[repr(C)]
pub struct Match {
    #[node(base, default)]
    base: ExprWithOp,
    /// The value.
    pub data: Ref<RelayExpr>,
    /// The cases, in order.
    pub clauses: Array<Ref<Clause>>,
    /// True if the cases must cover every value.
    #[node(default = true)]
    pub complete: bool,
}

/// Makes a match.
#[export("relay.Match")]
fn make_match(
    data: Ref<RelayExpr>,
    clauses: Array<Ref<Clause>>,
    #[default = true] complete: bool,
    span: Option<Ref<Span>>,
) -> Ref<Match> {
    Ref::new(Match {
        base: ExprWithOp::at(span),
        data,
        clauses,
        complete,
    })
}
