//! Rust source as a flat list of tokens, free of comments, to keep words inside of
//! comments and strings apart from code.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::Finding;

/// One identifier, literal, punctuation character or bracket.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The tokens of a file, or the finding that it has none to give.
pub(crate) fn lex(path: &str, text: &str) -> Result<Vec<Token>, Finding> {
    let stream: TokenStream = text
        .parse()
        .map_err(|error| Finding::new(path, 1, format!("is not Rust source: {error}")))?;
    let mut tokens = Vec::new();
    flatten(stream, &mut tokens);
    Ok(tokens)
}

fn flatten(stream: TokenStream, out: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push(Token {
                    text: open.to_owned(),
                    line,
                });
                flatten(group.stream(), out);
                let line = group.span_close().start().line;
                out.push(Token {
                    text: close.to_owned(),
                    line,
                });
            }
            tree => out.push(Token {
                text: tree.to_string(),
                line,
            }),
        }
    }
}

/// True if the tokens that start at `at` have these texts.
pub(crate) fn matches_at(tokens: &[Token], at: usize, texts: &[&str]) -> bool {
    tokens[at..].len() >= texts.len()
        && tokens[at..]
            .iter()
            .zip(texts)
            .all(|(token, text)| token.text == *text)
}

/// The tokens without the items marked `#[cfg(test)]`.
pub(crate) fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if matches_at(tokens, at, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            at = item_end(tokens, at + 7);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// The index after the item that starts at `at`: after the `;` or the braces.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    // Braces that end a `use` or an expression are followed by a `;`.
                    return at + 1 + usize::from(matches_at(tokens, at + 1, &[";"]));
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// A file that another file asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// `mod name;` inside these inline modules.
    Module { inside: Vec<String>, name: String },
    /// `#[path = "…"] mod name;` or `include!("…")`, relative to the file.
    File(String),
}

/// Every file that these tokens ask for.
pub(crate) fn wanted_files(tokens: &[Token]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    // One entry for every open brace: the name of the inline module opened there, if
    // any.
    let mut braces: Vec<Option<String>> = Vec::new();
    let mut path = None;
    for index in 0..tokens.len() {
        let text = |offset: usize| tokens.get(index + offset).map_or("", |token| &token.text);
        match text(0) {
            "{" => {
                let module = index >= 2 && tokens[index - 2].text == "mod";
                braces.push(module.then(|| tokens[index - 1].text.clone()));
                path = None;
            }
            "}" => {
                braces.pop();
                path = None;
            }
            ";" => path = None,
            "path" if text(1) == "=" && text(3) == "]" => path = unquote(text(2)),
            "include" if text(1) == "!" => wanted.extend(unquote(text(3)).map(Wanted::File)),
            "mod" if text(2) == ";" => wanted.push(match path.take() {
                Some(path) => Wanted::File(path),
                None => Wanted::Module {
                    inside: braces.iter().flatten().cloned().collect(),
                    name: text(1).trim_start_matches("r#").to_owned(),
                },
            }),
            _ => {}
        }
    }
    wanted
}

fn unquote(literal: &str) -> Option<String> {
    literal
        .strip_prefix('"')?
        .strip_suffix('"')
        .map(str::to_owned)
}

#[test]
fn comments_and_strings_are_no_code() {
    let source =
        "// unsafe\n/* unsafe /* unsafe */ */\nfn f() { g(\"unsafe\", r#\"unsafe\"#, 'u') }";
    let tokens = lex("a.rs", source).unwrap();
    assert!(tokens.iter().all(|token| token.text != "unsafe"));
    assert_eq!(tokens[0].line, 3);
    assert!(lex("a.rs", "fn f( {").is_err());
}

#[test]
fn test_items_are_left_out() {
    let source =
        "#[cfg(test)]\nmod tests { fn f() { x(); } }\n#[cfg(test)] use a::{b, c};\nfn g() {}";
    let kept = without_tests(&lex("a.rs", source).unwrap());
    let text: Vec<&str> = kept.iter().map(|token| token.text.as_str()).collect();
    assert_eq!(text.join(" "), "fn g ( ) { }");
}

#[test]
fn wanted_files_are_seen() {
    let source = r#"
        mod a;
        pub(crate) mod b { mod c; fn f() {} }
        #[path = "x/y.rs"] mod d;
        include!("e.rs");
        mod r#loop;
    "#;
    let module = |inside: &[&str], name: &str| Wanted::Module {
        inside: inside.iter().map(ToString::to_string).collect(),
        name: name.to_owned(),
    };
    let expected = [
        module(&[], "a"),
        module(&["b"], "c"),
        Wanted::File("x/y.rs".to_owned()),
        Wanted::File("e.rs".to_owned()),
        module(&[], "loop"),
    ];
    assert_eq!(wanted_files(&lex("a.rs", source).unwrap()), expected);
}
