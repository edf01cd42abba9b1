//! Builds objects from fields arriving one at a time, in any order, as in a file. Every
//! value is checked when set; building only stores.

use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::shell::UninitObject;
use super::slot::{build, fits};
use super::table::TypeInfo;
use crate::kernel::container;
use crate::kernel::error::{Error, Result};
use crate::kernel::types::MISSING_FIELD;
use crate::kernel::types::check::SchemaChecker;

/// Collects the fields of one object after another, all objects of the same type.
pub(crate) struct ObjectBuilder {
    info: &'static TypeInfo,
    // One value per field, satisfying the field's schema.
    values: Box<[Option<Value>]>,
}

impl ObjectBuilder {
    /// Makes a builder for objects of a declared type.
    ///
    /// # Errors
    ///
    /// `TypeError` if the type is built in.
    pub(crate) fn new(info: &'static TypeInfo) -> Result<Self> {
        if info.is_builtin() {
            return Err(Error::type_error(format!(
                "{}: built-in types are not constructed from fields",
                info.key()
            )));
        }
        Ok(ObjectBuilder {
            info,
            values: info.fields().iter().map(|_| None).collect(),
        })
    }

    pub(crate) fn info(&self) -> &'static TypeInfo {
        self.info
    }

    /// Sets a field; false for a field set before.
    ///
    /// # Errors
    ///
    /// `TypeError` if the value does not fit the field.
    #[inline(always)]
    pub(crate) fn set(
        &mut self,
        field: usize,
        value: Value,
        fitter: &mut SchemaChecker,
    ) -> Result<bool> {
        let value = if fits(self.info, field, &value) {
            value
        } else {
            self.fitted(field, value, fitter)?
        };
        Ok(self.values[field].replace(value).is_none())
    }

    #[inline(never)]
    fn fitted(&self, field: usize, value: Value, fitter: &mut SchemaChecker) -> Result<Value> {
        let schema = self.info.fields()[field].schema();
        let value = fitter.fit(schema, value)?;
        if container::binds(schema) && fitter.is_unclaimed(schema, &value) {
            container::claim(container::Field::new(self.info, field), &value)?;
        }
        Ok(value)
    }

    /// Clears all fields.
    pub(crate) fn reset(&mut self) {
        self.values.fill_with(|| None);
    }

    /// Builds the object in a preallocated block; without a block, or if the block is
    /// for another type, allocates a new block. Unset fields take their default.
    ///
    /// # Errors
    ///
    /// `TypeError` for an unset field without a default, or with an unfitting default.
    #[inline(always)]
    pub(crate) fn finish(
        &mut self,
        shell: Option<UninitObject>,
        fitter: &mut SchemaChecker,
    ) -> Result<Ref<Obj>> {
        if self.values.iter().any(Option::is_none) {
            self.complete(fitter)?;
        }
        let values = self.values.iter_mut();
        // SAFETY: each slot has one value, checked when set.
        Ok(unsafe {
            build(
                self.info,
                shell,
                values.map(|value| value.take().unwrap_or_default()),
            )
        })
    }

    #[cold]
    fn complete(&mut self, fitter: &mut SchemaChecker) -> Result<()> {
        for (position, field) in self.info.fields().iter().enumerate() {
            if self.values[position].is_some() {
                continue;
            }
            let Some(value) = field.make_default() else {
                return Err(Error::type_error(format!(
                    "missing field '{}'{MISSING_FIELD}",
                    field.name()
                )));
            };
            let value = self.fitted(position, value, fitter).map_err(|error| {
                let name = field.name();
                Error::type_error(format!(
                    "the default of field '{name}': {}",
                    error.message()
                ))
            })?;
            self.values[position] = Some(value);
        }
        Ok(())
    }
}
