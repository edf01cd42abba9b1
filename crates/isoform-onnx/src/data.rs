//! Results as data, where that is not simply the fields: for `--json` of the command, and for
//! the classes of `isoform.onnx` in Python. All other results derive `Serialize`.

use isoform::Str;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::summary::{MeasuredWeight, Operator, Weight};
use crate::verify::{Case, Outcome, ROUNDED};

/// The name, with its domain; those of local functions begin with `function `.
impl Serialize for Operator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut data = serializer.serialize_struct("Weight", 3)?;
        data.serialize_field("name", self.name.as_str())?;
        data.serialize_field("dtype", &self.tensor.dtype().to_string())?;
        data.serialize_field("shape", self.tensor.shape())?;
        data.end()
    }
}

/// The numbers of the difference stand beside both weights.
impl Serialize for MeasuredWeight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = self.difference.as_ref();
        let mut data = serializer.serialize_struct("MeasuredWeight", 10)?;
        data.serialize_field("left", &self.left)?;
        data.serialize_field("right", &self.right)?;
        data.serialize_field("elements", &found.map(|it| it.count))?;
        data.serialize_field("differing", &found.map(|it| it.differing))?;
        data.serialize_field("first", &found.and_then(|it| it.first))?;
        data.serialize_field("max_abs", &found.and_then(|it| it.max_abs))?;
        data.serialize_field("max_abs_int", &found.and_then(|it| it.max_abs_int))?;
        data.serialize_field("max_rel", &found.and_then(|it| it.max_rel))?;
        data.serialize_field("relative_l2", &found.and_then(|it| it.relative_l2))?;
        data.serialize_field("cosine", &found.and_then(|it| it.cosine))?;
        data.end()
    }
}

/// The outcome is its name; numbers, reason and differences stand beside it.
impl Serialize for Case {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (outcome, max_abs, reason, differences) = match &self.outcome {
            Outcome::Same => ("same", None, None, &[][..]),
            Outcome::Close { max_abs } => ("close", Some(max_abs), None, &[][..]),
            Outcome::Rounded { max_abs } => ("close", Some(max_abs), Some(ROUNDED), &[][..]),
            Outcome::NotRun { reason } => ("not run", None, Some(reason.as_str()), &[][..]),
            Outcome::Different(found) => ("different", None, None, found.as_slice()),
        };
        let mut data = serializer.serialize_struct("Case", 6)?;
        data.serialize_field("inputs", &self.inputs)?;
        data.serialize_field("runner", &self.runner)?;
        data.serialize_field("outcome", outcome)?;
        data.serialize_field("max_abs", &max_abs)?;
        data.serialize_field("reason", &reason)?;
        data.serialize_field("differences", differences)?;
        data.end()
    }
}

pub(crate) fn texts<S: Serializer>(texts: &[Str], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(Str::as_str))
}
