//! Draws programs, functions and statements.

use super::generate::Generator;
use super::known::{Frame, Signature, Ty, Typed};
use isoform::{Map, Node, Obj, Ref, Result, Str, Value};
use isoform_pto::*;

/// The approximate number of nodes of a function.
const FUNCTION: usize = 80;

/// The nesting of statements.
const STATEMENTS: usize = 5;

/// The nesting of expressions; reused expressions add to it.
const EXPRESSIONS: usize = 4;

impl Generator<'_> {
    /// A program of about so many nodes.
    pub(super) fn program(&mut self, size: usize) -> Result<Ref<Obj>> {
        self.budget = size;
        let count = size / FUNCTION + 1;
        // Signatures are drawn before bodies, to let every function call every other
        // function.
        for number in 0..count {
            let [params, results] = [(); 2].map(|()| self.main.below(4));
            let params = (0..params)
                .map(|_| self.closed_type())
                .collect::<Result<_>>()?;
            let results = (0..results.min(2))
                .map(|_| self.closed_type())
                .collect::<Result<_>>()?;
            self.signatures.push(Signature {
                name: format!("kernel_{number}"),
                is_called: self.main.chance(70),
                params,
                results,
            });
        }
        let mut functions = Map::<Str, Value>::new();
        for number in 0..count {
            self.budget = FUNCTION.min(size);
            let function = self.function(number)?;
            let name = Str::from(self.signatures[number].name.as_str());
            functions.insert(name, function.into());
        }
        self.node::<Program>(vec![("functions", functions.into())])
    }

    fn function(&mut self, number: usize) -> Result<Ref<Obj>> {
        let Signature {
            name,
            is_called,
            params: mut types,
            results,
        } = self.signatures[number].clone();
        self.frame = Frame::default();
        if !is_called {
            for ty in &mut types {
                *ty = self.defined_type(true)?;
            }
        }
        let mut params = Vec::new();
        for ty in &types {
            let param = self.var(ty)?;
            params.push(Value::from(&param.object));
            self.frame.vars.push(param);
        }
        let directions: Vec<Value> = params
            .iter()
            .map(|_| self.member::<ParamDirection>())
            .collect();
        let mut stmts = Vec::new();
        while self.budget > 0 {
            stmts.push(self.stmt(STATEMENTS)?);
        }
        if !results.is_empty() || self.main.chance(30) {
            let value = self.exprs(&results, EXPRESSIONS)?;
            stmts.push(self.node::<ReturnStmt>(vec![("value", value)])?);
        }
        let body = self.sequence(stmts)?;
        let results: Vec<Value> = results.iter().map(|ty| Value::from(&ty.object)).collect();
        let fields = vec![
            ("name", Value::from(name.as_str())),
            ("params", params.into()),
            ("param_directions", directions.into()),
            ("return_types", results.into()),
            ("body", body.into()),
            ("type", self.member::<FunctionType>()),
            ("level", self.optional_member::<Level>()),
            ("role", self.optional_member::<Role>()),
            ("attrs", self.names(&["split", "note"])),
            (
                "requires_runtime_binding",
                Value::from(self.main.chance(20)),
            ),
        ];
        self.node::<Function>(fields)
    }

    /// Statements in sequence; a single statement is not wrapped in most cases.
    fn sequence(&mut self, mut stmts: Vec<Ref<Obj>>) -> Result<Ref<Obj>> {
        match stmts.pop() {
            Some(only) if stmts.is_empty() && self.main.chance(60) => Ok(only),
            last => {
                let stmts: Vec<Value> = stmts.into_iter().chain(last).map(Value::from).collect();
                self.node::<SeqStmts>(vec![("stmts", stmts.into())])
            }
        }
    }

    /// A statement; following statements may use the definitions of the statement.
    fn stmt(&mut self, depth: usize) -> Result<Ref<Obj>> {
        if self.is_over(depth) {
            return match self.main.below(2) {
                0 => self.assign(),
                _ => self.eval(),
            };
        }
        match self.main.below(16) {
            0..=4 => self.assign(),
            5 => self.eval(),
            6 | 7 => self.for_loop(depth - 1),
            8 => self.while_loop(depth - 1),
            9 | 10 => self.branch(depth - 1),
            11 | 12 => self.scope(depth - 1),
            13 => {
                let stmts = self.some_stmts(depth - 1)?;
                self.sequence(stmts)
            }
            14 if !self.frame.stmts.is_empty() => {
                let index = self.main.below(self.frame.stmts.len());
                Ok(self.frame.stmts[index].clone())
            }
            _ => match self.main.below(4) {
                0 => self.node::<Stmt>(Vec::new()),
                _ => {
                    let text = Value::from(*self.main.pick(&["pipe_barrier(PIPE_ALL);", ""]));
                    let language = self.member::<InlineLanguage>();
                    self.node::<InlineStmt>(vec![("body", text), ("language", language)])
                }
            },
        }
    }

    fn some_stmts(&mut self, depth: usize) -> Result<Vec<Ref<Obj>>> {
        let count = 1 + self.main.below(4);
        (0..count).map(|_| self.stmt(depth)).collect()
    }

    fn assign(&mut self) -> Result<Ref<Obj>> {
        let ty = self.defined_type(false)?;
        let value = self.expr(&ty, EXPRESSIONS)?;
        let var = self.var(&ty)?;
        let fields = vec![("var", Value::from(&var.object)), ("value", value.into())];
        let stmt = self.node::<AssignStmt>(fields)?;
        self.frame.vars.push(var);
        Ok(stmt)
    }

    fn eval(&mut self) -> Result<Ref<Obj>> {
        let called: Vec<usize> = (0..self.signatures.len())
            .filter(|number| self.signatures[*number].is_called)
            .collect();
        let expr = if !called.is_empty() && self.main.chance(40) {
            let number = *self.late(&called);
            let function = self.signatures[number].clone();
            let ty = match &function.results[..] {
                [] => self.known_type()?,
                [one] => one.clone(),
                several => self.tuple_type(several.to_vec())?,
            };
            self.call_of(&function.name, &function.params, &ty, EXPRESSIONS)?
        } else {
            let ty = self.known_type()?;
            self.call(&ty, EXPRESSIONS)?
        };
        let stmt = self.node::<EvalStmt>(vec![("expr", expr.into())])?;
        self.frame.stmts.push(stmt.clone());
        Ok(stmt)
    }

    /// A body that may use known values, and yields values of these types.
    fn body(&mut self, yields: &[Ty], depth: usize) -> Result<Ref<Obj>> {
        let mark = self.frame.mark();
        let mut stmts = self.some_stmts(depth)?;
        if !yields.is_empty() || self.main.chance(10) {
            let value = self.exprs(yields, EXPRESSIONS)?;
            stmts.push(self.node::<YieldStmt>(vec![("value", value)])?);
        } else if self.frame.loops > 0 && self.main.chance(15) {
            stmts.push(match self.main.below(2) {
                0 => self.node::<BreakStmt>(Vec::new())?,
                _ => self.node::<ContinueStmt>(Vec::new())?,
            });
        }
        self.frame.forget(mark);
        self.sequence(stmts)
    }

    /// The variables that a loop carries.
    fn iter_args(&mut self) -> Result<Vec<Typed>> {
        let count = self.main.below(3);
        let arg = |_| {
            let ty = self.defined_type(false)?;
            let init = self.expr(&ty, EXPRESSIONS)?;
            let fields = vec![
                ("type", Value::from(&ty.object)),
                ("init_value", init.into()),
            ];
            let object = self.node::<IterArg>(fields)?;
            Ok(Typed { object, ty })
        };
        (0..count).map(arg).collect()
    }

    /// The variables for values of these types.
    fn results(&mut self, types: &[Ty]) -> Result<Value> {
        let mut vars = Vec::new();
        for ty in types {
            let var = self.var(ty)?;
            vars.push(Value::from(&var.object));
            self.frame.vars.push(var);
        }
        Ok(vars.into())
    }

    /// The fields of both kinds of loops. Definitions of `first` are known only in the
    /// loop; `last` draws the parts that use carried values.
    fn loop_fields(
        &mut self,
        first: Option<Typed>,
        depth: usize,
        last: impl FnOnce(&mut Self) -> Result<Vec<(&'static str, Value)>>,
    ) -> Result<Vec<(&'static str, Value)>> {
        let args = self.iter_args()?;
        let types: Vec<Ty> = args.iter().map(|arg| arg.ty.clone()).collect();
        let objects: Vec<Value> = args.iter().map(|arg| Value::from(&arg.object)).collect();
        let mark = self.frame.mark();
        self.frame.vars.extend(first.into_iter().chain(args));
        let mut fields = last(self)?;
        self.frame.loops += 1;
        let body = self.body(&types, depth)?;
        self.frame.loops -= 1;
        self.frame.forget(mark);
        fields.extend([
            ("iter_args", objects.into()),
            ("body", body.into()),
            ("return_vars", self.results(&types)?),
        ]);
        Ok(fields)
    }

    fn for_loop(&mut self, depth: usize) -> Result<Ref<Obj>> {
        let dtype = self.counter();
        let ty = self.scalar(dtype)?;
        let [start, stop] = [self.expr(&ty, 1)?, self.expr(&ty, EXPRESSIONS)?];
        let step = match self.known_var(&ty) {
            Some(var) if self.main.chance(20) => var,
            _ => {
                let value = Value::from(1 + self.main.below(4) as i64);
                let fields = vec![("type", Value::from(&ty.object)), ("value", value)];
                self.node::<ConstInt>(fields)?
            }
        };
        let var = self.var(&ty)?;
        let loop_var = Value::from(&var.object);
        let mut fields = self.loop_fields(Some(var), depth, |_| Ok(Vec::new()))?;
        fields.extend([
            ("loop_var", loop_var),
            ("start", start.into()),
            ("stop", stop.into()),
            ("step", step.into()),
            ("kind", self.member::<ForKind>()),
            ("attrs", self.names(&["stages", "note"])),
        ]);
        self.node::<ForStmt>(fields)
    }

    fn while_loop(&mut self, depth: usize) -> Result<Ref<Obj>> {
        let truth = self.scalar(DataType::Bool)?;
        let fields = self.loop_fields(None, depth, |drawing| {
            let condition = drawing.expr(&truth, EXPRESSIONS)?;
            Ok(vec![("condition", condition.into())])
        })?;
        self.node::<WhileStmt>(fields)
    }

    fn branch(&mut self, depth: usize) -> Result<Ref<Obj>> {
        let truth = self.scalar(DataType::Bool)?;
        let condition = self.expr(&truth, EXPRESSIONS)?;
        let count = self.main.below(3);
        let types: Vec<Ty> = (0..count)
            .map(|_| self.known_type())
            .collect::<Result<_>>()?;
        let then_body = self.body(&types, depth)?;
        let else_body = if !types.is_empty() || self.main.chance(50) {
            self.body(&types, depth)?.into()
        } else {
            Value::NONE
        };
        let fields = vec![
            ("condition", condition.into()),
            ("then_body", then_body.into()),
            ("else_body", else_body),
            ("return_vars", self.results(&types)?),
        ];
        self.node::<IfStmt>(fields)
    }

    /// A scope statement; its definitions remain visible.
    fn scope(&mut self, depth: usize) -> Result<Ref<Obj>> {
        let kind = self.main.below(5);
        let mut fields = Vec::new();
        if kind == 0 {
            let dtype = self.counter();
            let ty = self.scalar(dtype)?;
            fields.push(("core_num", self.expr(&ty, 1)?.into()));
        }
        let stmts = self.some_stmts(depth)?;
        fields.push(("body", self.sequence(stmts)?.into()));
        let class = match kind {
            0 => {
                fields.push(("sync_start", Value::from(self.main.chance(50))));
                SpmdScopeStmt::type_index()
            }
            1 => {
                fields.push(("split", self.member::<SplitMode>()));
                InCoreScopeStmt::type_index()
            }
            2 => ClusterScopeStmt::type_index(),
            3 => {
                fields.push(("level", self.member::<Level>()));
                fields.push(("role", self.optional_member::<Role>()));
                HierarchyScopeStmt::type_index()
            }
            _ => {
                fields.push(("manual", Value::from(self.main.chance(50))));
                RuntimeScopeStmt::type_index()
            }
        };
        self.node_of(class, fields)
    }
}
