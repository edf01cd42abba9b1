//! Random programs: closed, well formed, and computable.

use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::IRModuleRef;
use std::collections::BTreeSet;

use isoform::Ref;
use isoform_ir::ir::{GlobalVar, IRModule};
use isoform_relay::{AsExpr, Clause, Match, PatternTuple, PatternVar, PatternWildcard, Var};
use isoform_relay::{Call, Function, Tuple};

use crate::support::*;

/// A stream of numbers that depends on a seed alone.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The kinds of values.
#[derive(Clone, PartialEq, Debug)]
enum Ty {
    Int,
    Tuple(Vec<Ty>),
    /// A reference to a number.
    Ref,
    Func(Vec<Ty>, Box<Ty>),
}

/// The surrounding bindings that an expression needs.
type Needs = BTreeSet<usize>;

#[derive(Clone)]
struct Made {
    expr: Expr,
    ty: Ty,
    needs: Needs,
}

/// The things that programs may contain.
#[derive(Clone, Copy)]
pub(crate) struct Features {
    pub(crate) effects: bool,
    pub(crate) globals: bool,
    /// Functions used for values, which make the effects of a call unknown.
    pub(crate) closures: bool,
    /// Functions marked `Primitive`, which may share expressions with the surrounding program.
    pub(crate) kernels: bool,
}

pub(crate) const ALL: Features = Features {
    effects: true,
    globals: false,
    closures: true,
    kernels: false,
};

/// Programs without effects, and without calls that might have effects.
pub(crate) const PURE: Features = Features {
    effects: false,
    globals: false,
    closures: false,
    kernels: false,
};

/// Programs without effects that have kernels.
pub(crate) const KERNELS: Features = Features {
    kernels: true,
    ..PURE
};

struct Generator<'r> {
    random: &'r mut Random,
    features: Features,
    scope: Vec<(Ref<Var>, Ty, usize)>,
    /// Expressions that can be used again where all their variables are in scope.
    pool: Vec<Made>,
    globals: Vec<(Ref<GlobalVar>, Ty)>,
    bindings: usize,
    /// The number of expressions that may still be made.
    budget: usize,
}

/// A function without parameters.
pub(crate) fn program(random: &mut Random, features: Features) -> Expr {
    let budget = 5 + random.below(60);
    let mut generator = Generator::new(random, features, budget);
    let ty = generator.ty(1);
    let body = generator.make(&ty, 6);
    func([], &body.expr)
}

/// A module with a function `main` without parameters, and the functions called by it.
pub(crate) fn modules(random: &mut Random) -> Ref<IRModule> {
    let features = Features {
        globals: true,
        ..ALL
    };
    let all = IRModule::new();
    let mut globals = Vec::new();
    for (number, name) in ["inl_a", "b", "inl_c", "inl_d", "main"].iter().enumerate() {
        let budget = 4 + random.below(20);
        let mut generator = Generator::new(random, features, budget);
        // Inlined functions call inlined functions only.
        generator.globals = globals.clone();
        if name.starts_with("inl") {
            generator
                .globals
                .retain(|(var, _): &(Ref<GlobalVar>, Ty)| &*var.name_hint != "b");
        }
        let params = if number == 4 {
            0
        } else {
            generator.random.below(3)
        };
        let params: Vec<Ty> = (0..params).map(|_| generator.ty(1)).collect();
        let result = generator.ty(1);
        let function = generator.function(&params, &result, 5);
        let var = GlobalVar::new(*name);
        let mut func = function
            .expr
            .cast::<Function>()
            .expect("a function")
            .upcast();
        if name.starts_with("inl") {
            func = func.with_attr("Inline", 1).expect("an attribute");
        }
        all.update_func(&var, func).expect("another name");
        globals.push((var, Ty::Func(params, Box::new(result))));
    }
    all
}

impl<'r> Generator<'r> {
    fn new(random: &'r mut Random, features: Features, budget: usize) -> Self {
        Generator {
            random,
            features,
            scope: Vec::new(),
            pool: Vec::new(),
            globals: Vec::new(),
            bindings: 0,
            budget,
        }
    }

    fn ty(&mut self, depth: usize) -> Ty {
        match self.random.below(if depth == 0 { 3 } else { 8 }) {
            0..=2 => Ty::Int,
            3 if self.features.effects => Ty::Ref,
            4 if self.features.closures => Ty::Func(
                (0..self.random.below(3)).map(|_| Ty::Int).collect(),
                Box::new(self.ty(depth - 1)),
            ),
            5 | 6 => {
                let count = self.random.below(3);
                Ty::Tuple((0..count).map(|_| self.ty(depth - 1)).collect())
            }
            _ => Ty::Int,
        }
    }

    fn binding(&mut self) -> usize {
        self.bindings += 1;
        self.bindings
    }

    fn in_scope(&self, needs: &Needs) -> bool {
        needs
            .iter()
            .all(|need| self.scope.iter().any(|(_, _, binding)| binding == need))
    }

