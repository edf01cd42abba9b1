//! Statements that determine where the body runs.

use isoform::types::{Enumerator, IntoField, NodeEnum};
use isoform::{Error, Node, Ref, Result, Str, export};

use super::arguments::Extent;
use super::enums::{
    Level, LevelObject, Role, RoleObject, ScopeKind, ScopeKindObject, SplitMode, SplitModeObject,
};
use super::expr::Expr;
use super::node::Span;
use super::stmt::Stmt;

/// The base of the statements that determine where the body runs.
///
/// Despite the name, definitions in the body remain visible after the statement.
#[derive(Node)]
#[node(key = "pto.ScopeStmt", init = refuse_scope, no_new)]
#[repr(C)]
pub struct ScopeStmt {
    #[node(base)]
    base: Stmt,
    /// For people.
    #[node(ignore)]
    pub name_hint: Str,
    /// The statement in the scope.
    pub body: Ref<Stmt>,
}

/// Always raises TypeError: use a derived class.
#[export("pto.ScopeStmt")]
fn refuse_scope() -> Result<Ref<ScopeStmt>> {
    Err(Error::type_error(
        "pto.ScopeStmt: expected a derived class: InCoreScopeStmt, \
         ClusterScopeStmt, HierarchyScopeStmt, SpmdScopeStmt, RuntimeScopeStmt",
    ))
}

impl ScopeStmt {
    /// The fields of a statement with this body.
    fn of(name_hint: Str, body: Ref<Stmt>, span: Option<Ref<Span>>) -> Self {
        ScopeStmt {
            base: Stmt::at(span),
            name_hint,
            body,
        }
    }
}

impl ScopeStmt {
    /// Returns the kind of the scope; None for a derived class outside of this module.
    pub fn scope_kind(this: &Ref<Self>) -> Option<ScopeKind> {
        if this.isa::<InCoreScopeStmt>() {
            Some(ScopeKind::InCore)
        } else if this.isa::<ClusterScopeStmt>() {
            Some(ScopeKind::Cluster)
        } else if this.isa::<HierarchyScopeStmt>() {
            Some(ScopeKind::Hierarchy)
        } else if this.isa::<SpmdScopeStmt>() {
            Some(ScopeKind::Spmd)
        } else if this.isa::<RuntimeScopeStmt>() {
            Some(ScopeKind::Runtime)
        } else {
            None
        }
    }
}

/// Returns the kind of the scope.
#[export("pto.ScopeStmt.scope_kind")]
fn scope_kind(this: &Ref<ScopeStmt>) -> Option<Ref<ScopeKindObject>> {
    ScopeStmt::scope_kind(this).map(NodeEnum::object)
}

/// A scope with a body that runs on one core.
#[derive(Node)]
#[node(key = "pto.InCoreScopeStmt", init = make_in_core, no_new)]
#[repr(C)]
pub struct InCoreScopeStmt {
    #[node(base)]
    base: ScopeStmt,
    /// The division of work between vector cores.
    pub split: Enumerator<SplitMode>,
}

impl InCoreScopeStmt {
    /// The body on one core, not divided.
    pub fn new(body: impl IntoField<Ref<Stmt>>) -> Ref<Self> {
        make_in_core(
            SplitMode::None.object(),
            Str::default(),
            body.into_field(),
            None,
        )
    }
}

/// Makes a scope of one core.
#[export("pto.InCoreScopeStmt")]
pub(super) fn make_in_core(
    #[default = SplitMode::None.object()] split: Ref<SplitModeObject>,
    #[default = ""] name_hint: Str,
    #[keyword] body: Ref<Stmt>,
    span: Option<Ref<Span>>,
) -> Ref<InCoreScopeStmt> {
    let base = ScopeStmt::of(name_hint, body, span);
    Ref::new(InCoreScopeStmt { base, split })
}

/// A scope with a body that runs on a cluster of cores.
#[derive(Node)]
#[node(key = "pto.ClusterScopeStmt", init = make_cluster, no_new)]
#[repr(C)]
pub struct ClusterScopeStmt {
    #[node(base)]
    base: ScopeStmt,
}

impl ClusterScopeStmt {
    /// The body on a cluster.
    pub fn new(body: impl IntoField<Ref<Stmt>>) -> Ref<Self> {
        make_cluster(Str::default(), body.into_field(), None)
    }
}

