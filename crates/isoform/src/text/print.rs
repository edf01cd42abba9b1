//! Prints a planned graph.
//!
//! A node is printed on one line if possible, otherwise with one part per line. Short
//! parts of a sequence are packed into lines.
//!
//! The widths of all parts are known before lines are laid out.

use super::graph::{Graph, Item, NodeKind, Part};
use super::marks::{Edge, Marks};
use super::pieces::Recording;
use super::plan::{Plan, TOO_WIDE};
use super::style::{Page, Piece};
use super::tensor;
use crate::kernel::error::Result;
use crate::kernel::object::access::Poll;

/// Parts of at most this many columns fill lines.
const FILLED: u32 = 16;

/// The text of a graph, its lines with underlines, and the recording with its pieces. With
/// a recording, the text has no underlines.
///
/// # Errors
///
/// `ValueError` for tensors of data types without a name.
pub(super) fn print(
    graph: &Graph<'_>,
    plan: &mut Plan,
    marks: &Marks,
    recording: Option<Recording>,
) -> Result<(String, Vec<usize>, Option<Recording>)> {
    let options = graph.options();
    let mut printer = Printer {
        graph,
        plan,
        marks,
        page: Page::new(options.color, options.indentation(), recording),
        todo: Vec::new(),
        poll: Poll::default(),
    };
    for position in 0..printer.plan.lines().len() {
        let line = printer.plan.lines()[position];
        printer.line(line)?;
    }
    let root = graph.root();
    printer.marked(Edge::ROOT, Item::Node(root), 0, 0);
    printer.run()?;
    printer.page.new_line(0);
    let constants = std::mem::take(&mut printer.plan.constants);
    if !constants.is_empty() && options.metadata {
        printer.page.new_line(0);
        printer.page.put(Piece::Comment, "// metadata");
        printer.page.new_line(0);
        for constant in constants {
            printer.line(constant)?;
        }
    }
    Ok(printer.page.finish())
}

struct Printer<'g> {
    graph: &'g Graph<'g>,
    plan: &'g mut Plan,
    marks: &'g Marks,
    page: Page,
    todo: Vec<Todo>,
    poll: Poll,
}

/// A pending step of printing.
enum Todo {
    /// A part, with the number of columns needed after the part.
    Item(Edge, Item, usize, u32),
    /// The value of a key.
    Value(Edge, Item, usize),
    /// A definition in a block.
    Line(u32, usize),
    /// The remaining parts of a node.
    Rest(Rest),
    Text(&'static str),
    /// The comment of a node.
    Comment(u32),
    EndUnderline,
}

#[derive(Clone, Copy)]
struct Rest {
    node: u32,
    next: u32,
    levels: usize,
    shape: Shape,
    is_first: bool,
}

/// The arrangement of a node's parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    OneLine,
    /// The only part continues the line and breaks in itself.
    Hug,
    Fill,
    Column,
}

