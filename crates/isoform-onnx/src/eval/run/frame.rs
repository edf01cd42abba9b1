//! The stack of active bodies.

use std::collections::HashMap;
use std::rc::Rc;

use isoform::{Map, Node as _, Ref, Str, Value};
use isoform_kernels::Control;

use super::control_flow::{After, Step};
use super::error::RunError;
use super::plan::Plan;
use super::sequence;
use crate::eval::call::compute;
use crate::eval::refusal::Refusal;
use crate::ir::{AttrRef, Call, Input, Output};
use crate::layout::BodyKind;

/// The attributes of the function that a body belongs to.
pub(super) type Attributes = Rc<HashMap<String, Value>>;

/// A body that is active.
pub(super) struct Frame {
    pub(super) body: usize,
    /// The next node.
    at: usize,
    attributes: Option<Attributes>,
    /// The purpose of the results.
    after: After,
}

pub(super) struct Machine<'p> {
    plan: &'p Plan,
    control: &'p Control<'p>,
    results: HashMap<u64, Vec<Value>>,
    inputs: HashMap<u64, Value>,
    stack: Vec<Frame>,
}

impl<'p> Machine<'p> {
    pub(super) fn new(plan: &'p Plan, control: &'p Control<'p>) -> Self {
        Machine {
            plan,
            control,
            results: HashMap::new(),
            inputs: HashMap::new(),
            stack: Vec::new(),
        }
    }

    /// The results of the main graph.
    pub(super) fn run(mut self, inputs: Vec<Value>) -> Result<Vec<Value>, RunError> {
        self.enter(0, inputs, None, After::Program);
        while let Some(frame) = self.stack.last_mut() {
            let (body, position) = (frame.body, frame.at);
            if let Some(node) = self.plan.bodies[body].nodes.get(position) {
                frame.at += 1;
                let call = &node.call;
                let attributes = frame.attributes.clone();
                self.step(call, body, position, attributes)
                    .map_err(|refusal| RunError::at(call, refusal))?;
                continue;
            }
            let Some(frame) = self.stack.pop() else { break };
            // A body without nodes is an iteration, too.
            let stops = self
                .control
                .interrupted
                .is_some_and(|interrupted| interrupted());
            let owner = self.owner();
            let fail = |refusal| match owner {
                Some(call) => RunError::at(call, refusal),
                None => RunError {
                    node: String::new(),
                    refusal,
                },
            };
            if stops {
                return Err(fail(Refusal::Interrupted));
            }
            let results = self.body_results(frame.body).map_err(fail)?;
            match frame.after.results(results, self.control).map_err(fail)? {
                Step::Again { after, inputs } => {
                    self.enter(frame.body, inputs, frame.attributes, after);
                }
                Step::Enter {
                    body,
                    after,
                    inputs,
                } => self.enter(body, inputs, frame.attributes, after),
                Step::Done(values) => match owner {
                    Some(call) => self.finish(call, values).map_err(fail)?,
                    None => return Ok(values),
                },
            }
        }
        Ok(Vec::new())
    }

