//! Inlining of functions of a module.

use super::effects::{Effects, Globals};
use super::form::{ByIdent, Form, with_operands};
use super::graph::{Graph, Id, Step};
use super::instance::{Argument, Template};
use crate::analysis::call_graph::mentioned;
use crate::{AsExpr, Function, attribute};
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{BaseFunc, FuncType, GlobalVar, IRModule, RelayExpr};

/// Replaces calls of the functions whose attribute `Inline` is not zero by the bodies,
/// and removes the functions.
///
/// A function is inlined if it mentions no function of the module after inlining in the
/// function itself. Recursive functions therefore stay, and so do functions that mention only
/// functions of the module that stay for this reason. A call becomes the body, with
/// arguments in place of parameters. A `let` before the body binds an argument that has
/// an effect or makes a reference, to evaluate the argument once. Variables bound in
/// the body are fresh for every call.
///
/// A call of a function for another compiler, of an external function, or of a function
/// with type parameters becomes a call of the function itself, as an expression. Other
/// uses of the name become the function, too; a use with a checked type other than a
/// function type becomes the body, for functions without parameters.
///
/// A function with the attribute that no function mentioned in the input is an entry of
/// the module, and stays. The module is not changed; a pass without inlining returns
/// the same object. Linear in the size of the result; the size can be exponential in
/// the depth of the calls.
///
/// ```
/// use isoform_ir::ir::BaseFuncRef;
/// use isoform_ir::ir::IRModuleRef;
/// use isoform_relay::passes::inline_functions;
/// use isoform_relay::{AsExpr, Call, Function, Tuple, Var};
/// use isoform_ir::ir::{GlobalVar, IRModule};
/// use isoform::structural_equal;
///
/// let (module, [main, pair]) = (IRModule::new(), ["main", "pair"].map(GlobalVar::new));
/// let [x, y] = ["x", "y"].map(Var::new);
/// let func = Function::new([x.clone()], Tuple::new([x.expr(), x.expr()])).upcast();
/// module.update_func(&pair, func.with_attr("Inline", 1)?)?;
/// let caller = Function::new([y.clone()], Call::new(&pair, [y.expr()]));
/// module.update_func(&main, caller.upcast())?;
/// let inlined = inline_functions(&module)?;
/// let expected = Function::new([y.clone()], Tuple::new([y.expr(), y.expr()]));
/// assert!(structural_equal(inlined.lookup(&main)?, expected)?);
/// assert_eq!(inlined.functions.len(), 1);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` if a function with the attribute that does not stay is still mentioned
/// afterwards, for a call with a wrong number of arguments, and if a variable is bound twice. `TypeError`
/// for an expression of a class declared elsewhere.
pub fn inline_functions(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let mut inliner = Inliner::new(module)?;
    if !inliner.functions.iter().any(|function| function.is_marked) {
        return Ok(module.clone());
    }
    for number in inliner.callees_first() {
        inliner.process(number)?;
    }
    inliner.finish(module)
}

/// A function of the module.
struct Entry {
    var: Ref<GlobalVar>,
    /// As it has become.
    func: Ref<BaseFunc>,
    is_changed: bool,
    is_marked: bool,
    /// True if a function, possibly this function, mentioned the function in the input.
    is_mentioned: bool,
    /// The functions of the module mentioned by the function.
    callees: Vec<usize>,
    /// Set if the function is inlined.
    template: Option<Template>,
    /// True if the function is marked, and recursive or mentions only functions that stay.
    stays: bool,
}

struct Inliner {
    globals: Globals,
    functions: Vec<Entry>,
    numbers: ByIdent<usize>,
}

impl Inliner {
    fn new(module: &Ref<IRModule>) -> Result<Inliner> {
        let vars = module.global_vars();
        let numbered = vars.iter().enumerate();
        let numbers = numbered.map(|(number, var)| (var.identity(), number));
        let mut inliner = Inliner {
            globals: Globals::of(module)?,
            functions: Vec::with_capacity(vars.len()),
            numbers: numbers.collect(),
        };
        for var in vars {
            let func = module.lookup(&var)?;
            let relay = func.downcast_ref::<Function>();
            inliner.functions.push(Entry {
                is_marked: relay.is_some_and(|func| func.has_nonzero_attribute(attribute::INLINE)),
                callees: inliner.callees(&func)?,
                var,
                func,
                is_changed: false,
                is_mentioned: false,
                template: None,
                stays: false,
            });
        }
        inliner.find_recursive();
        for number in 0..inliner.functions.len() {
            for callee in inliner.functions[number].callees.clone() {
                inliner.functions[callee].is_mentioned = true;
            }
        }
        Ok(inliner)
    }

