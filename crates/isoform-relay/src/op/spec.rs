//! Operators as data: one row describes an operator, and determines registration, the
//! constructor functions and documentation.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::relation::{CallTypes, relation};
use crate::Call;
use isoform::functions::{Function, Parameter, Signature, register_functions};
use isoform::objects::construct;
use isoform::plumbing::table;
use isoform::types::{Schema, TypeIndex};
use isoform::{Array, Error, Ref, Result, Value};
use isoform_ir::ir::{Attrs, Op, OpRegistry, RelayExpr, Type};

/// The way an operator computes; determines the operators for fusion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(i64)]
#[non_exhaustive]
pub enum OpPattern {
    /// An element of the result reads the input elements at the same position.
    ElemWise = 0,
    /// Element-wise, with inputs repeated along axes of size 1.
    Broadcast = 1,
    /// An element of the result reads a single element of every input.
    Injective = 2,
    /// A reduction over axes.
    CommReduce = 3,
    /// A complex computation with a result that element-wise operators can consume in
    /// place.
    OutEWiseFusable = 4,
    /// The forming or taking apart of a tuple.
    Tuple = 7,
    /// Anything else: never fused.
    Opaque = 8,
}

/// An input of an operator.
pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
}

/// The function of a relation.
pub(super) type Solve = fn(&mut CallTypes<'_>) -> Result<Option<Ref<Type>>>;

/// The description of an operator.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) inputs: &'static [Input],
    pub(super) attrs: Option<fn() -> TypeIndex>,
    pub(super) relation: (&'static str, Solve),
    pub(super) pattern: OpPattern,
    pub(super) level: i64,
    pub(super) flags: &'static [Flag],
}

/// A property of an operator for passes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    /// The operator has an effect, or its results differ between calls.
    Stateful,
    /// The operator annotates a program and computes no value.
    NonComputational,
    /// The operator changes only the shape.
    Reshape,
    /// The shape of the result depends on the values of the inputs.
    DataDependent,
    /// The operator has no result for some inputs of the right types.
    MayFail,
    /// The order of the inputs makes no difference.
    Commutative,
}

