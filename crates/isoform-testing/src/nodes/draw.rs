//! One random object.

use std::collections::HashMap;
use std::fmt;

use isoform::objects::construct_named;
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeIndex, TypeInfo};
use isoform::values::{Dict, List};
use isoform::{Error, Map, Node, Obj, Result, Value};

use super::NodeOptions;
use super::catalog::{Bound, Catalog, DEEPEST, defines};
use super::plain;
use crate::source::Source;

/// The depth of the deepest objects: drawing is recursive.
const MOST_DEPTH: i64 = 64;

/// An object of a type, drawn from a source.
pub(super) fn node(options: &NodeOptions, ty: TypeIndex, source: &mut Source<'_>) -> Result<Value> {
    if options.ints.is_empty() {
        return Err(Error::value_error(format!(
            "random_node: expected a range with integers, got NodeOptions::ints({:?})",
            options.ints
        )));
    }
    let catalog = Catalog::new(options, ty);
    let mut draw = Draw {
        catalog: &catalog,
        options,
        source,
        left: i64::try_from(options.nodes).unwrap_or(i64::MAX),
        scopes: vec![Vec::new()],
        free: HashMap::new(),
    };
    let depth = i64::try_from(options.depth).map_or(MOST_DEPTH, |depth| depth.min(MOST_DEPTH));
    if catalog.is_var(ty) && !options.given.contains_key(&ty) {
        draw.free.insert(ty, None);
        return draw.make(ty, depth, None);
    }
    let key = catalog.info(ty).map_or("", TypeInfo::key);
    draw.object(ty, Spot::new(depth, None, &key))
}

/// The surroundings of a value.
#[derive(Clone, Copy)]
struct Spot<'p> {
    /// How deep objects may nest here.
    depth: i64,
    /// The kind of definition around.
    region: Option<FieldFlag>,
    /// The name of the place in messages.
    place: &'p dyn fmt::Display,
}

impl<'p> Spot<'p> {
    fn new(depth: i64, region: Option<FieldFlag>, place: &'p dyn fmt::Display) -> Self {
        Spot {
            depth,
            region,
            place,
        }
    }
}

struct Draw<'d, 's> {
    catalog: &'d Catalog<'d>,
    options: &'d NodeOptions,
    source: &'d mut Source<'s>,
    /// The number of objects until the value is completed with the smallest.
    left: i64,
    /// The bound variables of each open scope, with their types.
    scopes: Vec<Vec<(TypeIndex, Value)>>,
    /// The free variables; None while one is being made.
    free: HashMap<TypeIndex, Option<Value>>,
}

impl Draw<'_, '_> {
    fn bound(&self) -> Bound {
        self.scopes.iter().flatten().map(|(ty, _)| *ty).collect()
    }

    fn can(&self, schema: &Schema, spot: Spot<'_>) -> bool {
        spot.region.is_some() || self.catalog.can(schema, &self.bound(), spot.depth)
    }

    // The recursion is as deep as objects nest, which [`MOST_DEPTH`] and [`DEEPEST`] limit.
    fn value(&mut self, schema: &Schema, spot: Spot<'_>) -> Result<Value> {
        match schema {
            Schema::Any if self.is_object_wanted(spot) => self.object(Obj::type_index(), spot),
            Schema::Object(ty) => match ty.index() {
                Some(ty) => self.object(ty, spot),
                None => Err(Error::type_error(format!(
                    "random_node: {}: the type {} is not registered",
                    spot.place,
                    ty.key()
                ))),
            },
            Schema::Optional(inner) => {
                if !self.can(inner, spot) || self.source.below(2) == 0 {
                    return Ok(Value::NONE);
                }
                self.value(inner, spot)
            }
            Schema::Union(parts) => {
                let can = |part: &&Schema| self.can(part, spot);
                let possible: Vec<&Schema> = parts.iter().filter(can).collect();
                let part = if possible.is_empty() {
                    self.source.pick(parts)
                } else {
                    *self.source.pick(&possible)
                };
                self.value(part, spot)
            }
            Schema::Tuple(parts) => {
                let values = parts.iter().map(|part| self.value(part, spot));
                Ok(values.collect::<Result<Vec<_>>>()?.into())
            }
            Schema::Array(element) => Ok(self.items(element, spot)?.into()),
            Schema::List(element) => Ok(List::from(self.items(element, spot)?).into()),
            Schema::Map(parts) => Ok(self
                .entries(parts, spot)?
                .into_iter()
                .collect::<Map>()
                .into()),
            Schema::Dict(parts) => Ok(self
                .entries(parts, spot)?
                .into_iter()
                .collect::<Dict>()
                .into()),
            _ => plain::value(schema, self.options, self.source)?.ok_or_else(|| {
                Error::type_error(format!(
                    "random_node: no value of {schema} can be made for {}; give the field a \
                     default, or its type a function by NodeOptions::given",
                    spot.place
                ))
            }),
        }
    }

    /// True if a field for anything gets an object of the dialect.
    fn is_object_wanted(&mut self, spot: Spot<'_>) -> bool {
        let candidates = self.catalog.candidates(Obj::type_index());
        if spot.region.is_some() {
            return candidates.iter().any(|&ty| self.catalog.is_var(ty));
        }
        let bound = self.bound();
        let can = |&ty: &TypeIndex| self.catalog.can_make(ty, &bound, spot.depth);
        self.left > 0 && candidates.iter().any(can) && self.source.below(2) == 1
    }

