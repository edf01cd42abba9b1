//! Programs as text in the format of Relay.
//!
//! The text is for people, and cannot be read back. To write files, use
//! [`to_json_graph`](isoform::files::to_json_graph), [`to_bytes`](isoform::files::to_bytes)
//! and [`to_text`](isoform::text::to_text).
//!
//! A node is described once, as a list of pieces. The graph of the pieces decides about
//! names and places, and writing follows the pieces.
//!
//! | file | job |
//! |---|---|
//! | `pieces.rs` | the pieces of expressions, functions, patterns, objects and containers |
//! | `types.rs` | the pieces of types; types in messages |
//! | `literals.rs` | constants and values without parts |
//! | `graph.rs` | the pieces of a whole value, with the parts that get a line of their own |
//! | `places.rs` | the scopes of the lines, and their order |
//! | `writer.rs` | names, numbers, indentation, marked places |
//! | `module.rs` | modules |
//!
//! Absent: a parser; line breaks within an expression; source locations and inferred types.

mod graph;
mod literals;
mod module;
mod pieces;
mod places;
mod types;
mod writer;

use hashbrown::{HashMap, HashSet};

pub(super) use types::{dim_text, shape_text, type_text};

use isoform::attrs::NodeTrait;
use isoform::types::TypeIndex;
use isoform::{Node, Obj, Ref, Result, Value, attrs, export};
use isoform_ir::ir::{Constructor, GlobalVar, IRModule, Op, RelayExpr, Type};
use isoform_ir::transform::Script;

use crate::{Clause, ExprWithOp, Function, Pattern, TempExpr};
use graph::Graph;
use writer::{Constants, Place, Writer};

/// Writes an expression, function, type, pattern or module in the text format of Relay.
///
/// * A call, function, tuple, conditional or match inside of another expression gets a
///   numbered line, such as `%0 = nn.relu(%x);`. The line is in the innermost block with
///   all uses, so a shared expression is written once.
/// * Variables have their hints as names, with an appended number if another variable
///   has the hint. Variables without a binding are listed first, as `free_var %x;`.
/// * Attributes with their default value are left out.
/// * Scalars are literals, such as `1f` and `True`. Other constants are
///   `meta[relay.Constant][0]`, with the type and a few elements in a comment; equal
///   constants have the same number.
/// * Nodes of other types are written with their type key and fields.
/// * The indentation does not grow beyond 40 levels.
///
/// Every value without cycles has a text, also a program with wrong types. The same value
/// always has the same text. The text is linear in the number of nodes; writing is
/// O(n log n), plus the digests of constants. Depth is limited only by memory.
///
/// # Errors
///
/// Only the errors of supplying names, which do not occur for names of this function.
///
/// ```
/// use isoform_relay::{AsExpr, Call, Function, Var, relay_text};
/// use isoform_ir::ir::OpRegistry;
///
/// let add = OpRegistry::get_or_register("doc.text.add")?.op().clone();
/// let [x, y] = ["x", "x"].map(Var::new);
/// let sum = Call::new(&add, [x.expr(), y.expr()]);
/// let square = Call::new(&add, [sum.expr(), sum.expr()]);
/// let text = relay_text(Function::new([x, y], square))?;
/// assert_eq!(
///     text,
///     "fn (%x, %x_1) {\n  %0 = doc.text.add(%x, %x_1);\n  doc.text.add(%0, %0)\n}\n"
/// );
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn relay_text(value: impl Into<Value>) -> Result<String> {
    let value = value.into();
    let object = value.as_object();
    if let Some(module) = object.and_then(|object| object.downcast_ref::<IRModule>()) {
        return module::text(module);
    }
    let graph = Graph::of(&value, None);
    let mut constants = Constants::default();
    Ok(Writer::new(&graph, &mut constants, &HashSet::new())
        .text()?
        .0)
}

/// The lines around each wanted expression in the text of an expression, or of a function
/// with a name; the wanted expression is underlined. As expensive as [`relay_text`].
pub(super) fn excerpts(
    whole: &Ref<RelayExpr>,
    name: Option<&str>,
    wanted: &HashSet<u64>,
) -> Result<HashMap<u64, Vec<String>>> {
    let func = whole.downcast_ref::<Function>();
    let head = name
        .zip(func)
        .map(|(name, func)| module::definition(name, func));
    let graph = Graph::of(&whole.into(), head);
    let mut constants = Constants::default();
    let (text, places) = Writer::new(&graph, &mut constants, wanted).text()?;
    let lines: Vec<&str> = text.lines().collect();
    let excerpt = |place: &Place| (place.identity, place.excerpt(&lines));
    Ok(places.iter().map(excerpt).collect())
}

/// The text of a node for [`Script`].
#[export("relay.ir.script")]
fn script(node: &Ref<Obj>) -> Result<String> {
    relay_text(node)
}

/// Makes the format the text of Relay's types, and of the types of `ir` that make up
/// programs of Relay.
pub(super) fn register() -> Result<()> {
    isoform::attrs::declare_trait::<dyn Script>()?;
    let types: [fn() -> TypeIndex; 9] = [
        ExprWithOp::type_index,
        Function::type_index,
        TempExpr::type_index,
        Pattern::type_index,
        Clause::type_index,
        GlobalVar::type_index,
        Constructor::type_index,
        Op::type_index,
        Type::type_index,
    ];
    for index in types {
        attrs::replace(index(), <dyn Script>::NAME, script::function())?;
    }
    isoform::register_functions![script]
}
