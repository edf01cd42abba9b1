//! The imports between files of the Python package at load time.
//!
//! The rule reads lines, and follows the names that an `__init__.py` re-exports. Imports inside
//! functions and imports for type checkers are left out.

use std::collections::BTreeMap;

use crate::imports::{Found, Import};
use crate::repo::Repo;

/// Where the package lies.
const PACKAGE: &str = "python/isoform/";

/// Every import between files of the Python package, once, with its first line.
pub(crate) fn python_imports(repo: &Repo) -> Vec<Import> {
    let files = repo
        .ending(".py")
        .filter(|(path, _)| path.starts_with(PACKAGE));
    let sources = files.map(|(path, text)| (path, Source::new(path, text)));
    let package = Package {
        repo,
        sources: sources.collect(),
    };
    let mut found = Found::default();
    for (path, source) in &package.sources {
        for import in &source.imports {
            if let Some(file) = package.defining_file(&import.module, &import.name, &mut Vec::new())
            {
                let name = if import.name.is_empty() {
                    &import.module
                } else {
                    &import.name
                };
                found.add(path, import.line, name, &file);
            }
        }
    }
    found.list()
}

struct Package<'r> {
    repo: &'r Repo,
    sources: BTreeMap<&'r str, Source>,
}

/// The imports and definitions of a file when it is loaded.
struct Source {
    imports: Vec<Statement>,
    definitions: Vec<String>,
}

/// One name of an import.
struct Statement {
    /// With dots, from the root of the package.
    module: String,
    /// Empty for `import module`, `*` for all names.
    name: String,
    /// The name in the importing file.
    alias: String,
    line: usize,
}

impl Package<'_> {
    /// The file that defines a name of a module; `None` outside of the package and for
    /// native modules.
    fn defining_file(
        &self,
        module: &str,
        name: &str,
        pending: &mut Vec<(String, String)>,
    ) -> Option<String> {
        let file = self.file(module)?;
        let key = (module.to_owned(), name.to_owned());
        if name.is_empty() || pending.contains(&key) || !file.ends_with("/__init__.py") {
            return Some(file);
        }
        pending.push(key);
        let source = self.sources.get(file.as_str())?;
        if source
            .definitions
            .iter()
            .any(|definition| definition == name)
        {
            return Some(file);
        }
        let inside = format!("{module}.{name}");
        let listed = source.imports.iter().find(|import| {
            import.alias == name && (import.module != module || import.name != name)
        });
        if let Some(import) = listed {
            return self.defining_file(&import.module, &import.name, pending);
        }
        if let Some(file) = self.file(&inside) {
            return Some(file);
        }
        if self
            .repo
            .has(&format!("python/{}.pyi", inside.replace('.', "/")))
        {
            return None;
        }
        let star = source.imports.iter().rfind(|import| import.name == "*");
        match star {
            Some(import) => self.defining_file(&import.module, name, pending),
            None => Some(file),
        }
    }

    fn file(&self, module: &str) -> Option<String> {
        let path = format!("python/{}", module.replace('.', "/"));
        [format!("{path}.py"), format!("{path}/__init__.py")]
            .into_iter()
            .find(|file| self.sources.contains_key(file.as_str()))
    }
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let module = path
            .trim_start_matches("python/")
            .trim_end_matches(".py")
            .replace('/', ".");
        // Dots lead up from the package, which is the file's folder.
        let package = module.rsplit_once('.').map_or("", |(package, _)| package);
        let mut source = Source {
            imports: Vec::new(),
            definitions: Vec::new(),
        };
        // The depth of the block whose lines do not run when the file is loaded.
        let mut skipped: Option<usize> = None;
        for (line, text) in logical_lines(text) {
            let body = text.trim_start();
            let depth = text.len() - body.len();
            if body.is_empty() || skipped.is_some_and(|outer| depth > outer) {
                continue;
            }
            let starts = |words: &[&str]| words.iter().any(|word| body.starts_with(word));
            skipped = starts(&[
                "def ",
                "async def ",
                "if TYPE_CHECKING",
                "if typing.TYPE_CHECKING",
            ])
            .then_some(depth);
            source.read(line, body, package);
            if depth == 0 {
                source.definitions.extend(defined_name(body));
            }
        }
        source
    }

    /// Reads the imports of one logical line.
    fn read(&mut self, line: usize, body: &str, package: &str) {
        let (module, names) = if let Some(modules) = body.strip_prefix("import ") {
            (None, modules)
        } else if let Some((module, names)) = body
            .strip_prefix("from ")
            .and_then(|rest| rest.split_once(" import "))
        {
            let name = module.trim_start_matches('.');
            let base = match module.len() - name.len() {
                0 => "",
                dots => package.rsplitn(dots, '.').last().unwrap_or(""),
            };
            let dot = if base.is_empty() || name.is_empty() {
                ""
            } else {
                "."
            };
            (Some(format!("{base}{dot}{name}")), names)
        } else {
            return;
        };
        for item in names.trim_matches(['(', ')', ' ']).split(',') {
            let mut words = item.split_whitespace();
            let Some(name) = words.next() else { continue };
            let alias = words.nth(1).unwrap_or(name).to_owned();
            let (module, name) = match &module {
                Some(module) => (module.clone(), name.to_owned()),
                None => (name.to_owned(), String::new()),
            };
            self.imports.push(Statement {
                module,
                name,
                alias,
                line,
            });
        }
    }
}

