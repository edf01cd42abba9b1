//! The syntax of SVG, dot and mermaid, by small readers of their own.

use isoform_page::Mark;
use isoform_page::picture::{NodeShape, Picture, STYLE};

use super::{change, edge, layers, node};

/// Checks that a text is well-formed XML without entities beyond the five of the language:
/// tags nest, attributes are quoted and occur once, and no forbidden character occurs.
#[track_caller]
pub(crate) fn check_xml(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim_end();
    let is_allowed = |c: char| (c == '\n' || !c.is_control()) && c != '\u{fffe}' && c != '\u{ffff}';
    let style = STYLE;
    assert!(rest.replace(style, "").chars().all(is_allowed), "{text}");
    while let Some(start) = rest.find('<') {
        check_entities(&rest[..start]);
        assert!(start == 0 || !open.is_empty(), "text outside of tags: {text}");
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{text}");
            continue;
        }
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag.trim_end_matches('/'), ""));
        let mut names = Vec::new();
        while let Some((key, after)) = attributes.trim_start().split_once("=\"") {
            let (value, after) = after.split_once('"').expect("a value ends");
            assert!(key.chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c == 'B'), "{key}");
            assert!(!names.contains(&key), "{key} twice in {tag}");
            names.push(key);
            check_entities(value);
            attributes = after;
        }
        assert!(matches!(attributes.trim(), "" | "/"), "{tag}");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} stay open");
}

#[track_caller]
fn check_entities(text: &str) {
    for part in text.split('&').skip(1) {
        let (name, _) = part.split_once(';').expect("an entity ends");
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "{name}");
    }
}

/// Tokens of a text in the language of graphviz.
#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Quoted,
    Sign(char),
}

#[track_caller]
fn dot_tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                loop {
                    match chars.next().expect("a string ends") {
                        '\\' => drop(chars.next().expect("a string ends")),
                        '"' => break,
                        c => assert_ne!(c, '\n', "a string ends in its line"),
                    }
                }
                tokens.push(Token::Quoted);
            }
            '-' => {
                assert_eq!(chars.next(), Some('>'));
                tokens.push(Token::Sign('>'));
            }
            '[' | ']' | '{' | '}' | '=' | ',' | ';' => tokens.push(Token::Sign(c)),
            _ if c.is_whitespace() => {}
            _ => {
                assert!(c.is_ascii_alphanumeric() || c == '_', "{c:?} in {text}");
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                tokens.push(Token::Word(word));
            }
        }
    }
    tokens
}

/// Reads statements: assignments, lists of attributes, nodes, edges and clusters.
#[track_caller]
pub(crate) fn check_dot(text: &str) {
    let tokens = dot_tokens(text);
    let word = |at: usize| matches!(tokens.get(at), Some(Token::Word(_)));
    let sign = |at: usize, sign: char| tokens.get(at) == Some(&Token::Sign(sign));
    assert!(word(0) && word(1) && sign(2, '{'), "{text}");
    let mut position = 3;
    let mut depth = 1;
    while depth > 0 {
        if sign(position, '}') {
            depth -= 1;
            position += 1;
            continue;
        }
        assert!(word(position), "{:?} in {text}", tokens.get(position));
        if tokens[position] == Token::Word("subgraph".to_owned()) {
            assert!(word(position + 1) && sign(position + 2, '{'), "{text}");
            depth += 1;
            position += 3;
            continue;
        }
        position += 1;
        if sign(position, '=') {
            position += 2;
        } else {
            if sign(position, '>') {
                assert!(word(position + 1), "{text}");
                position += 2;
            }
            if sign(position, '[') {
                position += 1;
                loop {
                    assert!(word(position) && sign(position + 1, '='), "{text}");
                    assert!(matches!(tokens[position + 2], Token::Word(_) | Token::Quoted));
                    position += 4;
                    if sign(position - 1, ']') {
                        break;
                    }
                    assert!(sign(position - 1, ','), "{text}");
                }
            }
        }
        assert!(sign(position, ';'), "{:?} in {text}", tokens.get(position));
        position += 1;
    }
    assert_eq!(position, tokens.len());
}

