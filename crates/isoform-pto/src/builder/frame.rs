//! An open part.

use crate::*;
use isoform::{Error, Ref, Result, Str};

/// A scope statement without its body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Scope {
    /// An [`InCoreScopeStmt`].
    InCore {
        /// The division of work between vector cores.
        split: SplitMode,
        /// For people.
        name_hint: Str,
    },
    /// A [`ClusterScopeStmt`].
    Cluster {
        /// For people.
        name_hint: Str,
    },
    /// A [`HierarchyScopeStmt`].
    Hierarchy {
        /// The level.
        level: Level,
        /// The function's role at the level.
        role: Option<Role>,
        /// For people.
        name_hint: Str,
    },
    /// A [`SpmdScopeStmt`].
    Spmd {
        /// The number of cores.
        core_num: Ref<Expr>,
        /// True if the cores start together.
        sync_start: bool,
        /// For people.
        name_hint: Str,
    },
    /// A [`RuntimeScopeStmt`].
    Runtime {
        /// True if the program determines when the tasks run.
        manual: bool,
        /// For people.
        name_hint: Str,
    },
}

/// An open part.
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// The statements added so far.
    pub(super) stmts: Vec<Ref<Stmt>>,
    /// The source location of the beginning.
    pub(super) span: Option<Ref<Span>>,
}

pub(super) enum Kind {
    Function {
        /// The function without parameters, results and body.
        plan: Ref<Function>,
        params: Vec<(Ref<Var>, ParamDirection)>,
        return_types: Vec<Ref<Type>>,
    },
    For {
        /// The loop, without its body and carried values.
        plan: Ref<ForStmt>,
        args: Vec<Ref<IterArg>>,
        results: Vec<Ref<Var>>,
    },
    While {
        condition: Option<Ref<Expr>>,
        args: Vec<Ref<IterArg>>,
        results: Vec<Ref<Var>>,
    },
    If {
        condition: Ref<Expr>,
        /// The first branch, once the second branch is open.
        then_body: Option<Ref<Stmt>>,
        results: Vec<Ref<Var>>,
    },
    Scope(Scope),
}

impl Kind {
    /// Its name in messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Kind::Function { .. } => "function",
            Kind::For { .. } => "for loop",
            Kind::While { .. } => "while loop",
            Kind::If { .. } => "if",
            Kind::Scope(_) => "scope",
        }
    }
}

impl Frame {
    /// The error for an impossible operation.
    pub(super) fn misuse(&self, what: &str, wanted: &str) -> Error {
        let begun = match &self.span {
            Some(span) if span.is_valid() => format!(", begun at {}", **span),
            _ => String::new(),
        };
        let name = self.kind.name();
        Error::value_error(format!(
            "{what}: expected {wanted} to be open, got an open {name}{begun}"
        ))
    }

    /// Its statements as one.
    pub(super) fn body(&mut self) -> Ref<Stmt> {
        let mut stmts = std::mem::take(&mut self.stmts);
        match (stmts.len(), stmts.pop()) {
            (1, Some(one)) => one,
            (_, last) => {
                stmts.extend(last);
                SeqStmts::new(stmts).upcast()
            }
        }
    }
}

/// A statement at a place in the source text.
pub(super) fn placed(stmt: Ref<Stmt>, span: Option<&Ref<Span>>) -> Result<Ref<Stmt>> {
    match span {
        None => Ok(stmt),
        Some(span) => isoform::objects::with_field(stmt.as_object(), "span", span.into())?.cast(),
    }
}
