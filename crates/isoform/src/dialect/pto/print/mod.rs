//! Programs as text that reads like Python.
//!
//! The text is for people: it says everything that comparison looks at, and is
//! not read back. Files are written by [`to_json_graph`](crate::to_json_graph),
//! [`to_bytes`](crate::to_bytes) and [`to_text`](crate::to_text).

mod expr;
mod names;
mod sharing;
mod stmt;
mod ty;

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use isoform_macros::export;

use super::operands::operands;
use super::*;
use crate::kernel::container::Str;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;
use names::Names;

/// How [`python_print`] writes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PrintOptions {
    /// What the language is imported as; empty if its names stand alone.
    pub prefix: String,
    /// Whether comments say where statements and functions were written.
    pub spans: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions {
            prefix: "pl".to_owned(),
            spans: false,
        }
    }
}

impl PrintOptions {
    /// Sets what the language is imported as.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets whether comments say where statements and functions were written.
    #[must_use]
    pub fn spans(mut self, spans: bool) -> Self {
        self.spans = spans;
        self
    }
}

/// The text of a program, function, statement, expression or type, in the
/// manner of Python.
///
/// * Variables are called by their hints, with a number behind a hint that
///   another variable of the function has; where they are defined, their type
///   stands as annotation.
/// * A memory reference is written in full where it is met first.
/// * Parentheses stand where the operators of Python need them.
/// * A large part of an expression that is used several times in it is written
///   once, as `(s := ...)`, and called by that name from there on; a statement
///   that stands at several places is written once, and labelled.
/// * Beyond 40 levels the indentation does not grow any more; a number in
///   brackets says the level.
///
/// The same value has the same text whenever it is printed. Linear in the size
/// of the value and of the text; depth is limited by memory only.
///
/// # Errors
///
/// `TypeError` for a value of another kind.
///
/// ```
/// use isoform::dialect::pto::{self, Add, DataType, Mul, PrintOptions, ScalarType, Var};
/// let int = ScalarType::new(DataType::Int64);
/// let [x, y] = ["x", "x"].map(|name| Var::new(name, &int));
/// let sum = Add::new(&x, &y, DataType::Int64);
/// let product = Mul::new(sum, &x, DataType::Int64);
/// let text = pto::python_print(&product, &PrintOptions::default())?;
/// assert_eq!(text, "(x + x_1) * x");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn python_print(node: impl Into<Value>, options: &PrintOptions) -> Result<String> {
    let node = node.into();
    let Some(object) = node.as_object() else {
        return Err(unprintable(&node));
    };
    let mut printer = Printer::new(options);
    if object.isa::<Program>() || object.isa::<Function>() || object.isa::<Stmt>() {
        printer.label_shared(object);
        printer.run(Task::Node(object.clone()));
    } else if object.isa::<Expr>() || object.isa::<Type>() {
        printer.run(Task::Root(object.clone()));
    } else {
        return Err(unprintable(&node));
    }
    Ok(printer.out)
}

fn unprintable(node: &Value) -> Error {
    Error::type_error(format!(
        "python_print: expected a program, function, statement, expression or type of pto, got {}",
        node.type_name()
    ))
}

/// The text of a program or a part of it, in the manner of Python.
#[export("pto.python_print", crate = crate)]
fn print_for_others(node: Value, prefix: Str, spans: bool) -> Result<String> {
    let options = PrintOptions::default().prefix(&*prefix).spans(spans);
    python_print(node, &options)
}

pub(super) fn register() -> Result<()> {
    crate::ir::functions![print_for_others]
}

/// Beyond this level the indentation does not grow: the text of a million
/// nested statements would be all spaces.
const DEEPEST: usize = 40;

/// What is still to be written.
enum Task {
    Text(Cow<'static, str>),
    /// A program, function or statement, on lines of its own.
    Node(Ref<Obj>),
    /// The indented block below a line that ends with a colon.
    Block(Ref<Stmt>),
    /// Writes `pass` when no line came since there were so many.
    PassAfter(usize),
    /// An expression or type that is not part of another one.
    Root(Ref<Obj>),
    /// An expression as operand: with parentheses if it binds less than this.
    Operand(Ref<Expr>, u8),
    Type(Ref<Type>),
    /// The value of an attribute.
    Value(Value),
    /// The rest of an `if` statement whose `else` is one, too.
    ElseIf(Ref<IfStmt>),
    /// Begins a line.
    Line,
    /// Ends a line, with where its node was written.
    EndLine(Option<Ref<Span>>),
    Indent,
    Dedent,
    /// The variables that a yield in the following statements gives values to.
    Results(Vec<Ref<Var>>),
    EndResults,
    /// A part of an expression that was given a name: now without parentheses.
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

/// One text in the making.
struct Printer<'a> {
    options: &'a PrintOptions,
    out: String,
    /// What is to be written, the next thing last.
    tasks: Vec<Task>,
    names: Names,
    indent: usize,
    lines: usize,
    /// The parts of the expression at hand that are written once.
    shared: HashSet<u64>,
    /// The names of those that were written.
    written: HashMap<u64, String>,
    /// The variables that yields give values to, innermost last; taken by the
    /// first yield.
    results: Vec<Vec<Ref<Var>>>,
    /// Statements that stand at several places.
    labelled: HashSet<u64>,
    /// The labels of those that were written.
    labels: HashMap<u64, usize>,
}

impl<'a> Printer<'a> {
    fn new(options: &'a PrintOptions) -> Self {
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

    fn run(&mut self, task: Task) {
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
    fn then(&mut self, tasks: Vec<Task>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn start_line(&mut self) {
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

    fn comment(&mut self, text: &str) {
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
    fn language(&self, name: &str) -> String {
        match self.options.prefix.as_str() {
            "" => name.to_owned(),
            prefix => format!("{prefix}.{name}"),
        }
    }

    /// Tasks with a separator between them.
    fn joined(items: impl IntoIterator<Item = Task>) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for item in items {
            if !tasks.is_empty() {
                tasks.push(", ".into());
            }
            tasks.push(item);
        }
        tasks
    }

    /// An expression or type that is not part of another one: what it shares
    /// within itself gets names.
    fn root(&mut self, node: Ref<Obj>) {
        self.shared = sharing::named_parts(&node, operands);
        self.written.clear();
        if let Some(expr) = node.downcast_ref::<Expr>() {
            self.operand(expr, 0);
        } else if let Some(ty) = node.downcast_ref::<Type>() {
            self.ty(ty);
        }
    }

    /// Whether a part was written as a name, or its beginning as that of a
    /// named part.
    fn by_name(&mut self, node: &Ref<Obj>) -> bool {
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