/// Makes a scope of a cluster of cores.
#[export("pto.ClusterScopeStmt")]
pub(super) fn make_cluster(
    #[default = ""] name_hint: Str,
    #[keyword] body: Ref<Stmt>,
    span: Option<Ref<Span>>,
) -> Ref<ClusterScopeStmt> {
    let base = ScopeStmt::of(name_hint, body, span);
    Ref::new(ClusterScopeStmt { base })
}

/// A scope with a body that runs at a level of the machine.
#[derive(Node)]
#[node(key = "pto.HierarchyScopeStmt", init = make_hierarchy, no_new)]
#[repr(C)]
pub struct HierarchyScopeStmt {
    #[node(base)]
    base: ScopeStmt,
    /// The level.
    pub level: Enumerator<Level>,
    /// The role at the level.
    pub role: Option<Enumerator<Role>>,
}

impl HierarchyScopeStmt {
    /// The body at a level.
    pub fn new(level: Level, body: impl IntoField<Ref<Stmt>>) -> Ref<Self> {
        make_hierarchy(
            level.object(),
            None,
            Str::default(),
            body.into_field(),
            None,
        )
    }
}

/// Makes a scope of a level of the machine.
#[export("pto.HierarchyScopeStmt")]
pub(super) fn make_hierarchy(
    level: Ref<LevelObject>,
    role: Option<Ref<RoleObject>>,
    #[default = ""] name_hint: Str,
    #[keyword] body: Ref<Stmt>,
    span: Option<Ref<Span>>,
) -> Ref<HierarchyScopeStmt> {
    let base = ScopeStmt::of(name_hint, body, span);
    Ref::new(HierarchyScopeStmt { base, level, role })
}

/// A scope with a body that runs on many cores with the same program.
#[derive(Node)]
#[node(key = "pto.SpmdScopeStmt", init = make_spmd, no_new)]
#[repr(C)]
pub struct SpmdScopeStmt {
    #[node(base)]
    base: ScopeStmt,
    /// The number of cores.
    pub core_num: Ref<Expr>,
    /// True if the cores start together.
    pub sync_start: bool,
}

impl SpmdScopeStmt {
    /// The body on the given number of cores.
    pub fn new(core_num: impl IntoField<Ref<Expr>>, body: impl IntoField<Ref<Stmt>>) -> Ref<Self> {
        make_spmd(
            Extent(core_num.into_field()),
            false,
            Str::default(),
            body.into_field(),
            None,
        )
    }
}

/// Makes a scope of many cores; an int becomes a literal of format INDEX.
#[export("pto.SpmdScopeStmt")]
pub(super) fn make_spmd(
    core_num: Extent,
    #[default = false] sync_start: bool,
    #[default = ""] name_hint: Str,
    #[keyword] body: Ref<Stmt>,
    span: Option<Ref<Span>>,
) -> Ref<SpmdScopeStmt> {
    let base = ScopeStmt::of(name_hint, body, span);
    let core_num = core_num.0;
    Ref::new(SpmdScopeStmt {
        base,
        core_num,
        sync_start,
    })
}

/// A scope treated as a unit by the run-time system.
#[derive(Node)]
#[node(key = "pto.RuntimeScopeStmt", init = make_runtime, no_new)]
#[repr(C)]
pub struct RuntimeScopeStmt {
    #[node(base)]
    base: ScopeStmt,
    /// True if the program determines when the tasks run.
    pub manual: bool,
}

impl RuntimeScopeStmt {
    /// The body as one.
    pub fn new(body: impl IntoField<Ref<Stmt>>) -> Ref<Self> {
        make_runtime(false, Str::default(), body.into_field(), None)
    }
}

/// Makes a scope of the run-time system.
#[export("pto.RuntimeScopeStmt")]
pub(super) fn make_runtime(
    #[default = false] manual: bool,
    #[default = ""] name_hint: Str,
    #[keyword] body: Ref<Stmt>,
    span: Option<Ref<Span>>,
) -> Ref<RuntimeScopeStmt> {
    let base = ScopeStmt::of(name_hint, body, span);
    Ref::new(RuntimeScopeStmt { base, manual })
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![scope_kind]
}
