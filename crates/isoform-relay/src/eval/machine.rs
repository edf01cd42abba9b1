//! Running steps. Calls and branches are on a stack of their own, so recursion of a
//! program is limited by memory and by a number only.

use std::sync::Arc;

use super::call::Refusal;
use super::plan::Unit;
use super::program::Program;
use super::run::Implementation;
use super::steps::{BlockId, ClauseStep, OperatorStep, Slot, Step};
use super::values::{Closure, ConstructorValue, Entry, RefValue, code};
use crate::analysis::patterns::parts;
use crate::{Pattern, PatternConstructor, PatternVar, PatternWildcard};
use isoform::errors::ErrorKind;
use isoform::plumbing::Poll;
use isoform::values::{DType, Tensor};
use isoform::{Array, Error, Ref, Result, Value};
use isoform_ir::ir::{Attrs, Constructor, Op};

/// A function that runs.
struct Frame {
    unit: Arc<Unit>,
    /// Where its values begin.
    base: usize,
}

/// A block that runs.
struct Cursor {
    block: BlockId,
    /// The position of the next step.
    next: usize,
    /// The slot for the value: in the frame of the block, or for the body of a
    /// function, in the frame of the caller.
    to: Slot,
    is_body: bool,
}

pub(super) struct Machine<'p> {
    program: &'p Program,
    frames: Vec<Frame>,
    cursors: Vec<Cursor>,
    slots: Vec<Value>,
    poll: Poll,
}

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Machine {
            program,
            frames: Vec::new(),
            cursors: Vec::new(),
            slots: Vec::new(),
            poll: Poll::default(),
        }
    }

    /// The value of an expression.
    pub(super) fn evaluate(mut self, unit: Arc<Unit>) -> Result<Value> {
        self.open(unit, 0, 0)?;
        self.run()
    }

    /// The result of a call.
    pub(super) fn call(mut self, callee: &Value, args: &[Value]) -> Result<Value> {
        match self.start(callee, args.iter().cloned(), 0)? {
            Some(result) => Ok(result),
            None => self.run(),
        }
    }

    fn run(&mut self) -> Result<Value> {
        loop {
            let Some(frame) = self.frames.last() else {
                return Ok(Value::NONE);
            };
            let (unit, base) = (Arc::clone(&frame.unit), frame.base);
            if let Some(result) = self.run_frame(&unit, base)? {
                return Ok(result);
            }
        }
    }

    /// Runs the innermost function until a call or the end of the function. The result
    /// is the result of the outermost function, after its end.
    fn run_frame(&mut self, unit: &Arc<Unit>, base: usize) -> Result<Option<Value>> {
        let calls = self.frames.len();
        while self.frames.len() == calls {
            self.poll.step_outside()?;
            let Some(cursor) = self.cursors.last_mut() else {
                return Ok(Some(Value::NONE));
            };
            let block = &unit.blocks[cursor.block as usize];
            let step = block.steps.get(cursor.next);
            cursor.next += 1;
            match step {
                Some(step) => self.step(unit, base, step)?,
                None => {
                    let result = self.slots[base + block.result as usize].clone();
                    if let Some(result) = self.close(base, result) {
                        return Ok(Some(result));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Ends the innermost block with its value.
    fn close(&mut self, base: usize, result: Value) -> Option<Value> {
        let cursor = self.cursors.pop()?;
        if !cursor.is_body {
            self.slots[base + cursor.to as usize] = result;
            return None;
        }
        self.slots.truncate(base);
        self.frames.pop();
        match self.frames.last() {
            Some(caller) => {
                self.slots[caller.base + cursor.to as usize] = result;
                None
            }
            None => Some(result),
        }
    }

    fn step(&mut self, unit: &Arc<Unit>, base: usize, step: &Step) -> Result<()> {
        let slot_index = |slot: Slot| base + slot as usize;
        let value = match step {
            Step::Load { value, .. } => value.clone(),
            Step::Global { var, .. } => self.program.global(var)?.into(),
            Step::Operator(operator) => self.operator(base, operator)?,
            Step::Call {
                to, callee, args, ..
            } => {
                let callee = self.slots[slot_index(*callee)].clone();
                let values: Vec<Value> = args
                    .iter()
                    .map(|arg| self.slots[slot_index(*arg)].clone())
                    .collect();
                match self.start(&callee, values.into_iter(), *to)? {
                    Some(result) => result,
                    None => return Ok(()),
                }
            }
            Step::Tuple { fields, .. } => self.gathered(base, fields).into(),
            Step::Item { tuple, index, .. } => item(&self.slots[slot_index(*tuple)], *index)?,
            Step::If { to, cond, blocks } => {
                let chosen = usize::from(!truth(&self.slots[slot_index(*cond)])?);
                self.enter(blocks[chosen], *to);
                return Ok(());
            }
            Step::Match { to, data, clauses } => {
                let data = self.slots[slot_index(*data)].clone();
                return self.matching(base, &data, clauses, *to);
            }
            Step::Closure {
                func,
                function,
                captured,
                ..
            } => {
                let entry = Entry {
                    unit: Arc::clone(unit),
                    function: *function,
                };
                Closure::of(func, &code(entry), self.gathered(base, captured)).into()
            }
            Step::RefCreate { value, .. } => {
                RefValue::holding(self.slots[slot_index(*value)].clone())?.into()
            }
            Step::RefRead { reference, .. } => self.reference(slot_index(*reference))?.content(),
            Step::RefWrite {
                reference, value, ..
            } => {
                self.reference(slot_index(*reference))?
                    .replace(self.slots[slot_index(*value)].clone())?;
                Array::<Value>::new().into()
            }
        };
        self.slots[slot_index(step.to())] = value;
        Ok(())
    }

    fn gathered(&self, base: usize, slots: &[Slot]) -> Array {
        slots
            .iter()
            .map(|slot| self.slots[base + *slot as usize].clone())
            .collect()
    }

    fn reference(&self, at: usize) -> Result<&Ref<RefValue>> {
        let value = &self.slots[at];
        value
            .peek::<Ref<RefValue>>()
            .ok_or_else(|| unexpected("a reference", value))
    }

    fn operator(&self, base: usize, step: &OperatorStep) -> Result<Value> {
        let args = step
            .args
            .iter()
            .map(|arg| self.slots[base + *arg as usize].clone());
        let args: smallvec::SmallVec<[Value; 3]> = args.collect();
        self.computed(
            &step.op,
            step.implementation.as_ref(),
            &args,
            step.attrs.as_ref(),
        )
    }

    fn computed(
        &self,
        op: &Op,
        implementation: Option<&Implementation>,
        args: &[Value],
        attrs: Option<&Ref<Attrs>>,
    ) -> Result<Value> {
        let runner = self.program.limits.runner;
        runner
            .run(op, implementation, args, attrs)
            .map_err(Refusal::into_error)
    }

    /// Begins a call; returns the result if there are no steps to run.
    fn start(
        &mut self,
        callee: &Value,
        args: impl ExactSizeIterator<Item = Value>,
        to: Slot,
    ) -> Result<Option<Value>> {
        if let Some(closure) = callee.peek::<Ref<Closure>>() {
            return self.open_closure(closure, args, to).map(|()| None);
        }
        let args: Vec<Value> = args.collect();
        if let Some(op) = callee.peek::<Ref<Op>>() {
            let implementation = Implementation::of(op);
            return self
                .computed(op, implementation.as_ref(), &args, None)
                .map(Some);
        }
        if let Some(constructor) = callee.peek::<Ref<Constructor>>() {
            expect_count("the constructor", constructor.inputs.len(), args.len())?;
            let fields: Array = args.into_iter().collect();
            return Ok(Some(ConstructorValue::new(constructor, fields).into()));
        }
        Err(unexpected("a function", callee))
    }

    fn open_closure(
        &mut self,
        closure: &Ref<Closure>,
        args: impl ExactSizeIterator<Item = Value>,
        to: Slot,
    ) -> Result<()> {
        let entry = closure.entry().ok_or_else(|| {
            Error::type_error(
                "expected a closure that evaluation has made, got a copy without code",
            )
        })?;
        let base = self.slots.len();
        self.open(Arc::clone(&entry.unit), entry.function, to)?;
        let plan = &entry.unit.plans[entry.function as usize];
        expect_count("the function", plan.params.len(), args.len())?;
        for (slot, value) in plan.params.iter().zip(args) {
            if let Some(slot) = slot {
                self.slots[base + *slot as usize] = value;
            }
        }
        for (slot, value) in plan.captured.iter().zip(closure.captured.iter()) {
            self.slots[base + *slot as usize] = value.clone();
        }
        if let Some(own) = plan.own {
            self.slots[base + own as usize] = closure.into();
        }
        Ok(())
    }

    /// Begins a function, with values still to come.
    fn open(&mut self, unit: Arc<Unit>, function: u32, to: Slot) -> Result<()> {
        if self.frames.len() >= self.program.limits.max_depth {
            return Err(Error::new(
                ErrorKind::Recursion,
                format!(
                    "more than {} calls are open at once; raise max_depth if the program ends",
                    self.program.limits.max_depth
                ),
            ));
        }
        let plan = &unit.plans[function as usize];
        let base = self.slots.len();
        self.slots.resize(base + plan.slots as usize, Value::NONE);
        self.cursors.push(Cursor {
            block: plan.body,
            next: 0,
            to,
            is_body: true,
        });
        self.frames.push(Frame { unit, base });
        Ok(())
    }

    fn enter(&mut self, block: BlockId, to: Slot) {
        self.cursors.push(Cursor {
            block,
            next: 0,
            to,
            is_body: false,
        });
    }

    fn matching(
        &mut self,
        base: usize,
        data: &Value,
        clauses: &[ClauseStep],
        to: Slot,
    ) -> Result<()> {
        for clause in clauses {
            if let Some(bound) = matched(&clause.pattern, data) {
                for (slot, value) in clause.bound.iter().zip(bound) {
                    if let Some(slot) = slot {
                        self.slots[base + *slot as usize] = value;
                    }
                }
                self.enter(clause.block, to);
                return Ok(());
            }
        }
        let what = match data.peek::<Ref<ConstructorValue>>() {
            Some(value) => format!("a value of the constructor {}", value.constructor.name_hint),
            None => format!("a value of type {}", data.type_name()),
        };
        Err(Error::value_error(format!(
            "no clause of the match fits {what}"
        )))
    }
}

#[cold]
fn unexpected(expected: &str, value: &Value) -> Error {
    Error::type_error(format!("expected {expected}, got {}", value.type_name()))
}

fn expect_count(what: &str, expected: usize, got: usize) -> Result<()> {
    let how = match got.cmp(&expected) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Less => "few",
        std::cmp::Ordering::Greater => "many",
    };
    Err(Error::type_error(format!(
        "{what} is provided too {how} arguments: expected {expected}, found {got}"
    )))
}

fn item(tuple: &Value, index: i64) -> Result<Value> {
    let items = tuple
        .as_array()
        .ok_or_else(|| unexpected("a tuple", tuple))?;
    let found = usize::try_from(index)
        .ok()
        .and_then(|index| items.get(index));
    found.cloned().ok_or_else(|| {
        Error::value_error(format!(
            "expected the index of one of {} fields of a tuple, got {index}",
            items.len()
        ))
    })
}

/// The truth value of a condition.
fn truth(value: &Value) -> Result<bool> {
    let tensor = value.peek::<Tensor>();
    let tensor = tensor.filter(|tensor| tensor.dtype() == DType::BOOL);
    match tensor.map(|tensor| &tensor.data()[..]) {
        Some([byte]) => Ok(*byte != 0),
        _ => Err(match value.peek::<Tensor>() {
            Some(tensor) => Error::type_error(format!(
                "the condition of an if: expected a scalar of type bool, got {} of shape {:?}",
                tensor.dtype(),
                tensor.shape()
            )),
            None => unexpected("a scalar of type bool as the condition of an if", value),
        }),
    }
}

/// The values of the variables of a pattern, from left to right, if it matches.
fn matched(pattern: &Ref<Pattern>, value: &Value) -> Option<Vec<Value>> {
    let mut bound = Vec::new();
    let mut stack = vec![(pattern.clone(), value.clone())];
    while let Some((pattern, value)) = stack.pop() {
        if pattern.isa::<PatternWildcard>() {
            continue;
        }
        if pattern.isa::<PatternVar>() {
            bound.push(value);
            continue;
        }
        let fields = match pattern.downcast_ref::<PatternConstructor>() {
            Some(expected) => {
                let constructed = value.peek::<Ref<ConstructorValue>>()?;
                let (left, right) = (&expected.constructor, &constructed.constructor);
                let is_same = left.same_as(right)
                    || left.name_hint == right.name_hint
                        && left.belong_to.name_hint == right.belong_to.name_hint;
                is_same.then(|| constructed.fields.clone())?
            }
            None => value.as_array()?.clone(),
        };
        let patterns = parts(&pattern)?;
        if patterns.len() != fields.len() {
            return None;
        }
        let parts: Vec<_> = patterns
            .iter()
            .cloned()
            .zip(fields.iter().cloned())
            .collect();
        stack.extend(parts.into_iter().rev());
    }
    Some(bound)
}
