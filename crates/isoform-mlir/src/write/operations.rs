//! Operations, regions and blocks.

use isoform::{Ref, Result};

use super::{Piece, Writer};
use crate::nodes::{Operation, Region};

impl<'p> Writer<'p> {
    pub(super) fn write_operation(
        &mut self,
        operation: &'p Ref<Operation>,
        indent: usize,
    ) -> Result<()> {
        self.indent(indent);
        if let Some(starts) = &mut self.starts {
            starts.push((operation.identity(), self.out.len()));
        }
        self.write_results(operation);
        super::bodies::write_string(operation.name.as_bytes(), &mut self.out);
        self.out.push('(');
        for (position, operand) in operation.operands.iter().enumerate() {
            if position > 0 {
                self.out.push_str(", ");
            }
            self.write_value(operand)?;
        }
        self.out.push(')');
        for (position, label) in operation.successors.iter().enumerate() {
            self.out.push_str(if position == 0 { "[" } else { ", " });
            self.write_label(label)?;
        }
        if !operation.successors.is_empty() {
            self.out.push(']');
        }
        // Properties that are not a dictionary have the empty key.
        if let Some(only) = operation.properties.get("") {
            self.wrap(" <", Piece::Object(only), ">");
        } else if !operation.properties.is_empty() {
            self.wrap(" <", Piece::Dict(&operation.properties), ">");
        }
        for (position, region) in operation.regions.iter().enumerate() {
            self.pieces
                .push(Piece::Text(if position == 0 { " (" } else { ", " }));
            self.pieces.push(Piece::Region(region, indent));
        }
        if !operation.regions.is_empty() {
            self.pieces.push(Piece::Text(")"));
        }
        if !operation.attributes.is_empty() {
            self.pieces.push(Piece::Text(" "));
            self.pieces.push(Piece::Dict(&operation.attributes));
        }
        self.pieces.push(Piece::Text(" : ("));
        let types = operation.operands.iter().map(|value| &value.ty);
        self.list(types.map(Piece::Object));
        self.pieces.push(Piece::Text(") -> "));
        self.results(operation.results.iter().map(|value| &value.ty));
        self.place(operation.location.as_ref());
        self.pieces.push(Piece::Text("\n"));
        Ok(())
    }

    pub(super) fn begin_region(&mut self, region: &'p Ref<Region>, indent: usize) {
        self.names.open(region);
        self.out.push('{');
        if !region.blocks.is_empty() {
            self.out.push('\n');
        }
        for position in 0..region.blocks.len() {
            self.pieces.push(Piece::Block(region, position, indent));
        }
        self.pieces.push(Piece::EndRegion(indent));
    }

    pub(super) fn end_region(&mut self, indent: usize) {
        self.names.close();
        if self.out.ends_with('\n') {
            self.indent(indent);
        }
        self.out.push('}');
    }

    pub(super) fn write_block(
        &mut self,
        region: &'p Ref<Region>,
        position: usize,
        indent: usize,
    ) -> Result<()> {
        let Some(block) = region.blocks.get(position) else {
            return Ok(());
        };
        // Only an entry block can do without a label.
        let has_label = position > 0
            || !block.arguments.is_empty()
            || block.operations.is_empty()
            || region.blocks.len() > 1;
        if has_label {
            self.indent(indent);
            self.write_label(&block.label)?;
            for (position, argument) in block.arguments.iter().enumerate() {
                self.pieces
                    .push(Piece::Text(if position == 0 { "(" } else { ", " }));
                let start = self.out.len();
                self.write_value(argument)?;
                let name = self.out.split_off(start);
                self.pieces.push(Piece::Owned(name));
                self.pieces.push(Piece::Text(": "));
                self.pieces.push(Piece::Object(&argument.ty));
                self.place(argument.location.as_ref());
            }
            let end = if block.arguments.is_empty() {
                ":\n"
            } else {
                "):\n"
            };
            self.pieces.push(Piece::Text(end));
        }
        for operation in &block.operations {
            self.pieces.push(Piece::Operation(operation, indent + 1));
        }
        Ok(())
    }

    /// Deep levels have no more indentation than others, so that lines stay short.
    fn indent(&mut self, levels: usize) {
        const SPACES: &str = "                                                                ";
        self.out.push_str(&SPACES[..(2 * levels).min(SPACES.len())]);
    }
}
