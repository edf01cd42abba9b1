//! The node types of the workloads.

use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
use isoform::values::{Dict, List};
use isoform::{Array, Node, Obj, Ref, Result, Str};

/// A variable; its name does not matter.
#[derive(Node)]
#[node(key = "bench.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    #[node(ignore)]
    pub(crate) name: Str,
}

/// A number.
#[derive(Node)]
#[node(key = "bench.Int")]
#[repr(C)]
pub(crate) struct Int {
    pub(crate) value: i64,
}

/// A sum.
#[derive(Node)]
#[node(key = "bench.Add")]
#[repr(C)]
pub(crate) struct Add {
    pub(crate) lhs: Ref<Obj>,
    pub(crate) rhs: Ref<Obj>,
}

/// A sum of which sharing matters.
#[derive(Node)]
#[node(key = "bench.DagAdd", kind = dag)]
#[repr(C)]
pub(crate) struct DagAdd {
    pub(crate) lhs: Ref<Obj>,
    pub(crate) rhs: Ref<Obj>,
}

/// One operand: what a chain consists of.
#[derive(Node)]
#[node(key = "bench.Neg")]
#[repr(C)]
pub(crate) struct Neg {
    pub(crate) operand: Ref<Obj>,
}

/// A sum or, without operands, a leaf; with a number beside it.
#[derive(Node)]
#[node(key = "bench.WithNumber")]
#[repr(C)]
pub(crate) struct WithNumber {
    pub(crate) lhs: Option<Ref<Obj>>,
    pub(crate) rhs: Option<Ref<Obj>>,
    pub(crate) note: i64,
}

/// The same with a list in place of the number.
#[derive(Node)]
#[node(key = "bench.WithList")]
#[repr(C)]
pub(crate) struct WithList {
    pub(crate) lhs: Option<Ref<Obj>>,
    pub(crate) rhs: Option<Ref<Obj>>,
    pub(crate) note: List,
}

/// The same with a dict.
#[derive(Node)]
#[node(key = "bench.WithDict")]
#[repr(C)]
pub(crate) struct WithDict {
    pub(crate) lhs: Option<Ref<Obj>>,
    pub(crate) rhs: Option<Ref<Obj>>,
    pub(crate) note: Dict,
}

/// A function whose parameters stay bound after the function.
#[derive(Node)]
#[node(key = "bench.Lambda")]
#[repr(C)]
pub(crate) struct Lambda {
    #[node(def)]
    pub(crate) params: Array<Ref<Var>>,
    pub(crate) body: Ref<Obj>,
}

/// A function whose parameters are bound in it only.
#[derive(Node)]
#[node(key = "bench.ScopedLambda", scope)]
#[repr(C)]
pub(crate) struct ScopedLambda {
    #[node(def)]
    pub(crate) params: Array<Ref<Var>>,
    pub(crate) body: Ref<Obj>,
}

/// A sum whose operands may come in either order.
#[derive(Node)]
#[node(key = "bench.AnyOrderAdd", hooks(equal, hash))]
#[repr(C)]
pub(crate) struct AnyOrderAdd {
    pub(crate) lhs: Ref<Obj>,
    pub(crate) rhs: Ref<Obj>,
}

impl StructuralEqual for AnyOrderAdd {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        let (left, right) = ((&self.lhs).into(), (&self.rhs).into());
        let (other_left, other_right) = ((&other.lhs).into(), (&other.rhs).into());
        let straight = eq.attempt(&mut |eq| {
            Ok(eq.equal(&left, &other_left, "lhs")? && eq.equal(&right, &other_right, "rhs")?)
        })?;
        Ok(straight
            || (eq.equal(&left, &other_right, "lhs")? && eq.equal(&right, &other_left, "rhs")?))
    }
}

impl StructuralHash for AnyOrderAdd {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        let (left, right) = ((&self.lhs).into(), (&self.rhs).into());
        let sum = hash.hash(&left, init)?;
        Ok(sum.wrapping_add(hash.hash(&right, init)?))
    }
}
