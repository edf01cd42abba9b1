//! `TypeDef` and `FieldDef`: a node type's declaration as data.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::attr_difference::attr_difference;
use super::rust_type::RustType;
use super::schema::Schema;
use super::visit_order;
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::{Hook, HookSet};
use crate::kernel::object::field::{FieldType, Storage};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Obj};
use crate::kernel::object::table;
use crate::kernel::setters::setters;
use crate::kernel::value::Value;

/// The role of a type in structural comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// Equal if all fields are; sharing is invisible.
    #[default]
    Tree,
    /// Like `Tree`, and an object is equal to itself without a visit. Promises an
    /// immutable object without any var or dag node inside.
    ConstTree,
    /// Like `Tree`, and sharing matters: the same object on one side must be the same
    /// object on the other.
    Dag,
    /// A variable: equal by the place of its binding.
    Var,
    /// Equal only to itself.
    Singleton,
    /// Never comparable.
    None,
}

impl Kind {
    /// All kinds with their names in declarations.
    pub const ALL: [(Kind, &'static str); 6] = [
        (Kind::Tree, "tree"),
        (Kind::ConstTree, "const-tree"),
        (Kind::Dag, "dag"),
        (Kind::Var, "var"),
        (Kind::Singleton, "singleton"),
        (Kind::None, "none"),
    ];

    /// The name in declarations.
    pub fn name(self) -> &'static str {
        Kind::ALL[self as usize].1
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Kind::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(kind, _)| *kind).ok_or_else(|| {
            let known: Vec<_> = Kind::ALL.iter().map(|(_, name)| *name).collect();
            Error::value_error(format!(
                "unknown structural kind {name:?}, expected one of {}",
                known.join(", ")
            ))
        })
    }
}

/// The treatment of a field in structural comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum FieldFlag {
    /// Compared, in the region of the enclosing field.
    #[default]
    None,
    /// Not part of the node's identity.
    Ignore,
    /// A definition region: every variable inside, at any depth, may bind.
    Def,
    /// Only a variable directly in the field may bind; the variable's own fields are
    /// uses.
    DefSimple,
    /// The region in which the comparison started, even inside a definition region:
    /// variables are used.
    Use,
}

impl FieldFlag {
    /// All flags with their names in declarations, the usual name first.
    pub const ALL: [(FieldFlag, &'static [&'static str]); 4] = [
        (FieldFlag::Ignore, &["ignore"]),
        (FieldFlag::Def, &["def", "def-recursive", "def-pattern"]),
        (FieldFlag::DefSimple, &["def-simple", "def-non-recursive"]),
        (FieldFlag::Use, &["use"]),
    ];

    /// The usual name in declarations; None for a field without a flag.
    pub fn name(self) -> Option<&'static str> {
        let mut flags = FieldFlag::ALL.iter();
        flags.find_map(|(flag, names)| (*flag == self).then(|| names[0]))
    }
}

impl FromStr for FieldFlag {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let mut flags = FieldFlag::ALL.iter();
        let found = flags.find(|(_, names)| names.contains(&name));
        found.map(|(flag, _)| *flag).ok_or_else(|| {
            let known: Vec<_> = FieldFlag::ALL.iter().map(|(_, names)| names[0]).collect();
            Error::value_error(format!(
                "unknown field flag {name:?}, expected one of {}",
                known.join(", ")
            ))
        })
    }
}

/// The source of a value for an omitted field.
#[derive(Clone)]
enum FieldDefault {
    Fixed(Value),
    Made(Arc<dyn Fn() -> Value + Send + Sync>),
}

/// One field of a type.
#[derive(Clone)]
pub struct FieldDef {
    name: Box<str>,
    schema: Schema,
    storage: Storage,
    offset: Option<usize>,
    flag: FieldFlag,
    mutable: bool,
    compare: bool,
    hash: Option<bool>,
    repr: bool,
    default: Option<FieldDefault>,
    aliases: Box<[Box<str>]>,
    doc: Box<str>,
}

