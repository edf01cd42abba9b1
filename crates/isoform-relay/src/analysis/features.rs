//! The features of the language used by a program.

use std::collections::BTreeSet;

use hashbrown::HashSet;
use isoform::{Error, Obj, Ref, Result, Value, export};
use isoform_ir::ir::{Constructor, GlobalVar, IRModule, Op, RelayExpr};
use rapidhash::fast::RandomState;

use super::order::{Step, Visitor, visit, visit_below};
use crate::{
    AsExpr, Call, Constant, Function, If, Let, Match, RefCreate, RefRead, RefWrite, Tuple,
    TupleGetItem, Var, attribute,
};

/// A feature of the language.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(i64)]
#[non_exhaustive]
pub enum Feature {
    /// A variable.
    Var = 0,
    /// A global variable.
    GlobalVar = 1,
    /// A constant.
    Constant = 2,
    /// A tuple.
    Tuple = 3,
    /// A value of a tuple.
    TupleGetItem = 4,
    /// A function.
    Function = 5,
    /// An operator.
    Op = 6,
    /// A call.
    Call = 7,
    /// A binding.
    Let = 8,
    /// A choice between two values.
    If = 9,
    /// Making a reference.
    RefCreate = 10,
    /// Reading a reference.
    RefRead = 11,
    /// Writing to a reference.
    RefWrite = 12,
    /// A constructor of a data type.
    Constructor = 13,
    /// A match.
    Match = 14,
    /// A shared expression other than a variable, an operator, a constructor, a global
    /// variable or a constant.
    Graph = 15,
    /// A binding with a value that uses its own variable.
    LetRec = 16,
}

/// The features that expressions use, and the functions of modules. The bodies of functions
/// marked `Primitive` are not searched. Linear in the number of expressions.
///
/// ```
/// use isoform_relay::{AsExpr, RefRead, Var};
/// use isoform_relay::analysis::{Feature, detect_feature};
///
/// let found = detect_feature([RefRead::new(Var::new("r")).expr().into()])?;
/// assert!(found.into_iter().eq([Feature::Var, Feature::RefRead]));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `TypeError` for values other than expressions and modules.
pub fn detect_feature(of: impl IntoIterator<Item = Value>) -> Result<BTreeSet<Feature>> {
    let mut detector = Detector::default();
    for value in of {
        if let Some(module) = value.peek::<Ref<IRModule>>() {
            for var in module.global_vars() {
                if let Some(func) = module.lookup(&var)?.downcast_ref::<Function>() {
                    visit(&func.expr(), &mut detector)?;
                }
            }
            continue;
        }
        let Ok(expr) = value.extract::<Ref<RelayExpr>>() else {
            return Err(Error::type_error(format!(
                "detect_feature: expected ir.RelayExpr or ir.IRModule, got {}",
                value.type_name()
            )));
        };
        visit(&expr, &mut detector)?;
    }
    Ok(detector.found)
}

#[derive(Default)]
struct Detector {
    found: BTreeSet<Feature>,
    /// The variables with values being visited.
    defining: HashSet<u64, RandomState>,
}

fn feature_of(expr: &Ref<RelayExpr>) -> Option<Feature> {
    macro_rules! first {
        ($($node:ident)*) => {
            $(if expr.isa::<$node>() { return Some(Feature::$node); })*
        };
    }
    first! {
        Call Var Constant Tuple TupleGetItem Op Let Function GlobalVar If RefCreate RefRead
        RefWrite Constructor Match
    }
    None
}

fn is_atomic(feature: Feature) -> bool {
    matches!(
        feature,
        Feature::Var | Feature::Op | Feature::Constructor | Feature::GlobalVar | Feature::Constant
    )
}

impl Visitor for Detector {
    /// The variable after the visit of its value.
    type VisitAction = u64;

    fn arrive(
        &mut self,
        expr: &Ref<RelayExpr>,
        arrivals: u32,
        next: &mut Vec<Step<u64>>,
    ) -> Result<()> {
        let feature = feature_of(expr);
        self.found.extend(feature);
        if self.defining.contains(&expr.identity()) {
            self.found.insert(Feature::LetRec);
        }
        if arrivals > 1 {
            if feature.is_some_and(|feature| !is_atomic(feature)) {
                self.found.insert(Feature::Graph);
            }
            return Ok(());
        }
        if let Some(binding) = expr.downcast_ref::<Let>() {
            let var = binding.var.identity();
            self.defining.insert(var);
            next.push(Step::Visit(binding.value.clone()));
            next.push(Step::Then(var));
            next.push(Step::Visit(binding.var.expr()));
            next.push(Step::Visit(binding.body.clone()));
            return Ok(());
        }
        let is_primitive = expr
            .downcast_ref::<Function>()
            .is_some_and(|func| func.has_nonzero_attribute(attribute::PRIMITIVE));
        if !is_primitive {
            visit_below(expr, next);
        }
        Ok(())
    }

    fn then(&mut self, var: u64) -> Result<()> {
        self.defining.remove(&var);
        Ok(())
    }
}

/// The numbers of the features used by expressions or modules.
#[export("relay.analysis.detect_feature")]
fn exported_detect_feature(a: Ref<Obj>, b: Option<Ref<Obj>>) -> Result<Vec<i64>> {
    let found = detect_feature([Some(a), b].into_iter().flatten().map(Value::from))?;
    Ok(found.into_iter().map(|feature| feature as i64).collect())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_detect_feature]
}
