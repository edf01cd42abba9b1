//! The state of checking the statements of a value: facts about the current place, and
//! pending checks.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::super::failure::{Failure, VerifyOptions};
use super::super::scopes::Scopes;
use crate::*;
use isoform::host::{Place, Places};
use isoform::{Error, Map, Ref, Str, Value};

/// A pending check.
pub(super) enum Task {
    Function(Ref<Function>, Place),
    EndFunction(Ref<Function>, Place),
    /// A statement, and true at the end of a body that may yield.
    Stmt(Ref<Stmt>, Place, bool),
    /// An expression, and the place of the statement in the source text.
    Use(Ref<Expr>, Place, Ref<Span>),
    /// The attributes of a loop or function, likewise.
    Attrs(Map<Str, Value>, Place, Ref<Span>),
    Define(Ref<Var>, Place, Ref<Span>),
    Start(Body),
    EndThen,
    EndElse,
    NoElse,
    EndLoop,
    EndRecord(u64),
}

/// A body, possibly with a yield at its end.
pub(super) struct Body {
    /// The types to be yielded.
    pub(super) types: Rc<[Ref<Type>]>,
    pub(super) place: Place,
    pub(super) span: Ref<Span>,
    pub(super) is_loop: bool,
    pub(super) yielded: bool,
    /// The variables with values before the body.
    pub(super) mark: usize,
    pub(super) diverged: bool,
}

pub(super) struct Checker<'a> {
    pub(super) options: &'a VerifyOptions,
    pub(super) places: Places,
    pub(super) scopes: Scopes,
    /// The pending checks, the next check last.
    pub(super) tasks: Vec<Task>,
    pub(super) failures: Vec<Failure>,
    pub(super) program: Option<Ref<Program>>,
    pub(super) function: Option<Ref<Function>>,
    /// For a check of a statement outside of a function: the variables defined by the
    /// statement. Only these variables must be defined before use; all other variables
    /// are free.
    pub(super) locals: Option<HashSet<u64>>,
    pub(super) loops: usize,
    /// True if the following statements are unreachable.
    pub(super) diverged: bool,
    pub(super) bodies: Vec<Body>,
    /// For every `if` whose `else` is being checked: the variables defined by the other
    /// branch, and true if that branch diverged.
    pub(super) branches: Vec<(Vec<u64>, bool)>,
    /// Shared expressions whose variables all had values, with the epoch of the check.
    pub(super) clean: HashMap<u64, u64>,
    pub(super) records: Vec<Record>,
    pub(super) uses: Vec<Ref<Var>>,
    pub(super) definitions: Vec<Ref<Var>>,
    /// The statements with nested statements at several places.
    pub(super) repeated: HashSet<u64>,
    pub(super) summaries: HashMap<u64, Rc<Summary>>,
}

/// A statement at several places, during its check.
pub(super) struct Record {
    pub(super) mark: usize,
    pub(super) loops: usize,
    pub(super) bodies: usize,
    pub(super) first_use: usize,
    pub(super) first_definition: usize,
    pub(super) diverged: bool,
    /// The number of loops around the outermost `break` or `continue` in the statement.
    pub(super) jump: usize,
    pub(super) yielded: Option<Ref<YieldStmt>>,
}

/// The requirements of a statement at several places, for the checks at further places.
pub(super) struct Summary {
    /// Variables used by the statement without a definition in the statement.
    pub(super) uses: Vec<Ref<Var>>,
    pub(super) definitions: Vec<Ref<Var>>,
    /// The variables with a value after the statement.
    pub(super) values: Vec<u64>,
    pub(super) diverged: bool,
    /// True if the statement leaves a loop outside of itself.
    pub(super) jumps: bool,
    pub(super) yielded: Option<Ref<YieldStmt>>,
}

impl Checker<'_> {
    /// Schedules tasks to run next, in this order.
    pub(super) fn then(&mut self, tasks: Vec<Task>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    pub(super) fn fail(&mut self, place: Place, span: &Ref<Span>, error: Error) {
        let (path, span) = (self.places.path(place), span.clone());
        self.failures.push(Failure { path, span, error });
    }
}
