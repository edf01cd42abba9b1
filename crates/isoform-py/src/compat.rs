//! Stand-ins until fields can be written.
use isoform::{FieldDef, Obj, Ref, Value};
pub(crate) trait Mutable {
    fn mutable(self, mutable: bool) -> Self;
}
impl Mutable for FieldDef {
    fn mutable(self, _mutable: bool) -> Self {
        self
    }
}
pub(crate) fn overwrite_field_at(
    _object: &Ref<Obj>,
    _field: usize,
    _value: Value,
) -> isoform::Result<()> {
    Err(isoform::Error::type_error("fields cannot be written yet"))
}
