//! Affine maps and sets.

use isoform::{Error, Result};

use super::{Object, Piece, Writer};
use crate::nodes::{
    AffineBinary, AffineConstant, AffineDim, AffineMapAttr, AffineSetAttr, AffineSymbol,
};

impl<'p> Writer<'p> {
    pub(super) fn write_affine_map(&mut self, map: &'p AffineMapAttr) {
        self.write_affine_head("affine_map", map.dims, map.symbols);
        self.pieces.push(Piece::Text(" -> ("));
        let results = map.results.iter();
        self.list(results.map(|result| Piece::Affine(result, false, false)));
        self.pieces.push(Piece::Text(")>"));
    }

    pub(super) fn write_affine_set(&mut self, set: &'p AffineSetAttr) {
        self.write_affine_head("affine_set", set.dims, set.symbols);
        self.pieces.push(Piece::Text(" : ("));
        for (position, constraint) in set.constraints.iter().enumerate() {
            if position > 0 {
                self.pieces.push(Piece::Text(", "));
            }
            let end = [" >= 0", " == 0"][usize::from(constraint.is_equality)];
            let expression = Piece::Affine(&constraint.expression, false, false);
            self.pieces.extend([expression, Piece::Text(end)]);
        }
        self.pieces.push(Piece::Text(")>"));
    }

    fn write_affine_head(&mut self, word: &str, dims: i64, symbols: i64) {
        let names = |letter: char, count: i64| {
            let names = (0..count).map(|number| format!("{letter}{number}"));
            names.collect::<Vec<_>>().join(", ")
        };
        self.out.push_str(&format!("{word}<({})", names('d', dims)));
        if symbols > 0 {
            self.out.push_str(&format!("[{}]", names('s', symbols)));
        }
    }

    pub(super) fn write_affine_expression(
        &mut self,
        expression: &'p Object,
        in_sum: bool,
        in_product: bool,
    ) -> Result<()> {
        if let Some(dim) = expression.downcast_ref::<AffineDim>() {
            self.out.push_str(&format!("d{}", dim.position));
        } else if let Some(symbol) = expression.downcast_ref::<AffineSymbol>() {
            self.out.push_str(&format!("s{}", symbol.position));
        } else if let Some(constant) = expression.downcast_ref::<AffineConstant>() {
            let text = match constant.value {
                // The number without its sign has no place in 64 bits.
                i64::MIN => format!("({} - 1)", i64::MIN + 1),
                value => value.to_string(),
            };
            self.out.push_str(&text);
        } else if let Some(binary) = expression.downcast_ref::<AffineBinary>() {
            let is_sum = binary.op == "+";
            let has_parentheses = in_product || (in_sum && is_sum);
            if has_parentheses {
                self.pieces.push(Piece::Text("("));
            }
            self.pieces
                .push(Piece::Affine(&binary.left, false, !is_sum));
            let op = binary.op.as_str();
            if !["+", "*", "floordiv", "ceildiv", "mod"].contains(&op) {
                let message = format!("expected an affine operator, got '{op}'");
                return Err(Error::value_error(message));
            }
            self.pieces.push(Piece::Owned(format!(" {op} ")));
            self.pieces
                .push(Piece::Affine(&binary.right, true, !is_sum));
            if has_parentheses {
                self.pieces.push(Piece::Text(")"));
            }
        } else {
            let got = expression.type_info().key();
            return Err(Error::type_error(format!(
                "expected an affine expression, got {got}"
            )));
        }
        Ok(())
    }
}