/// The name that a line at the left margin defines.
fn defined_name(body: &str) -> Option<String> {
    let rest = ["def ", "async def ", "class "]
        .iter()
        .find_map(|word| body.strip_prefix(word));
    let text = rest.unwrap_or(body);
    let end = text
        .find(|next: char| !next.is_alphanumeric() && next != '_')
        .unwrap_or(text.len());
    let after = text[end..].trim_start();
    let assigned = after.starts_with(':') || after.starts_with('=') && !after.starts_with("==");
    (end > 0 && (rest.is_some() || assigned)).then(|| text[..end].to_owned())
}

/// The logical lines with their numbers, without comments and the text of strings.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let (mut number, mut start, mut depth) = (1, 1, 0_usize);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let mut length = next.len_utf8();
        match next {
            '#' => length = rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => {
                length = string_length(rest, next);
                line.push_str("''");
            }
            '\\' if rest[1..].starts_with('\n') => length = 2,
            '\n' if depth == 0 => {
                lines.push((start, std::mem::take(&mut line)));
                start = number + 1;
            }
            '\n' => line.push(' '),
            _ => {
                match next {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                line.push(next);
            }
        }
        number += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    lines.push((start, line));
    lines
}

/// The bytes of the string literal at the start of the text.
fn string_length(text: &str, quote: char) -> usize {
    let triple = quote.to_string().repeat(3);
    let end = if text.starts_with(&triple) {
        triple
    } else {
        quote.to_string()
    };
    let mut at = end.len();
    while at < text.len() && !text[at..].starts_with(&end) {
        let skipped = text[at..]
            .chars()
            .take(if text[at..].starts_with('\\') { 2 } else { 1 });
        at += skipped.map(char::len_utf8).sum::<usize>();
    }
    text.len().min(at + end.len())
}

#[test]
fn python_imports_are_followed() {
    let repo = Repo::example([
        (
            "python/isoform/__init__.py",
            "from isoform import a, _core\nfrom isoform.b.c import C as D\nfrom isoform.b import *\n",
        ),
        ("python/isoform/_core.pyi", ""),
        (
            "python/isoform/a.py",
            "\"\"\"\nfrom isoform.d import no\n\"\"\"\nimport os, isoform.d as d\n\
             if TYPE_CHECKING:\n    from isoform.b import no\nelse:\n    from . import d\n\
             def f():\n    from isoform.b import no\n",
        ),
        (
            "python/isoform/b/__init__.py",
            "from .c import C\n\ndef here():\n    pass\n",
        ),
        (
            "python/isoform/b/c.py",
            "from isoform import (\n    _core,  # isoform.a\n    a as x,\n    D,\n)\nfrom .. import d\n",
        ),
        (
            "python/isoform/d.py",
            "x = 'a\\'' # (\nfrom isoform.b import C, here, \\\n    c\nimport isoform\n",
        ),
    ]);
    let found: Vec<String> = python_imports(&repo)
        .iter()
        .map(
            |Import {
                 from,
                 to,
                 name,
                 line,
             }| format!("{from}:{line} {name} {to}").replace(PACKAGE, ""),
        )
        .collect();
    let expected = [
        "__init__.py:1 a a.py",
        "__init__.py:3 * b/__init__.py",
        "__init__.py:2 C b/c.py",
        "a.py:8 d d.py",
        "a.py:4 isoform.d d.py",
        "b/__init__.py:1 C b/c.py",
        "b/c.py:1 a a.py",
        "b/c.py:6 d d.py",
        "d.py:4 isoform __init__.py",
        "d.py:2 here b/__init__.py",
        "d.py:2 C b/c.py",
        "d.py:2 c b/c.py",
    ];
    assert_eq!(found, expected);
}
