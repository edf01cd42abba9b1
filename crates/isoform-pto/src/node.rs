//! The base of the parts of a program, and source locations.

use std::fmt::Write;
use std::sync::OnceLock;

use isoform::hooks::DynVerify;
use isoform::types::TypeDef;
use isoform::{Node, Obj, Ref, Result, Str, export};

/// A place in a source text.
///
/// Lines and columns count from 1; an end of -1 is not known.
#[derive(Node)]
#[node(key = "pto.Span")]
#[repr(C)]
pub struct Span {
    /// The name of the text.
    pub filename: Str,
    /// The first line.
    pub begin_line: i64,
    /// The column of the first character.
    pub begin_column: i64,
    /// The last line.
    #[node(default = -1)]
    pub end_line: i64,
    /// The column after the last character.
    #[node(default = -1)]
    pub end_column: i64,
}

impl Span {
    /// Returns the unknown place, always the same object.
    pub fn unknown() -> Ref<Span> {
        static UNKNOWN: OnceLock<Ref<Span>> = OnceLock::new();
        UNKNOWN.get_or_init(|| Span::new("", -1, -1)).clone()
    }

    /// True for a known place whose end, if known, is not before the begin.
    pub fn is_valid(&self) -> bool {
        let begin = (self.begin_line, self.begin_column);
        if self.begin_line < 1 || self.begin_column < 1 {
            return false;
        }
        match (self.end_line, self.end_column) {
            (-1, -1) => true,
            (line, -1) => line >= self.begin_line,
            end => end >= begin,
        }
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.is_valid() {
            return f.write_str("unknown");
        }
        write!(
            f,
            "{}:{}:{}",
            self.filename, self.begin_line, self.begin_column
        )
    }
}

/// True if the place is known.
#[export("pto.Span.is_valid")]
fn is_valid(this: &Ref<Span>) -> bool {
    this.is_valid()
}

/// The place as `file:line:column`.
#[export("pto.Span.to_string")]
fn span_text(this: &Ref<Span>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(text, "{}", **this);
    text
}

/// The unknown place.
#[export("pto.Span.unknown")]
fn unknown() -> Ref<Span> {
    Span::unknown()
}

/// The requirements on all nodes and types, regardless of their context.
///
/// The definitions of the bases refer to these requirements; the verifier implements
/// the requirements, since the verifier depends on all derived classes.
pub(super) trait Demands {
    /// Checks an object.
    fn check(object: &Ref<Obj>) -> Result<()>;
}

/// Adds the requirements on nodes and types to the definition of a base.
pub(super) fn with_rules(definition: TypeDef) -> TypeDef {
    static RULES: OnceLock<DynVerify> = OnceLock::new();
    let rules = RULES.get_or_init(|| DynVerify::new(IRNode::check));
    definition.hook(rules.clone())
}

/// The base of all parts of a program.
#[derive(Node)]
#[node(key = "pto.IRNode", no_new, define = with_rules)]
#[repr(C)]
pub struct IRNode {
    /// The source location.
    #[node(ignore, default = Span::unknown(), repr = false)]
    pub span: Ref<Span>,
}

impl IRNode {
    /// The fields of a node at a place.
    pub fn at(span: Option<Ref<Span>>) -> Self {
        IRNode {
            span: span.unwrap_or_else(Span::unknown),
        }
    }
}

impl Default for IRNode {
    fn default() -> Self {
        IRNode::at(None)
    }
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { Span: is_valid = is_valid, to_string = span_text }?;
    isoform::register_functions![unknown]
}
