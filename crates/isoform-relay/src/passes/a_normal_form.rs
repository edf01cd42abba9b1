//! A-normal form: every value has a name.

use super::blocks::Blocks;
use super::form::Form;
use super::graph::{Graph, Id, Step};
use super::module::map_functions;
use super::scopes::Scopes;
use crate::{AsExpr, Function, attribute};
use isoform::{Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// Gives every value a name: a `let` binds every constant and every computed
/// expression. Operands are then only variables, global variables, operators and
/// constructors.
///
/// Bindings are in the order of evaluation: operands from left to right, an expression
/// at its first use, in the innermost scope around all its uses. The body of a
/// function, the branches of an `if` and the results of the clauses of a match are
/// scopes, and return a variable. A `let` of the program keeps its variable; a `let`
/// inside of an operand becomes part of the surrounding list. Other values get
/// variables named `x_0`, `x_1` and so on, with the span and checked type of the value
/// and without annotation.
///
/// Functions for another compiler, and functions marked `Primitive`, are kept as they are.
/// The module is not changed; the result is the same object if everything has a name
/// already. O(n log n) in the number of expressions, because of scopes.
///
/// ```
/// use isoform_relay::passes::to_a_normal_form_expr;
/// use isoform_relay::{AsExpr, Call, Function, Let, Var};
/// use isoform_ir::ir::OpRegistry;
/// use isoform::structural_equal;
///
/// let negate = OpRegistry::get_or_register("doc.relay.negate")?.op().clone();
/// let [x, a, b] = ["x", "a", "b"].map(Var::new);
/// let twice = Call::new(&negate, [Call::new(&negate, [x.expr()]).expr()]);
/// let func = Function::new([x.clone()], twice).expr();
/// let outer = Let::new(&b, Call::new(&negate, [a.expr()]), &b);
/// let named = Let::new(&a, Call::new(&negate, [x.expr()]), outer);
/// let expected = Function::new([x.clone()], named);
/// assert!(structural_equal(to_a_normal_form_expr(&func)?, expected)?);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` for a variable bound twice, or used outside of its scope; `TypeError`
/// for an expression of a class declared elsewhere.
pub fn to_a_normal_form(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    map_functions(module, is_for_this_compiler, to_a_normal_form_expr)
}

/// True for functions that belong to no other compiler and are not kernels.
pub(super) fn is_for_this_compiler(func: &Function) -> bool {
    let is_external = func
        .attrs
        .as_ref()
        .is_some_and(|attrs| attrs.dict.get(attribute::COMPILER).is_some());
    !is_external && !func.has_nonzero_attribute(attribute::PRIMITIVE)
}

/// [`to_a_normal_form`] of an expression: of the body of a function, otherwise of the
/// expression itself. Free variables stay.
///
/// # Errors
///
/// Errors of [`to_a_normal_form`].
pub fn to_a_normal_form_expr(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    let graph = Graph::of(expr)?;
    let scopes = Scopes::of(&graph, false)?;
    let mut blocks = Blocks::new(&graph, &scopes);
    let places = places(&graph)?;
    let mut is_bound = vec![false; graph.len()];
    for step in &graph.steps {
        match *step {
            Step::Bind(id) => {
                if let Form::Let(binding) = graph.form(id)?
                    && !is_bound[id as usize]
                {
                    let value = blocks.results[graph.operands(id)[0] as usize].clone();
                    blocks.bind_source(scopes.scope(id), binding, value);
                }
            }
            Step::Done(id) => {
                let form = graph.form(id)?;
                let scope = scopes.scope(id);
                let result = match (form, places[id as usize]) {
                    (form, _) if form.is_atom() => continue,
                    (Form::Let(_), place) => {
                        let body = graph.operands(id)[1];
                        let result = blocks.results[body as usize].clone();
                        if place == Place::Operand && graph.form(body)?.is_atom() {
                            blocks.bind_fresh(scope, result)
                        } else {
                            result
                        }
                    }
                    (Form::Function(_), _) if id == 0 => blocks.rebuilt(id, form)?,
                    (_, Place::Value(source)) => {
                        let value = blocks.rebuilt(id, form)?;
                        let Form::Let(binding) = graph.form(source)? else {
                            continue;
                        };
                        is_bound[source as usize] = true;
                        blocks.bind_source(scope, binding, value);
                        binding.var.expr()
                    }
                    _ => {
                        let value = blocks.rebuilt(id, form)?;
                        blocks.bind_fresh(scope, value)
                    }
                };
                blocks.results[id as usize] = result;
            }
        }
    }
    Ok(blocks.into_root())
}

/// Where an expression is first needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The result of a scope.
    Result,
    /// The value of a `let`.
    Value(Id),
    /// An operand of any other expression.
    Operand,
}

/// The place of each expression. The body of a `let` is where the `let` is.
fn places(graph: &Graph) -> Result<Vec<Place>> {
    let mut places: Vec<Place> = Vec::with_capacity(graph.len());
    for id in 0..graph.len() as Id {
        let Some((user, position)) = graph.arrival(id) else {
            places.push(Place::Result);
            continue;
        };
        places.push(match graph.form(user)? {
            Form::Let(_) if position == 0 => Place::Value(user),
            // The visit reached the `let` earlier, so its place is known.
            Form::Let(_) => places[user as usize],
            Form::Function(_) => Place::Result,
            Form::If(_) | Form::Match(_) if position > 0 => Place::Result,
            _ => Place::Operand,
        });
    }
    Ok(places)
}
