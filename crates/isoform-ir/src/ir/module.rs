//! `IRModule`: functions and type definitions under global names.
//!
//! The module depends on no dialect: for an added value, the module calls the function
//! in the attribute `ir.module.admit` of the value's type.

use std::collections::HashSet;

use isoform::attrs::Lookup;
use isoform::functions::Function;
use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
use isoform::types::{ElementType, RegionChange, Schema};
use isoform::values::Dict;
use isoform::{Array, Error, Map, Node, Ref, Result, Str, Value, attrs, export};

use super::attrs::DictAttrs;
use super::expr::GlobalVar;
use super::function::{self, BaseFunc, KeyOrDict};
use super::generic::{Constructor, GlobalTypeVar, TypeData};
use super::global_info::GlobalInfo;
use super::span::SourceMap;

/// Functions and type definitions under global names.
///
/// The names are unique. Functions can be added and replaced in place;
/// attributes are changed in a copy.
///
/// Modules are equal if they are equal after matching global variables and names of
/// types by name.
///
/// A shallow copy has its own dicts, so changes to the copy do not affect the original.
#[derive(Node)]
#[node(key = "ir.IRModule", scope, hooks(equal, hash), init = make_module, no_with)]
#[node(attrs("__ffi_shallow_copy__" = clone::function(), "diff.align" = "fields"))]
#[repr(C)]
pub struct IRModule {
    /// The functions.
    #[node(default)]
    pub functions: Dict<Ref<GlobalVar>, Ref<BaseFunc>>,
    /// The definitions of algebraic data types.
    #[node(default)]
    pub type_definitions: Dict<Ref<GlobalTypeVar>, Ref<TypeData>>,
    /// Attributes of the module, by name.
    #[node(default)]
    pub attrs: Option<Ref<DictAttrs>>,
    /// Further information that functions refer to, by name.
    #[node(default)]
    pub global_infos: Dict<Str, Array<Ref<GlobalInfo>>>,
    /// The source texts of the spans.
    #[node(ignore, default = SourceMap::new(), repr = false)]
    pub source_map: Ref<SourceMap>,
}

/// The kinds of objects that a module holds under global names.
pub trait Global: Node {
    /// For messages.
    const WHAT: &'static str;
    fn name(&self) -> &Str;
    fn named(name: Str) -> Ref<Self>;
}

impl Global for GlobalVar {
    const WHAT: &'static str = "global variable";
    fn name(&self) -> &Str {
        &self.name_hint
    }
    fn named(name: Str) -> Ref<Self> {
        GlobalVar::new(name)
    }
}

impl Global for GlobalTypeVar {
    const WHAT: &'static str = "global type variable";
    fn name(&self) -> &Str {
        &self.name_hint
    }
    fn named(name: Str) -> Ref<Self> {
        GlobalTypeVar::new(name)
    }
}

/// The keys, sorted by name.
fn sorted<K: Global, V: ElementType>(dict: &Dict<Ref<K>, V>) -> Vec<Ref<K>> {
    let entries: Map = dict.snapshot();
    let keys = entries.keys().filter_map(Value::peek::<Ref<K>>);
    // Contiguous names compare faster than names reached through objects.
    let mut keys: Vec<(&str, &Ref<K>)> = keys.map(|key| (&**key.name(), key)).collect();
    keys.sort_by_key(|(name, _)| *name);
    keys.into_iter().map(|(_, key)| key.clone()).collect()
}

/// The key of a name. O(1) amortised.
fn find<K: Global, V: ElementType>(dict: &Dict<Ref<K>, V>, name: &str) -> Option<Ref<K>> {
    dict.key_named(name, global_name)
}

/// The name of any key of the dicts of modules.
fn global_name(key: &Value) -> Option<&str> {
    match key.peek::<Ref<GlobalVar>>() {
        Some(var) => Some(var.name()),
        None => key.peek::<Ref<GlobalTypeVar>>().map(|var| &**var.name()),
    }
}

/// The key of an existing name.
fn get<K: Global, V: ElementType>(dict: &Dict<Ref<K>, V>, name: &str) -> Result<Ref<K>> {
    find(dict, name).ok_or_else(|| {
        let known: Vec<_> = sorted(dict)
            .iter()
            .map(|key| format!("{:?}", &**key.name()))
            .collect();
        Error::value_error(format!(
            "Cannot find {} {name:?} in the module, which has: {}",
            K::WHAT,
            known.join(", ")
        ))
    })
}

