//! The variables, functions and types known at a place of a program being drawn.

use std::rc::Rc;

use isoform::{Obj, Ref};
use isoform_pto::DataType;

/// A type, and the data for drawing expressions of the type.
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
    /// True if an expression of this type is accepted where `other` is expected.
    pub(super) fn is(&self, other: &Ty) -> bool {
        match (&self.form, &other.form) {
            (Form::Scalar(one), Form::Scalar(other)) => one == other,
            _ => self.object.same_as(&other.object),
        }
    }
}

/// An expression, or a variable, with the type.
#[derive(Clone)]
pub(super) struct Typed {
    pub(super) object: Ref<Obj>,
    pub(super) ty: Ty,
}

/// The parameters and results of a function.
#[derive(Clone)]
pub(super) struct Signature {
    pub(super) name: String,
    /// True if the function is called: then these types have no variables.
    pub(super) is_called: bool,
    pub(super) params: Vec<Ty>,
    pub(super) results: Vec<Ty>,
}

/// All definitions available at one place of a function.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) vars: Vec<Typed>,
    /// Expressions drawn before over these variables.
    pub(super) exprs: Vec<Typed>,
    /// Statements without definitions drawn before.
    pub(super) stmts: Vec<Ref<Obj>>,
    /// Types whose variables are bound.
    pub(super) types: Vec<Ty>,
    /// References to memory that are bound.
    pub(super) memories: Vec<Ref<Obj>>,
    /// The number of loops around the place.
    pub(super) loops: usize,
}

/// The amount of knowledge at a place.
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

    /// Forgets the definitions of a branch or a loop.
    pub(super) fn forget(&mut self, Mark([vars, exprs, stmts, types, memories]): Mark) {
        self.vars.truncate(vars);
        self.exprs.truncate(exprs);
        self.stmts.truncate(stmts);
        self.types.truncate(types);
        self.memories.truncate(memories);
    }
}