/// Reads the lines of a flowchart: every label is one quoted string without quotes, tags or
/// line breaks inside, and subgraphs end.
#[track_caller]
pub(crate) fn check_mermaid(text: &str) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("flowchart TB"));
    let mut depth = 0;
    for line in lines {
        let trimmed = line.trim();
        if trimmed.starts_with("accTitle:") || trimmed.starts_with("classDef") {
            continue;
        }
        if trimmed == "end" {
            depth -= 1;
            continue;
        }
        depth += i32::from(trimmed.starts_with("subgraph "));
        let parts: Vec<&str> = trimmed.split('"').collect();
        assert!(parts.len() == 1 || parts.len() == 3, "{line}");
        if let [_, label, _] = parts[..] {
            let label = label.replace("<br/>", "");
            assert!(!label.contains(['<', '>', '`', '[', ']', '&', '|']), "{line}");
        }
        assert!(parts[0].starts_with(['n', 'b', 's', 'l']), "{line}");
    }
    assert_eq!(depth, 0, "{text}");
}

#[test]
fn small_pictures_are_well_formed() {
    for picture in [change(), layers(), Picture::default()] {
        check_xml(&picture.svg());
        check_dot(&picture.dot());
        check_mermaid(&picture.mermaid());
    }
}

#[test]
fn a_mark_is_a_class_a_sign_and_a_line_style() {
    let svg = change().svg();
    for sign in ["− Relu", "+ Gelu", "~ Add"] {
        assert!(svg.contains(sign), "{sign}");
    }
    for mark in [Mark::Deleted, Mark::Inserted, Mark::Changed] {
        assert!(svg.contains(&format!("node mark-{}", mark.name())));
        assert!(STYLE.contains(&format!(".mark-{} .shape", mark.name())));
    }
    assert!(svg.contains("deleted: Relu</title>"));
    assert!(change().mermaid().contains("n1 -.-> n2") && change().mermaid().contains("n1 ==>"));
    assert!(change().dot().contains("style=dashed"));
}

#[test]
fn only_svg_in_a_page_has_neither_style_nor_foreign_ids() {
    let page = change().svg_in_page("p7");
    assert!(!page.contains("<style") && !page.contains("style="));
    let ids: Vec<&str> = page.split(" id=\"").skip(1).collect();
    assert_eq!(ids.len(), 2 + change().nodes.len());
    assert!(ids.iter().all(|id| id.starts_with("p7-")), "{ids:?}");
    assert!(page.contains("<a href=\"#change-1\">"));
    assert!(change().svg().contains("prefers-color-scheme"));
}

#[test]
fn links_are_not_inside_of_an_image() {
    assert!(change().svg().contains("role=\"group\""));
    assert!(layers().svg().contains("role=\"img\""));
}

#[test]
fn hostile_names_are_text_and_long_names_are_cut() {
    let mut hostile = node("</text><script>alert(1)</script>");
    hostile.lines = vec!["\u{202e}gnp.exe\u{0}".to_owned(), "x".repeat(10_000)];
    let svg = Picture {
        nodes: vec![hostile],
        ..Picture::default()
    }
    .svg();
    check_xml(&svg);
    assert!(!svg.contains("<script") && !svg.contains('\u{202e}'));
    assert!(svg.contains("⟨202E⟩gnp.exe⟨0000⟩"));
    assert!(svg.len() < STYLE.len() + 6_000, "{}", svg.len());
    let mut long = node(&"y".repeat(100));
    long.shape = NodeShape::Port;
    let svg = Picture {
        nodes: vec![long],
        edges: vec![edge(0, 9)],
        ..Picture::default()
    }
    .svg();
    assert!(svg.contains(&format!("<title>{}</title>", "y".repeat(100))));
    assert!(svg.contains(&format!("{}…</text>", "y".repeat(31))));
}
