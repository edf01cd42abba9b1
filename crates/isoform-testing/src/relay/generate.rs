//! Draws expressions.

use isoform::Ref;
use isoform::values::{DType, Tensor};
use isoform_ir::ir::{Constructor, GlobalTypeVar, GlobalVar, OpRegistry, RelayExpr};
use isoform_relay::{
    AsExpr, Call, Clause, Constant, Function, If, Let, Match, Pattern, PatternConstructor,
    PatternTuple, PatternVar, PatternWildcard, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem,
    Var,
};

use crate::source::Source;

/// The names of the called operators.
const OPERATORS: [&str; 3] = ["relay_test.add", "relay_test.neg", "on_device"];

/// How deep expressions nest at most, which bounds the recursion of generator and oracles.
const DEPTH: usize = 12;

/// The state of drawing an expression.
pub(super) struct Programs<'a> {
    source: Source<'a>,
    /// How many nodes may still be drawn.
    budget: usize,
    /// Breaks the rules of scopes: any variable is bound and used anywhere.
    wild: bool,
    /// The variables in scope; for wild programs, all variables.
    vars: Vec<Ref<Var>>,
    /// The reusable expressions at this place.
    known: Vec<Ref<RelayExpr>>,
    free: Vec<Ref<Var>>,
    constructors: Vec<Ref<Constructor>>,
    globals: Vec<Ref<GlobalVar>>,
    made: usize,
    depth: usize,
}

impl<'a> Programs<'a> {
    /// Expressions from these choices, of about `size` nodes.
    pub(super) fn new(source: Source<'a>, size: usize, wild: bool) -> Self {
        let list = GlobalTypeVar::new("List");
        Programs {
            source,
            budget: size,
            wild,
            vars: Vec::new(),
            known: Vec::new(),
            free: ["free0", "free1"].map(Var::new).into(),
            constructors: ["cons", "nil"]
                .map(|name| Constructor::new(name, [], &list))
                .into(),
            globals: ["f", "g"].map(GlobalVar::new).into(),
            made: 0,
            depth: 0,
        }
    }

    /// Draws an expression.
    pub(super) fn expr(&mut self) -> Ref<RelayExpr> {
        if self.budget == 0 || self.depth >= DEPTH {
            return self.leaf();
        }
        self.budget -= 1;
        self.depth += 1;
        let expr = match self.source.below(16) {
            0 | 1 => self.leaf(),
            2 => Tuple::new(self.several(3)).expr(),
            3 => TupleGetItem::new(self.expr(), self.source.below(3) as i64).expr(),
            4..=6 => self.call(),
            7 | 8 => self.binding(),
            9 => If::new(self.expr(), self.expr(), self.expr()).expr(),
            10 => self.function(),
            11 => RefCreate::new(self.expr()).expr(),
            12 => {
                if self.source.chance(50) {
                    RefRead::new(self.expr()).expr()
                } else {
                    RefWrite::new(self.expr(), self.expr()).expr()
                }
            }
            13 => self.cases(),
            _ => {
                if self.known.is_empty() {
                    self.leaf()
                } else {
                    self.source.pick(&self.known).clone()
                }
            }
        };
        self.depth -= 1;
        self.known.push(expr.clone());
        expr
    }

    fn leaf(&mut self) -> Ref<RelayExpr> {
        match self.source.below(6) {
            0 => scalar(self.source.byte().into()),
            1 => Tuple::new([]).expr(),
            2 => self.source.pick(&self.globals).expr(),
            3 => self.source.pick(&self.free).expr(),
            _ => {
                if self.vars.is_empty() {
                    scalar(0)
                } else {
                    self.source.pick(&self.vars).expr()
                }
            }
        }
    }

    fn several(&mut self, limit: usize) -> Vec<Ref<RelayExpr>> {
        let count = self.source.below(limit + 1);
        (0..count).map(|_| self.expr()).collect()
    }

    fn call(&mut self) -> Ref<RelayExpr> {
        let callee = match self.source.below(5) {
            0 => self.source.pick(&self.globals).expr(),
            1 => self.source.pick(&self.constructors).expr(),
            2 => self.expr(),
            _ => {
                let name = self.source.pick(&OPERATORS);
                let registered = OpRegistry::get_or_register(name);
                registered.expect("a name").op().expr()
            }
        };
        let args = self.several(2);
        Call::new(callee, args).expr()
    }

    /// A variable to bind: a new variable, or sometimes in wild programs an existing
    /// one.
    fn bind(&mut self) -> Ref<Var> {
        if self.wild && self.source.chance(40) {
            let all: Vec<_> = self.vars.iter().chain(&self.free).cloned().collect();
            return self.source.pick(&all).clone();
        }
        self.made += 1;
        let var = Var::new(format!("v{}", self.made));
        self.vars.push(var.clone());
        var
    }

    /// Draws in a separate scope.
    fn scoped<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> T {
        let (vars, known) = (self.vars.len(), self.known.len());
        let drawn = draw(self);
        if !self.wild {
            self.vars.truncate(vars);
            self.known.truncate(known);
        }
        drawn
    }

    fn binding(&mut self) -> Ref<RelayExpr> {
        self.scoped(|this| {
            let var = this.bind();
            Let::new(var, this.expr(), this.expr()).expr()
        })
    }

    fn function(&mut self) -> Ref<RelayExpr> {
        self.scoped(|this| {
            let count = this.source.below(3);
            let params: Vec<_> = (0..count).map(|_| this.bind()).collect();
            Function::new(params, this.expr()).expr()
        })
    }

    fn cases(&mut self) -> Ref<RelayExpr> {
        let data = self.expr();
        let count = 1 + self.source.below(2);
        let clauses: Vec<_> = (0..count)
            .map(|_| {
                self.scoped(|this| {
                    let pattern = this.pattern(2);
                    Clause::new(pattern, this.expr())
                })
            })
            .collect();
        Match::new(data, clauses).expr()
    }

    fn pattern(&mut self, levels: usize) -> Ref<Pattern> {
        let choices = if levels == 0 { 2 } else { 4 };
        match self.source.below(choices) {
            0 => PatternWildcard::new().upcast(),
            1 => PatternVar::new(self.bind()).upcast(),
            2 => {
                let count = self.source.below(3);
                let parts: Vec<_> = (0..count).map(|_| self.pattern(levels - 1)).collect();
                PatternTuple::new().with_patterns(parts).upcast()
            }
            _ => {
                let constructor = self.source.pick(&self.constructors).clone();
                let count = self.source.below(3);
                let parts: Vec<_> = (0..count).map(|_| self.pattern(levels - 1)).collect();
                PatternConstructor::new(constructor)
                    .with_patterns(parts)
                    .upcast()
            }
        }
    }
}

/// A constant without dimensions.
pub(super) fn scalar(number: i32) -> Ref<RelayExpr> {
    let data = number.to_le_bytes().to_vec();
    let tensor = Tensor::new(DType::INT32, Vec::new(), data);
    Constant::new(tensor.expect("four bytes")).expr()
}
