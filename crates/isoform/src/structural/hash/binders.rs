//! Declared nodes: kinds, scopes, and the names of bound objects.

use super::super::scope::Region;
use super::super::sink::{Form, Part, Sink};
use super::super::snapshots::content_of;
use super::super::var_numbering::{Name, Naming, VarKey};
use super::{Frame, Hasher, Job, RecentUse, Step};
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::object::access::Section;
use crate::kernel::object::class::VisitShape;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::Kind;

impl<'a, S: Sink> Hasher<'a, S> {
    /// The binding to which an occurrence of a variable or dag node refers.
    #[inline]
    pub(super) fn bound(&mut self, object: ObjRef<'a>, region: Region) -> Option<u32> {
        let index = self.tables.numbering.bindings.of(0, object.ident())?;
        let level = self.tables.numbering.bindings.get(index).level;
        // A definition region rebinds variables bound by an outer scope.
        let shadows =
            object.info().kind == Kind::Var && region.def_level().is_some_and(|def| level < def);
        (!shadows).then_some(index)
    }

    /// The hash of an occurrence of a bound object.
    pub(super) fn occurrence(&mut self, object: ObjRef<'a>, index: u32, region: Region) -> S::Out {
        let tables = &mut *self.tables;
        let level = tables.numbering.bindings.get(index).level;
        let is_var = object.info().kind == Kind::Var;
        if is_var {
            tables.levels.use_var(index, level, region);
        }
        let mut name = tables.numbering.name(index, &mut tables.levels);
        match name.by {
            VarKey::Number { level, .. } => {
                if !is_var && level == 0 && tables.numbering.nesting() == 0 {
                    // This number stays.
                    tables.levels.use_dag(index);
                } else if !is_var {
                    tables.levels.use_numbered(level);
                }
                if is_var && name.first.is_none() {
                    self.note_use(index, level, region.is_field())
                } else {
                    self.note_level(level)
                }
            }
            VarKey::Fields => self.note_named(index),
            VarKey::Identity => {
                self.note_free(object, region);
                if object.info().shape() == VisitShape::Var {
                    // Kept hashes must not depend on earlier occurrences of the
                    // variable, and its fields contribute no information.
                    name.first = None;
                } else if S::KEEPS {
                    // Equality compares the variable's fields, which are hashed at the
                    // first occurrence.
                    self.note_change();
                    if self.is_of_key() {
                        name.first = None
                    } else {
                        self.note_level(0)
                    }
                }
            }
        }
        let is_again = is_var && name.first.is_none();
        let out = self.named(object, index, name);
        // Finished digests are given to one node only.
        if !S::KEEPS && !S::PORTABLE && is_again && self.tables.numbering.is_outside_hooks() {
            self.recent = Some(RecentUse {
                ident: object.ident(),
                scopes: self.tables.levels.current(),
                binding: index,
                level,
                out,
            });
        }
        out
    }

    /// The hash of a variable that is used like the previous variable.
    #[inline(always)]
    pub(super) fn used_again(&mut self, object: ObjRef<'a>, region: Region) -> Option<S::Out> {
        let recent = self.recent.as_ref()?;
        let levels = &mut self.tables.levels;
        if recent.ident != object.ident()
            || recent.scopes != levels.current()
            || region.def_level().is_some()
            || !self.tables.numbering.is_outside_hooks()
        {
            return None;
        }
        levels.use_var(recent.binding, recent.level, region);
        Some(recent.out)
    }

    fn named(&mut self, object: ObjRef<'a>, index: u32, name: Name<S::Out>) -> S::Out {
        let mut acc = match name.by {
            VarKey::Identity => {
                let mut acc = self.sink.open_form(Form::FreeVar);
                self.sink.word(&mut acc, Part::Identity, object.ident());
                acc
            }
            VarKey::Fields => {
                let mut acc = self.sink.open_form(Form::Named);
                let fields = self.tables.numbering.fields(index);
                self.sink.child(&mut acc, fields);
                acc
            }
            VarKey::Number {
                distance,
                context,
                number,
                ..
            } => {
                let is_var = object.info().kind == Kind::Var;
                let form = match (is_var, name.first.is_some()) {
                    (true, true) => Form::Binding,
                    (true, false) => Form::Use,
                    (false, true) => Form::Node,
                    (false, false) => Form::NodeUse,
                };
                let mut acc = self.sink.open_form(form);
                self.sink
                    .word(&mut acc, Part::Distance, u64::from(distance));
                self.sink.word(&mut acc, Part::Context, u64::from(context));
                self.sink.word(&mut acc, Part::Number, u64::from(number));
                acc
            }
        };
        if let Some(fields) = name.first {
            self.sink.child(&mut acc, fields);
        }
        self.sink.close(acc)
    }

