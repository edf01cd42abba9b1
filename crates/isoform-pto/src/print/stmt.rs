//! Statements, functions and programs.

use super::printer::{Printer, Task};
use super::{names, sharing};
use crate::operands::statements;
use crate::*;
use isoform::types::NodeEnum;
use isoform::{Array, Obj, Ref};

impl Printer<'_> {
    /// Finds the statements that occur at several places.
    pub(super) fn label_shared(&mut self, root: &Ref<Obj>) {
        self.labelled = sharing::named_parts(root, statements);
    }

    /// A program, function or statement on separate lines.
    pub(super) fn node(&mut self, node: &Ref<Obj>) {
        if let Some(stmt) = node.downcast_ref::<Stmt>() {
            if self.labelled.contains(&node.identity()) {
                if let Some(label) = self.labels.get(&node.identity()) {
                    let line = format!("...  # S{label} again\n");
                    self.start_line();
                    self.out.push_str(&line);
                    return;
                }
                let label = self.labels.len() + 1;
                self.labels.insert(node.identity(), label);
                self.comment(&format!("S{label}:"));
            }
            self.stmt(stmt);
        } else if let Some(function) = node.downcast_ref::<Function>() {
            self.function(function);
        } else if let Some(program) = node.downcast_ref::<Program>() {
            self.program(program);
        }
    }

    /// The statements of a body.
    pub(super) fn block(&mut self, body: Ref<Stmt>) {
        let pass = Task::PassAfter(self.lines);
        self.then(vec![Task::Node(body.into_object()), pass]);
    }

    /// A line of these tasks.
    fn line(&mut self, mut tasks: Vec<Task>, stmt: &Ref<Stmt>) {
        self.start_line();
        tasks.push(Task::EndLine(Some(stmt.span.clone())));
        self.then(tasks);
    }

    /// The end of a line with a colon, and the block below it.
    fn body(tasks: &mut Vec<Task>, body: &Ref<Stmt>, results: Vec<Ref<Var>>) {
        tasks.push(Task::Indent);
        tasks.push(Task::Results(results));
        tasks.push(Task::Block(body.clone()));
        tasks.push(Task::EndResults);
        tasks.push(Task::Dedent);
    }

    fn leading_comments(&mut self, stmt: &Ref<Stmt>) {
        for comment in stmt.leading_comments.iter() {
            self.comment(comment);
        }
    }

    fn stmt(&mut self, stmt: &Ref<Stmt>) {
        self.leading_comments(stmt);
        if let Some(sequence) = stmt.downcast_ref::<SeqStmts>() {
            let stmts = sequence
                .stmts
                .iter()
                .map(|stmt| Task::Node(stmt.as_object().clone()));
            return self.then(stmts.collect());
        }
        if let Some(assign) = stmt.downcast_ref::<AssignStmt>() {
            let mut tasks = self.definition(&assign.var);
            tasks.push(" = ".into());
            tasks.push(root(&assign.value));
            self.line(tasks, stmt);
        } else if let Some(eval) = stmt.downcast_ref::<EvalStmt>() {
            self.line(vec![root(&eval.expr)], stmt);
        } else if let Some(yielded) = stmt.downcast_ref::<YieldStmt>() {
            self.print_yield(yielded, stmt);
        } else if let Some(returned) = stmt.downcast_ref::<ReturnStmt>() {
            let mut tasks = roots(&returned.value);
            let keyword = if tasks.is_empty() {
                "return"
            } else {
                "return "
            };
            tasks.insert(0, keyword.into());
            self.line(tasks, stmt);
        } else if stmt.isa::<BreakStmt>() {
            self.line(vec!["break".into()], stmt);
        } else if stmt.isa::<ContinueStmt>() {
            self.line(vec!["continue".into()], stmt);
        } else if let Some(branch) = stmt.downcast_ref::<IfStmt>() {
            self.start_line();
            self.print_if("if ", branch);
        } else if let Some(each) = stmt.downcast_ref::<ForStmt>() {
            self.print_for(each);
        } else if let Some(repeat) = stmt.downcast_ref::<WhileStmt>() {
            self.print_while(repeat);
        } else if let Some(inline) = stmt.downcast_ref::<InlineStmt>() {
            self.inline(inline, stmt);
        } else if let Some(scope) = stmt.downcast_ref::<ScopeStmt>() {
            self.scope(scope, stmt);
        } else {
            self.line(vec![format!("{stmt:?}").into()], stmt);
        }
    }

    /// A variable with its type, at the first occurrence.
    fn definition(&mut self, var: &Ref<Var>) -> Vec<Task> {
        let (name, is_new) = self.names.of(var.identity(), &var.name_hint);
        let name = name.to_owned();
        if is_new && !self.options.concise {
            vec![
                format!("{name}: ").into(),
                Task::Root(var.ty.as_object().clone()),
            ]
        } else {
            vec![name.into()]
        }
    }

    fn print_yield(&mut self, yielded: &Ref<YieldStmt>, stmt: &Ref<Stmt>) {
        let results = self
            .results
            .last_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        let mut types = Vec::new();
        let mut tasks = match results.as_slice() {
            [] => Vec::new(),
            [result] => self.definition(result),
            several => {
                types = self.types_of(several.iter());
                Self::joined(
                    several
                        .iter()
                        .map(|var| Task::Operand(var.clone().upcast(), 0)),
                )
            }
        };
        if !tasks.is_empty() {
            tasks.push(" = ".into());
        }
        tasks.push(format!("{}(", self.language("yield_")).into());
        tasks.extend(roots(&yielded.value));
        tasks.push(")".into());
        tasks.extend(types);
        self.line(tasks, stmt);
    }

    /// A comment with the types of variables at their first occurrence.
    fn types_of<'v>(&mut self, vars: impl Iterator<Item = &'v Ref<Var>>) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for var in vars {
            let (name, is_new) = self.names.of(var.identity(), &var.name_hint);
            if !is_new || self.options.concise {
                continue;
            }
            let before = if tasks.is_empty() { "  # " } else { ", " };
            tasks.push(format!("{before}{name}: ").into());
            tasks.push(Task::Root(var.ty.as_object().clone()));
        }
        tasks
    }

    /// Leaves a body; results without a yield get no value.
    pub(super) fn unused_results(&mut self) {
        let results = self.results.pop().unwrap_or_default();
        if results.is_empty() {
            return;
        }
        let mut tasks = Self::joined(
            results
                .into_iter()
                .map(|var| Task::Operand(var.upcast(), 0)),
        );
        tasks.push(" = ...  # not yielded".into());
        tasks.push(Task::EndLine(None));
        self.start_line();
        self.then(tasks);
    }

    /// The rest of a line that begins with `if` or `elif`, and the following lines.
    fn print_if(&mut self, keyword: &'static str, branch: &Ref<IfStmt>) {
        let results: Vec<Ref<Var>> = branch.return_vars.iter().cloned().collect();
        let mut tasks = vec![keyword.into(), root(&branch.condition), ":".into()];
        tasks.push(Task::EndLine(Some(branch.span.clone())));
        Self::body(&mut tasks, &branch.then_body, results.clone());
        if let Some(other) = &branch.else_body {
            let chained = other.downcast_ref::<IfStmt>();
            let labelled = |other: &Ref<IfStmt>| self.labelled.contains(&other.identity());
            match chained.filter(|other| results.is_empty() && !labelled(other)) {
                Some(other) => tasks.push(Task::ElseIf(other.clone())),
                None => {
                    tasks.extend([Task::Line, "else:".into(), Task::EndLine(None)]);
                    Self::body(&mut tasks, other, results);
                }
            }
        }
        self.then(tasks);
    }

    pub(super) fn else_if(&mut self, branch: &Ref<IfStmt>) {
        self.start_line();
        self.print_if("elif ", branch);
    }

    fn print_for(&mut self, each: &Ref<ForStmt>) {
        let carried: Vec<Ref<Var>> = each
            .iter_args
            .iter()
            .map(|arg| arg.clone().upcast())
            .collect();
        // The usual type of a loop variable is omitted.
        let said = std::iter::once(&each.loop_var).filter(|var| !is_index(&var.ty));
        let types = self.types_of(said.chain(&carried));
        let kind = match each.kind.get() {
            ForKind::Sequential => "range",
            ForKind::Parallel => "parallel",
            ForKind::Unroll => "unroll",
            ForKind::Pipeline => "pipeline",
        };
        let mut tasks: Vec<Task> = vec!["for ".into(), operand(&each.loop_var)];
        if !carried.is_empty() {
            tasks.push(", ".into());
            tasks.extend(Self::tuple(carried.iter().map(operand)));
        }
        tasks.push(format!(" in {}(", self.language(kind)).into());
        for (position, bound) in [&each.start, &each.stop, &each.step]
            .into_iter()
            .enumerate()
        {
            tasks.push(if position == 0 { "" } else { ", " }.into());
            tasks.push(root(bound));
        }
        if !carried.is_empty() {
            tasks.push(", init_values=".into());
            tasks.extend(Self::tuple(
                each.iter_args.iter().map(|arg| root(&arg.init_value)),
            ));
        }
        if !each.attrs.is_empty() {
            tasks.push(", attrs=".into());
            tasks.push(Task::Value(each.attrs.clone().into()));
        }
        tasks.push("):".into());
        tasks.extend(types);
        tasks.push(Task::EndLine(Some(each.span.clone())));
        let results = each.return_vars.iter().cloned().collect();
        Self::body(&mut tasks, &each.body, results);
        self.start_line();
        self.then(tasks);
    }

    fn print_while(&mut self, repeat: &Ref<WhileStmt>) {
        let mut tasks: Vec<Task> = Vec::new();
        let results = repeat.return_vars.iter().cloned().collect();
        if repeat.iter_args.is_empty() {
            tasks.extend(["while ".into(), root(&repeat.condition), ":".into()]);
            tasks.push(Task::EndLine(Some(repeat.span.clone())));
            Self::body(&mut tasks, &repeat.body, results);
        } else {
            let carried: Vec<Ref<Var>> = repeat
                .iter_args
                .iter()
                .map(|arg| arg.clone().upcast())
                .collect();
            let types = self.types_of(carried.iter());
            tasks.push("for ".into());
            tasks.extend(Self::tuple(carried.iter().map(operand)));
            tasks.push(format!(" in {}(init_values=", self.language("while_")).into());
            tasks.extend(Self::tuple(
                repeat.iter_args.iter().map(|arg| root(&arg.init_value)),
            ));
            tasks.push("):".into());
            tasks.extend(types);
            tasks.push(Task::EndLine(Some(repeat.span.clone())));
            let condition = format!("{}(", self.language("cond"));
            tasks.extend([Task::Indent, Task::Line, condition.into()]);
            tasks.extend([
                root(&repeat.condition),
                ")".into(),
                Task::EndLine(None),
                Task::Dedent,
            ]);
            Self::body(&mut tasks, &repeat.body, results);
        }
        self.start_line();
        self.then(tasks);
    }

    fn scope(&mut self, scope: &Ref<ScopeStmt>, stmt: &Ref<Stmt>) {
        let mut arguments: Vec<(String, Vec<Task>)> = Vec::new();
        let mut say = |name: &str, value: Vec<Task>| arguments.push((name.to_owned(), value));
        let name = if let Some(core) = stmt.downcast_ref::<InCoreScopeStmt>() {
            if core.split.get() != SplitMode::None {
                let split = self.choice(core.split.as_object()).unwrap_or_default();
                say("split", vec![split.into()]);
            }
            "incore"
        } else if stmt.isa::<ClusterScopeStmt>() {
            "cluster"
        } else if let Some(level) = stmt.downcast_ref::<HierarchyScopeStmt>() {
            let text = self.choice(level.level.as_object()).unwrap_or_default();
            say("level", vec![text.into()]);
            if let Some(role) = &level.role {
                let role = self.choice(role.as_object()).unwrap_or_default();
                say("role", vec![role.into()]);
            }
            "at"
        } else if let Some(spmd) = stmt.downcast_ref::<SpmdScopeStmt>() {
            say("core_num", vec![root(&spmd.core_num)]);
            if spmd.sync_start {
                say("sync_start", vec!["True".into()]);
            }
            "spmd"
        } else if let Some(runtime) = stmt.downcast_ref::<RuntimeScopeStmt>() {
            if runtime.manual {
                say("manual", vec!["True".into()]);
            }
            "runtime"
        } else {
            "scope"
        };
        if !scope.name_hint.is_empty() {
            say("name_hint", vec![format!("{:?}", &*scope.name_hint).into()]);
        }
        let mut tasks: Vec<Task> = vec![format!("with {}(", self.language(name)).into()];
        for (position, (name, value)) in arguments.into_iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            tasks.push(format!("{comma}{name}=").into());
            tasks.extend(value);
        }
        tasks.push("):".into());
        tasks.push(Task::EndLine(Some(stmt.span.clone())));
        // A yield in a scope belongs to the enclosing body.
        tasks.extend([Task::Indent, Task::Block(scope.body.clone()), Task::Dedent]);
        self.start_line();
        self.then(tasks);
    }

    fn inline(&mut self, inline: &Ref<InlineStmt>, stmt: &Ref<Stmt>) {
        let language = self.choice(inline.language.as_object()).unwrap_or_default();
        let text = format!(
            "{}({:?}, {language})",
            self.language("inline"),
            &*inline.body
        );
        self.line(vec![text.into()], stmt);
    }

    fn function(&mut self, function: &Ref<Function>) {
        let prefix = self.options.prefix.clone();
        self.names.clear(&prefix);
        let mut settings: Vec<Task> = Vec::new();
        if function.func_type.get() != FunctionType::Opaque {
            let text = self
                .choice(function.func_type.as_object())
                .unwrap_or_default();
            settings.push(format!("type={text}").into());
        }
        if let Some(level) = &function.level {
            let text = self.choice(level.as_object()).unwrap_or_default();
            settings.push(format!("level={text}").into());
        }
        if let Some(role) = &function.role {
            let text = self.choice(role.as_object()).unwrap_or_default();
            settings.push(format!("role={text}").into());
        }
        if function.requires_runtime_binding {
            settings.push("requires_runtime_binding=True".into());
        }
        let mut settings = Self::joined(settings);
        if !function.attrs.is_empty() {
            settings.push(
                if settings.is_empty() {
                    "attrs="
                } else {
                    ", attrs="
                }
                .into(),
            );
            settings.push(Task::Value(function.attrs.clone().into()));
        }
        let mut tasks: Vec<Task> = vec![format!("@{}", self.language("function")).into()];
        if !settings.is_empty() {
            tasks.push("(".into());
            tasks.extend(settings);
            tasks.push(")".into());
        }
        tasks.extend([Task::EndLine(None), Task::Line]);
        tasks.push(format!("def {}(", names::cleaned(&function.name)).into());
        for (position, param) in function.params.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            tasks.push(comma.into());
            tasks.push(operand(param));
            let direction = function
                .param_directions
                .get(position)
                .map_or(ParamDirection::In, |direction| direction.get());
            if direction == ParamDirection::In {
                tasks.push(": ".into());
                tasks.push(Task::Root(param.ty.as_object().clone()));
            } else {
                tasks.push(format!(": {}[", self.language(direction.name())).into());
                tasks.push(Task::Root(param.ty.as_object().clone()));
                tasks.push("]".into());
            }
        }
        tasks.push(")".into());
        let returned = function.return_types.iter();
        let mut returned = Self::joined(returned.map(|ty| Task::Root(ty.as_object().clone())));
        match function.return_types.len() {
            0 => {}
            1 => {
                tasks.push(" -> ".into());
                tasks.append(&mut returned);
            }
            _ => {
                tasks.push(" -> (".into());
                tasks.append(&mut returned);
                tasks.push(")".into());
            }
        }
        tasks.push(":".into());
        tasks.push(Task::EndLine(Some(function.span.clone())));
        Self::body(&mut tasks, &function.body, Vec::new());
        self.start_line();
        self.then(tasks);
    }

    fn program(&mut self, program: &Ref<Program>) {
        let name = if program.name.is_empty() {
            "Program".to_owned()
        } else {
            names::cleaned(&program.name)
        };
        let mut tasks: Vec<Task> = vec![
            format!("@{}", self.language("program")).into(),
            Task::EndLine(None),
            Task::Line,
            format!("class {name}:").into(),
            Task::EndLine(Some(program.span.clone())),
            Task::Indent,
        ];
        let before = self.lines + 2;
        for (position, (_, function)) in program.functions.iter().enumerate() {
            if position > 0 {
                tasks.push("\n".into());
            }
            tasks.push(Task::Node(function.as_object().clone()));
        }
        tasks.push(Task::PassAfter(before));
        tasks.push(Task::Dedent);
        self.start_line();
        self.then(tasks);
    }

    fn tuple(items: impl Iterator<Item = Task>) -> Vec<Task> {
        let mut tasks = Self::joined(items);
        let only_one = tasks.len() == 1;
        tasks.insert(0, "(".into());
        tasks.push(if only_one { ",)" } else { ")" }.into());
        tasks
    }
}

fn operand(var: &Ref<Var>) -> Task {
    Task::Operand(var.clone().upcast(), 0)
}

fn root(expr: &Ref<Expr>) -> Task {
    Task::Root(expr.as_object().clone())
}

fn roots(exprs: &Array<Ref<Expr>>) -> Vec<Task> {
    Printer::joined(exprs.iter().map(root))
}

/// True for the usual type of loop variables.
fn is_index(ty: &Ref<Type>) -> bool {
    let scalar = ty.downcast_ref::<ScalarType>();
    scalar.is_some_and(|ty| matches!(ty.dtype.get(), DataType::Index | DataType::Int64))
}