    /// Lets the functions stay that mention themselves, directly or by way of others: those
    /// of a cycle of the call graph, found by the algorithm of Tarjan (1972). Linear in the
    /// mentions.
    fn find_recursive(&mut self) {
        let count = self.functions.len();
        // The times at which functions were entered, and the earliest open function reached
        // from each; 0 before the entry, and the largest number once its cycle is known.
        let (mut low, mut time) = (vec![0; count], 0);
        let mut open = Vec::new();
        for root in 0..count {
            let mut stack = vec![(root, 0, 0)];
            while let Some((number, entered, next)) = stack.last_mut() {
                let number = *number;
                if *entered == 0 {
                    if low[number] > 0 {
                        stack.pop();
                        continue;
                    }
                    time += 1;
                    (*entered, low[number]) = (time, time);
                    open.push(number);
                }
                let callees = &self.functions[number].callees;
                if *next > 0 {
                    low[number] = low[number].min(low[callees[*next - 1]]);
                }
                if let Some(callee) = callees.get(*next) {
                    *next += 1;
                    stack.push((*callee, 0, 0));
                    continue;
                }
                let is_first = low[number] == *entered;
                stack.pop();
                if !is_first {
                    continue;
                }
                let at = open.iter().rposition(|member| *member == number);
                let members = open.split_off(at.unwrap_or_default());
                let is_cycle =
                    members.len() > 1 || self.functions[number].callees.contains(&number);
                for member in members {
                    low[member] = usize::MAX;
                    let function = &mut self.functions[member];
                    function.stays = function.is_marked && is_cycle;
                }
            }
        }
    }

    /// The functions of the module mentioned by a function.
    fn callees(&self, func: &Ref<BaseFunc>) -> Result<Vec<usize>> {
        let vars = mentioned(func)?.into_iter();
        Ok(vars
            .filter_map(|var| self.numbers.get(&var.identity()).copied())
            .collect())
    }

