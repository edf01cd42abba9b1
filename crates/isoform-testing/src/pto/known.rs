//! What is known at a place of a program that is being drawn.

use std::rc::Rc;

use isoform::dialect::pto::DataType;
use isoform::{Obj, Ref};

/// A type, and what expressions of it are made of.
#[derive(Clone)]
pub(super) struct Ty {
    pub(super) object: Ref<Obj>,
    pub(super) form: Form,
}

#[derive(Clone)]
pub(super) enum Form {
    Scalar(DataType),
    Tuple(Rc<[Ty]>),
    /// Only calls have it.
    Other,
}

impl Ty {
    /// Whether an expression of one type may stand for one of the other.
    pub(super) fn is(&self, other: &Ty) -> bool {
        match (&self.form, &other.form) {
            (Form::Scalar(one), Form::Scalar(other)) => one == other,
            _ => self.object.same_as(&other.object),
        }
    }
}

/// An expression, or what may stand for one, with its type.
#[derive(Clone)]
pub(super) struct Typed {
    pub(super) object: Ref<Obj>,
    pub(super) ty: Ty,
}

/// What a function can be called with.
#[derive(Clone)]
pub(super) struct Signature {
    pub(super) name: String,
    /// Whether it is called: then no variable stands in these types.
    pub(super) is_called: bool,
    pub(super) params: Vec<Ty>,
    pub(super) results: Vec<Ty>,
}

/// What may be used at one place of a function.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) vars: Vec<Typed>,
    /// Expressions over these variables that were drawn before.
    pub(super) exprs: Vec<Typed>,
    /// Statements that define nothing and were drawn before.
    pub(super) stmts: Vec<Ref<Obj>>,
    /// Types whose variables are bound.
    pub(super) types: Vec<Ty>,
    /// References to memory that are bound.
    pub(super) memories: Vec<Ref<Obj>>,
    /// How many loops are around the place.
    pub(super) loops: usize,
}

/// How much was known at a place.
#[derive(Clone, Copy)]
pub(super) struct Mark([usize; 5]);

impl Frame {
    pub(super) fn mark(&self) -> Mark {
        Mark([
            self.vars.len(),
            self.exprs.len(),
            self.stmts.len(),
            self.types.len(),
            self.memories.len(),
        ])
    }

    /// Forgets what a branch or a loop has defined.
    pub(super) fn forget(&mut self, Mark([vars, exprs, stmts, types, memories]): Mark) {
        self.vars.truncate(vars);
        self.exprs.truncate(exprs);
        self.stmts.truncate(stmts);
        self.types.truncate(types);
        self.memories.truncate(memories);
    }
}