/// Sets the definition of a key, replacing any present definition.
fn put<K: Global, V: ElementType>(dict: &Dict<Ref<K>, V>, key: &Ref<K>, value: V) -> Result<()> {
    match find(dict, key.name()) {
        Some(known) if !known.same_as(key) => Err(duplicate(key)),
        _ => {
            dict.insert(key.clone(), value)?;
            Ok(())
        }
    }
}

fn duplicate<K: Global>(key: &Ref<K>) -> Error {
    Error::value_error(format!(
        "the module has another {} of the name {:?}",
        K::WHAT,
        &**key.name()
    ))
}

/// Converts a dict, possibly with strings as keys, to a dict with global names; `what`
/// names the purpose in messages.
pub fn globals<K: Global, V: ElementType>(
    what: &str,
    given: Option<&Value>,
) -> Result<Dict<Ref<K>, V>> {
    let Some(given) = given else {
        return Ok(Dict::new());
    };
    named(given).map_err(|error| error.in_context(format_args!("ir.IRModule.{what}")))
}

fn named<K: Global, V: ElementType>(mapping: &Value) -> Result<Dict<Ref<K>, V>> {
    let dict = Dict::new();
    let entries = mapping.entries().ok_or_else(|| {
        Error::type_error(format!(
            "expected a dict of {} to {}, got {}",
            K::TYPE_KEY,
            V::element_schema(),
            mapping.type_name()
        ))
    })?;
    let mut names = HashSet::new();
    for (key, value) in entries.iter() {
        let key = key_of::<K>(key)?;
        if !names.insert(key.name().to_string()) {
            return Err(duplicate(&key));
        }
        let value = V::element_schema()
            .convert(value.clone())
            .map_err(|error| {
                Error::new(
                    error.kind(),
                    format!("{:?}: {}", &**key.name(), error.message()),
                )
            })?;
        dict.insert(key, value.extract()?)?;
    }
    Ok(dict)
}

/// The attribute of types whose values a module admits although they are not functions,
/// or only after a check. The value is a function from the value, the global variable
/// and the module to the function to add.
pub const ADMIT: &str = "ir.module.admit";

/// The function to add for a value.
fn admitted(module: &Ref<IRModule>, var: &Ref<GlobalVar>, value: &Value) -> Result<Ref<BaseFunc>> {
    let object = value.as_object();
    let admit = object.and_then(|object| attrs::get(object.type_index(), ADMIT, Lookup::Nearest));
    let made = match admit {
        Some(admit) => {
            let admit: Function = admit.extract()?;
            admit.call(&[value.clone(), var.into(), module.into()])?
        }
        None => value.clone(),
    };
    Schema::object::<BaseFunc>().convert(made)?.extract()
}

/// Adds the function for a value to a module.
fn add(module: &Ref<IRModule>, var: &Ref<GlobalVar>, value: &Value) -> Result<()> {
    put(&module.functions, var, admitted(module, var, value)?)
}

/// Adds the functions of a dict to a module, and returns the functions; `what` names
/// the purpose in messages.
fn add_all(
    module: &Ref<IRModule>,
    what: &str,
    functions: Option<&Value>,
) -> Result<Vec<(Ref<GlobalVar>, Ref<BaseFunc>)>> {
    if let Some(other) = functions.filter(|functions| functions.entries().is_none()) {
        return Err(Error::type_error(format!(
            "ir.IRModule.{what}: expected a dict of {} to {}, got {}",
            GlobalVar::TYPE_KEY,
            BaseFunc::TYPE_KEY,
            other.type_name()
        )));
    }
    let functions: Dict<Ref<GlobalVar>, Value> = globals(what, functions)?;
    let functions = functions.snapshot();
    // Aliases for functions of the module come after the aliased functions.
    let (later, first): (Vec<_>, Vec<_>) = functions
        .iter()
        .partition(|(_, value)| value.peek::<Ref<GlobalVar>>().is_some());
    let mut added = Vec::with_capacity(first.len() + later.len());
    for (key, value) in first.into_iter().chain(later) {
        let var = key.extract::<Ref<GlobalVar>>()?;
        let func = admitted(module, &var, value).map_err(|error| {
            let message = format!("{:?}: {}", &*var.name_hint, error.message());
            Error::new(error.kind(), message).in_context(format_args!("ir.IRModule.{what}"))
        })?;
        module.functions.insert(var.clone(), func.clone())?;
        added.push((var, func));
    }
    Ok(added)
}