    fn items(&mut self, element: &Schema, spot: Spot<'_>) -> Result<Vec<Value>> {
        let count = self.count(self.can(element, spot));
        (0..count).map(|_| self.value(element, spot)).collect()
    }

    fn entries(
        &mut self,
        (key, value): &(Schema, Schema),
        spot: Spot<'_>,
    ) -> Result<Vec<(Value, Value)>> {
        let of_key = Spot { depth: 0, ..spot };
        let count = self.count(self.can(key, of_key) && self.can(value, spot));
        let entry = |_| Ok((self.value(key, of_key)?, self.value(value, spot)?));
        (0..count).map(entry).collect()
    }

    /// The number of elements of a container.
    fn count(&mut self, is_possible: bool) -> usize {
        let is_small = is_possible && self.left > 0;
        let most = if is_small { self.options.size } else { 0 };
        self.source.below(most.saturating_add(1))
    }

    fn object(&mut self, ty: TypeIndex, spot: Spot<'_>) -> Result<Value> {
        if let Some(make) = self.options.given.get(&ty) {
            return make(self.source).map(Value::from);
        }
        let candidates = self.catalog.candidates(ty);
        let variables = candidates.iter().copied();
        let variables: Vec<TypeIndex> = variables.filter(|&ty| self.catalog.is_var(ty)).collect();
        // Definitions make variables, or patterns with variables.
        if spot.region.is_some() && !variables.is_empty() {
            let ty = *self.source.pick(&variables);
            return self.make(ty, spot.depth, spot.region);
        }
        let bound = self.bound();
        // A value that has become large is completed with the smallest objects: below the
        // depth of zero, bound variables alone fit.
        let first = if self.left > 0 {
            spot.depth.max(-1)
        } else {
            -1
        };
        for depth in first..DEEPEST.max(first + 1) {
            let can = |ty: &TypeIndex| self.catalog.can_make(*ty, &bound, depth);
            let fitting: Vec<TypeIndex> = candidates.iter().copied().filter(can).collect();
            if !fitting.is_empty() {
                let ty = *self.source.pick(&fitting);
                return self.one_of(ty, Spot { depth, ..spot });
            }
        }
        if variables.is_empty() || self.options.closed {
            let key = self.catalog.info(ty).map_or("", TypeInfo::key);
            return Err(Error::type_error(format!(
                "random_node: no object of {key} can be made for {} (a type that needs itself, a \
                 field that holds a function, a variable that NodeOptions::closed forbids, or types \
                 that are not registered); give its type a function by NodeOptions::given",
                spot.place
            )));
        }
        // Nothing is bound and nothing else fits: a free variable.
        let ty = *self.source.pick(&variables);
        match self.free.get(&ty) {
            Some(Some(known)) => return Ok(known.clone()),
            Some(None) => {
                return Err(Error::type_error(format!(
                    "random_node: no variable can be made for {}, because a field of the variable \
                     needs a variable; give its type a function by NodeOptions::given",
                    spot.place
                )));
            }
            None => {}
        }
        self.free.insert(ty, None);
        let made = self.make(ty, spot.depth, None)?;
        self.free.insert(ty, Some(made.clone()));
        Ok(made)
    }

    fn one_of(&mut self, ty: TypeIndex, spot: Spot<'_>) -> Result<Value> {
        if let Some(make) = self.options.given.get(&ty) {
            return make(self.source).map(Value::from);
        }
        if self.catalog.is_var(ty) {
            let all = self.scopes.iter().flatten().filter(|(of, _)| *of == ty);
            let known: Vec<&Value> = all.map(|(_, var)| var).collect();
            return Ok((*self.source.pick(&known)).clone());
        }
        self.make(ty, spot.depth, spot.region)
    }

    /// A new object of a type, in a definition of a kind.
    fn make(&mut self, ty: TypeIndex, depth: i64, region: Option<FieldFlag>) -> Result<Value> {
        let info = self.catalog.info(ty);
        let info = info.ok_or_else(|| Error::type_error("random_node: the type was replaced"))?;
        if let (Some(members), Some(make)) = (self.catalog.members(info), info.init()) {
            let name = self.source.pick(members.values()).clone();
            return make.call(&[name]);
        }
        self.left -= 1;
        if info.is_scope() {
            self.scopes.push(Vec::new());
        }
        let mut values: Vec<(&str, Value)> = Vec::new();
        for field in info.fields_as_visited() {
            let place = Place { info, field };
            let spot = Spot::new(depth - 1, region_of(info, field, region), &place);
            if !field.has_default() || self.can(field.schema(), spot) {
                values.push((field.name(), self.value(field.schema(), spot)?));
            }
        }
        if info.is_scope() {
            self.scopes.pop();
        }
        let node = Value::from(construct_named(ty, values)?);
        let scope = self.scopes.last_mut().filter(|_| region.is_some());
        if let Some(scope) = scope
            && info.kind() == Kind::Var
        {
            scope.push((ty, node.clone()));
        }
        Ok(node)
    }
}

/// The kind of definition around the value of a field.
fn region_of(info: &TypeInfo, field: &FieldDef, region: Option<FieldFlag>) -> Option<FieldFlag> {
    match field.field_flag() {
        flag if defines(field) => Some(flag),
        FieldFlag::Use | FieldFlag::Ignore => None,
        // The fields of a variable that is bound alone are uses.
        _ if region == Some(FieldFlag::DefSimple) && info.kind() == Kind::Var => None,
        _ => region,
    }
}

/// A field of a type, in messages.
struct Place<'p> {
    info: &'p TypeInfo,
    field: &'p FieldDef,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.info.key(), self.field.name())
    }
}