    fn make(&mut self, ty: &Ty, depth: usize) -> Made {
        if self.random.chance(30) {
            let fits = |candidate: &&Made| candidate.ty == *ty && self.in_scope(&candidate.needs);
            let candidates: Vec<_> = self.pool.iter().filter(fits).collect();
            if !candidates.is_empty() {
                let index = self.random.below(candidates.len());
                return candidates[index].clone();
            }
        }
        if self.random.chance(35) {
            let fits: Vec<_> = self
                .scope
                .iter()
                .filter(|(_, other, _)| other == ty)
                .collect();
            if !fits.is_empty() {
                let index = self.random.below(fits.len());
                let (var, ty, binding) = fits[index];
                return Made {
                    expr: var.expr(),
                    ty: ty.clone(),
                    needs: [*binding].into(),
                };
            }
        }
        let result = if depth == 0 || self.budget == 0 {
            self.leaf(ty)
        } else {
            self.budget -= 1;
            self.compound(ty, depth - 1)
        };
        self.pool.push(result.clone());
        result
    }

    fn leaf(&mut self, ty: &Ty) -> Made {
        let expr = match ty {
            Ty::Int => int(self.random.below(3) as i32),
            Ty::Tuple(fields) => {
                let fields: Vec<_> = fields.iter().map(|field| self.leaf(field).expr).collect();
                Tuple::new(fields).expr()
            }
            Ty::Ref => create(&int(self.random.below(3) as i32)),
            Ty::Func(params, result) => {
                let params: Vec<_> = params.iter().map(|_| var("p")).collect();
                Function::new(params, self.leaf(result).expr).expr()
            }
        };
        Made {
            expr,
            ty: ty.clone(),
            needs: Needs::new(),
        }
    }

    fn compound(&mut self, ty: &Ty, depth: usize) -> Made {
        let mut parts = Parts::default();
        let expr = match self.random.below(10) {
            0 | 1 => return self.bind(ty, depth),
            2 => {
                let cond = if self.random.chance(30) {
                    boolean(self.random.chance(50))
                } else {
                    parts.add(self.make(&Ty::Int, depth))
                };
                let yes = parts.add(self.make(ty, depth));
                let no = parts.add(self.make(ty, depth));
                choose(&cond, &yes, &no)
            }
            3 => {
                let count = self.random.below(3);
                let params: Vec<Ty> = (0..count).map(|_| self.ty(1)).collect();
                let callee = if self.features.closures {
                    self.make(&Ty::Func(params.clone(), Box::new(ty.clone())), depth)
                } else {
                    self.function(&params, ty, depth)
                };
                let callee = parts.add(callee);
                let args = params
                    .iter()
                    .map(|param| parts.add(self.make(param, depth)));
                let args: Vec<_> = args.collect();
                Call::new(&callee, args).expr()
            }
            4 => {
                let mut fields = vec![self.ty(0), ty.clone()];
                fields.rotate_left(self.random.below(2));
                let index = fields
                    .iter()
                    .position(|field| field == ty)
                    .expect("put there");
                let tuple = parts.add(self.make(&Ty::Tuple(fields), depth));
                item(&tuple, index as i64)
            }
            5 => return self.matching(ty, depth),
            6 if self.features.globals => match self.global_call(ty, depth, &mut parts) {
                Some(expr) => expr,
                None => self.direct(ty, depth, &mut parts),
            },
            7 if *ty == Ty::Int => return self.recursion(depth),
            _ => self.direct(ty, depth, &mut parts),
        };
        parts.made(expr, ty)
    }

    /// An expression of the class of the type.
    fn direct(&mut self, ty: &Ty, depth: usize, parts: &mut Parts) -> Expr {
        match ty {
            Ty::Int => match self.random.below(8) {
                0 if self.features.effects => {
                    let arg = parts.add(self.make(&Ty::Int, depth));
                    call("tick", [&arg])
                }
                1 | 2 if self.features.effects => {
                    let reference = parts.add(self.make(&Ty::Ref, depth));
                    read(&reference)
                }
                3 => {
                    let pair = Ty::Tuple(vec![Ty::Int]);
                    let pair = parts.add(self.make(&pair, depth));
                    let other = parts.add(self.make(&Ty::Int, depth));
                    call("pair", [&pair, &other])
                }
                4 => {
                    let arg = parts.add(self.make(&Ty::Int, depth));
                    call("part", [&arg])
                }
                kind => {
                    let left = parts.add(self.make(&Ty::Int, depth));
                    let right = parts.add(self.make(&Ty::Int, depth));
                    call(if kind % 2 == 0 { "f" } else { "g" }, [&left, &right])
                }
            },
            Ty::Tuple(fields) if fields.is_empty() && self.features.effects => {
                let reference = parts.add(self.make(&Ty::Ref, depth));
                let value = parts.add(self.make(&Ty::Int, depth));
                write(&reference, &value)
            }
            Ty::Tuple(fields) => {
                let fields = fields
                    .iter()
                    .map(|field| parts.add(self.make(field, depth)));
                let fields: Vec<_> = fields.collect();
                Tuple::new(fields).expr()
            }
            Ty::Ref => {
                let value = parts.add(self.make(&Ty::Int, depth));
                create(&value)
            }
            Ty::Func(params, result) => {
                let function = self.function(params, result, depth);
                parts.add(function)
            }
        }
    }

