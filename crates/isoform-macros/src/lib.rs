//! The macros of the isoform crate.
//!
//! [`macro@Node`] works in three steps, one module each: `parse` (and `attrs`) turns the
//! `#[node(...)]` attributes into options, `model` checks the struct and its options together,
//! `expand` writes the impls. [`macro@node_trait`] and [`macro@export`] are the modules of their
//! names. The macros collect all mistakes before failing: a single build shows every mistake.
//!
//! The expansion names no items outside of `core` and the `__private` module of the isoform crate.
//! This crate is an implementation detail of `isoform`, which re-exports the macros: depend on
//! `isoform` instead.

use proc_macro2::TokenStream;

mod attrs;
mod dialect;
mod entry;
mod errors;
mod expand;
mod export;
mod model;
mod node_trait;
mod parse;
mod snake_case;

#[cfg(test)]
mod tests;

/// Declares a struct as a node type.
///
/// No further code is needed: the registered table (key, parent, kind, fields with offsets, flags,
/// defaults and docs) drives equality, hashes, digests, differences, walks, copies, text, JSON and
/// the Python class.
///
/// ```ignore
/// use isoform::{Array, Node, Ref};
/// use isoform_ir::ir::{Expr, Span, Var};
///
/// /// A function: its parameters are bound in its body, and nowhere else.
/// #[derive(Node)]
/// #[node(key = "demo.Function", scope)]
/// #[repr(C)]
/// pub struct Function {
///     #[node(base)]
///     base: Expr,
///     /// The bound variables.
///     #[node(def)]
///     pub params: Array<Ref<Var>>,
///     /// The result.
///     pub body: Ref<Expr>,
///     #[node(ignore, default)]
///     pub span: Option<Ref<Span>>,
///     #[node(default = 5)]
///     pub level: i64,
/// }
///
/// let function = Function::new(Expr::default(), params, body);
/// let renamed = function.with_params(other_params);
/// ```
///
/// # Generated items
///
/// - the `Node` impl, registering the type at first use;
/// - `Deref` to the base field, and the upcast to every ancestor, so a `Ref<Function>` is accepted wherever a field or an
///   argument requires a `Ref<Expr>`;
/// - `new`, with one argument per field without a default, in declaration order, and the visibility
///   of the struct;
/// - `with_<field>` for every field, a copy of the node with that field replaced, with the visibility of the field.
///
/// The arguments convert: a string field accepts a `&str`, an object field accepts a subtype. The
/// base is an exception, without conversion: with `#[node(base, default)]`, `new` leaves it out. No
/// base is left out without the word, because the derive sees a base by its name only: it cannot
/// know whether the base has fields that the caller must give.
///
/// # Struct attributes
///
/// | attribute | meaning |
/// |---|---|
/// | `key = "dialect.Name"` | The type key, unique in the process. Required. |
/// | `kind = tree` | The structural kind: `tree` (the default), `const_tree`, `dag`, `var`, `singleton` or `none`. |
/// | `scope` | Variables bound inside a node of this type are free again after it. |
/// | `defs_first`, `defs_first = false` | Visit definition fields before the others, or not. By default on for a `scope` without `visit_order`. |
/// | `visit_order(a, b)` | The order in which fields are visited, by registered names; by default that of declaration. |
/// | `aliases = ["old.Name"]` | Former keys, which files and texts may have instead of the key. |
/// | `hooks(equal, hash)` | The type implements `StructuralEqual`, `StructuralHash` or both, which replace its field walk. |
/// | `init = path` | The constructor of other languages: a function with `#[export]`, instead of one that takes the fields. |
/// | `convert = path` | A function with `#[export]` that converts other values to an object where a field of the type gets one. |
/// | `hooks(verify)` | The type implements `Verify`: its requirements on its own objects and those of derived types. |
/// | `attrs(dyn Tr, "name" = value)` | Type attributes: node traits that the type implements, and other values by name. |
/// | `define = path` | A function that takes the definition made by the other attributes, and returns the one to register. |
/// | `no_new` | No `new` is generated, so that the type can have its own. |
/// | `no_with` | No `with_<field>` is generated. |
/// | `crate = path` | The path of the isoform crate; by default `::isoform`. |
///
/// # The order of visit
///
/// Comparison, hashes, digests, walks, maps and substitution visit the fields of the base first,
/// then the others in order of declaration, and with `defs_first` the definitions before the rest.
/// A `let` whose variable is not bound in its own value is therefore a `scope` with
/// `defs_first = false`, declaring value, variable and body in this order. If constructors and
/// files need a different order, `visit_order` sets the order of visit: the option names each field
/// of the struct once, may leave out ignored fields, and may name a field of the base to visit it
/// later. For example, a loop with its bounds outside of the binding:
///
/// ```ignore
/// #[derive(Node)]
/// #[node(key = "demo.For", scope, visit_order(start, stop, var, body))]
/// #[repr(C)]
/// pub struct For {
///     #[node(def)]
///     pub var: Ref<Var>,
///     pub start: Ref<Expr>,
///     pub stop: Ref<Expr>,
///     pub body: Ref<Stmt>,
/// }
/// ```
///
/// # Field attributes
///
/// | attribute | meaning |
/// |---|---|
/// | `base` | This field embeds the parent node. Only the first field can be the base; without one, the parent is `Obj`. |
/// | `ignore` | Structural equality, hashes, digests and differences skip this field. |
/// | `def` | Every variable that first occurs in this field, however deep, is bound there. |
/// | `def_simple` | Only the variable itself binds; its own fields are uses. |
/// | `uses` | Variables in this field are uses, even if a definition field holds the object. |
/// | `default` | `new` leaves the field out and takes `Default::default()`. |
/// | `default = expr` | `new` leaves the field out and takes `expr`. |
/// | `compare = false` | Recursive equality and order skip this field. |
/// | `hash = false` | The recursive hash skips this field; by default it follows `compare`. |
/// | `repr = false` | `{:?}`, `objects::repr`, and `repr` and `print` of Python leave this field out. `{}` of a `Value`, `to_text` and files keep it, as they are read back. |
/// | `name = "other"` | The registered name; by default the identifier of the field, without a leading `r#`. |
/// | `aliases = ["old"]` | Former names of the field, which files and texts may have instead of its name. |
///
/// At most one of `ignore`, `def`, `def_simple` and `uses` is allowed on a field, and the base
/// allows only `default`. A literal `default` converts like an argument of `new`, unless the field
/// is a primitive such as `i64`. Any other default expression must have the type of the field: a
/// hidden conversion would leave `None` or `Array::new()` without a type to infer.
///
/// The value of an attribute is made once, when the type is registered, and must not need objects
/// of the type itself.
///
/// The doc comments of the struct and of its fields are registered as well.
///
/// # Requirements
///
/// The struct has named fields or no fields, no generic parameters, `#[repr(C)]` (the table holds
/// field offsets), and no `Drop` impl: the library takes nodes apart field by field, to free deep
/// structures without recursion.
///
/// The one `unsafe impl` of the expansion rests on the checks of the macro, and is accepted in
/// crates that deny or forbid `unsafe_code`.
#[proc_macro_derive(Node, attributes(node))]
pub fn derive_node(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(input.into()).into()
}

