//! The values of omitted attributes.
//!
//! Most defaults are in the table of operators. Others are lists whose length is a rank,
//! such as the strides of a convolution, or extents of the weights. They are known where
//! the attributes, constants or inferred shapes determine them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use isoform::{Array, Ref, Result, Value, structural_equal};

use super::calls;
use crate::facts::Analysis;
use crate::ir::{Call, Program};
use crate::schema::{self, Schema};

/// The operators that move a window along the spatial axes, with the input of the
/// weights.
const WINDOWS: [(&str, Option<usize>); 9] = [
    ("Conv", Some(1)),
    ("ConvInteger", Some(1)),
    ("ConvTranspose", Some(1)),
    ("DeformConv", Some(1)),
    ("QLinearConv", Some(3)),
    ("AveragePool", None),
    ("LpPool", None),
    ("MaxPool", None),
    ("MaxUnpool", None),
];

/// The first two axes of images and weights are not spatial.
const OTHER_AXES: usize = 2;

/// A default that depends on shapes.
enum Shaped {
    /// This number, so often for each spatial axis.
    Each(i64, usize),
    /// The spatial extents of this input.
    Extents(usize),
    /// The axes of the first input, reversed.
    Reversed,
}

impl Shaped {
    fn of(call: &Call, name: &str) -> Option<Shaped> {
        let op = call.standard_op()?;
        if (op, name) == ("Transpose", "perm") {
            return Some(Shaped::Reversed);
        }
        let (_, weights) = WINDOWS.iter().find(|(window, _)| *window == op)?;
        match name {
            "strides" | "dilations" => Some(Shaped::Each(1, 1)),
            "output_padding" => Some(Shaped::Each(0, 1)),
            "pads" if pads_count(call) => Some(Shaped::Each(0, 2)),
            "kernel_shape" => weights.map(Shaped::Extents),
            _ => None,
        }
    }

    /// True if a list may be the default, for some shapes.
    fn allows(&self, list: &[i64]) -> bool {
        match self {
            Shaped::Each(number, _) => list.iter().all(|item| item == number),
            Shaped::Extents(_) => true,
            Shaped::Reversed => list.iter().copied().eq((0..list.len() as i64).rev()),
        }
    }
}

/// True if the padding is given by numbers alone.
fn pads_count(call: &Call) -> bool {
    let is_given = matches!(call.str("auto_pad"), Ok(None | Some("NOTSET" | "")));
    is_given && matches!(call.ints("output_shape"), Ok(None))
}

/// The values of attributes that the calls of a program omit.
pub(crate) struct Defaults<'a> {
    program: &'a Program,
    /// Made for the first default that needs inferred shapes.
    facts: RefCell<Option<Analysis>>,
}

impl<'a> Defaults<'a> {
    pub(crate) fn of(program: &'a Program) -> Self {
        let facts = RefCell::new(None);
        Defaults { program, facts }
    }

    /// The value of an attribute if a call omits it; None without a default or where it
    /// depends on an unknown shape.
    pub(crate) fn value(&self, call: &Call, name: &str) -> Option<Value> {
        self.value_by(call, name, known_schema(call))
    }

    /// The value by the first of some versions of the operator that has the attribute.
    pub(super) fn value_by(
        &self,
        call: &Call,
        name: &str,
        versions: impl IntoIterator<Item = &'static Schema>,
    ) -> Option<Value> {
        if let Some(callee) = &call.callee {
            let mut defaults = callee.attr_defaults.iter();
            let entry = defaults.find(|(key, _)| key.as_str() == name);
            return entry.map(|(_, default)| default.clone());
        }
        let mut versions = versions.into_iter();
        let attribute = versions.find_map(|schema| schema.attribute(name))?;
        attribute
            .default_value()
            .or_else(|| self.by_shapes(call, &Shaped::of(call, name)?))
    }