/// A global name, given as a name object or a string.
fn key_of<K: Global>(given: &Value) -> Result<Ref<K>> {
    match given.as_str() {
        Some(name) => Ok(K::named(name.into())),
        None => given.extract(),
    }
}

impl IRModule {
    /// Returns the global variable of a name.
    ///
    /// # Errors
    ///
    /// `ValueError` with the known names, if no variable has this name.
    pub fn global_var(&self, name: &str) -> Result<Ref<GlobalVar>> {
        get(&self.functions, name)
    }

    /// Returns the global type variable of a name.
    ///
    /// # Errors
    ///
    /// `ValueError` with the known names, if no type variable has this name.
    pub fn global_type_var(&self, name: &str) -> Result<Ref<GlobalTypeVar>> {
        get(&self.type_definitions, name)
    }

    /// The global variables, sorted by name.
    pub fn global_vars(&self) -> Vec<Ref<GlobalVar>> {
        sorted(&self.functions)
    }

    /// The names of types, sorted by name.
    pub fn global_type_vars(&self) -> Vec<Ref<GlobalTypeVar>> {
        sorted(&self.type_definitions)
    }

    /// The function of a global variable.
    ///
    /// # Errors
    ///
    /// `ValueError` for a variable without a definition in the module.
    pub fn lookup(&self, var: &Ref<GlobalVar>) -> Result<Ref<BaseFunc>> {
        self.functions.get(var).ok_or_else(|| undefined(var))
    }

    /// The definition of a type.
    ///
    /// # Errors
    ///
    /// `ValueError` for a variable without a definition in the module.
    pub fn lookup_type(&self, var: &Ref<GlobalTypeVar>) -> Result<Ref<TypeData>> {
        let found = self.type_definitions.get(var);
        found.ok_or_else(|| undefined(var))
    }

    /// Adds a type, or replaces its definition.
    ///
    /// # Errors
    ///
    /// `ValueError` if another type has the name.
    pub fn update_type(&self, var: &Ref<GlobalTypeVar>, definition: Ref<TypeData>) -> Result<()> {
        put(&self.type_definitions, var, definition)
    }

    /// Adds all functions of another module, replacing present definitions.
    ///
    /// # Errors
    ///
    /// `ValueError` if the modules have different variables of the same name; the
    /// module then stays unchanged.
    pub fn update(&self, other: &Ref<IRModule>) -> Result<()> {
        let vars = other.global_vars();
        for var in &vars {
            match find(&self.functions, &var.name_hint) {
                Some(known) if !known.same_as(var) => return Err(duplicate(var)),
                _ => {}
            }
        }
        for var in vars {
            let func = other.lookup(&var)?;
            self.functions.insert(var, func)?;
        }
        Ok(())
    }

    /// The constructor of this [tag](Constructor::tag).
    ///
    /// # Errors
    ///
    /// `ValueError` if no data type of the module has the tag.
    pub fn constructor(&self, tag: i64) -> Result<Ref<Constructor>> {
        for var in self.global_type_vars() {
            let definition = self.lookup_type(&var)?;
            let mut constructors = definition.constructors.iter();
            if let Some(found) = constructors.find(|constructor| constructor.tag() == tag) {
                return Ok(found.clone());
            }
        }
        Err(Error::value_error(format!(
            "There is no constructor with the tag {tag}"
        )))
    }

    /// The value of an attribute, if set.
    pub fn attribute(&self, key: &str) -> Option<&Value> {
        self.attrs.as_ref()?.dict.get(key)
    }
}

/// Changes of a module that tell functions to which module they belong.
pub trait IRModuleRef {
    /// Adds a function, or replaces that of the variable, after the check that the type of
    /// the function asks for with the attribute `ir.module.admit`.
    ///
    /// # Errors
    ///
    /// `ValueError` if another variable has the name; those of the check.
    fn update_func(&self, var: &Ref<GlobalVar>, func: Ref<BaseFunc>) -> Result<()>;
}