    /// The current node of the innermost frame.
    fn owner(&self) -> Option<&'p Ref<Call>> {
        let frame = self.stack.last()?;
        let node = self.plan.bodies[frame.body]
            .nodes
            .get(frame.at.checked_sub(1)?)?;
        Some(&node.call)
    }

    /// Makes a body active.
    fn enter(
        &mut self,
        body: usize,
        inputs: Vec<Value>,
        attributes: Option<Attributes>,
        after: After,
    ) {
        let params = self.plan.bodies[body].kind.params().iter();
        for (param, value) in params.zip(inputs.into_iter().chain(std::iter::repeat(Value::NONE))) {
            self.inputs.insert(param.identity(), value);
        }
        self.stack.push(Frame {
            body,
            at: 0,
            attributes,
            after,
        });
    }

    /// Computes a node, or makes its body active.
    fn step(
        &mut self,
        call: &'p Ref<Call>,
        body: usize,
        position: usize,
        attributes: Option<Attributes>,
    ) -> Result<(), Refusal> {
        if self
            .control
            .interrupted
            .is_some_and(|interrupted| interrupted())
        {
            return Err(Refusal::Interrupted);
        }
        let inputs: Vec<Option<Value>> = call
            .inputs
            .values()
            .iter()
            .map(|value| self.value(value))
            .collect::<Result<_, _>>()?;
        let resolved;
        let resolved_call: &Call = if attributes.is_some() && has_references(call) {
            resolved = resolve(call, attributes.as_deref());
            &resolved
        } else {
            call
        };
        if let Some(callee) = &call.callee {
            let function = self.plan.functions.get(&callee.identity()).copied();
            let function = function.ok_or_else(|| Refusal::new("the function has no body here"))?;
            let mut own: HashMap<String, Value> = HashMap::new();
            for (name, value) in callee
                .attr_defaults
                .iter()
                .chain(resolved_call.attrs.iter())
            {
                own.insert(name.as_str().to_owned(), value.clone());
            }
            let values = inputs
                .into_iter()
                .map(|value| value.unwrap_or(Value::NONE))
                .collect();
            self.enter(function, values, Some(Rc::new(own)), After::Call);
            return Ok(());
        }
        let plan = self.plan;
        let find = |label: &str| plan.body_of(body, position, label);
        if let Some((inner, first)) =
            super::control_flow::start(resolved_call, &inputs, &find, &plan.bodies, self.control)?
        {
            match first {
                Step::Again { after, inputs } => self.enter(inner, inputs, attributes, after),
                Step::Enter {
                    body,
                    after,
                    inputs,
                } => self.enter(body, inputs, attributes, after),
                Step::Done(values) => self.finish(call, values)?,
            }
            return Ok(());
        }
        let values = match sequence::compute(resolved_call, &inputs, self.control)? {
            Some(values) => values,
            None => compute(resolved_call, &inputs, self.control, false)?,
        };
        self.finish(call, values)
    }

    /// Keeps the results of a node, and drops results without later uses.
    fn finish(&mut self, call: &Ref<Call>, values: Vec<Value>) -> Result<(), Refusal> {
        let requested = usize::try_from(call.outputs).unwrap_or(0);
        if values.len() < requested {
            return Err(Refusal::new(format!(
                "expected {requested} results, got {}",
                values.len()
            )));
        }
        self.results.insert(call.identity(), values);
        let Some(frame) = self.stack.last() else {
            return Ok(());
        };
        let dead = self.plan.dead[frame.body].get(frame.at.saturating_sub(1));
        for id in dead.into_iter().flatten() {
            self.results.remove(id);
        }
        Ok(())
    }

    fn body_results(&mut self, body: usize) -> Result<Vec<Value>, Refusal> {
        let kind: &BodyKind = &self.plan.bodies[body].kind;
        let values = kind.results().values().iter();
        values
            .map(|value| Ok(self.value(value)?.unwrap_or(Value::NONE)))
            .collect()
    }

    /// The value of an operand; None if omitted, or for an absent optional value.
    fn value(&self, value: &Value) -> Result<Option<Value>, Refusal> {
        if value.is_none() {
            return Ok(None);
        }
        let Some(object) = value.as_object() else {
            return Ok(Some(value.clone()));
        };
        let found = if let Some(output) = object.downcast_ref::<Output>() {
            let results = self.results.get(&output.call.identity());
            let index = usize::try_from(output.index).unwrap_or(usize::MAX);
            results.and_then(|results| results.get(index))
        } else if let Some(input) = object.downcast_ref::<Input>() {
            self.inputs.get(&input.identity())
        } else {
            Some(value)
        };
        let found = found.ok_or_else(|| Refusal::new("an operand has no value here"))?;
        Ok((!found.is_none()).then(|| found.clone()))
    }
}

fn reference(value: &Value) -> Option<&Ref<AttrRef>> {
    value.as_object()?.downcast_ref::<AttrRef>()
}

fn has_references(call: &Call) -> bool {
    call.attrs
        .iter()
        .any(|(_, value)| reference(value).is_some())
}

/// The call with the attributes of the enclosing function. Attributes missing from the
/// function are left out.
fn resolve(call: &Call, attributes: Option<&HashMap<String, Value>>) -> Call {
    let attrs: Map<Str, Value> = call
        .attrs
        .iter()
        .filter_map(|(name, value)| {
            let value = match reference(value) {
                Some(reference) => attributes?.get(reference.name.as_str())?.clone(),
                None => value.clone(),
            };
            Some((name.clone(), value))
        })
        .collect();
    Call {
        attrs,
        ..call.clone_fields()
    }
}