impl Printer<'_> {
    /// A definition on its own line.
    fn line(&mut self, node: u32) -> Result<()> {
        self.todo.push(Todo::Line(node, 0));
        self.run()?;
        self.page.new_line(0);
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        while let Some(todo) = self.todo.pop() {
            self.poll.step_outside()?;
            match todo {
                Todo::Text(text) => self.page.punctuation(text),
                Todo::Item(edge, item, levels, behind) => self.item(edge, item, levels, behind)?,
                Todo::Value(edge, item, levels) => self.marked(edge, item, levels, 1),
                Todo::Line(node, levels) => {
                    self.page.put_name(node, self.plan.name_of(node), true);
                    self.page.punctuation(" = ");
                    self.content(node, levels, 1)?;
                }
                Todo::Rest(rest) => self.rest(rest)?,
                Todo::Comment(node) => {
                    if let Some(&text) = self.graph.comments.get(&node) {
                        let text = self.graph.text(text);
                        self.page.put(Piece::Comment, &format!(" /* {text} */"));
                    }
                }
                Todo::EndUnderline => self.page.end_underline(),
            }
        }
        Ok(())
    }

    /// A part, underlined if requested.
    fn marked(&mut self, edge: Edge, item: Item, levels: usize, behind: u32) {
        for &mark in self.marks.of(edge) {
            let note = &self.graph.options().marks[mark].note;
            self.page.start_underline(mark, note);
            self.todo.push(Todo::EndUnderline);
        }
        self.todo.push(Todo::Item(edge, item, levels, behind));
    }

    fn item(&mut self, edge: Edge, item: Item, levels: usize, behind: u32) -> Result<()> {
        let node = match item {
            Item::Text(text) => {
                let text = self.graph.text(text);
                self.page.put(Piece::of_leaf(text), text);
                return Ok(());
            }
            Item::Node(node) => node,
        };
        if self.plan.is_named(node) {
            let is_definition = self.plan.is_in_place(node, edge.node, edge.part);
            self.page
                .put_name(node, self.plan.name_of(node), is_definition);
            if !is_definition {
                return Ok(());
            }
            self.page.punctuation(": ");
        }
        self.content(node, levels, behind)
    }

    /// The text of a node itself.
    fn content(&mut self, number: u32, levels: usize, behind: u32) -> Result<()> {
        let (open, close) = match self.graph.node(number).what {
            NodeKind::Leaf(text) | NodeKind::Whole(text) => {
                let text = self.graph.text(text);
                self.page.put(Piece::of_leaf(text), text);
                return Ok(());
            }
            NodeKind::Tensor(position) => {
                let value = &self.graph.tensors[position as usize];
                let mut text = String::new();
                tensor::push(value, true, &mut text)?;
                self.page.put(Piece::Word, &text);
                return Ok(());
            }
            NodeKind::Sequence(open) => (open, "]"),
            NodeKind::Mapping(open) => (open, "}"),
            NodeKind::Object(ty) => {
                let head = &self.graph.types[ty as usize].head;
                self.page.put(Piece::Type, &head[..head.len() - 1]);
                ("(", ")")
            }
        };
        self.page.punctuation(open);
        let shape = self.shape(number, open, behind);
        self.todo.push(Todo::Comment(number));
        self.todo.push(Todo::Text(close));
        let Some(shape) = shape else {
            return Ok(());
        };
        self.todo.push(Todo::Rest(Rest {
            node: number,
            next: 0,
            levels,
            shape,
            is_first: true,
        }));
        Ok(())
    }

    /// The arrangement of a node's parts; None for a node without parts.
    fn shape(&self, number: u32, open: &str, behind: u32) -> Option<Shape> {
        let graph = self.graph;
        let plan = &self.plan;
        let has_lines = !plan.lines_in(number).is_empty();
        let parts = graph.parts_of(number);
        let mut printed = parts.iter().filter(|part| plan.prints(graph, number, part));
        let Some(first) = printed.next() else {
            return has_lines.then_some(Shape::Column);
        };
        if has_lines {
            return Some(Shape::Column);
        }
        let width = plan.width(number);
        // The head has been printed.
        let head = match graph.type_of(number) {
            Some(ty) => super::plan::columns(&ty.head),
            None => open.len() as u32,
        };
        let needed = width.saturating_sub(head).saturating_add(behind);
        let left = graph.options().width.saturating_sub(self.page.column());
        if width < TOO_WIDE && needed as usize <= left {
            return Some(Shape::OneLine);
        }
        let is_sequence = matches!(graph.node(number).what, NodeKind::Sequence(_));
        if printed.next().is_none() {
            // A part that itself has only one part would go on with the line, too.
            let breaks = match first.item {
                Item::Text(_) => false,
                Item::Node(item) => !plan.is_named(item) && graph.node(item).count > 1,
            };
            return Some(if breaks { Shape::Hug } else { Shape::Column });
        }
        let is_short = |part: &Part| plan.reference_width(graph, part.item) <= FILLED;
        let fills = is_sequence && parts.iter().all(is_short);
        Some(if fills { Shape::Fill } else { Shape::Column })
    }

    /// The next parts of a node, up to a part with parts of its own.
    fn rest(&mut self, mut rest: Rest) -> Result<()> {
        let graph = self.graph;
        let number = rest.node;
        let node = graph.node(number);
        let parts = graph.parts_of(number);
        let header = node.header;
        loop {
            let count = self.plan.lines_in(number).len() as u32;
            let position = rest.next;
            rest.next += 1;
            if position >= header && position < header + count {
                let line = self.plan.lines_in(number)[(position - header) as usize];
                self.separate(&mut rest, 0);
                self.todo.push(Todo::Rest(rest));
                self.todo.push(Todo::Line(line, rest.levels + 1));
                return Ok(());
            }
            let position = if position < header {
                position
            } else {
                position - count
            };
            let Some(part) = parts.get(position as usize) else {
                self.end(rest);
                return Ok(());
            };
            self.poll.step_outside()?;
            if self.plan.prints(self.graph, number, part) && !self.part(&mut rest, position, part) {
                return Ok(());
            }
        }
    }

    /// Prints a part; returns false for a still pending part, and the rest with it.
    fn part(&mut self, rest: &mut Rest, position: u32, part: &Part) -> bool {
        let graph = self.graph;
        let number = rest.node;
        let levels = match rest.shape {
            Shape::OneLine | Shape::Hug => rest.levels,
            Shape::Fill | Shape::Column => rest.levels + 1,
        };
        let edge = Edge::new(number, position);
        match graph.node(number).what {
            NodeKind::Object(ty) => {
                self.separate(rest, 0);
                let field = &graph.types[ty as usize].fields[part.field as usize];
                self.page.put(Piece::Field, &field.name);
                self.page.punctuation("=");
                if self.at_once(edge, part.item) {
                    return true;
                }
                self.todo.push(Todo::Rest(*rest));
                self.marked(edge, part.item, levels, 1);
            }
            NodeKind::Mapping(_) => {
                // A key stays with its value.
                self.separate(rest, 0);
                let value = &graph.parts_of(number)[position as usize + 1];
                rest.next += 1;
                self.todo.push(Todo::Rest(*rest));
                let value_edge = Edge::new(number, position + 1);
                self.todo.push(Todo::Value(value_edge, value.item, levels));
                self.todo.push(Todo::Text(": "));
                self.marked(edge, part.item, levels, 2);
            }
            _ => {
                let width = self.plan.reference_width(graph, part.item);
                self.separate(rest, width);
                if self.at_once(edge, part.item) {
                    return true;
                }
                self.todo.push(Todo::Rest(*rest));
                self.marked(edge, part.item, levels, 1);
            }
        }
        false
    }

    /// Prints a part that is a text or a name, without an underline.
    fn at_once(&mut self, edge: Edge, item: Item) -> bool {
        if !self.marks.of(edge).is_empty() {
            return false;
        }
        let text = match item {
            Item::Text(text) => text,
            Item::Node(node) if self.plan.is_named(node) => {
                let is_name = !self.plan.is_in_place(node, edge.node, edge.part);
                if is_name {
                    self.page.put_name(node, self.plan.name_of(node), false);
                }
                return is_name;
            }
            Item::Node(node) => match self.graph.node(node).what {
                NodeKind::Leaf(text) | NodeKind::Whole(text) => text,
                _ => return false,
            },
        };
        let text = self.graph.text(text);
        self.page.put(Piece::of_leaf(text), text);
        true
    }

    /// Prints the separator before a part of this width.
    fn separate(&mut self, rest: &mut Rest, width: u32) {
        let is_first = std::mem::replace(&mut rest.is_first, false);
        let limit = self.graph.options().width;
        match rest.shape {
            Shape::OneLine | Shape::Hug if is_first => {}
            Shape::OneLine | Shape::Hug => self.page.punctuation(", "),
            Shape::Fill if !is_first && self.page.column() + width as usize + 3 <= limit => {
                self.page.punctuation(", ");
            }
            Shape::Fill | Shape::Column => {
                if !is_first {
                    self.page.punctuation(",");
                }
                self.page.new_line(rest.levels + 1);
            }
        }
    }

    /// Prints the end after the last part.
    fn end(&mut self, rest: Rest) {
        match rest.shape {
            Shape::OneLine | Shape::Hug => {}
            Shape::Fill => self.page.new_line(rest.levels),
            Shape::Column => {
                self.page.punctuation(",");
                self.page.new_line(rest.levels);
            }
        }
    }
}