/// Declares operators: a row of data, and a constructor function of the same name.
macro_rules! operators {
    ($(
        $(#[doc = $doc:literal])+
        $function:ident = $name:literal ($($input:ident: $what:literal),* $(,)?)
        $([$attrs:ident])?
        -> $relation:literal $solve:path, $pattern:ident, $level:literal $(, $flag:ident)*;
    )*) => {
        pub(super) static TABLE: $crate::op::spec::Table =
            $crate::op::spec::Table {
                specs: SPECS,
                ready: std::sync::OnceLock::new(),
            };
        static SPECS: &[$crate::op::spec::Spec] = &[$(
            $crate::op::spec::Spec {
                name: $name,
                doc: concat!($($doc, "\n"),+),
                inputs: &[$($crate::op::spec::Input {
                    name: stringify!($input),
                    doc: $what,
                }),*],
                attrs: $crate::op::spec::attrs_type!($($attrs)?),
                relation: ($relation, $solve),
                pattern: $crate::op::spec::OpPattern::$pattern,
                level: $level,
                flags: &[$($crate::op::spec::Flag::$flag),*],
            }
        ),*];

        $(
            $crate::op::spec::constructor! {
                ($(#[doc = $doc])+) $function = $name ($($input)*) $($attrs)?
            }
        )*
    };
}

macro_rules! attrs_type {
    () => {
        None
    };
    ($attrs:ident) => {
        Some(<$attrs as isoform::Node>::type_index)
    };
}

macro_rules! constructor {
    (($(#[$doc:meta])+) $function:ident = $name:literal ($($input:ident)*)) => {
        $(#[$doc])+
        #[doc = concat!("\n\nReturns a call of the operator `", $name, "`.")]
        pub fn $function(
            $($input: impl isoform::types::IntoField<
                isoform::Ref<isoform_ir::ir::RelayExpr>,
            >),*
        ) -> isoform::Ref<$crate::Call> {
            TABLE.call($name, vec![$($input.into_field()),*], None)
        }
    };
    (($(#[$doc:meta])+) $function:ident = $name:literal ($($input:ident)*) $attrs:ident) => {
        $(#[$doc])+
        #[doc = concat!("\n\nReturns a call of the operator `", $name, "`.")]
        pub fn $function(
            $($input: impl isoform::types::IntoField<
                isoform::Ref<isoform_ir::ir::RelayExpr>,
            >,)*
            attrs: impl isoform::types::IntoField<
                isoform::Ref<$attrs>,
            >,
        ) -> isoform::Ref<$crate::Call> {
            let attrs = attrs.into_field().upcast();
            TABLE.call($name, vec![$($input.into_field()),*], Some(attrs))
        }
    };
}

pub(super) use {attrs_type, constructor, operators};

/// Operators registered together, on first use.
pub(super) struct Table {
    pub(super) specs: &'static [Spec],
    pub(super) ready: OnceLock<()>,
}

/// The relations by name: tables share relations.
static RELATIONS: Mutex<Vec<(&str, Function)>> = Mutex::new(Vec::new());

impl Table {
    /// Registers the operators with their relations and constructor functions, once.
    pub(super) fn register(&'static self) -> Result<()> {
        if self.ready.get().is_some() {
            return Ok(());
        }
        let mut relations = RELATIONS.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ready.get().is_some() {
            return Ok(());
        }
        for spec in self.specs {
            let (name, solve) = spec.relation;
            if relations.iter().all(|(other, _)| *other != name) {
                let global = format!("tvm.relay.type_relation.{name}");
                let function = relation(solve).named(&global);
                register_functions([function.clone()])?;
                relations.push((name, function));
            }
        }
        register_functions(self.specs.iter().map(Spec::maker))?;
        for spec in self.specs {
            spec.register()?;
        }
        _ = self.ready.set(());
        Ok(())
    }

    /// A call of an operator of the table.
    ///
    /// # Panics
    ///
    /// If the operators cannot be registered because a program has taken their names;
    /// `register` reports the conflict as an error.
    pub(super) fn call(
        &'static self,
        name: &'static str,
        inputs: Vec<Ref<RelayExpr>>,
        attrs: Option<Ref<Attrs>>,
    ) -> Ref<Call> {
        match self.register().and_then(|()| Op::get(name)) {
            Ok(op) => called(op, inputs.into(), attrs),
            Err(error) => panic!("the operator {name}: {error}"),
        }
    }
}

fn called(op: Ref<Op>, inputs: Array<Ref<RelayExpr>>, attrs: Option<Ref<Attrs>>) -> Ref<Call> {
    let call = Call::new(op, inputs);
    match attrs {
        Some(attrs) => call.with_attrs(attrs),
        None => call,
    }
}

impl Spec {
    fn register(&self) -> Result<()> {
        let mut entry = OpRegistry::get_or_register(self.name)?
            .describe(self.doc.trim())
            .num_inputs(self.inputs.len() as i64)
            .support_level(self.level);
        for input in self.inputs {
            entry = entry.argument(input.name, "Tensor", input.doc);
        }
        if let Some(attrs) = self.attrs {
            entry = entry.attrs_type_key(table::info(attrs()).key());
        }
        let has = |flag: Flag| self.flags.contains(&flag);
        let mut entry = entry
            .attr("TOpPattern", self.pattern as i64, PRIORITY)?
            .attr("TOpIsStateful", has(Flag::Stateful), PRIORITY)?;
        for (flag, name) in [
            (Flag::NonComputational, "TNonComputational"),
            (Flag::Reshape, "TReshapeOp"),
            (Flag::DataDependent, "TShapeDataDependent"),
            (Flag::MayFail, "TMayFail"),
            (Flag::Commutative, "TCommutative"),
        ] {
            if has(flag) {
                entry = entry.attr(name, true, PRIORITY)?;
            }
        }
        entry.type_relation(self.relation.0, None).map(drop)
    }

    /// The function under a global name for making a call: its parameters are the
    /// inputs, then the fields of the attributes.
    fn maker(&'static self) -> Function {
        let mut parameters: Vec<Parameter> = self
            .inputs
            .iter()
            .map(|input| Parameter::new(Schema::object::<RelayExpr>()).named(input.name))
            .collect();
        let fields = self
            .attrs
            .map_or(&[][..], |attrs| table::info(attrs()).fields());
        for field in fields {
            let parameter = Parameter::new(field.schema().clone()).named(field.name());
            parameters.push(match field.make_default() {
                Some(default) => parameter.default_value(default),
                None => parameter,
            });
        }
        let returns = Schema::object::<Call>();
        let name = format!("relay.op._make.{}", self.name);
        let signature = Signature::new(parameters, returns);
        let label = name.clone();
        let checked = signature.clone();
        Function::new(move |arguments| self.make(&label, &checked, arguments))
            .with_signature(signature)
            .with_doc(self.doc.trim())
            .named(&name)
    }

    fn make(&self, label: &str, signature: &Signature, arguments: &[Value]) -> Result<Value> {
        let parameters = signature.parameters();
        if arguments.len() > parameters.len() || arguments.len() < signature.required() {
            return Err(Error::type_error(format!(
                "{label}() expects {} to {} arguments, got {}",
                signature.required(),
                parameters.len(),
                arguments.len()
            )));
        }
        let mut values = Vec::with_capacity(parameters.len());
        for (position, parameter) in parameters.iter().enumerate() {
            let value = arguments.get(position).or(parameter.default()).cloned();
            let value = parameter.schema().convert(value.unwrap_or_default());
            values.push(value.map_err(|error| {
                let name = parameter.name().unwrap_or_default();
                Error::new(
                    error.kind(),
                    format!("{label}() argument '{name}': {}", error.message()),
                )
            })?);
        }
        let fields = values.split_off(self.inputs.len());
        let inputs: Array<Ref<RelayExpr>> = values
            .iter()
            .map(Value::extract::<Ref<RelayExpr>>)
            .collect::<Result<Vec<_>>>()?
            .into();
        let attrs = match self.attrs {
            None => None,
            Some(attrs) => Some(construct(attrs(), fields)?.cast::<Attrs>()?),
        };
        Ok(called(Op::get(self.name)?, inputs, attrs).into())
    }
}

/// The priority of the attributes of operators; users override the attributes with a
/// higher priority.
const PRIORITY: i64 = 10;

impl OpPattern {
    /// All patterns with their names in Python.
    pub const ALL: [(OpPattern, &'static str); 7] = [
        (OpPattern::ElemWise, "ELEMWISE"),
        (OpPattern::Broadcast, "BROADCAST"),
        (OpPattern::Injective, "INJECTIVE"),
        (OpPattern::CommReduce, "COMM_REDUCE"),
        (OpPattern::OutEWiseFusable, "OUT_ELEMWISE_FUSABLE"),
        (OpPattern::Tuple, "TUPLE"),
        (OpPattern::Opaque, "OPAQUE"),
    ];

    /// The pattern of an operator: the attribute `TOpPattern`, or opaque by default.
    pub fn of(op: &Op) -> OpPattern {
        let number = op.attribute("TOpPattern").and_then(Value::as_int);
        let mut all = OpPattern::ALL.iter();
        let found = all.find(|(pattern, _)| Some(*pattern as i64) == number);
        found.map_or(OpPattern::Opaque, |(pattern, _)| *pattern)
    }
}
