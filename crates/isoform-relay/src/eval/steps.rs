//! The steps of a function, after ordering its expressions.

use crate::eval::run::Implementation;
use crate::{Function, Pattern};
use isoform::{Ref, Value};
use isoform_ir::ir::{Attrs, GlobalVar, Op};

/// The place of a value in the frame of a running function.
pub(super) type Slot = u32;

/// The number of a block of steps in a [`Unit`](super::plan::Unit).
pub(super) type BlockId = u32;

/// One step: computes a value from other values.
pub(super) enum Step {
    /// A known value: a constant, an operator or a constructor.
    Load {
        to: Slot,
        value: Value,
    },
    /// The function of a module.
    Global {
        to: Slot,
        var: Ref<GlobalVar>,
    },
    /// The call of an operator.
    Operator(Box<OperatorStep>),
    /// The call of any other callee.
    Call {
        to: Slot,
        callee: Slot,
        args: Box<[Slot]>,
    },
    Tuple {
        to: Slot,
        fields: Box<[Slot]>,
    },
    Item {
        to: Slot,
        tuple: Slot,
        index: i64,
    },
    /// Runs one of two blocks.
    If {
        to: Slot,
        cond: Slot,
        blocks: [BlockId; 2],
    },
    /// Runs the block of the first clause with a matching pattern.
    Match {
        to: Slot,
        data: Slot,
        clauses: Box<[ClauseStep]>,
    },
    /// The value of a function.
    Closure {
        to: Slot,
        func: Ref<Function>,
        /// The function's steps; filled in when the unit is complete.
        function: u32,
        captured: Box<[Slot]>,
    },
    RefCreate {
        to: Slot,
        value: Slot,
    },
    RefRead {
        to: Slot,
        reference: Slot,
    },
    RefWrite {
        to: Slot,
        reference: Slot,
        value: Slot,
    },
}

impl Step {
    /// Where the value goes.
    pub(super) fn to(&self) -> Slot {
        match self {
            Step::Operator(step) => step.to,
            Step::Load { to, .. }
            | Step::Global { to, .. }
            | Step::Call { to, .. }
            | Step::Tuple { to, .. }
            | Step::Item { to, .. }
            | Step::If { to, .. }
            | Step::Match { to, .. }
            | Step::Closure { to, .. }
            | Step::RefCreate { to, .. }
            | Step::RefRead { to, .. }
            | Step::RefWrite { to, .. } => *to,
        }
    }
}

pub(super) struct OperatorStep {
    pub(super) to: Slot,
    pub(super) op: Ref<Op>,
    pub(super) implementation: Option<Implementation>,
    pub(super) args: Box<[Slot]>,
    pub(super) attrs: Option<Ref<Attrs>>,
}

pub(super) struct ClauseStep {
    pub(super) pattern: Ref<Pattern>,
    /// Where the variables of the pattern are, from left to right.
    pub(super) bound: Box<[Option<Slot>]>,
    pub(super) block: BlockId,
}

/// Steps in running order.
#[derive(Default)]
pub(super) struct Block {
    pub(super) steps: Vec<Step>,
    /// The value of the block.
    pub(super) result: Slot,
}

/// A function as blocks.
pub(super) struct Plan {
    pub(super) body: BlockId,
    /// The number of values in the frame.
    pub(super) slots: u32,
    /// The slots of the parameters; None for unused parameters.
    pub(super) params: Box<[Option<Slot>]>,
    /// Where the values from outside are.
    pub(super) captured: Box<[Slot]>,
    /// The slot of the closure itself, for a function that calls itself.
    pub(super) own: Option<Slot>,
}