impl FieldDef {
    /// A field of a type declared at run time; the schema decides the storage.
    pub fn new(name: &str, schema: Schema) -> Self {
        let storage = Storage::of(&schema);
        FieldDef {
            name: name.into(),
            schema,
            storage,
            offset: None,
            flag: FieldFlag::None,
            mutable: false,
            compare: true,
            hash: None,
            repr: true,
            default: None,
            aliases: Box::default(),
            doc: Box::default(),
        }
    }

    /// A field of a Rust struct, at this offset; used by the derive.
    #[doc(hidden)]
    pub fn of<F: FieldType>(name: &str, offset: usize) -> Self {
        FieldDef {
            offset: Some(offset),
            storage: F::STORAGE,
            ..FieldDef::new(name, F::schema())
        }
    }

    setters! {
        /// Sets the treatment of the field in comparison.
        flag: FieldFlag,
        /// Sets whether [`set_field`](crate::objects::set_field) may change the field, in
        /// objects with any number of owners. Only fields declared at run time can
        /// be mutable: the fields of a Rust struct are read through plain references.
        mutable: bool,
        /// Sets whether [`recursive_eq`](crate::compare::recursive_eq) and
        /// [`recursive_cmp`](crate::compare::recursive_cmp) compare the field; the default is true.
        compare: bool,
        /// Sets whether [`repr`](crate::objects::repr()) shows the field; the default is true.
        repr: bool,
    }

    /// Sets whether [`recursive_hash`](crate::compare::recursive_hash) includes the field; by
    /// default, it does if the field is compared.
    #[must_use]
    pub fn hash(mut self, hash: bool) -> Self {
        self.hash = Some(hash);
        self
    }

    /// Sets a default that is the same for all objects.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(FieldDefault::Fixed(value.into()));
        self
    }

    /// Sets a default created for every object.
    #[must_use]
    pub fn default_fn(mut self, make: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        self.default = Some(FieldDefault::Made(Arc::new(make)));
        self
    }

    /// Sets the former names of the field, which files, texts and patches may have instead of
    /// its name. Programs know the field by its name alone.
    ///
    /// ```
    /// use isoform::files::from_json_graph;
    /// use isoform::objects::field_value;
    /// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
    ///
    /// let left = FieldDef::new("left", Schema::Int).aliases(["lhs"]);
    /// register_type(TypeDef::new("doc.Sum").aliases(["doc.Add"]).field(left))?;
    /// let old = r#"{"root_index": 0, "nodes": [{"type": "doc.Add", "data": {"lhs": 7}}]}"#;
    /// let sum = from_json_graph(old)?;
    /// let sum = sum.as_object().expect("a sum");
    /// assert_eq!(sum.type_info().key(), "doc.Sum");
    /// assert_eq!(field_value(sum, "left")?, 7.into());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn aliases<S: Into<Box<str>>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.aliases = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the documentation.
    #[must_use]
    pub fn doc(mut self, text: &str) -> Self {
        self.doc = text.into();
        self
    }

    /// The former names of the field.
    pub fn former_names(&self) -> &[Box<str>] {
        &self.aliases
    }

    /// True if files may call the field by this name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.aliases.iter().any(|alias| **alias == *name)
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values that the field accepts.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How the field is stored.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// The treatment of the field in comparison.
    pub fn field_flag(&self) -> FieldFlag {
        self.flag
    }

    /// True if [`set_field`](crate::objects::set_field) may change the field.
    pub fn is_mutable(&self) -> bool {
        self.mutable
    }

    /// True if recursive comparison includes the field.
    pub fn is_compared(&self) -> bool {
        self.compare
    }

    /// True if the recursive hash includes the field.
    pub fn is_hashed(&self) -> bool {
        self.hash.unwrap_or(self.compare)
    }

    /// True if the field is shown in the text of an object.
    pub fn is_shown(&self) -> bool {
        self.repr
    }

    /// Makes a default value; None for a required field.
    pub fn make_default(&self) -> Option<Value> {
        self.default.as_ref().map(|default| match default {
            FieldDefault::Fixed(value) => value.clone(),
            FieldDefault::Made(make) => make(),
        })
    }

    /// True if the field may be omitted on construction.
    pub fn has_default(&self) -> bool {
        self.default.is_some()
    }

    /// The documentation; may be empty.
    pub fn documentation(&self) -> &str {
        &self.doc
    }

    pub(crate) fn declared_offset(&self) -> Option<usize> {
        self.offset
    }

    fn difference(&self, other: &FieldDef) -> Option<String> {
        let name = &self.name;
        if self.name != other.name {
            return Some(format!("field '{}' is now '{}'", self.name, other.name));
        }
        if self.schema != other.schema {
            return Some(format!(
                "field '{name}' was {}, is now {}",
                self.schema, other.schema
            ));
        }
        if self.storage != other.storage {
            return Some(format!(
                "field '{name}' was stored as {:?}, is now {:?}",
                self.storage, other.storage
            ));
        }
        if self.flag != other.flag {
            return Some(format!(
                "field '{name}' was {:?}, is now {:?}",
                self.flag, other.flag
            ));
        }
        if self.mutable != other.mutable {
            return Some(format!("field '{name}' is mutable in only one of them"));
        }
        let uses = |field: &FieldDef| (field.compare, field.is_hashed(), field.repr);
        if uses(self) != uses(other) {
            return Some(format!("field '{name}' differs in compare, hash or repr"));
        }
        if self.has_default() != other.has_default() {
            return Some(format!("field '{name}' has a default in only one of them"));
        }
        if self.aliases != other.aliases {
            return Some(format!("the aliases of field '{name}' differ"));
        }
        None
    }
}

