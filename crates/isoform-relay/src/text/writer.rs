//! Names, numbers, indentation, marked places.

use hashbrown::{HashMap, HashSet};

use isoform::{Ref, Result};
use isoform_ir::ir::NameSupply;

use super::graph::{Graph, Id};
use super::pieces::{Piece, variable};
use super::places::{Line, Places, Scope};

/// Beyond this level the indentation does not grow: the text of a million nested blocks
/// would be all spaces.
const DEEPEST: usize = 40;
/// Longer hints of variables are truncated.
const LONGEST: usize = 60;
/// The number of lines shown before and after a marked line.
const CONTEXT: usize = 2;

/// The numbers of the constants without a literal, by digest.
pub(super) type Constants = HashMap<Box<str>, usize>;

/// The place of a marked node in a text.
pub(super) struct Place {
    pub(super) identity: u64,
    /// The number of the line.
    line: usize,
    /// The number of characters before the node in the line, and of the node.
    start: usize,
    length: usize,
}

impl Place {
    /// The lines around the place, which is underlined.
    pub(super) fn excerpt(&self, lines: &[&str]) -> Vec<String> {
        let first = self.line.saturating_sub(CONTEXT);
        let end = (self.line + 1 + CONTEXT).min(lines.len());
        let mut shown = Vec::new();
        if first > 0 {
            shown.push("...".to_owned());
        }
        for (number, line) in lines.iter().enumerate().take(end).skip(first) {
            shown.push((*line).to_owned());
            if number == self.line {
                shown.push(" ".repeat(self.start) + &"^".repeat(self.length.max(1)));
            }
        }
        if end < lines.len() {
            shown.push("...".to_owned());
        }
        shown
    }
}

