//! Locations.

use isoform::{Error, Result};

use super::{Object, Piece, Writer};
use crate::nodes::{
    CallSiteLocation, DialectAttr, FileLocation, FusedLocation, NameLocation, UnknownLocation,
};

/// True for a location of the builtin dialect.
pub(super) fn is_location(object: &Object) -> bool {
    object.isa::<UnknownLocation>()
        || object.isa::<NameLocation>()
        || object.isa::<FileLocation>()
        || object.isa::<CallSiteLocation>()
        || object.isa::<FusedLocation>()
}

impl<'p> Writer<'p> {
    /// Writes a location without `loc(…)`.
    pub(super) fn write_location(&mut self, location: &'p Object) -> Result<()> {
        if location.isa::<UnknownLocation>() {
            self.out.push_str("unknown");
        } else if let Some(name) = location.downcast_ref::<NameLocation>() {
            self.write_text(&name.name)?;
            if let Some(child) = &name.child {
                self.wrap("(", Piece::Location(child), ")");
            }
        } else if let Some(file) = location.downcast_ref::<FileLocation>() {
            self.write_text(&file.file)?;
            self.out.push_str(&format!(":{}", file.line));
            if let Some(column) = file.column.as_int() {
                self.out.push_str(&format!(":{column}"));
            }
            if let Some(line) = file.end_line.as_int() {
                self.out.push_str(&format!(" to {line}"));
                if let Some(column) = file.end_column.as_int() {
                    self.out.push_str(&format!(":{column}"));
                }
            }
        } else if let Some(call) = location.downcast_ref::<CallSiteLocation>() {
            self.wrap("callsite(", Piece::Location(&call.callee), " at ");
            self.pieces.push(Piece::Location(&call.caller));
            self.pieces.push(Piece::Text(")"));
        } else if let Some(fused) = location.downcast_ref::<FusedLocation>() {
            self.pieces.push(Piece::Text("fused"));
            if let Some(metadata) = &fused.metadata {
                self.wrap("<", Piece::Object(metadata), ">");
            }
            self.pieces.push(Piece::Text("["));
            self.list(fused.locations.iter().map(Piece::Location));
            self.pieces.push(Piece::Text("]"));
        } else if location.isa::<DialectAttr>() {
            self.pieces.push(Piece::Object(location));
        } else {
            let got = location.type_info().key();
            return Err(Error::type_error(format!("expected a location, got {got}")));
        }
        Ok(())
    }
}