impl fmt::Debug for FieldDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{:?}]", self.name, self.schema, self.flag)
    }
}

/// The attribute with the constructor for host languages: calling the class calls this
/// function, which returns an object of the type and has the
/// [signature](crate::functions::Function::signature) of the constructor. Without the
/// attribute, constructors take the fields.
pub const INIT: &str = "__ffi_init__";

/// Attributes that are not hooks.
pub(crate) type NamedValues = Vec<(Box<str>, Value)>;

/// A node type's declaration: key, parent, kind, fields and options.
///
/// The derive generates the definition of Rust structs;
/// [`register_type`](crate::types::register_type) takes a definition built by hand, for
/// types declared at run time.
#[derive(Clone)]
pub struct TypeDef {
    key: Box<str>,
    parent: Option<TypeIndex>,
    kind: Kind,
    scope: bool,
    defs_first: Option<bool>,
    visit_order: Option<Box<[Box<str>]>>,
    aliases: Box<[Box<str>]>,
    doc: Box<str>,
    fields: Vec<FieldDef>,
    hooks: HookSet,
    attrs: NamedValues,
    size: Option<usize>,
    rust_type: Option<RustType>,
}

impl TypeDef {
    /// A type of kind `tree` without fields, extending the root.
    pub fn new(key: &str) -> Self {
        TypeDef {
            key: key.into(),
            parent: None,
            kind: Kind::Tree,
            scope: false,
            defs_first: None,
            visit_order: None,
            aliases: Box::default(),
            doc: Box::default(),
            fields: Vec::new(),
            hooks: HookSet::default(),
            attrs: NamedValues::new(),
            size: None,
            rust_type: None,
        }
    }

    /// The start of a Rust type's definition; used by the derive.
    #[doc(hidden)]
    #[track_caller]
    pub fn of<T: Node>() -> Self {
        let definition = TypeDef::new(T::TYPE_KEY).parent(T::Parent::type_index());
        TypeDef {
            size: Some(size_of::<T>()),
            rust_type: Some(RustType::of::<T>()),
            ..definition
        }
    }

    pub(crate) fn root() -> Self {
        TypeDef::new(Obj::TYPE_KEY)
            .kind(Kind::None)
            .doc("The root of all node types.")
    }

    /// Sets the parent, whose fields come first.
    #[must_use]
    pub fn parent(mut self, parent: TypeIndex) -> Self {
        self.parent = Some(parent);
        self
    }

    setters! {
        /// Sets the structural kind.
        kind: Kind,
        /// Sets whether bindings made inside an object of this type end with it.
        scope: bool,
    }

    /// Sets whether definition fields are visited before other fields, including
    /// inherited fields; by default, they are if the type is a scope and declares no
    /// [order of visit](Self::visit_order).
    ///
    /// A `let` whose variable is not bound in its own value is a scope with
    /// `defs_first(false)`, declaring value, variable, body in this order.
    #[must_use]
    pub fn defs_first(mut self, defs_first: bool) -> Self {
        self.defs_first = Some(defs_first);
        self
    }

