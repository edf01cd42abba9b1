//! The problems with the types of a program, and the error with their messages.

use hashbrown::{HashMap, HashSet};

use crate::text::{excerpts, type_text};
use isoform::{Error, Ref};
use isoform_ir::ir::{
    Diagnostic, DiagnosticContext, DiagnosticLevel, IRModule, RelayExpr, Span, Type,
};

/// More messages than this help nobody.
const MOST: usize = 50;

/// The problems of a program, in the order of discovery.
#[derive(Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
    /// The number of the current root.
    pub(super) root: u32,
}

struct Problem {
    root: u32,
    /// The number of the expression.
    expr: u32,
    message: String,
}

impl Problems {
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn add(&mut self, expr: u32, message: String) {
        self.found.push(Problem {
            root: self.root,
            expr,
            message,
        });
    }

    /// The types of an expression do not fit.
    pub(super) fn mismatch(&mut self, expr: u32, expected: &Ref<Type>, got: &Ref<Type>, why: &str) {
        let (expected, got) = (type_text(expected), type_text(got));
        self.add(
            expr,
            format!(
                "the following types do not match: expected {expected}, got {got}; in particular: \
                 {why}"
            ),
        );
    }

    /// The numbers of the roots with problems.
    pub(super) fn roots(&self) -> impl Iterator<Item = u32> {
        self.found.iter().map(|problem| problem.root)
    }

    /// The error with all messages and their places in the source text or, for
    /// expressions without a span, in the text of their function.
    pub(super) fn into_error(
        mut self,
        exprs: &[Ref<RelayExpr>],
        roots: &[Root],
        module: &Ref<IRModule>,
    ) -> Error {
        // Problems of one function are together, in the order of its expressions.
        self.found
            .sort_by_key(|problem| (problem.root, problem.expr));
        self.found
            .dedup_by(|left, right| left.expr == right.expr && left.message == right.message);
        let context = DiagnosticContext::new(module);
        let left_out = self.found.len().saturating_sub(MOST);
        self.found.truncate(MOST);
        let places = places(&self.found, exprs, roots);
        for (Problem { expr, message, .. }, place) in self.found.into_iter().zip(places) {
            let (span, text) = match (&exprs[expr as usize].span, place) {
                (Some(span), _) => (Some(span.clone()), message),
                (None, Some(place)) => (None, format!("{message}\n{place}")),
                (None, None) => (None, message),
            };
            emit(&context, span, text);
        }
        if left_out > 0 {
            emit(&context, None, format!("and {left_out} more"));
        }
        match DiagnosticContext::render(&context) {
            Err(error) => error,
            Ok(()) => Error::of_kind("DiagnosticError", "type inference failed"),
        }
    }
}

fn emit(context: &Ref<DiagnosticContext>, span: Option<Ref<Span>>, text: String) {
    let level = DiagnosticLevel::Error as i64;
    let diagnostic = Diagnostic::new(level, span, text);
    // The context is not shared, so adding a message cannot fail.
    let added = context.emit(diagnostic);
    debug_assert!(added.is_ok(), "the context is new");
}

/// An expression inferred as a whole: a function of a module, with its name.
pub(super) struct Root {
    pub(super) name: Option<String>,
    pub(super) expr: Ref<RelayExpr>,
}

/// The places of problems in the texts of their roots. A root is written once.
fn places(problems: &[Problem], exprs: &[Ref<RelayExpr>], roots: &[Root]) -> Vec<Option<String>> {
    let mut shown = Vec::with_capacity(problems.len());
    for own in problems.chunk_by(|one, other| one.root == other.root) {
        let root = &roots[own[0].root as usize];
        let wanted: HashSet<u64> = own
            .iter()
            .map(|problem| &exprs[problem.expr as usize])
            .filter(|expr| expr.span.is_none())
            .map(|expr| expr.identity())
            .collect();
        let texts = if wanted.is_empty() {
            HashMap::new()
        } else {
            excerpts(&root.expr, root.name.as_deref(), &wanted).unwrap_or_default()
        };
        shown.extend(own.iter().map(|problem| {
            let lines = texts.get(&exprs[problem.expr as usize].identity())?;
            let name = root.name.as_ref().map_or_else(
                || "in the expression".to_owned(),
                |name| format!("in the function @{name}"),
            );
            Some(format!("{name}:\n  {}", lines.join("\n  ")))
        }));
    }
    shown
}