    pub(super) fn enter_node(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
        base: usize,
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
                // In another process, the same singleton is identified by its content,
                // which does not depend on its place.
                if info.kind == Kind::Singleton {
                    inner = Region::USE;
                }
                if info.has_children && (object.is_shared() || info.scope) {
                    if let Some(out) = self.remembered(object, inner)? {
                        return Ok(Step::Done(out));
                    }
                } else if !info.hooks.are_structural_defaults() {
                    // A hook may visit objects outside of all compared fields.
                    self.open_unremembered(object, inner)?;
                }
            }
            Kind::Dag | Kind::Var => {
                if let Some(index) = self.bound(object, region) {
                    return Ok(Step::Done(self.later_occurrence(object, index, region)));
                }
                if info.kind == Kind::Var && S::PORTABLE && region.def_level().is_none() {
                    let text = self.nameless(info);
                    return Err(self.error(ErrorKind::Value, text));
                }
                self.begin_binding(object, info, region);
                if info.kind == Kind::Dag {
                    self.note_node(object);
                }
                self.open_unremembered(object, region)?;
                if info.kind == Kind::Var {
                    inner = region.inside_var();
                } else if let Some(out) = self.reuse(object, info, region) {
                    return Ok(Step::Done(out));
                }
            }
        }
        if info.scope {
            let acc = self.sink.mark();
            self.push(Job::EndScope, object, acc, region);
            self.tables.numbering.open_scope(&mut self.tables.levels);
        }
        let subject = object;
        let object = content_of(self.arena, self.snapshots, object);
        if info.hooks.are_structural_defaults() {
            return self.open_fields(section, object, info, inner, base);
        }
        self.watch_fields(subject, info);
        self.call_hook(section, object, info, inner)
    }

    /// The error for a free variable in a digest.
    #[cold]
    fn nameless(&self, info: &TypeInfo) -> String {
        let key = info.key();
        if self.options.map_free_vars {
            // With map_free_vars, only fields of variables are uses.
            format!(
                "a free variable (type {key}) in a field of a variable that a def-simple field \
                 binds has no portable name, since map_free_vars does not map it there; bind it \
                 in a definition field that is visited before, or declare the def-simple field \
                 as def"
            )
        } else {
            format!(
                "a free variable (type {key}) has no portable name; digest it with \
                 map_free_vars, or inside the function that binds it"
            )
        }
    }

    /// Prepares to hash the fields of an object that is not bound yet.
    fn begin_binding(&mut self, object: ObjRef<'a>, info: &'static TypeInfo, region: Region) {
        let acc = self.sink.mark();
        let extra = self.tables.numbering.current();
        self.stack.push(Frame {
            object,
            acc,
            next: 0,
            extra,
            region,
            job: Job::EndBinding,
        });
        let level = match info.kind {
            Kind::Var => binding_of(info.kind, region).0,
            _ => self.tables.levels.current(),
        };
        if !self.tables.numbering.in_order(level) {
            self.tables.numbering.isolate(&self.tables.levels);
        }
    }

    /// Binds a variable or dag node whose fields have the hash `out`.
    pub(super) fn bind(
        &mut self,
        object: ObjRef<'a>,
        region: Region,
        context: u32,
        out: S::Out,
    ) -> S::Out {
        self.recent = None;
        let tables = &mut *self.tables;
        tables.numbering.leave(context);
        let kind = object.info().kind;
        let (level, identity) = binding_of(kind, region);
        let naming = if identity {
            Naming::Identity
        } else if kind == Kind::Dag {
            Naming::Place
        } else if self.naming == Some(object.ident()) && self.is_only(object, out) {
            Naming::Fields
        } else {
            Naming::Number
        };
        let tables = &mut *self.tables;
        let index = tables
            .numbering
            .bind(object.ident(), level, naming, out, &mut tables.levels);
        if !identity {
            self.note_binding(kind, level);
        }
        self.occurrence(object, index, region)
    }

    /// The hash of an occurrence of an object that was bound before.
    pub(super) fn later_occurrence(
        &mut self,
        object: ObjRef<'a>,
        index: u32,
        region: Region,
    ) -> S::Out {
        if S::KEEPS
            && object.info().kind == Kind::Dag
            && self
                .tables
                .numbering
                .known_name(index, &self.tables.levels)
                .is_none()
        {
            // The node's fields were hashed among others, in the context of another
            // question.
            self.note_level(0);
        }
        self.occurrence(object, index, region)
    }

    /// True if these fields are not the name of any other bound object.
    fn is_only(&mut self, object: ObjRef<'a>, fields: S::Out) -> bool {
        let Some(fields) = self.sink.save(fields) else {
            return false;
        };
        let tables = &mut *self.tables;
        let named = tables.named.entry(fields).or_insert(object.ident());
        let other = tables.numbering.bindings.of(0, *named);
        let is_only = other.is_none_or(|other| !tables.numbering.is_by_fields(other));
        if is_only {
            *named = object.ident();
        }
        is_only
    }
}

/// The scope level of a new binding, and true for a binding by identity.
fn binding_of(kind: Kind, region: Region) -> (u32, bool) {
    match region.def_level() {
        _ if kind != Kind::Var => (0, false),
        Some(level) => (level, false),
        None => (0, true),
    }
}
