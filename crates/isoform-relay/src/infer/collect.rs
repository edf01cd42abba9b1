//! The types of expressions, from the innermost outwards.

use std::rc::Rc;

use super::known::TypeFacts;
use super::problems::{Problems, Root};
use super::relations::{Relation, Relations, Rule};
use super::types::{ById, Generic, Types, is_same_level};
use crate::{
    AsExpr, Call, Clause, Constant, Function, If, Let, Match, RefCreate, RefRead, RefWrite, Tuple,
    TupleGetItem, Var,
};
use isoform::values::DType;
use isoform::{Ref, Result, functions as function};
use isoform_ir::ir::{
    Constructor, FuncType, GlobalVar, IRModule, Op, RelayExpr, RelayRefType, TensorType, TupleType,
    Type,
};

/// The types of a program during inference.
pub(super) struct Inference<'m> {
    pub(super) module: &'m Ref<IRModule>,
    pub(super) types: Types,
    pub(super) known: TypeFacts,
    relations: Relations,
    pub(super) problems: Problems,
    /// The expressions with types, parts before the expressions that contain them.
    pub(super) exprs: Vec<Ref<RelayExpr>>,
    /// Their types.
    pub(super) found: Vec<Ref<Type>>,
    /// The numbers of the expressions' roots.
    pub(super) owners: Vec<u32>,
    numbers: ById<u32>,
    signatures: ById<Ref<FuncType>>,
    pub(super) operators: ById<Operator>,
    /// The type arguments of calls of functions with type parameters.
    pub(super) type_args: ById<Vec<Ref<Type>>>,
    pub(super) roots: Vec<Root>,
    /// The numbers of unentered roots with type parameters.
    generic: ById<u32>,
    /// The entered functions with type parameters.
    pub(super) generics: Vec<Generic>,
    /// True to use the present types of expressions, except for the root.
    trusts: bool,
}

/// An operator, with type parameters to find from the arguments.
#[derive(Clone)]
pub(super) struct Operator {
    pub(super) relation: function::Function,
    pub(super) inputs: usize,
}

enum Task {
    Enter(Ref<RelayExpr>),
    /// The value of a binding has its type; the body is next.
    Bind(Ref<Let>),
    /// The patterns of a clause get types; its result is next.
    Clause(Ref<Match>, Ref<Clause>),
    Leave(Ref<RelayExpr>),
    /// The following tasks belong to the root of this number.
    Within(u32),
}

impl<'m> Inference<'m> {
    pub(super) fn new(module: &'m Ref<IRModule>) -> Self {
        Inference {
            module,
            types: Types::default(),
            known: TypeFacts::default(),
            relations: Relations::default(),
            problems: Problems::default(),
            exprs: Vec::new(),
            found: Vec::new(),
            owners: Vec::new(),
            numbers: ById::default(),
            signatures: ById::default(),
            operators: ById::default(),
            type_args: ById::default(),
            roots: Vec::new(),
            generic: ById::default(),
            generics: Vec::new(),
            trusts: false,
        }
    }

    /// Uses the present types of expressions, except for a root.
    pub(super) fn trusting(mut self) -> Self {
        self.trusts = true;
        self
    }

    /// The number of an expression that has a type.
    pub(super) fn number(&self, expr: &Ref<RelayExpr>) -> Option<u32> {
        self.numbers.get(&expr.identity()).copied()
    }

    /// Adds an expression for inference as a whole.
    pub(super) fn add_root(&mut self, name: Option<String>, expr: Ref<RelayExpr>) -> Result<()> {
        self.problems.root = self.roots.len() as u32;
        if let Some(function) = expr.downcast_ref::<Function>() {
            self.signature(function)?;
            if !function.type_params.is_empty() {
                self.generic.insert(function.identity(), self.problems.root);
            }
        }
        self.roots.push(Root { name, expr });
        Ok(())
    }

