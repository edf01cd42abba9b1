//! Colours, lines and columns of printed text, and underlined places.

use anstyle::{AnsiColor, Style};

use super::pieces::{MarkPlace, Recording};
use super::plan::columns;

/// The kind of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    Punctuation,
    Name,
    Type,
    Field,
    Number,
    Quoted,
    Word,
    Comment,
}

impl Piece {
    /// The kind of a value without parts, by its first character.
    pub(super) fn of_leaf(text: &str) -> Piece {
        match text.as_bytes() {
            [b'"', ..] | [b'b', b'"', ..] => Piece::Quoted,
            [b'0'..=b'9' | b'-', ..] => Piece::Number,
            _ => Piece::Word,
        }
    }

    fn style(self) -> Style {
        let color = match self {
            Piece::Punctuation => return Style::new(),
            Piece::Name => AnsiColor::Cyan,
            Piece::Type => return AnsiColor::Blue.on_default().bold(),
            Piece::Field => return Style::new().dimmed(),
            Piece::Number => AnsiColor::Yellow,
            Piece::Quoted => AnsiColor::Green,
            Piece::Word => AnsiColor::Magenta,
            Piece::Comment => AnsiColor::BrightBlack,
        };
        color.on_default()
    }
}

/// A place that is underlined.
struct Underline {
    line: usize,
    start: usize,
    /// Columns from the start, all on one line.
    length: usize,
    is_open: bool,
    note: String,
}

/// Text with the current position.
pub(super) struct Page {
    out: String,
    color: bool,
    indent: usize,
    line: usize,
    column: usize,
    underlines: Vec<Underline>,
    open: Vec<usize>,
    /// The pieces so far, if they are noted. Places are noted then, not underlined.
    recording: Option<Recording>,
}

impl Page {
    pub(super) fn new(color: bool, indent: usize, recording: Option<Recording>) -> Self {
        Page {
            out: String::new(),
            color,
            indent,
            line: 0,
            column: 0,
            underlines: Vec::new(),
            open: Vec::new(),
            recording,
        }
    }

    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// The name of a node, before the node itself or elsewhere.
    pub(super) fn put_name(&mut self, node: u32, text: &str, is_definition: bool) {
        self.put(Piece::Name, text);
        if let Some(recording) = &mut self.recording {
            recording.names(node, is_definition);
        }
    }

    pub(super) fn put(&mut self, piece: Piece, text: &str) {
        if let Some(recording) = &mut self.recording {
            recording.note(piece, self.out.len(), text.len());
        }
        if self.color && piece != Piece::Punctuation {
            self.out.push_str(&painted(piece.style(), text));
        } else {
            self.out.push_str(text);
        }
        self.column += columns(text) as usize;
    }

    pub(super) fn punctuation(&mut self, text: &str) {
        self.put(Piece::Punctuation, text);
    }

    /// Starts a line indented by some levels.
    pub(super) fn new_line(&mut self, levels: usize) {
        for &open in &self.open {
            let underline = &mut self.underlines[open];
            if underline.is_open {
                // The first line represents a place on several lines.
                underline.is_open = false;
                underline.length = self.column - underline.start;
            }
        }
        self.out.push('\n');
        self.line += 1;
        self.column = levels * self.indent;
        self.out.extend(std::iter::repeat_n(' ', self.column));
    }

    /// Starts to underline the place of a mark.
    pub(super) fn start_underline(&mut self, mark: usize, note: &str) {
        if let Some(recording) = &mut self.recording {
            recording.marks.push(MarkPlace {
                mark,
                line: self.line,
                start: self.out.len(),
            });
            return;
        }
        self.open.push(self.underlines.len());
        self.underlines.push(Underline {
            line: self.line,
            start: self.column,
            length: 0,
            is_open: true,
            note: note.to_owned(),
        });
    }

    /// Ends the underline that was started last.
    pub(super) fn end_underline(&mut self) {
        if let Some(open) = self.open.pop() {
            let underline = &mut self.underlines[open];
            if underline.is_open {
                underline.is_open = false;
                underline.length = self.column - underline.start;
            }
        }
    }

    /// The text, the numbers of the lines with carets, and the recording.
    pub(super) fn finish(mut self) -> (String, Vec<usize>, Option<Recording>) {
        if self.underlines.is_empty() {
            return (self.out, Vec::new(), self.recording);
        }
        self.underlines.sort_by_key(|underline| underline.line);
        let mut result = String::with_capacity(self.out.len() + 80 * self.underlines.len());
        let mut marked = Vec::new();
        let mut underlines = self.underlines.iter().peekable();
        let mut written = 0;
        for (number, line) in self.out.split_inclusive('\n').enumerate() {
            result.push_str(line);
            written += 1;
            while let Some(underline) = underlines.next_if(|underline| underline.line == number) {
                if !result.ends_with('\n') {
                    result.push('\n');
                }
                let carets = underline.carets();
                if self.color {
                    result.push_str(&painted(AnsiColor::Red.on_default().bold(), &carets))
                } else {
                    result.push_str(&carets)
                }
                result.push('\n');
                marked.push(written);
                written += 1;
            }
        }
        (result, marked, self.recording)
    }
}

impl Underline {
    /// The line of a comment with the carets.
    fn carets(&self) -> String {
        // The comment must start somewhere; a place in the first columns is
        // underlined from there on.
        let gap = self.start.max(2) - 2;
        let hidden = 2usize.saturating_sub(self.start);
        let count = self.length.saturating_sub(hidden).max(1);
        let mut line = format!("//{}{}", " ".repeat(gap), "^".repeat(count));
        if !self.note.is_empty() {
            line.push(' ');
            line.push_str(&super::spelling::comment_text(&self.note));
        }
        line
    }
}

fn painted(style: Style, text: &str) -> String {
    format!("{}{text}{}", style.render(), style.render_reset())
}