/// A pending step of writing.
enum Step {
    /// The lines of a scope from a position on.
    Lines(Scope, usize),
    /// A node in place, or by its number.
    Part(Id),
    /// The pieces of a node from a position on; the scope of its next block.
    Pieces(Id, usize, Scope),
    /// The parts of a list from a position on.
    Parts(Id, usize, usize),
    Text(&'static str),
    /// Ends a block.
    Close,
    /// Ends the place of a node, which began at an offset.
    Mark(u64, usize),
}

/// A text under construction.
pub(super) struct Writer<'a> {
    graph: &'a Graph,
    places: Places,
    constants: &'a mut Constants,
    /// The identities of the marked nodes, by node.
    marks: HashMap<Id, u64>,
    /// The marked places, as offsets.
    marked: Vec<(u64, usize, usize)>,
    out: String,
    indent: usize,
    steps: Vec<Step>,
    /// The numbers of the nodes with a line of their own.
    numbers: HashMap<Id, usize>,
    names: HashMap<u32, String>,
    /// The names of variables of expressions, and of other variables.
    supplies: [Ref<NameSupply>; 2],
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        constants: &'a mut Constants,
        wanted: &HashSet<u64>,
    ) -> Self {
        let mark = |identity: &u64| Some((graph.id(*identity)?, *identity));
        Writer {
            graph,
            places: Places::of(graph),
            constants,
            marks: wanted.iter().filter_map(mark).collect(),
            marked: Vec::new(),
            out: String::new(),
            indent: 0,
            steps: vec![Step::Text("\n"), Step::Lines(0, 0)],
            numbers: HashMap::new(),
            names: HashMap::new(),
            supplies: [NameSupply::new(), NameSupply::new()],
        }
    }

    /// The text, and the places of the marked nodes in order.
    pub(super) fn text(mut self) -> Result<(String, Vec<Place>)> {
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Lines(scope, at) => self.line(scope, at),
                Step::Part(id) => self.part(id),
                Step::Pieces(id, at, block) => self.piece(id, at, block)?,
                Step::Parts(id, at, position) => self.list(id, at, position),
                Step::Text(text) => self.out.push_str(text),
                Step::Close => self.close(),
                Step::Mark(identity, start) => self.marked.push((identity, start, self.out.len())),
            }
        }
        let places = places(&self.out, self.marked);
        Ok((self.out, places))
    }

    fn start_line(&mut self) {
        self.out.push('\n');
        let shown = self.indent.min(DEEPEST);
        self.out.extend(std::iter::repeat_n("  ", shown));
    }

    fn open(&mut self, scope: Scope) {
        self.out.push('{');
        self.indent += 1;
        self.start_line();
        self.steps.extend([Step::Close, Step::Lines(scope, 0)]);
    }

    fn close(&mut self) {
        self.indent -= 1;
        self.start_line();
        self.out.push('}');
    }

    fn line(&mut self, scope: Scope, at: usize) {
        let Some(line) = self.places.lines[scope as usize].get(at).copied() else {
            return;
        };
        if at > 0 {
            self.start_line();
        }
        self.steps.push(Step::Lines(scope, at + 1));
        match line {
            Line::Numbered(id) => {
                let number = self.number(id);
                self.out.push_str(&format!("%{number} = "));
                self.steps.push(Step::Text(";"));
                self.in_place(id);
            }
            Line::Plain(id) => {
                self.steps.push(Step::Text(";"));
                self.marked_pieces(id);
            }
            Line::Result(id) => self.steps.push(Step::Part(id)),
        }
    }

    fn number(&mut self, id: Id) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(id).or_insert(next)
    }

    fn part(&mut self, id: Id) {
        if self.graph.nodes[id as usize].is_numbered {
            let number = self.number(id);
            self.out.push_str(&format!("%{number}"));
        } else {
            self.in_place(id);
        }
    }

    fn in_place(&mut self, id: Id) {
        if self.graph.nodes[id as usize].is_braced() {
            self.open(self.places.inner(id));
        } else {
            self.marked_pieces(id);
        }
    }

    /// Writes the pieces of a node; notes the place of the first occurrence of a marked
    /// node.
    fn marked_pieces(&mut self, id: Id) {
        if let Some(identity) = self.marks.remove(&id) {
            self.steps.push(Step::Mark(identity, self.out.len()));
        }
        self.steps.push(Step::Pieces(id, 0, self.places.inner(id)));
    }

    fn piece(&mut self, id: Id, at: usize, mut block: Scope) -> Result<()> {
        let graph = self.graph;
        let Some(piece) = graph.nodes[id as usize].pieces.get(at) else {
            return Ok(());
        };
        if matches!(piece, Piece::Block(_)) {
            block += 1;
        }
        self.steps.push(Step::Pieces(id, at + 1, block));
        match piece {
            Piece::Text(text) => self.out.push_str(text),
            Piece::Part(part) | Piece::Bound(part) => self.steps.push(Step::Part(*part)),
            Piece::List(_) => self.steps.push(Step::Parts(id, at, 0)),
            Piece::Block(_) => self.open(block - 1),
            // The following lines of the scope.
            Piece::Rest(_) => {}
            Piece::Binding(var) | Piece::Variable(var) => self.name(*var)?,
            Piece::Constant(digest, summary) => {
                let next = self.constants.len();
                let number = *self.constants.entry(digest.clone()).or_insert(next);
                let text = format!("meta[relay.Constant][{number}] /* {summary} */");
                self.out.push_str(&text);
            }
            Piece::Line => self.start_line(),
            Piece::Indent => self.indent += 1,
            Piece::Dedent => self.indent -= 1,
        }
        Ok(())
    }

    fn list(&mut self, id: Id, at: usize, position: usize) {
        if let Piece::List(parts) = &self.graph.nodes[id as usize].pieces[at]
            && let Some(part) = parts.get(position)
        {
            if position > 0 {
                self.out.push_str(", ");
            }
            self.steps.push(Step::Parts(id, at, position + 1));
            self.steps.push(Step::Part(*part));
        }
    }

    fn name(&mut self, var: u32) -> Result<()> {
        if let Some(name) = self.names.get(&var) {
            self.out.push_str(name);
            return Ok(());
        }
        let object = &self.graph.variables[var as usize];
        let (hint, sign) = variable(object).map_or(("", "%"), |(hint, sign)| (hint.as_str(), sign));
        let mut hint: String = hint.chars().take(LONGEST).collect();
        if !hint.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            // A number is the name of a line.
            hint.insert(0, 'v');
        }
        let supply = &self.supplies[usize::from(sign.is_empty())];
        let name = format!("{sign}{}", supply.fresh_name(&hint, false, true)?);
        self.out.push_str(&name);
        self.names.insert(var, name);
        Ok(())
    }
}

/// Offsets as places in lines. Linear in the length of the text and O(m log m) for m
/// places.
fn places(text: &str, mut marked: Vec<(u64, usize, usize)>) -> Vec<Place> {
    marked.sort_by_key(|(_, start, _)| *start);
    let mut places = Vec::with_capacity(marked.len());
    let (mut line, mut first) = (0, 0);
    for (identity, start, end) in marked {
        while let Some(length) = text[first..start].find('\n') {
            line += 1;
            first += length + 1;
        }
        let shown = text[start..end].lines().next().unwrap_or_default();
        places.push(Place {
            identity,
            line,
            start: text[first..start].chars().count(),
            length: shown.chars().count(),
        });
    }
    places
}
