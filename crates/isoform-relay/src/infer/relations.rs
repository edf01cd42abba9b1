//! The relations of a program: called when types are known, and again when more are.

use std::rc::Rc;

use super::problems::Problems;
use super::types::{ById, Types};
use crate::op::relation::{CallTypes, solve};
use crate::text::type_text;
use isoform::functions::Function;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{Attrs, IncompleteType, TupleType, Type};

/// A requirement on types, met once enough types are known.
pub(super) struct Relation {
    pub(super) rule: Rule,
    pub(super) inputs: Vec<Ref<Type>>,
    /// The known types of the inputs at the last request.
    pub(super) heads: Vec<Ref<Type>>,
    /// The type of the result; a hole before the relation has found the type.
    pub(super) output: Option<Ref<Type>>,
    /// The number of the expression under the relation.
    pub(super) expr: u32,
    pub(super) is_done: bool,
}

/// The requirement of a relation.
#[derive(Clone)]
pub(super) enum Rule {
    /// The types of a call are in the relation of its operator.
    Call(Function, Option<Ref<Attrs>>),
    /// The output is a field of the input, a tuple.
    Field(i64),
    /// The output is the input with type variables replaced.
    Instance(Rc<ById<Ref<Type>>>),
}

/// The relations with unknown types.
#[derive(Default)]
pub(super) struct Relations {
    waiting: Vec<Relation>,
    /// The number of types instantiated by calls, and of their parts unknown at the
    /// time.
    instances: usize,
    late: usize,
}

/// The number of late-known parts per instantiated type, and an additional number. Real
/// programs need few; a function whose result contains its own result always needs
/// more.
const LATE: (usize, usize) = (16, 1000);

impl Relations {
    /// Asks a relation, and returns the type of the result: a hole if it has to wait.
    ///
    /// # Errors
    ///
    /// An interrupt of the host; errors of a relation become problems.
    pub(super) fn add(
        &mut self,
        mut relation: Relation,
        types: &mut Types,
        problems: &mut Problems,
    ) -> Result<Ref<Type>> {
        let found = attempt(&mut relation, types, problems)?;
        if relation.is_done {
            return Ok(match found {
                Some(found) => found,
                None => types.hole(),
            });
        }
        let output = types.hole();
        relation.output = Some(output.clone());
        self.push(relation, types);
        Ok(output)
    }

    fn push(&mut self, mut relation: Relation, types: &mut Types) {
        let number = self.waiting.len() as u32;
        relation.wait(number, types);
        self.waiting.push(relation);
    }

    /// Returns a type with type variables replaced. A part that is still a hole is
    /// replaced once its type is known.
    pub(super) fn instance(
        &mut self,
        ty: &Ref<Type>,
        replacements: &Rc<ById<Ref<Type>>>,
        expr: u32,
        types: &mut Types,
    ) -> Ref<Type> {
        self.instances += 1;
        self.opened(ty, replacements, expr, types)
    }

    fn opened(
        &mut self,
        ty: &Ref<Type>,
        replacements: &Rc<ById<Ref<Type>>>,
        expr: u32,
        types: &mut Types,
    ) -> Ref<Type> {
        let (made, open) = types.instance(ty, replacements);
        for [input, output] in open {
            let relation = Relation {
                rule: Rule::Instance(replacements.clone()),
                inputs: vec![input],
                heads: Vec::new(),
                output: Some(output),
                expr,
                is_done: false,
            };
            self.push(relation, types);
        }
        made
    }

