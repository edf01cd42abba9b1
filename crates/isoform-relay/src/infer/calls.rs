//! The types of calls: of operators by their relations, of functions by unification.

use std::rc::Rc;

use super::collect::{Inference, Operator};
use super::relations::Rule;
use super::types::ById;
use crate::text::type_text;
use crate::{AsExpr, Call, is_primitive_op};
use isoform::{Array, Ref, Result};
use isoform_ir::ir::{FuncType, IncompleteType, Op, Type, TypeRelation};

impl Inference<'_> {
    /// The type of a call with typed parts.
    pub(super) fn call(&mut self, call: &Ref<Call>) -> Result<Ref<Type>> {
        let mut args = Vec::with_capacity(call.args.len());
        for arg in call.args.iter() {
            args.push(self.type_of(arg)?);
        }
        if let Some(op) = call.op.downcast_ref::<Op>()
            && let Some(operator) = self.operator(op)?
        {
            if !self.check_count(operator.inputs, args.len()) {
                return Ok(self.types.hole());
            }
            return self.relate(Rule::Call(operator.relation, call.attrs.clone()), args);
        }
        let callee = self.type_of(&call.op)?;
        let callee = self.types.head(&callee);
        if let Some(function) = callee.downcast_ref::<FuncType>() {
            return self.apply(call, function, args);
        }
        if callee.isa::<IncompleteType>() {
            let result = self.types.hole();
            let expected = FuncType::new(args, &result).upcast();
            self.require(&call.op, &callee, &expected)?;
            return Ok(result);
        }
        let number = self.next();
        self.problems.add(
            number,
            format!(
                "only expressions with function types can be called, found {}",
                type_text(&callee)
            ),
        );
        Ok(self.types.hole())
    }

    /// The relation of an operator, with type parameters to find from the arguments.
    fn operator(&mut self, op: &Ref<Op>) -> Result<Option<Operator>> {
        if let Some(operator) = self.operators.get(&op.identity()) {
            return Ok(Some(operator.clone()));
        }
        let callee = op.clone().upcast();
        if !is_primitive_op(&callee) {
            if op.op_type().is_none() {
                let (number, name) = (self.next(), &op.name);
                let what = format!(
                    "the operator {name} has no type relation: register one with `add_type_rel`"
                );
                self.problems.add(number, what);
            }
            return Ok(None);
        }
        let ty = op.op_type();
        let relation = ty.as_ref().and_then(|ty| {
            let relation = ty.type_constraints.get(0)?;
            Some((
                relation.downcast_ref::<TypeRelation>()?.func.clone(),
                ty.arg_types.len(),
            ))
        });
        let Some((relation, inputs)) = relation else {
            return Ok(None);
        };
        let operator = Operator {
            relation: relation.func()?,
            inputs,
        };
        self.operators.insert(op.identity(), operator.clone());
        Ok(Some(operator))
    }

    fn check_count(&mut self, expected: usize, given: usize) -> bool {
        let many = if given > expected { "many" } else { "few" };
        if given != expected {
            let number = self.next();
            self.problems.add(
                number,
                format!(
                    "the function is provided too {many} arguments expected {expected}, found \
                     {given}"
                ),
            );
        }
        given == expected
    }

    /// The result of a call of a function of this type.
    fn apply(
        &mut self,
        call: &Ref<Call>,
        function: &Ref<FuncType>,
        args: Vec<Ref<Type>>,
    ) -> Result<Ref<Type>> {
        let type_args = call.type_args();
        if type_args.len() > function.type_params.len() {
            let number = self.next();
            self.problems.add(
                number,
                format!(
                    "Incorrect number of type args in {}: Expected {} but got {}",
                    type_text(&function.clone().upcast()),
                    function.type_params.len(),
                    type_args.len()
                ),
            );
        }
        if !self.check_count(function.arg_types.len(), args.len()) {
            return Ok(self.types.hole());
        }
        let (expected, replacements, constraints) = if function.type_params.is_empty() {
            (
                function.arg_types.clone(),
                None,
                function.type_constraints.iter().cloned().collect(),
            )
        } else {
            let mut replacements = ById::default();
            let mut chosen = Vec::with_capacity(function.type_params.len());
            for (position, param) in function.type_params.iter().enumerate() {
                let ty = match type_args.get(position) {
                    Some(ty) => ty.clone(),
                    None => self.types.hole(),
                };
                replacements.insert(param.identity(), ty.clone());
                chosen.push(ty);
            }
            self.type_args.insert(call.identity(), chosen);
            let mut replaced = |ty: &Ref<Type>| self.types.instantiated(ty, &replacements);
            let expected: Array<_> = function.arg_types.iter().map(&mut replaced).collect();
            let mut constraints = Vec::new();
            for constraint in function.type_constraints.iter() {
                constraints.push(match constraint.downcast_ref::<TypeRelation>() {
                    Some(relation) => {
                        let args: Array<_> = relation.args.iter().map(&mut replaced).collect();
                        relation.with_args(args).upcast()
                    }
                    None => constraint.clone(),
                });
            }
            (expected, Some(Rc::new(replacements)), constraints)
        };
        for ((expected, got), arg) in expected.iter().zip(&args).zip(call.args.iter()) {
            self.require(arg, expected, got)?;
        }
        let result = match &replacements {
            Some(replacements) => self.instance(&function.ret_type, replacements),
            None => function.ret_type.clone(),
        };
        for constraint in constraints {
            let Some(relation) = constraint.downcast_ref::<TypeRelation>() else {
                continue;
            };
            let inputs = usize::try_from(relation.num_inputs).unwrap_or_default();
            let all: Vec<_> = relation.args.iter().cloned().collect();
            if inputs >= all.len() {
                continue;
            }
            let attrs = relation.attrs.clone().or_else(|| call.attrs.clone());
            let rule = Rule::Call(relation.func.func()?, attrs);
            let output = self.relate(rule, all[..inputs].to_vec())?;
            let expr = call.expr();
            self.require(&expr, &all[inputs], &output)?;
        }
        Ok(result)
    }
}
