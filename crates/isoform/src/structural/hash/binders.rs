//! Declared nodes: kinds, scopes, and the names of what is bound.

use super::super::numbering::Name;
use super::super::scope::{Region, Touched};
use super::super::sink::{Form, Part, Sink};
use super::{Hasher, Job, Step};
use crate::error::{ErrorKind, Result};
use crate::object::table::TypeInfo;
use crate::object::view::ObjRef;
use crate::registry::Kind;

impl<'a, S: Sink> Hasher<'a, S> {
    /// The binding that an occurrence of a variable or dag node refers to.
    #[inline]
    pub(super) fn bound(&mut self, object: ObjRef<'a>, region: Region) -> Option<u32> {
        let index = self.tables.numbering.bindings.of(0, object.ident())?;
        let level = self.tables.numbering.bindings.get(index).level;
        // A definition region binds anew what an outer scope has bound.
        let shadows =
            object.info().kind == Kind::Var && region.def_level().is_some_and(|def| level < def);
        (!shadows).then_some(index)
    }

    /// The hash of an occurrence of a bound object.
    pub(super) fn occurrence(&mut self, object: ObjRef<'a>, index: u32) -> S::Out {
        let tables = &mut *self.tables;
        let level = tables.numbering.bindings.get(index).level;
        if object.info().kind == Kind::Var {
            tables.levels.use_var(level);
        } else {
            tables.levels.use_dag();
        }
        let name = tables.numbering.name(index, &mut tables.levels);
        self.named(object, name)
    }

    pub(super) fn named(&mut self, object: ObjRef<'a>, name: Name<S::Out>) -> S::Out {
        match name {
            Name::Identity => {
                let mut acc = self.sink.open_form(Form::FreeVar);
                self.sink.word(&mut acc, Part::Identity, object.ident());
                self.sink.close(acc)
            }
            Name::Number {
                distance,
                context,
                number,
                first,
                fields,
            } => {
                let form = if first { Form::Binding } else { Form::Use };
                let mut acc = self.sink.open_form(form);
                self.sink
                    .word(&mut acc, Part::Distance, u64::from(distance));
                self.sink.word(&mut acc, Part::Context, u64::from(context));
                self.sink.word(&mut acc, Part::Number, u64::from(number));
                if let Some(fields) = fields {
                    self.sink.child(&mut acc, fields);
                }
                self.sink.close(acc)
            }
        }
    }

    pub(super) fn enter_node(
        &mut self,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<Step<'a, S::Out>> {
        let mut inner = region;
        match info.kind {
            Kind::None => {
                let text = format!("type {} does not support structural hashing", info.key());
                return Err(self.error(ErrorKind::Type, text));
            }
            Kind::Singleton if !S::PORTABLE => {
                let mut acc = self.sink.open_form(Form::Singleton);
                self.sink.word(&mut acc, Part::Identity, object.ident());
                return Ok(Step::Done(self.sink.close(acc)));
            }
            Kind::Tree | Kind::ConstTree | Kind::Singleton => {
                // In another process the same singleton is known by its
                // content, which is independent of where it is met.
                if info.kind == Kind::Singleton {
                    inner = Region::USE;
                }
                if info.has_children
                    && object.is_shared()
                    && let Some(out) = self.remembered(object, inner)
                {
                    return Ok(Step::Done(out));
                }
            }
            Kind::Dag | Kind::Var => {
                if let Some(index) = self.bound(object, region) {
                    return Ok(Step::Done(self.occurrence(object, index)));
                }
                if info.kind == Kind::Var && S::PORTABLE && region.def_level().is_none() {
                    let text = format!(
                        "a free variable (type {}) has no portable name; digest it with \
                         map_free_vars, or inside the function that binds it",
                        info.key()
                    );
                    return Err(self.error(ErrorKind::Value, text));
                }
                let levels = &mut self.tables.levels;
                let before = levels.begin();
                self.tables
                    .touched
                    .push((before, self.tables.numbering.context_used));
                let acc = self.sink.open_form(Form::Binding);
                let job = if info.kind == Kind::Var {
                    Job::EndVar
                } else {
                    Job::EndDag
                };
                self.push(job, object, acc, region);
                if info.kind == Kind::Var {
                    inner = region.inside_var();
                }
            }
        }
        if info.scope {
            let acc = self.sink.open_form(Form::Use);
            self.push(Job::EndScope, object, acc, region);
            self.tables.numbering.open_scope(&mut self.tables.levels);
        }
        if info.hooks.is_empty() {
            return self.open_fields(object, info, inner);
        }
        self.call_hook(object, info, inner)
    }

    /// Binds a variable or dag node whose fields gave `out`.
    pub(super) fn bind(&mut self, object: ObjRef<'a>, region: Region, out: S::Out) -> S::Out {
        let tables = &mut *self.tables;
        let (before, _) = tables.touched.pop().unwrap_or((Touched::NOTHING, 0));
        let (needs, created) = tables.levels.end(before);
        let is_var = object.info().kind == Kind::Var;
        let (level, identity) = match region.def_level() {
            _ if !is_var => (0, false),
            Some(level) => (level, false),
            None => (0, true),
        };
        // In another context the fields would have to be hashed anew; only a
        // hash that no binding enters is the same there.
        let closed = needs.level == 0 && !created;
        let fields = closed.then_some(out);
        let index =
            tables
                .numbering
                .bind(object.ident(), level, identity, fields, &mut tables.levels);
        if is_var {
            tables.levels.use_var(level);
        } else {
            tables.levels.use_dag();
        }
        let name = match tables.numbering.name(index, &mut tables.levels) {
            Name::Number {
                distance,
                context,
                number,
                first,
                ..
            } => {
                // Where all occurrences are met in one order, the fields may
                // count even if they refer to bindings.
                let fields = (closed || tables.numbering.in_order(level)).then_some(out);
                Name::Number {
                    distance,
                    context,
                    number,
                    first,
                    fields,
                }
            }
            Name::Identity => Name::Identity,
        };
        let named = self.named(object, name);
        if is_var {
            return named;
        }
        let mut acc = self.sink.open_type(object.info());
        self.sink.child(&mut acc, named);
        self.sink.close(acc)
    }
}
