//! From an expression to steps: an expression is computed once, in the innermost block
//! around all its uses.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::run::Implementation;
use super::steps::{Block, ClauseStep, OperatorStep, Plan, Slot, Step};
use crate::analysis::pattern_vars;
use crate::passes::form::Form;
use crate::passes::graph::{Graph, Id, Step as Order};
use crate::passes::scopes::{Scope, Scopes};
use crate::{Match, Var};
use isoform::{Error, Ref, Result};
use isoform_ir::ir::RelayExpr;

/// An expression in the form of functions and blocks. Function 0 computes the
/// expression itself.
pub(super) struct Unit {
    pub(super) plans: Vec<Plan>,
    pub(super) blocks: Vec<Block>,
    /// If the expression is a function, its number.
    pub(super) entry: Option<u32>,
}

impl Unit {
    /// The steps of an expression. O(n log n) for n expressions, and linear in the number of
    /// values that functions use from outside.
    ///
    /// # Errors
    ///
    /// `ValueError` for a free variable, for a variable bound twice or used outside of
    /// its scope, and for a recursive binding of a value other than a function.
    /// `TypeError` for classes of expressions declared elsewhere.
    pub(super) fn of(expr: &Ref<RelayExpr>) -> Result<Unit> {
        let graph = Graph::with_primitives(expr)?;
        let scopes = Scopes::of(&graph, false)?;
        Planner::new(&graph, &scopes)?.planned()
    }
}

/// Nothing is there.
const NONE: u32 = u32::MAX;

/// Where the value of an expression is: a function and a slot of its frame.
type Home = (u32, Slot);

struct Planner<'g> {
    graph: &'g Graph,
    scopes: &'g Scopes,
    plans: Vec<Plan>,
    blocks: Vec<Block>,
    /// The functions around the scopes.
    functions: Vec<u32>,
    /// The functions around the functions.
    parents: Vec<u32>,
    /// The numbers of function expressions.
    numbers: HashMap<Id, u32, RandomState>,
    homes: Vec<Home>,
    /// The slots of values from outside, by function and expression.
    captured: HashMap<(u32, Id), Slot, RandomState>,
    /// The captured expressions of the functions.
    sources: Vec<Vec<Id>>,
    /// True for expressions with uses other than as the callee of a call.
    is_operand: Vec<bool>,
}

impl<'g> Planner<'g> {
    fn new(graph: &'g Graph, scopes: &'g Scopes) -> Result<Self> {
        let mut planner = Planner {
            graph,
            scopes,
            plans: Vec::new(),
            blocks: Vec::new(),
            functions: Vec::new(),
            parents: Vec::new(),
            numbers: HashMap::default(),
            homes: vec![(NONE, NONE); graph.len()],
            captured: HashMap::default(),
            sources: Vec::new(),
            is_operand: vec![false; graph.len()],
        };
        planner.find_operands()?;
        planner.blocks.resize_with(scopes.len(), Block::default);
        planner.open_functions()?;
        planner.bind_parameters()?;
        Ok(planner)
    }

    fn find_operands(&mut self) -> Result<()> {
        self.is_operand[0] = true;
        for id in 0..self.graph.len() as Id {
            let is_call = matches!(self.graph.form(id)?, Form::Call(_));
            for operand in self.graph.operands(id).iter().skip(usize::from(is_call)) {
                self.is_operand[*operand as usize] = true;
            }
        }
        Ok(())
    }

    /// Numbers the functions.
    fn open_functions(&mut self) -> Result<()> {
        let mut numbers = vec![NONE; self.scopes.len()];
        numbers[0] = self.add_plan(0);
        for id in 0..self.graph.len() as Id {
            let form = self.graph.form(id)?;
            if let Form::Function(_) = form {
                let body = self.scopes.of_operand(form, id, 0);
                let number = self.add_plan(body);
                numbers[body as usize] = number;
                self.numbers.insert(id, number);
            }
        }
        let bodies = self.scopes.functions(self.graph)?;
        self.functions = bodies.iter().map(|body| numbers[*body as usize]).collect();
        for plan in &self.plans[1..] {
            let around = self.scopes.parent(plan.body);
            self.parents.push(self.functions[around as usize]);
        }
        self.parents.insert(0, NONE);
        Ok(())
    }

    fn add_plan(&mut self, body: Scope) -> u32 {
        self.plans.push(Plan {
            body,
            slots: 0,
            params: Box::default(),
            captured: Box::default(),
            own: None,
        });
        self.sources.push(Vec::new());
        (self.plans.len() - 1) as u32
    }