impl IRModuleRef for Ref<IRModule> {
    fn update_func(&self, var: &Ref<GlobalVar>, func: Ref<BaseFunc>) -> Result<()> {
        add(self, var, &func.into())
    }
}

impl IRModule {
    /// Returns an independent copy. O(functions).
    pub fn copied(&self) -> Ref<IRModule> {
        self.with_dict(self.attrs.clone())
    }

    /// True if both consist of the same objects, in the same order. O(1) if neither has
    /// changed since one of them was [copied](Self::copied) from the other, otherwise linear.
    pub(crate) fn has_contents_of(&self, other: &IRModule) -> bool {
        let attrs = match (&self.attrs, &other.attrs) {
            (Some(attrs), Some(other)) => attrs.same_as(other),
            (attrs, other) => attrs.is_none() && other.is_none(),
        };
        attrs
            && self.source_map.same_as(&other.source_map)
            && have_same_entries(&self.functions, &other.functions)
            && have_same_entries(&self.type_definitions, &other.type_definitions)
            && have_same_entries(&self.global_infos, &other.global_infos)
    }

    fn with_dict(&self, attrs: Option<Ref<DictAttrs>>) -> Ref<IRModule> {
        Ref::new(IRModule {
            functions: copied(&self.functions),
            type_definitions: copied(&self.type_definitions),
            attrs,
            global_infos: copied(&self.global_infos),
            source_map: self.source_map.clone(),
        })
    }
}

fn undefined<K: Global>(key: &Ref<K>) -> Error {
    Error::value_error(format!(
        "There is no definition of the {} {:?}",
        K::WHAT,
        &**key.name()
    ))
}

fn copied<K: ElementType, V: ElementType>(dict: &Dict<K, V>) -> Dict<K, V> {
    Dict::of(dict.snapshot())
}

fn have_same_entries<K: ElementType, V: ElementType>(
    left: &Dict<K, V>,
    right: &Dict<K, V>,
) -> bool {
    let (left, right) = (left.snapshot(), right.snapshot());
    let is_same = |left: &Value, right: &Value| match (left.as_object(), right.as_object()) {
        (Some(left), Some(right)) => left.same_as(right),
        _ => left == right,
    };
    left.same_as(&right)
        || left.len() == right.len()
            && left
                .iter()
                .zip(right.iter())
                .all(|(left, right)| is_same(left.0, right.0) && is_same(left.1, right.1))
}

/// Binds the keys with common names of two dicts.
fn bind<K: Global, V: ElementType>(
    left: &Dict<Ref<K>, V>,
    right: &Dict<Ref<K>, V>,
    field: &str,
    eq: &mut dyn EqualCallback,
) -> Result<bool> {
    let others = sorted(right);
    for key in sorted(left) {
        let position = others.binary_search_by(|other| (**other.name()).cmp(&**key.name()));
        let Ok(position) = position else {
            continue;
        };
        let (key, other) = (Value::from(key), Value::from(&others[position]));
        if !eq.equal_in(&key, &other, RegionChange::DefSimple, field)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl StructuralEqual for IRModule {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        let attrs = |module: &IRModule| Value::from(module.attrs.clone());
        let infos = |module: &IRModule| Value::from(module.global_infos.clone());
        let types = |module: &IRModule| Value::from(module.type_definitions.clone());
        let functions = |module: &IRModule| Value::from(module.functions.clone());
        // A dict then finds the values of bound keys, and the keys that are missing.
        Ok(bind(
            &self.type_definitions,
            &other.type_definitions,
            "type_definitions",
            eq,
        )? && bind(&self.functions, &other.functions, "functions", eq)?
            && eq.equal(&attrs(self), &attrs(other), "attrs")?
            && eq.equal(&infos(self), &infos(other), "global_infos")?
            && eq.equal(&types(self), &types(other), "type_definitions")?
            && eq.equal(&functions(self), &functions(other), "functions")?)
    }
}

impl StructuralHash for IRModule {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        let mut state = init;
        for key in sorted(&self.type_definitions) {
            state = hash.hash(&Value::from(&key.name_hint), state)?;
            state = hash.hash_in(&key.into(), state, RegionChange::DefSimple)?;
        }
        for key in sorted(&self.functions) {
            state = hash.hash_named(&key.into(), state)?;
        }
        state = hash.hash(&Value::from(self.attrs.clone()), state)?;
        state = hash.hash(&Value::from(self.global_infos.clone()), state)?;
        state = hash.hash(&Value::from(self.type_definitions.clone()), state)?;
        hash.hash(&Value::from(self.functions.clone()), state)
    }
}