    /// All functions, callees before callers except in cycles.
    fn callees_first(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.functions.len());
        let mut seen = vec![false; self.functions.len()];
        for root in 0..self.functions.len() {
            let mut stack = vec![(root, 0)];
            while let Some((number, next)) = stack.last_mut() {
                if *next == 0 && std::mem::replace(&mut seen[*number], true) {
                    stack.pop();
                    continue;
                }
                match self.functions[*number].callees.get(*next) {
                    Some(callee) => {
                        *next += 1;
                        if !seen[*callee] {
                            stack.push((*callee, 0));
                        }
                    }
                    None => {
                        order.push(*number);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// Inlines in a function, and decides whether to inline the function itself.
    fn process(&mut self, number: usize) -> Result<()> {
        let function = &self.functions[number];
        let Some(func) = function.func.downcast_ref::<Function>().cloned() else {
            return Ok(());
        };
        let noted = |error: Error| {
            let name = &self.functions[number].var.name_hint;
            error.noted(format!("in function '{name}'"))
        };
        let inlines = |callee: &usize| self.functions[*callee].template.is_some();
        if function.callees.iter().any(inlines) {
            let result = self
                .inlined(&func.expr())
                .map_err(noted)?
                .cast::<BaseFunc>()?;
            let callees = self.callees(&result)?;
            let function = &mut self.functions[number];
            function.is_changed = true;
            function.callees = callees;
            function.func = result;
        }
        let function = &self.functions[number];
        if function.is_marked && function.callees.is_empty() {
            let func = function.func.clone().cast::<Function>()?;
            let template = Template::new(&func, &self.globals)?;
            self.functions[number].template = Some(template);
        } else if function.is_marked {
            let mut callees = function.callees.iter();
            let stays = callees.all(|callee| self.functions[*callee].stays);
            self.functions[number].stays |= stays;
        }
        Ok(())
    }

    /// The function that replaces a global variable.
    fn template<'a>(
        &'a self,
        expr: &'a Ref<RelayExpr>,
    ) -> Option<(&'a Ref<GlobalVar>, &'a Template)> {
        let var = expr.downcast_ref::<GlobalVar>()?;
        let number = self.numbers.get(&var.identity())?;
        Some((var, self.functions[*number].template.as_ref()?))
    }

    fn inlined(&self, root: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        let graph = Graph::with_primitives(root)?;
        let effects = Effects::of(&graph, &self.globals)?;
        let mut results = graph.exprs.clone();
        for step in &graph.steps {
            let Step::Done(id) = *step else {
                continue;
            };
            results[id as usize] = match graph.form(id)? {
                Form::GlobalVar(_) => match self.template(graph.expr(id)) {
                    Some((var, template)) => by_name(var, template)?,
                    None => continue,
                },
                Form::Call(call) => match self.template(&call.op) {
                    Some((var, template)) => called(&graph, &effects, id, &results, var, template)?,
                    None => graph.rebuilt(id, &results)?,
                },
                _ => graph.rebuilt(id, &results)?,
            };
        }
        Ok(results[0].clone())
    }

    /// The module after inlining.
    fn finish(self, module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
        let goes =
            |function: &Entry| function.is_marked && function.is_mentioned && !function.stays;
        for function in &self.functions {
            if goes(function) && function.template.is_some() {
                continue;
            }
            let left = function
                .callees
                .iter()
                .map(|callee| &self.functions[*callee]);
            if let Some(left) = left.into_iter().find(|callee| goes(callee)) {
                return Err(not_inlined(function, left, &self.functions));
            }
        }
        let copy = module.copied();
        let mut any = false;
        for function in &self.functions {
            if goes(function) {
                any = true;
                copy.functions.remove(&function.var);
            } else if function.is_changed {
                any = true;
                copy.functions
                    .insert(function.var.clone(), function.func.clone())?;
            }
        }
        Ok(if any { copy } else { module.clone() })
    }
}

fn not_inlined(user: &Entry, left: &Entry, functions: &[Entry]) -> Error {
    let name = |function: &Entry| function.var.name_hint.clone();
    let why = match left.callees.first() {
        _ if left.template.is_some() => "it is not a function of Relay that mentions it".into(),
        Some(callee) => format!(
            "it mentions @{}, which is not inlined",
            name(&functions[*callee])
        ),
        None => String::from("it mentions a function that is not inlined"),
    };
    Error::value_error(format!(
        "@{} is marked as inline but not inlined in @{}: {why}",
        name(left),
        name(user)
    ))
}

/// True if calls of a function call the function as an expression.
fn stays_whole(func: &Function) -> bool {
    let attrs = func.attrs.as_ref();
    !func.type_params.is_empty()
        || func.has_nonzero_attribute(attribute::EXTERN)
        || attrs.is_some_and(|attrs| attrs.dict.get(attribute::COMPILER).is_some())
}

/// The expression in the place of the name of a function.
fn by_name(var: &Ref<GlobalVar>, template: &Template) -> Result<Ref<RelayExpr>> {
    let func = template.func();
    let is_value = var
        .checked_type_
        .as_ref()
        .is_some_and(|ty| !ty.isa::<FuncType>());
    if is_value && func.params.is_empty() && !stays_whole(func) {
        template.body(&var.name_hint, &[])
    } else {
        Ok(func.expr())
    }
}

/// The expression in the place of a call.
fn called(
    graph: &Graph,
    effects: &Effects,
    id: Id,
    results: &[Ref<RelayExpr>],
    var: &Ref<GlobalVar>,
    template: &Template,
) -> Result<Ref<RelayExpr>> {
    let operands = &graph.operands(id)[1..];
    if stays_whole(template.func()) {
        let callee = [template.func().expr()].into_iter();
        let arguments = operands
            .iter()
            .map(|operand| results[*operand as usize].clone());
        let parts: Vec<_> = callee.chain(arguments).collect();
        return with_operands(graph.expr(id), &parts);
    }
    let argument = |operand: &Id| Argument {
        expr: results[*operand as usize].clone(),
        may_move: effects.may_move(*operand),
    };
    let arguments: Vec<_> = operands.iter().map(argument).collect();
    template.body(&var.name_hint, &arguments)
}
