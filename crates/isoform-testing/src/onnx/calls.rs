//! Makes calls of operators.

use isoform::{Ref, Str, Value};
use isoform_onnx::ElemType;
use isoform_onnx::ir::Call;

use super::build::{self, Callee};
use super::generator::Generator;
use super::values::{Size, Val};

/// An operator with its operands and attributes.
#[derive(Clone)]
pub(super) struct Op {
    name: &'static str,
    /// The domain and the version, except for `ai.onnx`.
    domain: Option<(&'static str, i64)>,
    inputs: Vec<Value>,
    attrs: Vec<(&'static str, Value)>,
}

impl Op {
    pub(super) fn new(name: &'static str) -> Self {
        Op {
            name,
            domain: None,
            inputs: Vec::new(),
            attrs: Vec::new(),
        }
    }

    /// An operator of another domain.
    pub(super) fn of(mut self, domain: &'static str, version: i64) -> Self {
        self.domain = Some((domain, version));
        self
    }

    pub(super) fn on(mut self, value: &Val) -> Self {
        self.inputs.push(value.value.clone());
        self
    }

    /// An omitted input.
    pub(super) fn skip(mut self) -> Self {
        self.inputs.push(Value::NONE);
        self
    }

    pub(super) fn attr(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.attrs.push((name, value.into()));
        self
    }

    pub(super) fn ints(self, name: &'static str, numbers: &[i64]) -> Self {
        self.attr(name, build::int_list(numbers))
    }
}

impl Generator<'_> {
    /// Makes a call with outputs used by the caller alone.
    pub(super) fn call(&mut self, op: Op, outputs: usize) -> Ref<Call> {
        self.made += 1;
        let Op {
            name,
            domain,
            inputs,
            attrs,
        } = op;
        let attrs = attrs
            .into_iter()
            .map(|(name, value)| (Str::from(name), value));
        let (domain, version) = domain.unwrap_or(("", self.opset));
        build::call(
            Callee::Operator(domain, name, version),
            attrs,
            inputs,
            outputs,
            self.made,
        )
    }

    /// Makes a call and adds its outputs to the scope.
    pub(super) fn make_all(&mut self, op: Op, outputs: &[(ElemType, Vec<Size>)]) -> Vec<Val> {
        let call = self.call(op, outputs.len());
        let vals: Vec<Val> = outputs
            .iter()
            .enumerate()
            .map(|(index, (elem, dims))| Val::new(build::output(&call, index), *elem, dims.clone()))
            .collect();
        self.scope.extend(vals.iter().cloned());
        vals
    }

    /// Makes a call with one output.
    pub(super) fn make(&mut self, op: Op, elem: ElemType, dims: Vec<Size>) -> Val {
        let mut vals = self.make_all(op, &[(elem, dims)]);
        vals.remove(0)
    }

    /// Like `make`, for a call that keeps numbers small if the operands are small.
    pub(super) fn make_tame(&mut self, op: Op, elem: ElemType, dims: Vec<Size>, tame: bool) -> Val {
        let val = self.make(op, elem, dims);
        self.scope.pop();
        self.keep(Val { tame, ..val })
    }

    /// Makes a call that computes known integers.
    pub(super) fn make_ints(&mut self, op: Op, dims: Vec<Size>, ints: [Vec<i64>; 2]) -> Val {
        let val = self.make(op, ElemType::Int64, dims);
        self.scope.pop();
        self.keep(Val {
            tame: ints.iter().flatten().all(|number| number.abs() <= 100),
            ints: Some(ints),
            ..val
        })
    }

    /// Puts a value in scope.
    pub(super) fn keep(&mut self, val: Val) -> Val {
        self.scope.push(val.clone());
        val
    }
}
