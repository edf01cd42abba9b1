//! The registered types, and which objects of them exist.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use isoform::attrs;
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeIndex, TypeInfo, registered_types};
use isoform::{Array, Node, Obj, Str};

use super::NodeOptions;

/// The types of bound variables.
pub(super) type Bound = BTreeSet<TypeIndex>;

/// The depths that are tried where no object of the wanted depth exists.
pub(super) const DEEPEST: i64 = 24;

/// The types, and results of searches for objects.
pub(super) struct Catalog<'o> {
    options: &'o NodeOptions,
    types: HashMap<TypeIndex, &'static TypeInfo>,
    /// The types that others extend.
    bases: BTreeSet<TypeIndex>,
    /// The beginning of the keys of types for fields that hold any object.
    dialect: String,
    candidates: RefCell<HashMap<TypeIndex, Rc<[TypeIndex]>>>,
    possible: RefCell<HashMap<(TypeIndex, Bound, i64), bool>>,
}

impl<'o> Catalog<'o> {
    pub(super) fn new(options: &'o NodeOptions, root: TypeIndex) -> Self {
        let types: HashMap<_, _> = registered_types()
            .into_iter()
            .filter(|info| !info.is_replaced())
            .map(|info| (info.index(), info))
            .collect();
        let parents = types.values().filter_map(|info| info.parent());
        let bases = parents.map(TypeInfo::index).collect();
        let key = types.get(&root).map_or("", |info| info.key());
        let dialect = key.rsplit_once('.').map_or("", |(dialect, _)| dialect);
        Catalog {
            options,
            dialect: format!("{dialect}."),
            types,
            bases,
            candidates: RefCell::default(),
            possible: RefCell::default(),
        }
    }

    pub(super) fn info(&self, ty: TypeIndex) -> Option<&'static TypeInfo> {
        self.types.get(&ty).copied()
    }

    pub(super) fn is_var(&self, ty: TypeIndex) -> bool {
        self.info(ty).is_some_and(|info| info.kind() == Kind::Var)
    }

    /// The names of the members of an enum; None for another type.
    pub(super) fn members(&self, info: &TypeInfo) -> Option<Array<Str>> {
        let members = attrs::get(info.index(), "enum.members", attrs::Lookup::Exact)?;
        members.extract().ok()
    }

    /// The types of the objects that a field for an object accepts, those with the smallest
    /// objects first and variables last. Fields for any object accept the types of the
    /// dialect.
    pub(super) fn candidates(&self, ty: TypeIndex) -> Rc<[TypeIndex]> {
        if let Some(known) = self.candidates.borrow().get(&ty) {
            return known.clone();
        }
        let fits = |info: &TypeInfo| {
            if ty == Obj::type_index() {
                // Objects of kind `none` cannot be compared, which the caller may want to do.
                info.key().starts_with(&self.dialect) && info.kind() != Kind::None
            } else {
                info.lineage().any(|ancestor| ancestor == ty)
            }
        };
        let mut fitting: Vec<TypeIndex> = self
            .types
            .values()
            .filter(|info| !info.is_builtin() && fits(info) && !self.is_abstract(info))
            .map(|info| info.index())
            .collect();
        // The height of a type that contains itself depends on the candidates in any order.
        let keep = |fitting: &[TypeIndex]| {
            let fitting: Rc<[TypeIndex]> = fitting.into();
            self.candidates.borrow_mut().insert(ty, fitting.clone());
            fitting
        };
        keep(&fitting);
        fitting.sort_by_key(|&ty| (self.height(ty), ty));
        keep(&fitting)
    }

    fn is_abstract(&self, info: &TypeInfo) -> bool {
        self.bases.contains(&info.index())
            && !self.options.given.contains_key(&info.index())
            && !info
                .fields()
                .iter()
                .any(|field| field.field_flag() != FieldFlag::Ignore)
    }

    /// The depth of the smallest object of a type without bound variables.
    fn height(&self, ty: TypeIndex) -> i64 {
        let bound = Bound::new();
        let mut depths = 0..DEEPEST;
        let found = depths.find(|&depth| self.can_make(ty, &bound, depth));
        found.unwrap_or(DEEPEST)
    }

    /// True if a value exists whose objects nest at most this deep, where variables of some
    /// types are bound.
    pub(super) fn can(&self, schema: &Schema, bound: &Bound, depth: i64) -> bool {
        match schema {
            Schema::Object(ty) => ty.index().is_some_and(|ty| {
                let candidates = self.candidates(ty);
                let can = |&ty: &TypeIndex| self.can_make(ty, bound, depth);
                // Where variables alone fit, a free one does.
                let is_free =
                    || !self.options.closed && candidates.iter().all(|&ty| self.is_var(ty));
                let is_given = self.options.given.contains_key(&ty);
                is_given || !candidates.is_empty() && (candidates.iter().any(can) || is_free())
            }),
            Schema::Union(parts) => parts.iter().any(|part| self.can(part, bound, depth)),
            Schema::Tuple(parts) => parts.iter().all(|part| self.can(part, bound, depth)),
            Schema::Function | Schema::Host(_) => false,
            _ => true,
        }
    }

    /// As [`can`](Self::can), for the objects of one type.
    pub(super) fn can_make(&self, ty: TypeIndex, bound: &Bound, depth: i64) -> bool {
        if self.options.given.contains_key(&ty) || bound.contains(&ty) {
            return true;
        }
        let Some(info) = self.info(ty) else {
            return false;
        };
        if self.members(info).is_some() {
            return true;
        }
        if info.kind() == Kind::Var || depth < 0 {
            return false;
        }
        let asked = (ty, bound.clone(), depth);
        let known = self.possible.borrow().get(&asked).copied();
        known.unwrap_or_else(|| {
            let can = self.can_fill(info, bound.clone(), depth - 1);
            self.possible.borrow_mut().insert(asked, can);
            can
        })
    }

    fn can_fill(&self, info: &'static TypeInfo, mut bound: Bound, depth: i64) -> bool {
        for field in info.fields_as_visited() {
            if defines(field) {
                bound.extend(self.variables(field.schema()));
            } else if !field.has_default() && !self.can(field.schema(), &bound, depth) {
                return false;
            }
        }
        true
    }

    /// The variables that a definition with this schema binds in any case.
    fn variables(&self, schema: &Schema) -> Vec<TypeIndex> {
        let Schema::Object(ty) = schema else {
            return Vec::new();
        };
        let all = ty.index().map(|ty| self.candidates(ty));
        let all = all.filter(|all| all.iter().all(|&ty| self.is_var(ty)));
        all.map_or_else(Vec::new, |all| all.to_vec())
    }
}

/// True for a field that binds variables.
pub(super) fn defines(field: &FieldDef) -> bool {
    matches!(field.field_flag(), FieldFlag::Def | FieldFlag::DefSimple)
}
