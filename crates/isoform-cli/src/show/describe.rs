//! Single nodes and values of a model in words.

use isoform::{Ref, Value};
use isoform_onnx::ir::Call;
use isoform_onnx::{Model, layout};

use super::labels::Naming;
use super::names::NameOptions;
use super::rows::Rows;
use super::text::row_text;
use crate::output::Palette;

/// Describes parts of a model, and parts of other versions of the model.
#[derive(Debug)]
pub(crate) struct Describer {
    rows: Rows,
}

impl Describer {
    /// Names the values of a model. O(nodes).
    pub(crate) fn new(model: &Model) -> Self {
        let options = NameOptions {
            naming: Naming::File,
            contents: true,
            checksums: true,
            style: Palette::default(),
        };
        let program = model.program();
        let listing = layout::list(program);
        Describer {
            rows: Rows::new(program, Some(model), listing, options),
        }
    }

    /// A node as a line of `isoform show`; any other part as an operand or attribute of a
    /// node. Values of other versions have the names of their files.
    pub(crate) fn part(&mut self, part: &Value) -> String {
        match part.peek::<Ref<Call>>() {
            Some(call) => row_text(&self.rows.row(&call.clone()), Palette::default()),
            None => self.rows.names.attribute(part),
        }
    }
}
