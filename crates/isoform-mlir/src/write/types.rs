//! Types.

use isoform::{Array, Result, Value};

use super::{Object, Piece, Writer};
use crate::nodes::{
    ComplexType, DialectType, FloatType, FunctionType, IndexType, IntegerType, MemRefType,
    NoneType, TensorType, TupleType, UnrankedMemRefType, UnrankedTensorType, VectorType,
};

impl<'p> Writer<'p> {
    /// Writes a type; false for anything else.
    pub(super) fn write_type(&mut self, ty: &'p Object) -> Result<bool> {
        if let Some(tensor) = ty.downcast_ref::<TensorType>() {
            self.out.push_str("tensor<");
            self.write_dims(&tensor.dims);
            self.pieces.push(Piece::Object(&tensor.element));
            self.optional(", ", tensor.encoding.as_ref());
            self.pieces.push(Piece::Text(">"));
        } else if let Some(integer) = ty.downcast_ref::<IntegerType>() {
            let sign = match integer.signedness.as_str() {
                "signed" => "s",
                "unsigned" => "u",
                _ => "",
            };
            self.out.push_str(&format!("{sign}i{}", integer.width));
        } else if let Some(float) = ty.downcast_ref::<FloatType>() {
            self.out.push_str(&float.name);
        } else if ty.isa::<IndexType>() {
            self.out.push_str("index");
        } else if let Some(dialect) = ty.downcast_ref::<DialectType>() {
            self.out.push('!');
            let (body, spaces) = (dialect.body.as_ref(), dialect.spaces.as_ref());
            self.write_dialect(&dialect.dialect, &dialect.name, body, spaces)?;
        } else if let Some(memref) = ty.downcast_ref::<MemRefType>() {
            self.out.push_str("memref<");
            self.write_dims(&memref.dims);
            self.pieces.push(Piece::Object(&memref.element));
            self.optional(", ", memref.layout.as_ref());
            self.optional(", ", memref.space.as_ref());
            self.pieces.push(Piece::Text(">"));
        } else if let Some(vector) = ty.downcast_ref::<VectorType>() {
            self.out.push_str("vector<");
            for (position, size) in vector.dims.iter().enumerate() {
                let text = match vector.scalable.get(position) {
                    Some(true) => format!("[{size}]x"),
                    _ => format!("{size}x"),
                };
                self.out.push_str(&text);
            }
            self.pieces.push(Piece::Object(&vector.element));
            self.pieces.push(Piece::Text(">"));
        } else if let Some(function) = ty.downcast_ref::<FunctionType>() {
            self.pieces.push(Piece::Text("("));
            self.list(function.inputs.iter().map(Piece::Object));
            self.pieces.push(Piece::Text(") -> "));
            self.results(function.results.iter());
        } else if let Some(complex) = ty.downcast_ref::<ComplexType>() {
            self.wrap("complex<", Piece::Object(&complex.element), ">");
        } else if let Some(tuple) = ty.downcast_ref::<TupleType>() {
            self.pieces.push(Piece::Text("tuple<"));
            self.list(tuple.types.iter().map(Piece::Object));
            self.pieces.push(Piece::Text(">"));
        } else if ty.isa::<NoneType>() {
            self.out.push_str("none");
        } else if let Some(tensor) = ty.downcast_ref::<UnrankedTensorType>() {
            self.wrap("tensor<*x", Piece::Object(&tensor.element), ">");
        } else if let Some(memref) = ty.downcast_ref::<UnrankedMemRefType>() {
            self.pieces.push(Piece::Text("memref<*x"));
            self.pieces.push(Piece::Object(&memref.element));
            self.optional(", ", memref.space.as_ref());
            self.pieces.push(Piece::Text(">"));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn write_dims(&mut self, dims: &Array) {
        for dim in dims {
            match Value::as_int(dim) {
                Some(size) => self.out.push_str(&format!("{size}x")),
                None => self.out.push_str("?x"),
            }
        }
    }

    /// Adds an object after a separator, if there is one.
    pub(super) fn optional(&mut self, before: &'static str, object: Option<&'p Object>) {
        if let Some(object) = object {
            self.pieces.push(Piece::Text(before));
            self.pieces.push(Piece::Object(object));
        }
    }
}
