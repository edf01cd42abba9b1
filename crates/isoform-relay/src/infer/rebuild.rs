//! The program with the found types.

use hashbrown::HashSet;

use super::collect::Inference;
use super::types::IncompleteReason;
use crate::{
    AsExpr, Call, Clause, Function, If, Let, Match, RefCreate, RefRead, RefWrite, Tuple,
    TupleGetItem, Var, is_primitive_op,
};
use isoform::plumbing::with_fields;
use isoform::traverse::structural_map;
use isoform::{Array, Node, Obj, Ref, Result, Value};
use isoform_ir::ir::{FuncType, RelayExpr, Type};

impl Inference<'_> {
    /// Completes all types, and reports unknown types.
    pub(super) fn complete(&mut self) -> Vec<Ref<Type>> {
        let broken: HashSet<u32> = self.problems.roots().collect();
        let mut reported = HashSet::new();
        let mut types = Vec::with_capacity(self.found.len());
        for number in 0..self.found.len() {
            let ty = self.found[number].clone();
            types.push(match self.types.complete(&ty) {
                Ok(ty) => ty,
                Err(open) => {
                    let owner = self.owners[number];
                    // Types unknown because of another error get no message, and
                    // neither do types around an unknown type.
                    if !broken.contains(&owner) && reported.insert((owner, open)) {
                        self.problems.root = owner;
                        self.problems.add(number as u32, unknown(open).to_owned());
                    }
                    ty
                }
            });
        }
        self.report_escapes(&types);
        types
    }

    /// Rebuilds the expressions with changed types. Parts come before the expressions
    /// that contain them, so a single pass is enough.
    ///
    /// # Errors
    ///
    /// `TypeError` if a type of an expression does not allow its fields to change.
    pub(super) fn rebuild(&mut self, types: &[Ref<Type>]) -> Result<Vec<Ref<RelayExpr>>> {
        let mut made: Vec<Ref<RelayExpr>> = Vec::with_capacity(self.exprs.len());
        for number in 0..self.exprs.len() {
            let expr = self.exprs[number].clone();
            let mut changes = Changes::of(&expr);
            self.replace_parts(&expr, &made, &mut changes)?;
            self.fill_types(&expr, &types[number], types, &mut changes);
            let known = expr.checked_type_.as_ref();
            let ty = &types[number];
            if !known.is_some_and(|known| self.known.are_equal(known, ty)) {
                changes.set("checked_type_", ty.into());
            }
            made.push(changes.applied()?);
        }
        Ok(made)
    }

    /// The rebuilt expression, or the expression itself without a type.
    fn new_of(&self, expr: &Ref<RelayExpr>, made: &[Ref<RelayExpr>]) -> Ref<RelayExpr> {
        let number = self.number(expr).map(|number| number as usize);
        let found = number.and_then(|number| made.get(number));
        found.unwrap_or(expr).clone()
    }

    fn replace_parts(
        &self,
        expr: &Ref<RelayExpr>,
        new_exprs: &[Ref<RelayExpr>],
        changes: &mut Changes,
    ) -> Result<()> {
        let new_part = |part: &Ref<RelayExpr>| {
            let new = self.new_of(part, new_exprs);
            (!new.same_as(part)).then(|| Value::from(new))
        };
        let all = |parts: &Array<Ref<RelayExpr>>| {
            let new: Vec<_> = parts
                .iter()
                .map(|part| self.new_of(part, new_exprs))
                .collect();
            let same = parts.iter().zip(&new).all(|(old, new)| old.same_as(new));
            (!same).then(|| Value::from(Array::from(new)))
        };
        let var = |var: &Ref<Var>| new_part(&var.expr());
        if let Some(call) = expr.downcast_ref::<Call>() {
            changes.set_some("op", new_part(&call.op));
            changes.set_some("args", all(&call.args));
        } else if let Some(tuple) = expr.downcast_ref::<Tuple>() {
            changes.set_some("fields", all(&tuple.fields));
        } else if let Some(item) = expr.downcast_ref::<TupleGetItem>() {
            changes.set_some("tuple_value", new_part(&item.tuple_value));
        } else if let Some(binding) = expr.downcast_ref::<Let>() {
            changes.set_some("var", var(&binding.var));
            changes.set_some("value", new_part(&binding.value));
            changes.set_some("body", new_part(&binding.body));
        } else if let Some(choice) = expr.downcast_ref::<If>() {
            changes.set_some("cond", new_part(&choice.cond));
            changes.set_some("true_branch", new_part(&choice.true_branch));
            changes.set_some("false_branch", new_part(&choice.false_branch));
        } else if let Some(function) = expr.downcast_ref::<Function>() {
            let params: Vec<Value> = function
                .params
                .iter()
                .map(|param| Value::from(self.new_of(&param.expr(), new_exprs)))
                .collect();
            let same = |(old, new): (&Ref<Var>, &Value)| {
                new.as_object().is_some_and(|new| new.same_as(old))
            };
            if !function.params.iter().zip(&params).all(same) {
                changes.set("params", Value::from(params));
            }
            changes.set_some("body", new_part(&function.body));
        } else if let Some(reference) = expr.downcast_ref::<RefCreate>() {
            changes.set_some("value", new_part(&reference.value));
        } else if let Some(read) = expr.downcast_ref::<RefRead>() {
            changes.set_some("ref", new_part(&read.reference));
        } else if let Some(write) = expr.downcast_ref::<RefWrite>() {
            changes.set_some("ref", new_part(&write.reference));
            changes.set_some("value", new_part(&write.value));
        } else if let Some(matching) = expr.downcast_ref::<Match>() {
            changes.set_some("data", new_part(&matching.data));
            let mut clauses = Vec::with_capacity(matching.clauses.len());
            let mut same = true;
            for clause in matching.clauses.iter() {
                let new = self.clause(clause, new_exprs)?;
                same &= new.same_as(clause);
                clauses.push(new);
            }
            if !same {
                changes.set("clauses", Array::from(clauses).into());
            }
        }
        Ok(())
    }

    fn clause(&self, clause: &Ref<Clause>, made: &[Ref<RelayExpr>]) -> Result<Ref<Clause>> {
        let lhs = structural_map(&clause.lhs, |visit| {
            let var = visit.downcast::<Var>();
            Ok(var.map(|var| Value::from(self.new_of(&var.expr(), made))))
        })?;
        let mut changes = Changes::of(clause);
        if !lhs.as_object().is_some_and(|new| new.same_as(&clause.lhs)) {
            changes.set("lhs", lhs);
        }
        let rhs = self.new_of(&clause.rhs, made);
        if !rhs.same_as(&clause.rhs) {
            changes.set("rhs", rhs.into());
        }
        changes.applied()
    }

    /// Fills in the annotations, result types and type arguments that follow from the
    /// types.
    fn fill_types(
        &mut self,
        expr: &Ref<RelayExpr>,
        ty: &Ref<Type>,
        types: &[Ref<Type>],
        changes: &mut Changes,
    ) {
        let type_facts = &mut self.known;
        let mut is_open = |annotation: &Option<Ref<Type>>| {
            annotation
                .as_ref()
                .is_none_or(|annotation| type_facts.has_holes(annotation))
        };
        if let Some(var) = expr.downcast_ref::<Var>() {
            if is_open(&var.type_annotation) {
                changes.set("type_annotation", ty.into());
            }
        } else if let Some(function) = expr.downcast_ref::<Function>() {
            if let Some(func_type) = ty.downcast_ref::<FuncType>()
                && is_open(&function.ret_type)
            {
                changes.set("ret_type", Value::from(&func_type.ret_type));
            }
        } else if let Some(call) = expr.downcast_ref::<Call>() {
            let (field, new) = if is_primitive_op(&call.op) {
                let args = call.args.iter().map(|arg| match self.number(arg) {
                    Some(number) => Some(types[number as usize].clone()),
                    None => self.type_of_global(arg),
                });
                ("op_type_args_", args.collect::<Option<Vec<_>>>())
            } else {
                let chosen = self.type_args.get(&call.identity()).cloned();
                let chosen = chosen.map(|chosen| {
                    let complete =
                        |ty: &Ref<Type>| self.types.complete(ty).unwrap_or_else(|_| ty.clone());
                    chosen.iter().map(complete).collect()
                });
                ("type_args_", chosen)
            };
            let Some(new) = new else { return };
            let old = call.type_args();
            let is_same = old.len() == new.len()
                && old
                    .iter()
                    .zip(&new)
                    .all(|(old, new)| self.known.are_equal(old, new));
            if !is_same {
                changes.set(field, Array::from(new).into());
            }
        }
    }

    /// The type of an argument outside of inference, for example a function of the
    /// module.
    fn type_of_global(&mut self, expr: &Ref<RelayExpr>) -> Option<Ref<Type>> {
        let ty = self.type_of(expr).ok()?;
        self.types.complete(&ty).ok()
    }
}

fn unknown(open: IncompleteReason) -> &'static str {
    match open {
        IncompleteReason::Unknown(_) => {
            "The type inference pass was unable to infer a type for this expression. Usually an \
             operator is called with arguments of unknown types: annotate parameters, as in \
             `relay.var(\"x\", shape=(1, 2))`"
        }
        IncompleteReason::Infinite => {
            "the type of this expression contains itself, so it would be infinitely large"
        }
    }
}

/// Changed fields of a node.
struct Changes {
    node: Ref<Obj>,
    fields: Vec<(usize, Value)>,
}

impl Changes {
    fn of<T: Node>(node: &Ref<T>) -> Self {
        Changes {
            node: node.as_object().clone(),
            fields: Vec::new(),
        }
    }

    fn set(&mut self, field: &str, value: Value) {
        if let Some(index) = self.node.type_info().field_index(field) {
            self.fields.push((index, value));
        }
    }

    fn set_some(&mut self, field: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.set(field, value);
        }
    }

    /// The node with the changes; the same node without changes.
    fn applied<T: Node>(self) -> Result<Ref<T>> {
        if self.fields.is_empty() {
            self.node.cast()
        } else {
            with_fields(&self.node, self.fields)?.cast()
        }
    }
}