    /// Sets the order of visit of the type's own fields, independent of the order of
    /// declaration, which constructors, text and files keep.
    ///
    /// Each field is named once; ignored fields may be omitted and come last. Inherited
    /// fields come first, in the order of the parent; inherited fields named here come
    /// at their named position. Extending types keep the order for inherited fields.
    ///
    /// ```
    /// use isoform::Value;
    /// use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeDef};
    /// use isoform::objects::{construct, field_value};
    /// use isoform::traverse::substitute;
    /// use isoform::types::register_type;
    ///
    /// let var = register_type(TypeDef::new("doc.LoopVar").kind(Kind::Var))?;
    /// let each = register_type(
    ///     TypeDef::new("doc.For")
    ///         .scope(true)
    ///         .visit_order(["lo", "hi", "var", "body"])
    ///         .field(FieldDef::new("var", Schema::Any).flag(FieldFlag::Def))
    ///         .field(FieldDef::new("lo", Schema::Any))
    ///         .field(FieldDef::new("hi", Schema::Any))
    ///         .field(FieldDef::new("body", Schema::Any)),
    /// )?;
    /// // The bounds are outside of the binding, so this is another x.
    /// let x = Value::from(construct(var, vec![])?);
    /// let nest = construct(each, vec![x.clone(), 0.into(), x.clone(), x.clone()])?;
    /// let done = substitute(nest, &[(x.clone(), 9)])?;
    /// let done = done.as_object().expect("a loop stays a loop");
    /// assert_eq!(field_value(done, "hi")?, 9.into());
    /// assert_eq!(field_value(done, "body")?, x);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn visit_order<S: Into<Box<str>>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.visit_order = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the former keys of the type, which files, texts and patches may have instead of its
    /// key; see [`FieldDef::aliases`]. Programs know the type by its key alone.
    #[must_use]
    pub fn aliases<S: Into<Box<str>>>(mut self, keys: impl IntoIterator<Item = S>) -> Self {
        self.aliases = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the documentation.
    #[must_use]
    pub fn doc(mut self, text: &str) -> Self {
        self.doc = text.into();
        self
    }

    /// Adds a field after the existing ones.
    #[must_use]
    pub fn field(mut self, field: FieldDef) -> Self {
        self.fields.push(field);
        self
    }

    /// Sets a hook, which is also an attribute of the type. Rust types get their hooks
    /// from traits, as in `DynEqual::of::<T>()`.
    #[must_use]
    pub fn hook<H: Hook>(mut self, hook: H) -> Self {
        *H::slot(&mut self.hooks) = Some(hook);
        self
    }

    /// Sets an attribute, registered together with the type; see
    /// [`attrs`](crate::attrs).
    #[must_use]
    pub fn attr(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attrs.push((name.into(), value.into()));
        self
    }

    /// The type's name.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The former keys of the type.
    pub fn former_keys(&self) -> &[Box<str>] {
        &self.aliases
    }

    pub(crate) fn parent_index(&self) -> Option<TypeIndex> {
        self.parent
    }

    pub(crate) fn structural_kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn is_scope(&self) -> bool {
        self.scope
    }

    /// True if definition fields come first; None without a declaration.
    pub fn declared_defs_first(&self) -> Option<bool> {
        self.defs_first
    }

    /// The order of visit, if declared.
    pub fn stated_order(&self) -> Option<&[Box<str>]> {
        self.visit_order.as_deref()
    }

    /// True if definition fields come first, as far as the definition alone can decide.
    fn visits_defs_first(&self) -> bool {
        let by_default = self.scope && self.visit_order.is_none();
        self.defs_first.unwrap_or(by_default)
    }

    pub(crate) fn documentation(&self) -> &str {
        &self.doc
    }

    /// The fields, excluding those of parents.
    pub fn own_fields(&self) -> &[FieldDef] {
        &self.fields
    }

    /// The hooks, and all further attributes by name.
    ///
    /// # Errors
    ///
    /// `ValueError` for an attribute without a name or set twice, `TypeError` for an
    /// invalid hook.
    pub(crate) fn attributes(&self) -> Result<(HookSet, NamedValues)> {
        let mut hooks = self.hooks.clone();
        let mut others = NamedValues::new();
        for (name, value) in &self.attrs {
            let what = || format!("type {}", self.key);
            if name.is_empty() {
                return Err(Error::value_error("an attribute needs a name").in_context(what()));
            }
            let is_set = |other: &str| *other == **name;
            if hooks.attributes().iter().any(|(other, _)| is_set(other))
                || others.iter().any(|(other, _)| is_set(other))
            {
                let error = Error::value_error(format!("attribute '{name}' is set twice"));
                return Err(error.in_context(what()));
            }
            let is_hook = hooks.set_attribute(name, value);
            if !is_hook.map_err(|error| error.in_context(what()))? {
                others.push((name.clone(), value.clone()));
            }
        }
        Ok((hooks, others))
    }

    pub(crate) fn declared_size(&self) -> Option<usize> {
        self.size
    }

    /// The Rust type with this definition; None for a pure data definition.
    pub(crate) fn rust_type(&self) -> Option<RustType> {
        self.rust_type
    }

    /// Checks the parts independent of other types.
    pub(crate) fn validate(&self) -> Result<()> {
        let fail = |what: String| Err(Error::value_error(format!("type {}: {what}", self.key)));
        if self.key.is_empty() {
            return Err(Error::value_error("a type key must not be empty"));
        }
        for (position, field) in self.fields.iter().enumerate() {
            if field.name.is_empty() {
                return fail(format!("field {position} has an empty name"));
            }
            if field.is_called("") {
                return fail(format!("field '{}' has an empty alias", field.name));
            }
            if self.fields[..position]
                .iter()
                .any(|earlier| earlier.name == field.name)
            {
                return fail(format!("field '{}' is declared twice", field.name));
            }
            if field.mutable && field.offset.is_some() {
                return fail(format!(
                    "field '{}' of a Rust struct cannot be mutable",
                    field.name
                ));
            }
            // A default created for each object may need types registered later: it is
            // checked when used.
            if let Some(FieldDefault::Fixed(value)) = &field.default
                && let Err(error) = field.schema.convert(value.clone())
            {
                return fail(format!(
                    "the default of field '{}': {}",
                    field.name,
                    error.message()
                ));
            }
        }
        if self.defs_first == Some(true)
            && let Some((definition, other)) = visit_order::contradiction(self)
        {
            return fail(format!(
                "visit_order puts '{definition}' behind '{other}', and defs_first in front of it; \
                 leave out one of them"
            ));
        }
        if self.scope && matches!(self.kind, Kind::Singleton | Kind::None | Kind::Var) {
            return fail(format!("kind {} cannot be a scope", self.kind));
        }
        Ok(())
    }

    /// The difference from another definition of the same key, if any.
    pub(crate) fn difference(&self, other: &TypeDef) -> Option<String> {
        if self.parent.unwrap_or(table::OBJECT) != other.parent.unwrap_or(table::OBJECT) {
            return Some("the parent differs".to_string());
        }
        if self.kind != other.kind {
            return Some(format!("the kind was {}, is now {}", self.kind, other.kind));
        }
        if self.scope != other.scope || self.visits_defs_first() != other.visits_defs_first() {
            return Some("scope or defs_first differs".to_string());
        }
        if self.visit_order != other.visit_order {
            return Some("visit_order differs".to_string());
        }
        if self.aliases != other.aliases {
            return Some("the aliases differ".to_string());
        }
        if let Some(name) = self.hooks.difference(&other.hooks) {
            return Some(format!("the hook {name} differs"));
        }
        if let Some(name) = attr_difference(&self.attrs, &other.attrs) {
            return Some(format!("the attribute '{name}' differs"));
        }
        if self.fields.len() != other.fields.len() {
            return Some(format!(
                "it had {} fields, now {}",
                self.fields.len(),
                other.fields.len()
            ));
        }
        let mut pairs = self.fields.iter().zip(&other.fields);
        pairs.find_map(|(old, new)| old.difference(new))
    }
}

impl fmt::Debug for TypeDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypeDef")
            .field("key", &self.key)
            .field("kind", &self.kind)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}