    fn slot(&mut self, function: u32) -> Slot {
        let slots = &mut self.plans[function as usize].slots;
        *slots += 1;
        *slots - 1
    }

    /// Assigns slots to parameters, and to functions that call themselves.
    fn bind_parameters(&mut self) -> Result<()> {
        for id in 0..self.graph.len() as Id {
            match self.graph.form(id)? {
                Form::Function(func) => {
                    let number = self.numbers[&id];
                    let params = func.params.iter().map(|param| self.bound(number, param));
                    self.plans[number as usize].params = params.collect();
                }
                Form::Let(binding) if self.graph.is_recursive(id) => {
                    let value = self.graph.operands(id)[0];
                    let Some(&number) = self.numbers.get(&value) else {
                        return Err(Error::value_error(format!(
                            "the variable %{} is used in its own value, which must be a function \
                             for that, got {}",
                            binding.var.name_hint,
                            self.graph.expr(value).type_info().key()
                        )));
                    };
                    self.plans[number as usize].own = self.bound(number, &binding.var);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The slot of a variable bound by a function; None for an unused variable.
    fn bound(&mut self, function: u32, var: &Ref<Var>) -> Option<Slot> {
        let id = self.graph.var(var)?;
        let slot = self.slot(function);
        self.homes[id as usize] = (function, slot);
        Some(slot)
    }

    fn planned(mut self) -> Result<Unit> {
        // Clauses bind their variables before their results are computed.
        for id in 0..self.graph.len() as Id {
            if let Form::Match(cases) = self.graph.form(id)? {
                self.bind_patterns(id, cases);
            }
        }
        for step in &self.graph.steps {
            match *step {
                Order::Bind(id) => self.bind_let(id)?,
                Order::Done(id) => self.place(id)?,
            }
        }
        let result = self.operand(0, 0)?;
        self.blocks[0].result = result;
        let entry = self.numbers.get(&0).copied();
        Ok(Unit {
            plans: self.plans,
            blocks: self.blocks,
            entry,
        })
    }

    fn bind_patterns(&mut self, id: Id, cases: &Ref<Match>) {
        let function = self.function_of(id);
        Form::Match(cases).for_each_bound(&mut |var| {
            self.bound(function, var);
        });
    }

    /// The function that computes an expression.
    fn function_of(&self, id: Id) -> u32 {
        self.functions[self.scopes.scope(id) as usize]
    }

    fn bind_let(&mut self, id: Id) -> Result<()> {
        let form = self.graph.form(id)?;
        if let Form::Let(binding) = form
            && let Some(var) = self.graph.var(&binding.var)
        {
            let value = self.graph.operands(id)[0];
            self.homes[var as usize] = self.home(value)?;
        }
        Ok(())
    }

    fn home(&self, id: Id) -> Result<Home> {
        let home = self.homes[id as usize];
        if home.0 != NONE {
            return Ok(home);
        }
        let expr = self.graph.expr(id);
        Err(match expr.downcast_ref::<Var>() {
            Some(var) => Error::value_error(format!(
                "the variable %{} is free: bind it to a value, or make it a parameter of a \
                 function",
                var.name_hint
            )),
            None => Error::value_error(format!(
                "an expression of class {} is used before it is computed",
                expr.type_info().key()
            )),
        })
    }

    /// The slot of a function for the value of an expression.
    fn operand(&mut self, function: u32, id: Id) -> Result<Slot> {
        let (home, slot) = self.home(id)?;
        if home == function {
            return Ok(slot);
        }
        // The functions from this function to the function with the value.
        let mut chain = Vec::new();
        let mut around = function;
        while around != home {
            if self.captured.contains_key(&(around, id)) {
                break;
            }
            chain.push(around);
            around = self.parents[around as usize];
            if around == NONE {
                return Err(Error::value_error(
                    "an expression is used outside of the function that computes it",
                ));
            }
        }
        for function in chain.into_iter().rev() {
            let slot = self.slot(function);
            self.captured.insert((function, id), slot);
            self.sources[function as usize].push(id);
        }
        Ok(self.captured[&(function, id)])
    }

    fn operands(&mut self, function: u32, ids: &[Id]) -> Result<Box<[Slot]>> {
        ids.iter().map(|id| self.operand(function, *id)).collect()
    }

    /// Adds the step for an expression to its block.
    fn place(&mut self, id: Id) -> Result<()> {
        let graph = self.graph;
        let function = self.function_of(id);
        let form = graph.form(id)?;
        let operands = graph.operands(id);
        let step = match form {
            Form::Var(_) => {
                return self.home(id).map(drop);
            }
            // The value of a `let` is the value of its body.
            Form::Let(_) => {
                self.homes[id as usize] = self.home(operands[1])?;
                return Ok(());
            }
            Form::Constant(constant) => self.load(function, constant.data.clone().into()),
            Form::Op(op) => {
                // An operator without uses other than calls is part of the calls.
                if !self.is_operand[id as usize] {
                    self.homes[id as usize] = (function, NONE);
                    return Ok(());
                }
                self.load(function, op.into())
            }
            Form::Constructor(constructor) => self.load(function, constructor.into()),
            Form::GlobalVar(var) => Step::Global {
                to: self.slot(function),
                var: var.clone(),
            },
            Form::Call(call) => match graph.form(operands[0])? {
                Form::Op(op) => Step::Operator(Box::new(OperatorStep {
                    args: self.operands(function, &operands[1..])?,
                    to: self.slot(function),
                    op: op.clone(),
                    implementation: Implementation::of(op),
                    attrs: call.attrs.clone(),
                })),
                _ => Step::Call {
                    callee: self.operand(function, operands[0])?,
                    args: self.operands(function, &operands[1..])?,
                    to: self.slot(function),
                },
            },
            Form::Tuple(_) => Step::Tuple {
                fields: self.operands(function, operands)?,
                to: self.slot(function),
            },
            Form::TupleGetItem(get) => Step::Item {
                tuple: self.operand(function, operands[0])?,
                to: self.slot(function),
                index: get.index,
            },
            Form::Function(func) => {
                let number = self.numbers[&id];
                self.finish_function(number, operands[0])?;
                let sources = std::mem::take(&mut self.sources[number as usize]);
                Step::Closure {
                    captured: self.operands(function, &sources)?,
                    to: self.slot(function),
                    func: func.clone(),
                    function: number,
                }
            }
            Form::If(_) => {
                let blocks = [1, 2].map(|position| self.scopes.of_operand(form, id, position));
                for (block, result) in blocks.into_iter().zip(&operands[1..]) {
                    self.blocks[block as usize].result = self.operand(function, *result)?;
                }
                Step::If {
                    cond: self.operand(function, operands[0])?,
                    to: self.slot(function),
                    blocks,
                }
            }
            Form::Match(cases) => self.matching(id, cases, function)?,
            Form::RefCreate(_) => Step::RefCreate {
                value: self.operand(function, operands[0])?,
                to: self.slot(function),
            },
            Form::RefRead(_) => Step::RefRead {
                reference: self.operand(function, operands[0])?,
                to: self.slot(function),
            },
            Form::RefWrite(_) => Step::RefWrite {
                reference: self.operand(function, operands[0])?,
                value: self.operand(function, operands[1])?,
                to: self.slot(function),
            },
        };
        // The slot of the step is the last slot of the function.
        let to = self.plans[function as usize].slots - 1;
        debug_assert_eq!(to, step.to());
        self.homes[id as usize] = (function, to);
        self.blocks[self.scopes.scope(id) as usize].steps.push(step);
        Ok(())
    }

    fn load(&mut self, function: u32, value: isoform::Value) -> Step {
        Step::Load {
            to: self.slot(function),
            value,
        }
    }

    fn finish_function(&mut self, number: u32, body: Id) -> Result<()> {
        let result = self.operand(number, body)?;
        let plan = &mut self.plans[number as usize];
        let sources = &self.sources[number as usize];
        plan.captured = sources
            .iter()
            .map(|id| self.captured[&(number, *id)])
            .collect();
        self.blocks[plan.body as usize].result = result;
        Ok(())
    }

    fn matching(&mut self, id: Id, cases: &Ref<Match>, function: u32) -> Result<Step> {
        let graph = self.graph;
        let operands = graph.operands(id);
        let form = Form::Match(cases);
        let data = self.operand(function, operands[0])?;
        let mut clauses = Vec::with_capacity(cases.clauses.len());
        for (position, clause) in cases.clauses.iter().enumerate() {
            let block = self.scopes.of_operand(form, id, position + 1);
            let result = self.operand(function, operands[position + 1])?;
            self.blocks[block as usize].result = result;
            let vars = pattern_vars(&clause.lhs);
            let home = |var| graph.var(var).map(|var| self.homes[var as usize].1);
            let bound: Vec<_> = vars.iter().map(home).collect();
            clauses.push(ClauseStep {
                pattern: clause.lhs.clone(),
                bound: bound.into(),
                block,
            });
        }
        Ok(Step::Match {
            data,
            to: self.slot(function),
            clauses: clauses.into(),
        })
    }
}
