//! Uses of variables and calls of functions in expressions.

use hashbrown::{HashMap, HashSet};

use super::super::failure::Failure;
use super::super::types::{compatible, shown};
use super::state::Checker;
use crate::operands::{nodes_in, operands};
use crate::*;
use isoform::host::{Place, Step};
use isoform::paths::AccessPath;
use isoform::traverse::{WalkOptions, WalkOrder, WalkResult};
use isoform::{Error, Map, Obj, Ref, Result, Str, Value};

impl Checker<'_> {
    /// True if a variable need not be defined at this place.
    fn is_given(&self, var: &Ref<Var>) -> bool {
        let locals = self.locals.as_ref();
        var.isa::<MemRef>() || locals.is_some_and(|locals| !locals.contains(&var.identity()))
    }

    /// Checks a use of a variable, and returns the error, if any.
    pub(super) fn check_use(&self, var: &Ref<Var>) -> Option<Error> {
        let ident = var.identity();
        if self.scopes.is_defined(ident) || self.is_given(var) {
            return None;
        }
        let name = &var.name_hint;
        Some(Error::value_error(if self.scopes.was_defined(ident) {
            format!("variable '{name}' is used where it has no value on every path")
        } else {
            format!("variable '{name}' is used before it is defined")
        }))
    }

    /// Searches an expression.
    pub(super) fn visit_use(
        &mut self,
        root: &Ref<Expr>,
        place: Place,
        span: &Ref<Span>,
    ) -> Result<()> {
        self.use_in(&root.into(), place, span)
    }

    /// Searches the expressions and types among attributes.
    pub(super) fn attrs(
        &mut self,
        attrs: &Map<Str, Value>,
        place: Place,
        span: &Ref<Span>,
    ) -> Result<()> {
        for (name, value) in attrs.iter() {
            let place = self.places.below(place, Step::Key(name.clone().into()));
            self.use_in(value, place, span)?;
        }
        Ok(())
    }

    /// Searches the expressions and types in a value.
    fn use_in(&mut self, root: &Value, place: Place, span: &Ref<Span>) -> Result<()> {
        let mut wrong: HashMap<u64, Error> = HashMap::new();
        let mut seen: HashSet<u64> = HashSet::new();
        let recording = !self.records.is_empty();
        let epoch = self.scopes.epoch();
        let mut stack = nodes_in(root);
        stack.reverse();
        while let Some(node) = stack.pop() {
            let ident = node.identity();
            if node.owners() > 2 {
                let is_clean = !recording && self.clean.get(&ident) == Some(&epoch);
                if is_clean || !seen.insert(ident) {
                    continue;
                }
            }
            if let Some(var) = node.downcast_ref::<Var>() {
                if recording {
                    self.uses.push(var.clone());
                }
                if let Some(error) = self.check_use(var) {
                    wrong.insert(ident, error);
                }
                continue;
            }
            if let Some(call) = node.downcast_ref::<Call>()
                && let Some(error) = self.check_call(call)
            {
                wrong.insert(ident, error);
            }
            stack.extend(operands(&node).into_iter().rev());
        }
        if wrong.is_empty() {
            self.clean
                .extend(seen.into_iter().map(|ident| (ident, epoch)));
            return Ok(());
        }
        let above = self.places.path(place);
        let options = WalkOptions::default().order(WalkOrder::Pre);
        let mut failures = Vec::new();
        options.walk(root, |visit| {
            let Some(object) = visit.object() else {
                return Ok(WalkResult::<()>::Advance);
            };
            // The type of an expression is not an operand.
            let is_type_of = |step| matches!(step, Some(Step::Field("type")));
            if object.isa::<Type>() && is_type_of(visit.steps_upwards().next()) {
                return Ok(WalkResult::Skip);
            }
            if let Some(error) = wrong.remove(&object.identity()) {
                let below = visit.path();
                let steps = above.steps().iter().chain(below.steps()).cloned();
                let own = object.downcast_ref::<Expr>().map(|expr| expr.span.clone());
                let span = own
                    .filter(|own| own.is_valid())
                    .unwrap_or_else(|| span.clone());
                let path = AccessPath::from_steps(steps.collect());
                failures.push(Failure { path, span, error });
            }
            Ok(if object.isa::<Var>() {
                WalkResult::Skip
            } else {
                WalkResult::Advance
            })
        })?;
        // The search left out types shared with the type of the expression.
        let mut others: Vec<_> = wrong.into_values().collect();
        others.sort_by(|left, right| left.message().cmp(right.message()));
        failures.extend(others.into_iter().map(|error| Failure {
            path: above.clone(),
            span: span.clone(),
            error,
        }));
        self.failures.append(&mut failures);
        Ok(())
    }

    /// Checks a call of a function of the program, and returns the error, if any.
    fn check_call(&self, call: &Ref<Call>) -> Option<Error> {
        let program = self.program.as_ref()?;
        let callee = call.op.downcast_ref::<GlobalVar>()?;
        let name = &callee.name;
        let Some(function) = program.function(name) else {
            let text = format!("call of '{name}': expected a function of the program");
            return Some(Error::value_error(text));
        };
        if function.params.len() != call.args.len() {
            let (expected, got) = (function.params.len(), call.args.len());
            let text = format!("call of '{name}': expected {expected} arguments, got {got}");
            return Some(Error::value_error(text));
        }
        let pairs = function.params.iter().zip(call.args.iter());
        for (position, (param, arg)) in pairs.enumerate() {
            if !compatible(&param.ty, &arg.ty) {
                let (expected, got) = (shown(&param.ty), shown(&arg.ty));
                return Some(Error::type_error(format!(
                    "call of '{name}': args[{position}]: expected type {expected}, got {got}"
                )));
            }
        }
        let result: Ref<Type> = match function
            .return_types
            .iter()
            .cloned()
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => return None,
            [ty] => ty.clone(),
            several => TupleType::new(several.to_vec()).upcast(),
        };
        if compatible(&result, &call.ty) {
            return None;
        }
        let (expected, got) = (shown(&result), shown(&call.ty));
        Some(Error::type_error(format!(
            "call of '{name}': expected a result of type {expected}, got {got}"
        )))
    }

    /// The variables in the type of a definition have values, too.
    pub(super) fn assume_sizes(&mut self, ty: &Ref<Type>) {
        if ty.isa::<ScalarType>() {
            return;
        }
        let mut seen: HashSet<u64> = HashSet::new();
        let mut stack: Vec<Ref<Obj>> = vec![ty.as_object().clone()];
        while let Some(node) = stack.pop() {
            if node.isa::<Var>() {
                self.scopes.assume(node.identity());
            } else if node.owners() <= 2 || seen.insert(node.identity()) {
                stack.extend(operands(&node));
            }
        }
    }
}