/// Turns a trait into a type attribute, to be implemented by node types and queried by passes.
///
/// ```ignore
/// /// Knows a simpler form of itself.
/// #[isoform::attrs::node_trait("ir_trait.canonicalize")]
/// pub trait Canonicalize {
///     /// The simpler form; None if there is none.
///     fn canonicalize(&self) -> isoform::Result<Value>;
/// }
///
/// #[derive(Node)]
/// #[node(key = "demo.Neg", attrs(dyn Canonicalize))]
/// #[repr(C)]
/// pub struct Neg { pub value: Ref<Expr> }
///
/// impl Canonicalize for Neg {
///     fn canonicalize(&self) -> isoform::Result<Value> {
///         Ok(match self.value.downcast_ref::<Neg>() {
///             Some(inner) => (&inner.value).into(),
///             None => Value::from(()),
///         })
///     }
/// }
///
/// if let Some(rule) = node.implements::<dyn Canonicalize>() {
///     rule.canonicalize()?;
/// }
/// ```
///
/// The argument is the name of the attribute; an optional `crate = path` after it gives the path of
/// the isoform crate. The documentation of the trait becomes the documentation of the attribute.
/// The value of the attribute depends on the methods:
///
/// | methods | value |
/// |---|---|
/// | none: a marker | a bool; false is the same as unset |
/// | one | a Function, whose first argument is the node |
/// | several | a Map from names to such Functions; methods with a default body are optional |
///
/// Another language can therefore implement the trait for its own types by setting the attribute,
/// and can call the implementations in Rust. An exception raised by a Function of another language
/// becomes the error of the method.
///
/// # Requirements
///
/// The trait has no generic parameters, no members but methods, and no supertraits but `Send` and
/// `Sync`. Methods take `&self`, arguments with types that convert from and to values (or shared
/// references to such types, and `&str`), and return an `isoform::Result` of a type that converts.
/// `#[node_trait(rust_only)]` hides a method from other languages, with implementations using the
/// method's default body. A trait with only Rust-only methods can be implemented only in Rust.
#[proc_macro_attribute]
pub fn node_trait(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    node_trait::node_trait(arguments.into(), item.into()).into()
}

