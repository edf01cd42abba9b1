//! Builds objects and containers from parsed parts.

use std::borrow::Cow;

use super::fault::Fault;
use super::literals::Kinds;
use super::parser::{ParseFailure, Parsed, Parser, Part, Type, UNKNOWN_FIELD};
use super::spelling;
use crate::files::json;
use crate::kernel::container::ContainerType;
use crate::kernel::error::{Error, ErrorKind};
use crate::kernel::object::builder::ObjectBuilder;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table;
use crate::kernel::types::names::name_field;
use crate::kernel::types::{Kind, stand_ins, type_hint};
use crate::kernel::value::Value;

impl<'a> Parser<'a> {
    /// The value of finished parts.
    pub(super) fn build(
        &mut self,
        kinds: Kinds,
        parts: impl Iterator<Item = Part>,
        position: usize,
    ) -> Parsed<Value> {
        let (ty, name) = match kinds {
            Kinds::Object(ty, name) => (ty, name),
            Kinds::Container(container) => return self.build_container(container, parts, position),
        };
        let name = name.map(|name| self.names[name as usize].text);
        let ty = &mut self.types[ty as usize];
        let info = ty.filler.info();
        let mut missing_name = ty.name_field;
        let fault = |error: &Error, position: usize, place: &str| {
            let message = format!("{}{place}: {}", info.key(), error.message());
            Box::new(Fault {
                kind: error.kind(),
                start: position,
                end: position,
                message,
            })
        };
        for part in parts.filter(|part| part.field != UNKNOWN_FIELD) {
            let field = part.field as usize;
            if missing_name == Some(field) {
                missing_name = None;
            }
            let set = ty
                .filler
                .set(field, part.slot.into_value(), &mut self.fitter);
            let is_new = set.map_err(|error| {
                fault(
                    &error,
                    part.at,
                    &format!(".{}", info.fields()[field].name()),
                )
            })?;
            if !is_new {
                let what = format!("field '{}' is given twice", info.fields()[field].name());
                let error = Error::value_error(what);
                return Err(fault(&error, part.at, "").into());
            }
        }
        if let (Some(field), Some(name)) = (missing_name, name) {
            let set = ty.filler.set(field, name[1..].into(), &mut self.fitter);
            set.map_err(|error| {
                fault(
                    &error,
                    position,
                    &format!(".{}", info.fields()[field].name()),
                )
            })?;
        }
        let object: Ref<Obj> = ty
            .filler
            .finish(None, &mut self.fitter)
            .map_err(|error| fault(&error, position, ""))?;
        Ok(if ty.is_singleton {
            self.singletons.resolve(object).into()
        } else {
            object.into()
        })
    }

    fn build_container(
        &mut self,
        container: &ContainerType,
        parts: impl Iterator<Item = Part>,
        at: usize,
    ) -> Parsed<Value> {
        let values = parts.map(|part| part.slot.into_value());
        let built = container.build(values);
        Ok(built.map_err(|error| self.lexer.fault(at, error.message()))?)
    }

    /// The position of a type's entry.
    #[inline]
    pub(super) fn type_number(&mut self, key: Cow<'a, str>, at: usize) -> Parsed<u32> {
        match self.keys.get(key.as_ref()) {
            Some(&known) => Ok(known),
            None => self.new_type(key, at),
        }
    }

    #[cold]
    fn new_type(&mut self, key: Cow<'a, str>, at: usize) -> Parsed<u32> {
        let Some(info) = table::find_in_file(&key).filter(|info| !info.is_builtin()) else {
            let hint = type_hint(&key);
            let what = format!("unknown type {:?}{hint}", spelling::shown(&key));
            return Err(self.lexer.fault_of(ErrorKind::Type, at, &what).into());
        };
        let filler = ObjectBuilder::new(info).map_err(ParseFailure::Foreign)?;
        self.types.push(Type {
            filler,
            is_singleton: info.kind() == Kind::Singleton,
            is_scope: info.is_scope() || stand_ins::is_stand_in(info.index()),
            name_field: name_field(info),
        });
        let number = self.types.len() as u32 - 1;
        self.keys.insert(key, number);
        Ok(number)
    }

    /// Restores an object from the output of its hook.
    pub(super) fn hooked(&mut self, ty: u32, at: usize) -> Parsed<Value> {
        let info = self.types[ty as usize].filler.info();
        let Some(hooks) = info.file_hooks() else {
            let what = format!("{} has no hook that reads data", info.key());
            return Err(self.lexer.fault_of(ErrorKind::Type, at, &what).into());
        };
        let start = self.lexer.position();
        let (data, end) = json::read_data_at(self.lexer.text(), start)
            .map_err(|error| self.lexer.fault(start, error.message()))?;
        self.lexer.go_to(end);
        let object = hooks.from_json.call(&data).map_err(|error| {
            if error.is_about_data() {
                self.lexer
                    .fault_of(error.kind(), at, error.message())
                    .into()
            } else {
                ParseFailure::Foreign(error)
            }
        })?;
        if !table::is_a(object.borrowed().type_index(), info.index()) {
            let got = object.type_info().key();
            let what = format!("{}: the hook gave an object of {got}", info.key());
            return Err(self.lexer.fault_of(ErrorKind::Type, at, &what).into());
        }
        Ok(object.into())
    }
}
