//! Attributes.

use isoform::{Error, Result, Value};

use super::{Object, Piece, Writer};
use crate::nodes::{
    AffineMapAttr, AffineSetAttr, ArrayAttr, DenseArrayAttr, DenseAttr, DenseStringsAttr,
    DialectAttr, DictAttr, DistinctAttr, FloatAttr, IntegerAttr, ResourceAttr, SparseAttr,
    StridedAttr, StringAttr, Symbol, SymbolRefAttr, UnitAttr,
};

impl<'p> Writer<'p> {
    /// Writes an attribute; false for anything else.
    pub(super) fn write_attribute(&mut self, attribute: &'p Object) -> Result<bool> {
        if let Some(integer) = attribute.downcast_ref::<IntegerAttr>() {
            match integer.value.as_bool() {
                Some(value) => self.out.push_str(if value { "true" } else { "false" }),
                None => {
                    self.out.push_str(&format!("{} : ", integer.value));
                    self.pieces.push(Piece::Object(&integer.ty));
                }
            }
        } else if let Some(string) = attribute.downcast_ref::<StringAttr>() {
            self.write_text(&string.value)?;
            self.optional(" : ", string.ty.as_ref());
        } else if let Some(array) = attribute.downcast_ref::<ArrayAttr>() {
            self.pieces.push(Piece::Text("["));
            self.list(array.elements.iter().map(Piece::Object));
            self.pieces.push(Piece::Text("]"));
        } else if let Some(dict) = attribute.downcast_ref::<DictAttr>() {
            self.pieces.push(Piece::Dict(&dict.entries));
        } else if let Some(reference) = attribute.downcast_ref::<SymbolRefAttr>() {
            self.write_reference(reference)?;
        } else if let Some(dialect) = attribute.downcast_ref::<DialectAttr>() {
            self.out.push('#');
            let (body, spaces) = (dialect.body.as_ref(), dialect.spaces.as_ref());
            self.write_dialect(&dialect.dialect, &dialect.name, body, spaces)?;
            self.optional(" : ", dialect.ty.as_ref());
        } else if let Some(array) = attribute.downcast_ref::<DenseArrayAttr>() {
            self.out.push_str("array<");
            self.pieces.push(Piece::Object(&array.element));
            let elements = super::numbers::listed(&array.element, &array.data)?;
            if !elements.is_empty() {
                self.pieces.push(Piece::Text(": "));
                self.pieces.push(Piece::Owned(elements.join(", ")));
            }
            self.pieces.push(Piece::Text(">"));
        } else if let Some(dense) = attribute.downcast_ref::<DenseAttr>() {
            self.out.push_str("dense<");
            match self.options.max_elements {
                Some(most) => super::numbers::write_first(dense, most, &mut self.out)?,
                None => super::numbers::write_dense(dense, &mut self.out)?,
            }
            self.pieces.push(Piece::Text("> : "));
            self.pieces.push(Piece::Object(&dense.ty));
        } else if let Some(float) = attribute.downcast_ref::<FloatAttr>() {
            let text = super::numbers::float_text(&float.ty, &float.bits)?;
            self.out.push_str(&text);
            self.pieces.push(Piece::Text(" : "));
            self.pieces.push(Piece::Object(&float.ty));
        } else if attribute.isa::<UnitAttr>() {
            self.out.push_str("unit");
        } else if let Some(map) = attribute.downcast_ref::<AffineMapAttr>() {
            self.write_affine_map(map);
        } else if let Some(set) = attribute.downcast_ref::<AffineSetAttr>() {
            self.write_affine_set(set);
        } else if let Some(strided) = attribute.downcast_ref::<StridedAttr>() {
            self.write_strided(strided);
        } else if let Some(dense) = attribute.downcast_ref::<DenseStringsAttr>() {
            self.out.push_str("dense<");
            self.write_strings(dense)?;
            self.pieces.push(Piece::Text("> : "));
            self.pieces.push(Piece::Object(&dense.ty));
        } else if let Some(resource) = attribute.downcast_ref::<ResourceAttr>() {
            let key = self.names.resource(resource);
            self.out.push_str("dense_resource<");
            super::bodies::write_key(&key, &mut self.out);
            if self.options.max_elements.is_some() {
                let digest = super::numbers::short_digest(attribute)?;
                self.out.push_str(&format!(" #{digest}"));
            }
            self.pieces.push(Piece::Text("> : "));
            self.pieces.push(Piece::Object(&resource.ty));
        } else if let Some(sparse) = attribute.downcast_ref::<SparseAttr>() {
            self.write_sparse(sparse)?;
        } else if let Some(distinct) = attribute.downcast_ref::<DistinctAttr>() {
            let number = self.names.distinct(distinct);
            self.out.push_str(&format!("distinct[{number}]<"));
            if !distinct.attribute.isa::<UnitAttr>() {
                self.pieces.push(Piece::Object(&distinct.attribute));
            }
            self.pieces.push(Piece::Text(">"));
        } else {
            return self.write_symbol_name(attribute);
        }
        Ok(true)
    }

