//! What is known while the statements of a value are checked, and what is still
//! to be checked.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::super::failure::{Failure, VerifyOptions};
use super::super::scopes::Scopes;
use crate::dialect::pto::*;
use crate::kernel::container::{Map, Str};
use crate::kernel::error::Error;
use crate::kernel::object::reference::Ref;
use crate::kernel::path::places::{Place, Places};
use crate::kernel::value::Value;

/// What is still to be checked.
pub(super) enum Task {
    Function(Ref<Function>, Place),
    EndFunction(Ref<Function>, Place),
    /// A statement, and whether it is the end of a body that may yield.
    Stmt(Ref<Stmt>, Place, bool),
    /// An expression, and the place of the statement in the source text.
    Use(Ref<Expr>, Place, Ref<Span>),
    /// What is said about a loop or function, in the same way.
    Attrs(Map<Str, Value>, Place, Ref<Span>),
    Define(Ref<Var>, Place, Ref<Span>),
    Start(Body),
    EndThen,
    EndElse,
    NoElse,
    EndLoop,
    EndRecord(u64),
}

/// A body that may end with a yield.
pub(super) struct Body {
    /// What is to be yielded.
    pub(super) types: Rc<[Ref<Type>]>,
    pub(super) place: Place,
    pub(super) span: Ref<Span>,
    pub(super) is_loop: bool,
    pub(super) yielded: bool,
    /// What was so in front of it.
    pub(super) mark: usize,
    pub(super) diverged: bool,
}

pub(super) struct Checker<'a> {
    pub(super) options: &'a VerifyOptions,
    pub(super) places: Places,
    pub(super) scopes: Scopes,
    /// What is to be checked, the next thing last.
    pub(super) tasks: Vec<Task>,
    pub(super) failures: Vec<Failure>,
    pub(super) program: Option<Ref<Program>>,
    pub(super) function: Option<Ref<Function>>,
    /// Without a function around it: the variables that must be defined, which
    /// are those that something defines.
    pub(super) locals: Option<HashSet<u64>>,
    pub(super) loops: usize,
    /// Whether what follows is never reached.
    pub(super) diverged: bool,
    pub(super) bodies: Vec<Body>,
    /// For each `if` whose `else` is being checked: which variables the other
    /// branch gave values, and whether it diverged.
    pub(super) branches: Vec<(Vec<u64>, bool)>,
    /// Shared expressions in which all variables had values, and when.
    pub(super) clean: HashMap<u64, u64>,
    pub(super) records: Vec<Record>,
    pub(super) uses: Vec<Ref<Var>>,
    pub(super) definitions: Vec<Ref<Var>>,
    /// The statements with others in them that stand at several places.
    pub(super) repeated: HashSet<u64>,
    pub(super) summaries: HashMap<u64, Rc<Summary>>,
}

/// A statement that stands at several places and is being checked.
pub(super) struct Record {
    pub(super) mark: usize,
    pub(super) loops: usize,
    pub(super) bodies: usize,
    pub(super) first_use: usize,
    pub(super) first_definition: usize,
    pub(super) diverged: bool,
    /// The loops around the outermost `break` or `continue` in it.
    pub(super) jump: usize,
    pub(super) yielded: Option<Ref<YieldStmt>>,
}

/// What a statement that stands at several places demands at each of them.
pub(super) struct Summary {
    /// Variables that it uses and does not define.
    pub(super) uses: Vec<Ref<Var>>,
    pub(super) definitions: Vec<Ref<Var>>,
    /// Those that have a value behind it.
    pub(super) values: Vec<u64>,
    pub(super) diverged: bool,
    /// Whether it leaves a loop that it is not.
    pub(super) jumps: bool,
    pub(super) yielded: Option<Ref<YieldStmt>>,
}

impl Checker<'_> {
    /// Has tasks done next, in this order.
    pub(super) fn then(&mut self, tasks: Vec<Task>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    pub(super) fn fail(&mut self, place: Place, span: &Ref<Span>, error: Error) {
        let (path, span) = (self.places.path(place), span.clone());
        self.failures.push(Failure { path, span, error });
    }
}