    /// Asks all relations with newly known types, until no relation is left. A relation
    /// is asked again at most once for each hole among its inputs.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub(super) fn settle(&mut self, types: &mut Types, problems: &mut Problems) -> Result<()> {
        while let Some(number) = types.woken.pop() {
            let relation = &mut self.waiting[number as usize];
            if relation.is_done {
                continue;
            }
            if let Rule::Instance(replacements) = &relation.rule {
                let (replacements, input) = (replacements.clone(), relation.inputs[0].clone());
                relation.is_done = true;
                let (expr, output) = (relation.expr, relation.output.clone());
                self.late += 1;
                if self.late > LATE.0 * self.instances + LATE.1 {
                    let what = "the types of functions with type parameters that call themselves \
                                contain themselves; state the types of their results, as in \
                                `relay.Function(params, body, ret_type)`";
                    problems.add(expr, what.to_owned());
                    continue;
                }
                let ty = self.opened(&input, &replacements, expr, types);
                provide(expr, output.as_ref(), &ty, types, problems);
                continue;
            }
            let ty = attempt(relation, types, problems)?;
            if !relation.is_done {
                relation.wait(number, types);
            } else if let Some(ty) = ty {
                let output = relation.output.as_ref();
                provide(relation.expr, output, &ty, types, problems);
            }
        }
        Ok(())
    }

    /// Ends the wait for types that could contain type variables of functions: no other
    /// requirement determines the types, so they are the same for all calls.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub(super) fn close(&mut self, types: &mut Types, problems: &mut Problems) -> Result<()> {
        let mut number = 0;
        while let Some(relation) = self.waiting.get_mut(number) {
            number += 1;
            if relation.is_done || !matches!(relation.rule, Rule::Instance(_)) {
                continue;
            }
            relation.is_done = true;
            let (expr, input) = (relation.expr, relation.inputs[0].clone());
            let output = relation.output.clone();
            provide(expr, output.as_ref(), &input, types, problems);
            self.settle(types, problems)?;
        }
        Ok(())
    }
}

impl Relation {
    /// Waits for the holes among the inputs. Holes of inputs without new information
    /// already know the relation.
    fn wait(&mut self, number: u32, types: &mut Types) {
        let heads: Vec<_> = self.inputs.iter().map(|input| types.head(input)).collect();
        for (position, head) in heads.iter().enumerate() {
            let old = self.heads.get(position);
            if !old.is_some_and(|old| old.same_as(head)) {
                types.wait(number, head);
            }
        }
        self.heads = heads;
    }
}

/// Makes the type of a result the found type.
fn provide(
    expr: u32,
    output: Option<&Ref<Type>>,
    found: &Ref<Type>,
    types: &mut Types,
    problems: &mut Problems,
) {
    if let Some(output) = output
        && let Err(why) = types.unify(output, found)
    {
        problems.mismatch(expr, output, found, &why);
    }
}

/// Asks a relation; the relation is done after returning a type or failing.
fn attempt(
    relation: &mut Relation,
    types: &mut Types,
    problems: &mut Problems,
) -> Result<Option<Ref<Type>>> {
    let inputs: Vec<Ref<Type>> = relation
        .inputs
        .iter()
        .map(|input| types.head_and_fields(input))
        .collect();
    let result = match &relation.rule {
        Rule::Field(index) => field(&inputs[0], *index),
        Rule::Instance(_) => Ok(None),
        Rule::Call(function, attrs) => {
            let mut call_types = CallTypes::new(&inputs, attrs.as_ref());
            let result = solve(function, &mut call_types);
            for (position, ty) in call_types.into_found() {
                let Some(input) = inputs.get(position) else {
                    continue;
                };
                if let Err(why) = types.unify(input, &ty) {
                    relation.is_done = true;
                    problems.mismatch(relation.expr, input, &ty, &why);
                    return Ok(None);
                }
            }
            result
        }
    };
    match result {
        Ok(None) => Ok(None),
        Ok(Some(ty)) => {
            relation.is_done = true;
            Ok(Some(ty))
        }
        Err(error) if error.kind_name() == "KeyboardInterrupt" => Err(error),
        Err(error) => {
            relation.is_done = true;
            problems.add(relation.expr, error.message().to_owned());
            Ok(None)
        }
    }
}

/// The type of a field of a tuple; None while the tuple is not known.
fn field(tuple: &Ref<Type>, index: i64) -> Result<Option<Ref<Type>>> {
    if tuple.isa::<IncompleteType>() {
        return Ok(None);
    }
    let fields = tuple
        .downcast_ref::<TupleType>()
        .map(|tuple| &tuple.fields)
        .ok_or_else(|| Error::type_error(format!("expected a tuple, got {}", type_text(tuple))))?;
    let found = usize::try_from(index)
        .ok()
        .and_then(|index| fields.get(index));
    found.map(|found| Some(found.clone())).ok_or_else(|| {
        Error::value_error(format!(
            "the index {index} is not inside a tuple of {} fields: {}",
            fields.len(),
            type_text(tuple)
        ))
    })
}