    /// Finds types for all roots and all their parts.
    ///
    /// # Errors
    ///
    /// An interrupt of the host, and errors of reading the module.
    pub(super) fn run(&mut self) -> Result<()> {
        for number in 0..self.roots.len() {
            self.problems.root = number as u32;
            let root = self.roots[number].expr.clone();
            // A call may have needed its type already.
            if let Some(function) = root.downcast_ref::<Function>() {
                self.generic.remove(&function.identity());
            }
            self.walk(&root)?;
        }
        self.relations.settle(&mut self.types, &mut self.problems)?;
        self.relations.close(&mut self.types, &mut self.problems)
    }

    fn walk(&mut self, root: &Ref<RelayExpr>) -> Result<()> {
        let mut stack = vec![Task::Enter(root.clone())];
        while let Some(task) = stack.pop() {
            match task {
                Task::Enter(expr) => self.enter(expr, root, &mut stack)?,
                Task::Bind(binding) => {
                    let (var, value) = (binding.var.expr(), &binding.value);
                    let expected = self.type_of(&var)?;
                    let got = self.type_of(value)?;
                    self.require(value, &expected, &got)?;
                    stack.push(Task::Enter(binding.body.clone()));
                }
                Task::Clause(expr, clause) => {
                    let data = self.type_of(&expr.data)?;
                    self.pattern(&expr, &clause.lhs, data)?;
                    stack.push(Task::Enter(clause.rhs.clone()));
                }
                Task::Leave(expr) => self.leave(&expr)?,
                Task::Within(number) => self.problems.root = number,
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        expr: Ref<RelayExpr>,
        root: &Ref<RelayExpr>,
        stack: &mut Vec<Task>,
    ) -> Result<()> {
        if self.numbers.contains_key(&expr.identity())
            || expr.isa::<Op>()
            || expr.isa::<GlobalVar>()
            || expr.isa::<Constructor>()
        {
            return Ok(());
        }
        // A copy of a variable with another annotation has the checked type of the original.
        let is_annotated = |var: &Ref<Var>| var.type_annotation.is_some();
        if let Some(ty) = &expr.checked_type_
            && self.trusts
            && !expr.same_as(root)
            && !expr.downcast_ref::<Var>().is_some_and(is_annotated)
        {
            let ty = ty.clone();
            self.set(expr, ty);
            return Ok(());
        }
        // Parts are pushed last to first.
        if let Some(binding) = expr.downcast_ref::<Let>() {
            let binding = binding.clone();
            // A function literal can call itself, so its type is stated before its
            // body.
            let var = self.type_of(&binding.var.expr())?;
            if let Some(function) = binding.value.downcast_ref::<Function>() {
                let signature = self.signature(function)?.upcast();
                self.require(&binding.value, &var, &signature)?;
            }
            stack.push(Task::Leave(expr));
            stack.push(Task::Bind(binding.clone()));
            stack.push(Task::Enter(binding.value.clone()));
            return Ok(());
        }
        if let Some(call) = expr.downcast_ref::<Call>() {
            let parts: Vec<_> = call.args.iter().rev().cloned().collect();
            let callee = call.op.clone();
            stack.push(Task::Leave(expr));
            stack.extend(parts.into_iter().map(Task::Enter));
            // The result of a function with type parameters can have the type of any
            // type parameter, so the body comes before calls of the function.
            if let Some((number, function)) = self.generic_root(&callee) {
                stack.push(Task::Within(self.problems.root));
                stack.push(Task::Enter(function));
                stack.push(Task::Within(number));
            }
            stack.push(Task::Enter(callee));
            return Ok(());
        }
        if let Some(matching) = expr.downcast_ref::<Match>() {
            let matching = matching.clone();
            stack.push(Task::Leave(expr));
            for clause in matching.clauses.iter().rev() {
                stack.push(Task::Clause(matching.clone(), clause.clone()));
            }
            stack.push(Task::Enter(matching.data.clone()));
            return Ok(());
        }
        if let Some(function) = expr.downcast_ref::<Function>()
            && !function.type_params.is_empty()
        {
            self.generics.push(Generic {
                function: function.clone(),
                start: self.next(),
            });
        }
        let parts = self.parts(&expr)?;
        if parts.is_empty() {
            return self.leave(&expr);
        }
        stack.push(Task::Leave(expr));
        stack.extend(parts.into_iter().rev().map(Task::Enter));
        Ok(())
    }

    /// The unentered root named by a callee, if the root has type parameters.
    fn generic_root(&mut self, callee: &Ref<RelayExpr>) -> Option<(u32, Ref<RelayExpr>)> {
        if self.generic.is_empty() {
            return None;
        }
        let var = callee.downcast_ref::<GlobalVar>()?;
        let function = self.module.functions.get(var)?;
        let number = self.generic.remove(&function.identity())?;
        Some((number, self.roots[number as usize].expr.clone()))
    }

    /// The parts of an expression, in order.
    fn parts(&mut self, expr: &Ref<RelayExpr>) -> Result<Vec<Ref<RelayExpr>>> {
        Ok(if let Some(tuple) = expr.downcast_ref::<Tuple>() {
            tuple.fields.iter().cloned().collect()
        } else if let Some(item) = expr.downcast_ref::<TupleGetItem>() {
            vec![item.tuple_value.clone()]
        } else if let Some(function) = expr.downcast_ref::<Function>() {
            let params = function.params.iter().map(|param| param.expr());
            params.chain([function.body.clone()]).collect()
        } else if let Some(choice) = expr.downcast_ref::<If>() {
            let branches = [&choice.cond, &choice.true_branch, &choice.false_branch];
            branches.map(Clone::clone).to_vec()
        } else if let Some(made) = expr.downcast_ref::<RefCreate>() {
            vec![made.value.clone()]
        } else if let Some(read) = expr.downcast_ref::<RefRead>() {
            vec![read.reference.clone()]
        } else if let Some(write) = expr.downcast_ref::<RefWrite>() {
            vec![write.reference.clone(), write.value.clone()]
        } else {
            Vec::new()
        })
    }

    /// Records the type of an expression; keeps the present type object if the types
    /// are equal.
    fn set(&mut self, expr: Ref<RelayExpr>, ty: Ref<Type>) {
        let ty = match &expr.checked_type_ {
            Some(known) if is_same_level(known, &ty) => known.clone(),
            _ => ty,
        };
        self.numbers
            .insert(expr.identity(), self.exprs.len() as u32);
        self.exprs.push(expr);
        self.found.push(ty);
        self.owners.push(self.problems.root);
    }

    /// The number for messages about the next expression to get a type.
    pub(super) fn next(&self) -> u32 {
        self.exprs.len() as u32
    }

    /// The type of an expression with typed parts.
    pub(super) fn type_of(&mut self, expr: &Ref<RelayExpr>) -> Result<Ref<Type>> {
        if let Some(number) = self.number(expr) {
            return Ok(self.found[number as usize].clone());
        }
        if let Some(var) = expr.downcast_ref::<Var>() {
            let ty = match &var.type_annotation {
                Some(ty) => ty.clone(),
                None => self.types.hole(),
            };
            self.set(expr.clone(), ty);
            let number = self.exprs.len() - 1;
            return Ok(self.found[number].clone());
        }
        if let Some(var) = expr.downcast_ref::<GlobalVar>() {
            return self.global(var);
        }
        if let Some(op) = expr.downcast_ref::<Op>() {
            return Ok(match op.op_type() {
                Some(ty) => ty.upcast(),
                None => self.types.hole(),
            });
        }
        if let Some(constructor) = expr.downcast_ref::<Constructor>() {
            return self.constructor(constructor);
        }
        Ok(self.types.hole())
    }

    fn global(&mut self, var: &Ref<GlobalVar>) -> Result<Ref<Type>> {
        let Some(func) = self.module.functions.get(var) else {
            let (number, name) = (self.next(), &var.name_hint);
            self.problems
                .add(number, format!("the module has no function @{name}"));
            return Ok(self.types.hole());
        };
        if let Some(function) = func.downcast_ref::<Function>() {
            return Ok(self.signature(function)?.upcast());
        }
        // A function of another dialect states its own type.
        match &func.checked_type_ {
            Some(ty) => Ok(ty.clone()),
            None => {
                let (number, key) = (self.next(), func.type_info().key());
                let name = &var.name_hint;
                let what = format!("the type of the function @{name}, a {key}, is not known");
                self.problems.add(number, what);
                Ok(self.types.hole())
            }
        }
    }

    /// The type of a function according to the annotations, with holes elsewhere. The
    /// parameters and the result of the function use the same holes, so calls fill the
    /// holes, too.
    pub(super) fn signature(&mut self, function: &Ref<Function>) -> Result<Ref<FuncType>> {
        if let Some(signature) = self.signatures.get(&function.identity()) {
            return Ok(signature.clone());
        }
        let mut args = Vec::with_capacity(function.params.len());
        for param in function.params.iter() {
            args.push(self.type_of(&param.expr())?);
        }
        let result = match &function.ret_type {
            Some(ty) => ty.clone(),
            None => self.types.hole(),
        };
        let checked_type = function.checked_type_.as_ref();
        let signature = FuncType::new(args, result).with_type_params(function.type_params.clone());
        let signature = match checked_type.and_then(|ty| ty.downcast_ref::<FuncType>()) {
            Some(func_type)
                if is_same_level(&func_type.clone().upcast(), &signature.clone().upcast()) =>
            {
                func_type.clone()
            }
            _ => signature,
        };
        self.signatures
            .insert(function.identity(), signature.clone());
        Ok(signature)
    }

    /// Makes two types the same; failure is a problem of the expression. A function with type
    /// parameters is instantiated where one without them is expected.
    pub(super) fn require(
        &mut self,
        expr: &Ref<RelayExpr>,
        expected: &Ref<Type>,
        got: &Ref<Type>,
    ) -> Result<Ref<Type>> {
        let got = &self.instance_like(got, expected);
        match self.types.unify(expected, got) {
            Ok(ty) => {
                self.relations.settle(&mut self.types, &mut self.problems)?;
                Ok(ty)
            }
            Err(why) => {
                let number = self.number(expr).unwrap_or(self.next());
                let (expected, got) = (self.types.head(expected), self.types.head(got));
                self.problems.mismatch(number, &expected, &got, &why);
                Ok(expected)
            }
        }
    }

    /// [`require`](Self::require) for the results of two branches, either of which may be
    /// instantiated.
    pub(super) fn require_branch(
        &mut self,
        expr: &Ref<RelayExpr>,
        common: &Ref<Type>,
        branch: &Ref<Type>,
    ) -> Result<Ref<Type>> {
        let common = self.instance_like(common, branch);
        self.require(expr, &common, branch)
    }

    /// The type itself, or its instance with holes for the type parameters if it is a function
    /// with type parameters and `expected` is one without.
    fn instance_like(&mut self, ty: &Ref<Type>, expected: &Ref<Type>) -> Ref<Type> {
        let (head, expected) = (self.types.head(ty), self.types.head(expected));
        let (Some(function), Some(expected)) = (
            head.downcast_ref::<FuncType>(),
            expected.downcast_ref::<FuncType>(),
        ) else {
            return ty.clone();
        };
        if function.type_params.is_empty()
            || !expected.type_params.is_empty()
            || !function.type_constraints.is_empty()
        {
            return ty.clone();
        }
        let mut replacements = ById::default();
        for param in function.type_params.iter() {
            replacements.insert(param.identity(), self.types.hole());
        }
        let args = function.arg_types.iter();
        let args: Vec<_> = args
            .map(|ty| self.types.instantiated(ty, &replacements))
            .collect();
        let result = self.instance(&function.ret_type, &Rc::new(replacements));
        FuncType::new(args, result).upcast()
    }

    /// Finds the type of an expression with typed parts.
    fn leave(&mut self, expr: &Ref<RelayExpr>) -> Result<()> {
        if self.numbers.contains_key(&expr.identity()) {
            return Ok(());
        }
        let ty = if expr.isa::<Var>() {
            self.type_of(expr)?;
            return Ok(());
        } else if let Some(constant) = expr.downcast_ref::<Constant>() {
            match constant.tensor_type() {
                Ok(ty) => ty.upcast(),
                Err(error) => {
                    let number = self.next();
                    self.problems.add(number, error.message().to_owned());
                    self.types.hole()
                }
            }
        } else if let Some(call) = expr.downcast_ref::<Call>() {
            self.call(call)?
        } else if let Some(tuple) = expr.downcast_ref::<Tuple>() {
            let mut fields = Vec::with_capacity(tuple.fields.len());
            for field in tuple.fields.iter() {
                fields.push(self.type_of(field)?);
            }
            TupleType::new(fields).upcast()
        } else if let Some(item) = expr.downcast_ref::<TupleGetItem>() {
            let tuple = self.type_of(&item.tuple_value)?;
            self.relate(Rule::Field(item.index), vec![tuple])?
        } else if let Some(binding) = expr.downcast_ref::<Let>() {
            self.type_of(&binding.body)?
        } else if let Some(function) = expr.downcast_ref::<Function>() {
            let signature = self.signature(function)?;
            let body = self.type_of(&function.body)?;
            self.require(&function.body, &signature.ret_type, &body)?;
            signature.upcast()
        } else if let Some(choice) = expr.downcast_ref::<If>() {
            let cond = self.type_of(&choice.cond)?;
            let truth = TensorType::new([]).with_dtype(DType::BOOL).upcast();
            self.require(&choice.cond, &truth, &cond)?;
            let left = self.type_of(&choice.true_branch)?;
            let right = self.type_of(&choice.false_branch)?;
            self.require_branch(expr, &left, &right)?
        } else if let Some(create) = expr.downcast_ref::<RefCreate>() {
            RelayRefType::new(self.type_of(&create.value)?).upcast()
        } else if let Some(read) = expr.downcast_ref::<RefRead>() {
            let reference = self.type_of(&read.reference)?;
            self.referenced(&read.reference, &reference)?
        } else if let Some(write) = expr.downcast_ref::<RefWrite>() {
            let reference = self.type_of(&write.reference)?;
            let inside = self.referenced(&write.reference, &reference)?;
            let value = self.type_of(&write.value)?;
            self.require(&write.value, &inside, &value)?;
            TupleType::new([]).upcast()
        } else if let Some(matching) = expr.downcast_ref::<Match>() {
            self.clauses(expr, matching)?
        } else if let Some(ty) = &expr.checked_type_ {
            ty.clone()
        } else {
            let (number, key) = (self.next(), expr.type_info().key());
            let what = format!("expected an expression of the dialect relay, got {key}");
            self.problems.add(number, what);
            self.types.hole()
        };
        self.set(expr.clone(), ty);
        Ok(())
    }

    pub(super) fn relate(&mut self, rule: Rule, inputs: Vec<Ref<Type>>) -> Result<Ref<Type>> {
        let relation = Relation {
            rule,
            inputs,
            heads: Vec::new(),
            output: None,
            expr: self.next(),
            is_done: false,
        };
        let found = self
            .relations
            .add(relation, &mut self.types, &mut self.problems)?;
        // The relation may have refined the types of its inputs, and so unblock other
        // relations.
        self.relations.settle(&mut self.types, &mut self.problems)?;
        Ok(found)
    }

    /// A type with type variables replaced; holes are replaced once their types are known.
    pub(super) fn instance(
        &mut self,
        ty: &Ref<Type>,
        replacements: &Rc<ById<Ref<Type>>>,
    ) -> Ref<Type> {
        let expr = self.next();
        self.relations
            .instance(ty, replacements, expr, &mut self.types)
    }

    /// The type of the value of a reference.
    pub(super) fn referenced(
        &mut self,
        expr: &Ref<RelayExpr>,
        ty: &Ref<Type>,
    ) -> Result<Ref<Type>> {
        let head = self.types.head(ty);
        if let Some(reference) = head.downcast_ref::<RelayRefType>() {
            return Ok(reference.value.clone());
        }
        let inside = self.types.hole();
        let expected = RelayRefType::new(&inside).upcast();
        self.require(expr, &expected, &head)?;
        Ok(inside)
    }
}

/// The functions of the dialect in a module, by name.
pub(super) fn functions_of(module: &Ref<IRModule>) -> Result<Vec<(Ref<GlobalVar>, Ref<Function>)>> {
    let mut found = Vec::new();
    for var in module.global_vars() {
        let func = module.lookup(&var)?;
        if let Some(function) = func.downcast_ref::<Function>() {
            found.push((var, function.clone()));
        }
    }
    Ok(found)
}