    fn by_shapes(&self, call: &Call, shaped: &Shaped) -> Option<Value> {
        let list: Vec<i64> = match *shaped {
            Shaped::Each(number, times) => vec![number; self.spatial_axes(call)? * times],
            Shaped::Extents(input) => {
                let extents = self.shape(call, input)?;
                let spatial = extents.get(OTHER_AXES..)?;
                spatial.iter().copied().collect::<Option<_>>()?
            }
            Shaped::Reversed => (0..self.shape(call, 0)?.len() as i64).rev().collect(),
        };
        Some(Array::from(list).into())
    }

    /// The number of spatial axes: the length of the kernel's shape, and else by the ranks
    /// of the weights and of the data.
    fn spatial_axes(&self, call: &Call) -> Option<usize> {
        if let Ok(Some(kernel)) = call.ints("kernel_shape") {
            return Some(kernel.len());
        }
        let op = call.standard_op()?;
        let (_, weights) = WINDOWS.iter().find(|(window, _)| *window == op)?;
        let mut inputs = weights.iter().copied().chain([0]);
        let shape = inputs.find_map(|input| self.shape(call, input))?;
        shape.len().checked_sub(OTHER_AXES)
    }

    /// The extents of an input, as far as they are numbers; None for an unknown rank.
    fn shape(&self, call: &Call, input: usize) -> Option<Vec<Option<i64>>> {
        let input = call.input(input)?;
        if let Some(tensor) = crate::values::tensor(input) {
            return Some(tensor.shape().iter().copied().map(Some).collect());
        }
        let mut facts = self.facts.borrow_mut();
        let facts = facts.get_or_insert_with(|| Analysis::of_program(self.program));
        let fact = facts.fact(input);
        let shape = fact.shape.as_ref()?;
        Some(shape.iter().map(|size| size.as_const()).collect())
    }

    /// True if an attribute may have its default value, which depends on an unknown
    /// shape.
    fn may_be_default(&self, call: &Call, name: &str) -> bool {
        let Some(shaped) = Shaped::of(call, name) else {
            return false;
        };
        let list = call.ints(name).ok().flatten();
        list.is_some_and(|list| shaped.allows(&list)) && self.by_shapes(call, &shaped).is_none()
    }
}

/// The schema of a call; None for other domains, functions, and operator sets newer than
/// the table, which may have changed anything.
pub(super) fn known_schema(call: &Call) -> Option<&'static Schema> {
    let newest = schema::newest(&call.domain).filter(|_| call.callee.is_none())?;
    (call.version <= newest)
        .then(|| schema::lookup(&call.domain, &call.op, call.version))
        .flatten()
}

/// Attributes that are compared as written values, with omitted ones filled in, by the
/// operator or function.
#[derive(Default)]
pub(super) struct Spelled(BTreeSet<(String, String)>);

impl Spelled {
    /// The attributes of two programs of which one cannot tell whether the value is the
    /// default. With a tolerance, also numbers that differ from their defaults, because
    /// a number can be near to a default.
    pub(super) fn of(
        programs: [(&Ref<Program>, &Defaults<'_>); 2],
        has_tolerance: bool,
    ) -> Result<Self> {
        let mut found = BTreeSet::new();
        for (program, defaults) in programs {
            for call in calls(program)? {
                for (name, value) in call.attrs.iter() {
                    let is_number = has_tolerance && value.as_float().is_some();
                    let default = is_number.then(|| defaults.value(&call, name)).flatten();
                    let differs = match default {
                        Some(default) => !structural_equal(value, default)?,
                        None => false,
                    };
                    if differs || defaults.may_be_default(&call, name) {
                        found.insert((call.shown_op(), name.to_string()));
                    }
                }
            }
        }
        Ok(Spelled(found))
    }

    /// The attributes of a call.
    pub(super) fn names(&self, call: &Call) -> BTreeSet<&str> {
        if self.0.is_empty() {
            return BTreeSet::new();
        }
        let op = call.shown_op();
        let of_call = self.0.iter().filter(|(other, _)| *other == op);
        of_call.map(|(_, name)| name.as_str()).collect()
    }
}
