//! The node types of the dialect, and the traits for visiting and rewriting nodes.

isoform::dialect! {
    "pto";
    pub use super::node::{Span, IRNode};
    pub use super::ty::{Type, UnknownType, ScalarType, PtrType, TupleType};
    pub use super::shaped::{ShapedType, TensorType, TileType, ArrayType};
    pub use super::views::{TensorView, TileView};
    pub use super::expr::{Expr, Var, IterArg, ConstInt, ConstFloat, ConstBool};
    pub use super::call::{Op, GlobalVar, Call, MakeTuple, TupleGetItemExpr};
    pub use super::memory::MemRef;
    pub use super::operation::{
        BinaryExpr, Add, Sub, Mul, FloorDiv, FloorMod, FloatDiv, Min, Max, Pow, Eq, Ne, Lt, Le, Gt,
        Ge, And, Or, Xor, BitAnd, BitOr, BitXor, BitShiftLeft, BitShiftRight,
        UnaryExpr, Abs, Neg, Not, BitNot, Cast,
    };
    pub use super::stmt::{
        Stmt, AssignStmt, IfStmt, YieldStmt, ReturnStmt, ForStmt, WhileStmt, SeqStmts, EvalStmt,
        BreakStmt, ContinueStmt, InlineStmt,
    };
    pub use super::scopes::{
        ScopeStmt, InCoreScopeStmt, ClusterScopeStmt, HierarchyScopeStmt, SpmdScopeStmt,
        RuntimeScopeStmt,
    };
    pub use super::function::{Function, Program};

    /// A visitor for [`visit`](super::visit).
    ///
    /// Every class has a method; the default calls the method of the parent class, up
    /// to [`visit_node`](IRVisitor::visit_node). An override ends with the result for
    /// its node, or with the method of the parent class.
    pub trait IRVisitor {}

    /// A mutator for [`mutate`](super::mutate).
    ///
    /// Every class has a method; the default calls the method of the parent class, up
    /// to [`mutate_node`](IRMutator::mutate_node).
    pub trait IRMutator {}
}