/// Makes a plain function a global function, callable by name from every language.
///
/// ```ignore
/// /// The quotient, rounded down.
/// #[isoform::export("calc.divide")]
/// pub fn divide(dividend: i64, #[default = 2] divisor: i64) -> isoform::Result<i64> {
///     dividend
///         .checked_div_euclid(divisor)
///         .ok_or_else(|| isoform::Error::value_error("calc.divide: division by zero"))
/// }
///
/// isoform::functions::register_functions(isoform::exports![divide])?;
/// ```
///
/// The function itself is unchanged and can be called from Rust as before. A type of the same name
/// is added, with one associated function, `divide::function()`, returning the
/// `isoform::functions::Function`; `isoform::exports![a, module::b]` collects several. Nothing is
/// registered until `register_functions` is called.
///
/// - Arguments are of types that implement `Argument`, or references to them: `i64`, `Option<i64>`,
///   `Vec<Str>`, `&str`, `Ref<T>`, `&Ref<T>`, `&Array<Ref<T>>`, `Value`, `&[Value]` and further
///   types. Arguments are converted like the values of fields, with the same error messages.
/// - The result implements `Returned`: the same types, `()`, and `Result` of them.
/// - `#[default = expression]` on an argument makes it optional; trailing `Option` arguments default to `None`.
/// - `#[keyword]` on an argument makes the argument and all following arguments keyword-only in
///   other languages: a required argument may then follow an argument with a default.
/// - The doc comment and the names of the arguments are registered with the function.
/// - `#[isoform::export("name", crate = path)]` gives the path of the isoform crate; by default `::isoform`.
///
/// Functions with `self`, generic parameters, named lifetimes, `async` or `unsafe` are refused.
#[proc_macro_attribute]
pub fn export(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    // The function is kept after a mistake elsewhere: its uses then report no further errors.
    let kept = TokenStream::from(item.clone());
    export::export(options.into(), item.into())
        .unwrap_or_else(|error| {
            let error = error.into_compile_error();
            export::without_defaults(kept, &error)
        })
        .into()
}

/// Declares a dialect: one list of its node types.
///
/// ```ignore
/// isoform::dialect! {
///     "calc";
///     pub use nodes::{Expr, Num, Add};
///     /// Visits expressions.
///     pub trait Visitor {}
///     /// Rewrites expressions.
///     pub trait Mutator {}
/// }
/// ```
///
/// - The types are re-exported as the list says; `use self::Num` is for a type of the module itself.
/// - `fn register_types() -> Result<()>` registers the types in the order of the list. A type with
///   a key of another dialect is an error.
/// - The traits (the mutator or both may be left out) have a method for each type, here of `ForStmt`:
///   `fn visit_for_stmt(&mut self, op: &Ref<ForStmt>) -> Result<WalkResult>`, and
///   `fn mutate_for_stmt(&mut self, op: &Ref<ForStmt>) -> Result<Option<Value>>`, which returns the
///   replacement. A method calls by default the method for the parent type, up to `visit_node`,
///   which goes on below the node, and `mutate_node`, which keeps it. `leave_node` of the visitor is
///   for the time after the nodes below.
/// - `visit_by_class(&mut visitor, &node)` and `mutate_by_class` call the method for a node, in O(1),
///   also for types declared elsewhere below the types of the list. They are private to the crate, as
///   `register_types` is.
///
/// `NodeVisitor` and `NodeMutator` of `isoform::traverse` walk, without recursion:
///
/// ```ignore
/// NodeVisitor::new()
///     .enter(|visitor: &mut V, node: &Ref<Obj>| visit_by_class(visitor, node))
///     .leave(|visitor, node: &Ref<Obj>| visitor.leave_node(node))
///     .visit(&mut visitor, root)?;
/// let new = NodeMutator::new()
///     .on(|mutator: &mut M, node: &Ref<Obj>| mutate_by_class(mutator, node))
///     .mutate(&mut mutator, root)?;
/// ```
///
/// The method of an enum of `node_enum!` is named after the type of its members as objects:
/// `visit_op_node` for `enum Op, OpNode = "calc.Op"`.
///
/// `"calc", crate = path;` says where the isoform crate is; `::isoform` if absent.
#[proc_macro]
pub fn dialect(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    dialect::dialect(input.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Defines `snake_case`, used by [`dialect!`](macro@dialect) to name methods, for the library
/// itself.
#[doc(hidden)]
#[proc_macro]
pub fn define_snake_case(_nothing: proc_macro::TokenStream) -> proc_macro::TokenStream {
    snake_case::text().into()
}

/// The whole derive on `proc_macro2` tokens, for unit tests.
fn derive(input: TokenStream) -> TokenStream {
    syn::parse2(input)
        .and_then(model::NodeModel::new)
        .map_or_else(syn::Error::into_compile_error, |node| expand::expand(&node))
}