    fn function(&mut self, params: &[Ty], result: &Ty, depth: usize) -> Made {
        let mut vars = Vec::new();
        let outer = self.scope.len();
        for param in params {
            let (var, binding) = (var("p"), self.binding());
            self.scope.push((var.clone(), param.clone(), binding));
            vars.push(var);
        }
        let body = self.make(result, depth);
        let mut needs = body.needs;
        for (_, _, binding) in self.scope.drain(outer..) {
            needs.remove(&binding);
        }
        let mut expr = Function::new(vars, body.expr).expr();
        if self.features.kernels && self.random.chance(50) {
            expr = marked(&expr, "Primitive");
        }
        Made {
            expr,
            ty: Ty::Func(params.to_vec(), Box::new(result.clone())),
            needs,
        }
    }

    fn bind(&mut self, ty: &Ty, depth: usize) -> Made {
        let mut parts = Parts::default();
        let of = self.ty(2);
        let value = parts.add(self.make(&of, depth));
        let (var, binding) = (var("v"), self.binding());
        self.scope.push((var.clone(), of, binding));
        let body = parts.add(self.make(ty, depth));
        self.scope.pop();
        parts.needs.remove(&binding);
        parts.made(bind(&var, &value, &body), ty)
    }

    /// A function that calls itself a few times, and a use of the function.
    fn recursion(&mut self, depth: usize) -> Made {
        let mut parts = Parts::default();
        let (f, n) = (var("f"), var("n"));
        let (own, param) = (self.binding(), self.binding());
        self.scope.push((n.clone(), Ty::Int, param));
        let step = parts.add(self.make(&Ty::Int, depth.min(2)));
        let end = parts.add(self.make(&Ty::Int, depth.min(2)));
        self.scope.pop();
        let again = apply(&f, [&call("dec", [&n.expr()])]);
        let more = call("f", [&step, &again]);
        let body = choose(&call("positive", [&n.expr()]), &more, &end);
        let ty = Ty::Func(vec![Ty::Int], Box::new(Ty::Int));
        self.scope.push((f.clone(), ty, own));
        let rest = parts.add(self.make(&Ty::Int, depth));
        self.scope.pop();
        let start = int(self.random.below(3) as i32);
        let rest = call("g", [&apply(&f, [&start]), &rest]);
        parts.needs.remove(&own);
        parts.needs.remove(&param);
        parts.made(bind(&f, &func([&n], &body), &rest), &Ty::Int)
    }

    fn matching(&mut self, ty: &Ty, depth: usize) -> Made {
        let mut parts = Parts::default();
        let data = parts.add(self.make(&Ty::Tuple(vec![Ty::Int, Ty::Int]), depth));
        let (first, binding) = (var("m"), self.binding());
        let pattern = PatternTuple::new().with_patterns([
            PatternVar::new(&first).upcast(),
            PatternWildcard::new().upcast(),
        ]);
        self.scope.push((first, Ty::Int, binding));
        let result = parts.add(self.make(ty, depth));
        self.scope.pop();
        parts.needs.remove(&binding);
        let other = parts.add(self.make(ty, depth.min(1)));
        let clauses = [
            Clause::new(pattern.upcast(), &result),
            Clause::new(PatternWildcard::new().upcast(), &other),
        ];
        parts.made(Match::new(&data, clauses).expr(), ty)
    }

    fn global_call(&mut self, ty: &Ty, depth: usize, parts: &mut Parts) -> Option<Expr> {
        let returns = |global: &&(Ref<GlobalVar>, Ty)| matches!(&global.1, Ty::Func(_, result) if **result == *ty);
        let known: Vec<_> = self.globals.iter().filter(returns).cloned().collect();
        if known.is_empty() {
            return None;
        }
        let at = self.random.below(known.len());
        let (var, ty) = &known[at];
        let Ty::Func(params, _) = ty else {
            return None;
        };
        let args = params
            .iter()
            .map(|param| parts.add(self.make(param, depth)));
        let args: Vec<_> = args.collect();
        Some(Call::new(var, args).expr())
    }
}

/// The needs of the parts of an expression.
#[derive(Default)]
struct Parts {
    needs: Needs,
}

impl Parts {
    fn add(&mut self, made: Made) -> Expr {
        self.needs.extend(made.needs);
        made.expr
    }

    fn made(self, expr: Expr, ty: &Ty) -> Made {
        Made {
            expr,
            ty: ty.clone(),
            needs: self.needs,
        }
    }
}