/// Makes a module; strings among the keys become global names.
#[export("ir.IRModule")]
fn make_module(
    functions: Option<Value>,
    type_definitions: Option<Value>,
    attrs: Option<Ref<DictAttrs>>,
    global_infos: Option<Dict<Str, Array<Ref<GlobalInfo>>>>,
) -> Result<Ref<IRModule>> {
    let module = Ref::new(IRModule {
        functions: Dict::new(),
        type_definitions: globals("type_definitions", type_definitions.as_ref())?,
        attrs,
        global_infos: global_infos.unwrap_or_default(),
        source_map: SourceMap::new(),
    });
    add_all(&module, "functions", functions.as_ref())?;
    Ok(module)
}

/// Returns the definition of a global variable or of the name of a type.
#[export("ir.IRModule.get")]
fn get_item(this: &Ref<IRModule>, var: Value) -> Result<Value> {
    if let Some(name) = var.as_str() {
        return Ok(this.lookup(&this.global_var(name)?)?.into());
    }
    match var.peek::<Ref<GlobalTypeVar>>() {
        Some(var) => Ok(this.lookup_type(var)?.into()),
        None => Ok(this.lookup(&var.extract()?)?.into()),
    }
}

/// True if the module has a definition of this name.
#[export("ir.IRModule.contains")]
fn contains(this: &Ref<IRModule>, var: Value) -> bool {
    match var.as_str() {
        Some(name) => find(&this.functions, name).is_some(),
        None => this.functions.contains_key(&var) || this.type_definitions.contains_key(&var),
    }
}

/// Adds a function or a type definition under a name; TypeError for other values.
#[export("ir.IRModule.set")]
fn set_item(this: &Ref<IRModule>, var: Value, val: Value) -> Result<()> {
    if let Some(definition) = val.peek::<Ref<TypeData>>() {
        let known = var
            .as_str()
            .and_then(|name| find(&this.type_definitions, name));
        let var = known.map_or_else(|| key_of(&var), Ok)?;
        return this.update_type(&var, definition.clone());
    }
    let known = var.as_str().and_then(|name| find(&this.functions, name));
    let var = known.map_or_else(|| key_of(&var), Ok)?;
    add(this, &var, &val)
}

/// Removes the definition of a name.
#[export("ir.IRModule.remove")]
fn remove_item(this: &Ref<IRModule>, var: Value) -> Result<()> {
    let var = match var.as_str() {
        Some(name) => this.global_var(name)?.into(),
        None => var,
    };
    if this.functions.remove(&var).is_some() || this.type_definitions.remove(&var).is_some() {
        return Ok(());
    }
    match var.peek::<Ref<GlobalTypeVar>>() {
        Some(var) => Err(undefined(var)),
        None => Err(undefined(&var.extract::<Ref<GlobalVar>>()?)),
    }
}

/// Adds the functions of another module or of a dict, in place.
#[export("ir.IRModule.update")]
fn update(this: &Ref<IRModule>, other: Value) -> Result<()> {
    if let Some(other) = other.peek::<Ref<IRModule>>() {
        return this.update(other);
    }
    // A name already in the module refers to the module's variable.
    let entries = add_all(&this.copied(), "update", Some(&other))?;
    let named = other.entries().unwrap_or_default();
    let by_text = |name: &str| named.contains_key(name);
    let functions = Dict::<Ref<GlobalVar>, Ref<BaseFunc>>::new();
    for (key, func) in entries {
        let known = find(&this.functions, &key.name_hint).filter(|_| by_text(&key.name_hint));
        functions.insert(known.unwrap_or(key), func)?;
    }
    let module = IRModule::new();
    module.functions.replace(functions.snapshot())?;
    this.update(&module)
}

/// Adds a function to a module in place, or replaces the function of the variable.
#[export("ir.IRModule.update_func")]
fn update_func(this: &Ref<IRModule>, var: &Ref<GlobalVar>, func: Ref<BaseFunc>) -> Result<()> {
    this.update_func(var, func)
}

