//! The text of a program of MLIR in pieces, for pages and terminals.

use std::collections::HashMap;

use isoform::text::{TextPiece, TextPieces, TextRole};

/// The spaces of a level of indentation in texts of MLIR.
pub(crate) const INDENT: usize = 2;
/// The number of elements of constants that texts for people show.
pub(crate) const ELEMENTS: usize = 8;

/// The pieces of a text that [`isoform_mlir::write`] made. Linear.
pub(crate) fn mlir_pieces(text: String) -> TextPieces {
    let mut reader = PieceReader {
        text: &text,
        pieces: Vec::new(),
        scopes: vec![HashMap::new()],
        next: 0,
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.line(start, start + line.trim_end_matches('\n').len());
        start += line.len();
    }
    let mut read = TextPieces::default();
    read.pieces = reader.pieces;
    read.text = text;
    read
}

/// The state of reading a text.
struct PieceReader<'t> {
    text: &'t str,
    pieces: Vec<TextPiece>,
    /// The numbers of values by name, of each region around.
    scopes: Vec<HashMap<&'t str, u32>>,
    next: u32,
}

impl<'t> PieceReader<'t> {
    fn line(&mut self, start: usize, end: usize) {
        let line = &self.text[start..end];
        let content = line.trim_start();
        if content.starts_with('}') {
            self.close();
        }
        let is_block = content.starts_with('^');
        // Values before the first ` = ` outside of strings, and arguments of a block.
        let defined = match line.find(" = ") {
            Some(at) if content.starts_with('%') => at,
            _ if is_block => line.len(),
            _ => 0,
        };
        let mut at = start;
        let mut has_operation = false;
        while at < end {
            let rest = &self.text[at..end];
            let length = token_length(rest);
            let token = &rest[..length];
            let bytes = at..at + length;
            match token.as_bytes()[0] {
                b'%' => {
                    let name = token.split('#').next().unwrap_or(token);
                    let node = self.node(name, at - start < defined);
                    let piece = TextPiece::new(bytes, TextRole::Name);
                    self.pieces.push(piece.named(node, at - start < defined));
                }
                b'"' if !has_operation && !is_block && at - start >= defined => {
                    has_operation = true;
                    self.pieces.push(TextPiece::new(bytes, TextRole::Type));
                }
                b'"' | b'0'..=b'9' | b'-' if length > 1 || token != "-" => {
                    self.pieces.push(TextPiece::new(bytes, TextRole::Literal));
                }
                sign if is_word(sign) && rest[length..].starts_with(" = ") => {
                    self.pieces.push(TextPiece::new(bytes, TextRole::Field));
                }
                _ => {}
            }
            at += length;
        }
        if content.ends_with('{') {
            self.scopes.push(HashMap::new());
        }
    }

    fn close(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    /// The number of a value, by its name here.
    fn node(&mut self, name: &'t str, is_definition: bool) -> u32 {
        let known = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        if let Some(&node) = known.filter(|_| !is_definition) {
            return node;
        }
        // A use may precede the definition in its region.
        if let Some(scope) = self.scopes.last_mut() {
            let next = self.next;
            let node = *scope.entry(name).or_insert(next);
            self.next += u32::from(node == next);
            return node;
        }
        0
    }
}

/// The bytes of the first token: a string, a value, a word, or a single sign.
fn token_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let word = |from: usize| {
        let rest = bytes[from..].iter();
        from + rest.take_while(|&&sign| is_word(sign)).count()
    };
    match bytes[0] {
        b'"' => {
            let mut at = 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += 1 + usize::from(bytes[at] == b'\\');
            }
            (at + 1).min(bytes.len())
        }
        b'%' => {
            word(1).max(1) + {
                let end = word(1).max(1);
                match bytes.get(end) {
                    Some(b'#') => word(end + 1) - end,
                    _ => 0,
                }
            }
        }
        b'-' if bytes.get(1).is_some_and(u8::is_ascii_digit) => word(1),
        sign if is_word(sign) => word(1),
        _ => text.chars().next().map_or(1, char::len_utf8),
    }
}

fn is_word(sign: u8) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b'.' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_values_operations_and_numbers() {
        let text = "%0:2 = \"x.y\"(%arg0) <{n = -1 : i8, s = \"a\\\"b\"}> : (i1) -> (i1, i1)\n";
        let read = mlir_pieces(text.to_owned());
        let pieces: Vec<_> = read
            .pieces
            .iter()
            .map(|piece| {
                (
                    &read.text[piece.start..piece.end],
                    piece.role,
                    piece.is_definition,
                )
            })
            .collect();
        assert_eq!(
            pieces,
            [
                ("%0", TextRole::Name, true),
                ("2", TextRole::Literal, false),
                ("\"x.y\"", TextRole::Type, false),
                ("%arg0", TextRole::Name, false),
                ("n", TextRole::Field, false),
                ("-1", TextRole::Literal, false),
                ("s", TextRole::Field, false),
                ("\"a\\\"b\"", TextRole::Literal, false),
            ]
        );
    }

    #[test]
    fn names_of_regions_are_apart() {
        let program = isoform_mlir::read(
            "func.func @f(%a: i1) { \"x.use\"(%a) : (i1) -> () return }
             func.func @g(%a: i1) { \"x.use\"(%a) : (i1) -> () return }",
        );
        let text = isoform_mlir::write(&program.unwrap()).unwrap();
        let read = mlir_pieces(text);
        let nodes: Vec<_> = read.pieces.iter().filter_map(|piece| piece.node).collect();
        assert_eq!(nodes, [0, 0, 1, 1]);
    }
}
