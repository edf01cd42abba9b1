//! Objects from fields that come one at a time, in any order, as a file has
//! them: every value is checked when it is set, so building is only storing.

use super::dynamic::store;
use super::field::Storage;
use super::header::TypeIndex;
use super::raw_value::{Tag, Value};
use super::reference::{Obj, Ref};
use super::shell::Shell;
use super::table::{self, TypeInfo};
use crate::kernel::container;
use crate::kernel::error::{Error, Result};
use crate::kernel::types::Schema;
use crate::kernel::types::fit::Fitter;

/// Collects the fields of one object after another of the same type.
pub(crate) struct Filler {
    info: &'static TypeInfo,
    accepts: Box<[Accept]>,
    // One per field; what is in it satisfies the field's schema.
    values: Box<[Option<Value>]>,
}

/// A field's schema, with the common cases ready to be checked at once.
#[derive(Clone, Copy)]
enum Accept {
    Anything,
    Plain(Tag),
    Object(TypeIndex),
    Other,
}

impl Accept {
    fn of(schema: &Schema, storage: Storage) -> Accept {
        match (schema, storage) {
            (Schema::Any, Storage::Value) => Accept::Anything,
            (Schema::Int, Storage::Int) => Accept::Plain(Tag::Int),
            (Schema::Float, Storage::Float) => Accept::Plain(Tag::Float),
            (Schema::Bool, Storage::Bool) => Accept::Plain(Tag::Bool),
            (Schema::DType, Storage::DType) => Accept::Plain(Tag::DType),
            (Schema::Str, Storage::Str) => Accept::Plain(Tag::InlineStr),
            (Schema::Object(ty), Storage::Object) => {
                ty.index().map_or(Accept::Other, Accept::Object)
            }
            _ => Accept::Other,
        }
    }

    #[inline(always)]
    fn takes(self, value: &Value) -> bool {
        match self {
            Accept::Anything => true,
            Accept::Plain(tag) => value.tag() == tag,
            Accept::Object(index) => value
                .object_ref()
                .is_some_and(|object| table::is_a(object.type_index(), index)),
            Accept::Other => false,
        }
    }
}

impl Filler {
    /// Objects of a declared type.
    ///
    /// # Errors
    ///
    /// `TypeError` when the type is built in.
    pub(crate) fn new(info: &'static TypeInfo) -> Result<Self> {
        if info.is_builtin() {
            return Err(Error::type_error(format!(
                "{}: built-in types are not constructed from fields",
                info.key()
            )));
        }
        let fields = info.fields().iter().zip(&info.slots);
        Ok(Filler {
            info,
            accepts: fields
                .map(|(field, slot)| Accept::of(field.schema(), slot.storage))
                .collect(),
            values: info.fields().iter().map(|_| None).collect(),
        })
    }

    pub(crate) fn info(&self) -> &'static TypeInfo {
        self.info
    }

    /// Sets a field; false when it has been set before.
    ///
    /// # Errors
    ///
    /// `TypeError` when the value does not fit the field.
    #[inline(always)]
    pub(crate) fn set(&mut self, field: usize, value: Value, fitter: &mut Fitter) -> Result<bool> {
        let value = match self.accepts[field].takes(&value) {
            true => value,
            false => self.fitted(field, value, fitter)?,
        };
        Ok(self.values[field].replace(value).is_none())
    }

    #[inline(never)]
    fn fitted(&self, field: usize, value: Value, fitter: &mut Fitter) -> Result<Value> {
        let schema = self.info.fields()[field].schema();
        let value = fitter.fit(schema, value)?;
        if container::binds(schema) && fitter.is_unclaimed(schema, &value) {
            container::claim(container::Field::new(self.info, field), &value)?;
        }
        Ok(value)
    }

    /// Forgets the fields set so far.
    pub(crate) fn reset(&mut self) {
        self.values.fill_with(|| None);
    }

    /// The object; fields that were not set take their default.
    ///
    /// # Errors
    ///
    /// `TypeError` for a field that has no default, or whose default does not
    /// fit it.
    #[inline]
    pub(crate) fn finish(&mut self, fitter: &mut Fitter) -> Result<Ref<Obj>> {
        self.finish_in(None, fitter)
    }

    /// As [`finish`](Self::finish), in a block that was allocated before; in one
    /// of its own without, or where that is for another type.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    #[inline(always)]
    pub(crate) fn finish_in(
        &mut self,
        shell: Option<Shell>,
        fitter: &mut Fitter,
    ) -> Result<Ref<Obj>> {
        if self.values.iter().any(Option::is_none) {
            self.complete(fitter)?;
        }
        let info = self.info;
        let object = match shell {
            Some(shell) if shell.is_for(info) => shell.into_raw(),
            _ => Shell::object(info).into_raw(),
        };
        // SAFETY: the block is for this type, there is one checked value per
        // slot, and every field is written before anything else can see the
        // object; nothing in between can fail.
        unsafe {
            for (slot, value) in info.slots.iter().zip(&mut self.values) {
                store(object, slot, value.take().unwrap_or_default());
            }
            Ok(Ref::from_raw(object))
        }
    }

    #[cold]
    fn complete(&mut self, fitter: &mut Fitter) -> Result<()> {
        for (position, field) in self.info.fields().iter().enumerate() {
            if self.values[position].is_some() {
                continue;
            }
            let Some(value) = field.make_default() else {
                return Err(Error::type_error(format!(
                    "missing field '{}'",
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