    /// Writes a str or bytes as a string.
    pub(super) fn write_text(&mut self, value: &Value) -> Result<()> {
        let bytes = match value.view() {
            isoform::values::ValueRef::Str(text) => text.as_bytes(),
            isoform::values::ValueRef::Bytes(bytes) => bytes,
            _ => {
                let got = value.type_name();
                return Err(Error::type_error(format!(
                    "expected str or bytes, got {got}"
                )));
            }
        };
        super::bodies::write_string(bytes, &mut self.out);
        Ok(())
    }

    pub(super) fn write_reference(&mut self, reference: &SymbolRefAttr) -> Result<()> {
        match reference.root.as_str() {
            Some(name) => self.write_symbol(name),
            None => {
                let symbol = reference.root.extract::<isoform::Ref<Symbol>>()?;
                let name = self.names.symbol(&symbol)?.clone();
                self.write_symbol(&name);
            }
        }
        for name in &reference.path {
            self.out.push_str("::");
            self.write_symbol(name);
        }
        Ok(())
    }

    fn write_strided(&mut self, strided: &StridedAttr) {
        let text = |value: &Value| match value.as_int() {
            Some(number) => number.to_string(),
            None => "?".to_owned(),
        };
        let strides: Vec<String> = strided.strides.iter().map(text).collect();
        self.out
            .push_str(&format!("strided<[{}]", strides.join(", ")));
        if strided.offset.as_int() != Some(0) {
            self.out
                .push_str(&format!(", offset: {}", text(&strided.offset)));
        }
        self.out.push('>');
    }

    fn write_strings(&mut self, dense: &DenseStringsAttr) -> Result<()> {
        let (dims, _) = super::numbers::static_shape(&dense.ty)?;
        if let (1, Some(only)) = (dense.values.len(), dense.values.first()) {
            return self.write_text(only);
        }
        let mut texts = Vec::with_capacity(dense.values.len());
        for value in &dense.values {
            let start = self.out.len();
            self.write_text(value)?;
            texts.push(self.out.split_off(start));
        }
        super::numbers::write_lists(&texts, &dims, &mut self.out);
        Ok(())
    }

    fn write_sparse(&mut self, sparse: &'p SparseAttr) -> Result<()> {
        let is_empty = |object: &Object| {
            let dense = object.downcast_ref::<DenseAttr>();
            dense.is_some_and(|dense| dense.data.is_empty())
        };
        self.out.push_str("sparse<");
        if !is_empty(&sparse.indices) {
            // A single index would be that of a single element.
            if let Some(indices) = sparse.indices.downcast_ref::<DenseAttr>() {
                super::numbers::write_all_elements(indices, &mut self.out)?;
            }
            self.out.push_str(", ");
            if let Some(dense) = sparse.values.downcast_ref::<DenseAttr>() {
                super::numbers::write_elements(dense, &mut self.out)?;
            } else if let Some(strings) = sparse.values.downcast_ref::<DenseStringsAttr>() {
                self.write_strings(strings)?;
            }
        }
        self.pieces.push(Piece::Text("> : "));
        self.pieces.push(Piece::Object(&sparse.ty));
        Ok(())
    }
}
