//! A text under construction, as a stack of tasks: lines, indentation, and parts to
//! write only once.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};

use super::names::Names;
use super::options::PrintOptions;
use super::sharing;
use crate::operands::operands;
use crate::{Expr, IfStmt, Span, Stmt, Type, Var};
use isoform::{Obj, Ref, Value};

/// Beyond this level the indentation does not grow: the text of a million
/// nested statements would be all spaces.
const DEEPEST: usize = 40;

/// A pending step of printing.
pub(super) enum Task {
    Text(Cow<'static, str>),
    /// A program, function or statement, on lines of its own.
    Node(Ref<Obj>),
    /// The indented block below a line that ends with a colon.
    Block(Ref<Stmt>),
    /// Writes `pass` if no line was added since this number of lines.
    PassAfter(usize),
    /// An expression or type outside of other expressions and types.
    Root(Ref<Obj>),
    /// An expression as operand: in parentheses if its precedence is lower than this.
    Operand(Ref<Expr>, u8),
    Type(Ref<Type>),
    /// The value of an attribute.
    Value(Value),
    /// The rest of an `if` statement whose `else` is also an `if`.
    ElseIf(Ref<IfStmt>),
    /// Begins a line.
    Line,
    /// Ends a line, with the source location of its node.
    EndLine(Option<Ref<Span>>),
    Indent,
    Dedent,
    /// The variables that receive the values of a yield in the following statements.
    Results(Vec<Ref<Var>>),
    EndResults,
    /// A part of an expression after its new name: now without parentheses.
    Unnamed(Ref<Obj>),
}

impl From<&'static str> for Task {
    fn from(text: &'static str) -> Self {
        Task::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Task {
    fn from(text: String) -> Self {
        Task::Text(Cow::Owned(text))
    }
}

/// A text under construction.
pub(super) struct Printer<'a> {
    pub(super) options: &'a PrintOptions,
    pub(super) out: String,
    /// The pending tasks, the next task last.
    tasks: Vec<Task>,
    pub(super) names: Names,
    indent: usize,
    pub(super) lines: usize,
    /// The parts of the current expression to write only once.
    shared: HashSet<u64>,
    /// The names of the shared parts written so far.
    written: HashMap<u64, String>,
    /// The variables for the values of yields, innermost last; the first yield takes
    /// the variables.
    pub(super) results: Vec<Vec<Ref<Var>>>,
    /// Statements that occur at several places.
    pub(super) labelled: HashSet<u64>,
    /// The labels of the labelled statements written so far.
    pub(super) labels: HashMap<u64, usize>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(options: &'a PrintOptions) -> Self {
        let mut names = Names::default();
        names.clear(&options.prefix);
        Printer {
            options,
            out: String::new(),
            tasks: Vec::new(),
            names,
            indent: 0,
            lines: 0,
            shared: HashSet::new(),
            written: HashMap::new(),
            results: Vec::new(),
            labelled: HashSet::new(),
            labels: HashMap::new(),
        }
    }

    pub(super) fn run(&mut self, task: Task) {
        self.tasks.push(task);
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Text(text) => self.out.push_str(&text),
                Task::Node(node) => self.node(&node),
                Task::Block(body) => self.block(body),
                Task::PassAfter(lines) if self.lines == lines => {
                    self.start_line();
                    self.out.push_str("pass");
                    self.end_line(None);
                }
                Task::PassAfter(_) => {}
                Task::Root(node) => self.root(node),
                Task::Operand(expr, binding) => self.operand(&expr, binding),
                Task::Type(ty) => self.ty(&ty),
                Task::Value(value) => self.value(&value),
                Task::ElseIf(branch) => self.else_if(&branch),
                Task::Line => self.start_line(),
                Task::EndLine(span) => self.end_line(span.as_ref()),
                Task::Indent => self.indent += 1,
                Task::Dedent => self.indent -= 1,
                Task::Results(vars) => self.results.push(vars),
                Task::EndResults => self.unused_results(),
                Task::Unnamed(node) => self.unnamed(&node),
            }
        }
    }

    /// Has tasks done next, in this order.
    pub(super) fn then(&mut self, tasks: Vec<Task>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    pub(super) fn start_line(&mut self) {
        self.lines += 1;
        let shown = self.indent.min(DEEPEST);
        self.out.extend(std::iter::repeat_n("    ", shown));
        if self.indent > DEEPEST {
            self.out.push_str(&format!("[{}] ", self.indent));
        }
    }

    fn end_line(&mut self, span: Option<&Ref<Span>>) {
        if let Some(span) = span.filter(|span| self.options.spans && span.is_valid()) {
            self.out.push_str(&format!("  # {}", **span));
        }
        self.out.push('\n');
    }

    pub(super) fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.start_line();
            self.out.push_str("# ");
            self.out.push_str(line);
            self.out.push('\n');
            // A block needs more than comments.
            self.lines -= 1;
        }
    }

    /// An attribute or argument of the language, by its name.
    pub(super) fn language(&self, name: &str) -> String {
        match self.options.prefix.as_str() {
            "" => name.to_owned(),
            prefix => format!("{prefix}.{name}"),
        }
    }

    /// Tasks with a separator between them.
    pub(super) fn joined(items: impl IntoIterator<Item = Task>) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for item in items {
            if !tasks.is_empty() {
                tasks.push(", ".into());
            }
            tasks.push(item);
        }
        tasks
    }

    /// An expression or type outside of other expressions and types; its shared parts
    /// get names.
    fn root(&mut self, node: Ref<Obj>) {
        self.shared = sharing::named_parts(&node, operands);
        self.written.clear();
        if let Some(expr) = node.downcast_ref::<Expr>() {
            self.operand(expr, 0);
        } else if let Some(ty) = node.downcast_ref::<Type>() {
            self.ty(ty);
        }
    }

    /// True if the part was written as a name, or as the beginning of a definition with
    /// a name.
    pub(super) fn by_name(&mut self, node: &Ref<Obj>) -> bool {
        let ident = node.identity();
        if let Some(name) = self.written.get(&ident) {
            self.out.push_str(name);
            return true;
        }
        if !self.shared.contains(&ident) {
            return false;
        }
        let name = self.names.fresh("s");
        self.out.push('(');
        self.out.push_str(&name);
        self.out.push_str(" := ");
        self.written.insert(ident, name);
        self.then(vec![Task::Unnamed(node.clone()), ")".into()]);
        true
    }
}