/// Sets the information under a name, in place.
#[export("ir.IRModule.update_global_info")]
fn update_global_info(
    this: &Ref<IRModule>,
    name: Str,
    global_info: Array<Ref<GlobalInfo>>,
) -> Result<()> {
    this.global_infos.insert(name, global_info).map(drop)
}

/// The functions with their variables, sorted by name.
#[export("ir.IRModule.functions_items")]
fn functions_items(this: &Ref<IRModule>) -> Result<Vec<(Ref<GlobalVar>, Ref<BaseFunc>)>> {
    let vars = this.global_vars().into_iter();
    vars.map(|var| {
        let func = this.lookup(&var)?;
        Ok((var, func))
    })
    .collect()
}

/// Returns an attribute of the module; None if unset.
#[export("ir.IRModule.get_attr")]
fn get_attr(this: &Ref<IRModule>, attr_key: &str) -> Value {
    this.attribute(attr_key).cloned().unwrap_or_default()
}

/// A copy of the module with an attribute set, or several at once from a dict.
#[export("ir.IRModule.with_attr")]
fn with_attr(
    this: &Ref<IRModule>,
    attr_key: Value,
    attr_value: Option<Value>,
) -> Result<Ref<IRModule>> {
    let more = match function::key_or_dict(&attr_key)? {
        KeyOrDict::Key(key) => [(key, Value::from(attr_value))].into_iter().collect(),
        KeyOrDict::Dict(dict) => dict,
    };
    with_attrs(this, more.into())
}

/// A copy of the module with more attributes.
#[export("ir.IRModule.with_attrs")]
fn with_attrs(this: &Ref<IRModule>, attr_map: Value) -> Result<Ref<IRModule>> {
    let more = function::attrs_of(&attr_map)?;
    let more = more.iter().map(|(key, value)| (key.clone(), value.clone()));
    let dict = function::updated(this.attrs.as_ref(), more);
    Ok(this.with_dict(Some(DictAttrs::from_map(dict))))
}

/// A copy of the module without an attribute.
#[export("ir.IRModule.without_attr")]
fn without_attr(this: &Ref<IRModule>, attr_key: &str) -> Ref<IRModule> {
    let dict = function::reduced(this.attrs.as_ref(), attr_key);
    this.with_dict(Some(DictAttrs::from_map(dict)))
}

/// Returns an independent copy of the module.
#[export("ir.IRModule.clone")]
fn clone(this: &Ref<IRModule>) -> Ref<IRModule> {
    this.copied()
}

/// Returns the constructor with this tag; ValueError for an unknown tag.
#[export("ir.IRModule.get_constructor")]
fn get_constructor(this: &Ref<IRModule>, tag: i64) -> Result<Ref<Constructor>> {
    this.constructor(tag)
}

/// Returns the global variable of a name; ValueError with the known names for an
/// unknown name.
#[export("ir.IRModule.get_global_var")]
fn get_global_var(this: &Ref<IRModule>, name: &str) -> Result<Ref<GlobalVar>> {
    this.global_var(name)
}

/// The global variables, sorted by name.
#[export("ir.IRModule.get_global_vars")]
fn get_global_vars(this: &Ref<IRModule>) -> Vec<Ref<GlobalVar>> {
    this.global_vars()
}

/// Returns the name object of a type; ValueError with the known names for an unknown
/// name.
#[export("ir.IRModule.get_global_type_var")]
fn get_global_type_var(this: &Ref<IRModule>, name: &str) -> Result<Ref<GlobalTypeVar>> {
    this.global_type_var(name)
}

/// The names of types, sorted.
#[export("ir.IRModule.get_global_type_vars")]
fn get_global_type_vars(this: &Ref<IRModule>) -> Vec<Ref<GlobalTypeVar>> {
    this.global_type_vars()
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { IRModule:
        update = update,
        update_func = update_func,
        update_global_info = update_global_info,
        functions_items = functions_items,
        get_attr = get_attr,
        with_attr = with_attr,
        with_attrs = with_attrs,
        without_attr = without_attr,
        clone = clone,
        get_constructor = get_constructor,
        get_global_var = get_global_var,
        get_global_vars = get_global_vars,
        get_global_type_var = get_global_type_var,
        get_global_type_vars = get_global_type_vars,
    }?;
    isoform::register_functions![get_item, contains, set_item, remove_item]
}
