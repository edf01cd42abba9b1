//! The cases of `tests/cases`, on types declared in Rust and at run time.
//!
//! `tests/test_cases.py` runs the same files on Python classes.

use std::collections::HashSet;
use std::path::PathBuf;

use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::functions::{Function, register_function};
use isoform::paths::AccessPath;
use isoform::text::from_text;
use isoform::{Array, Result, Value};
use isoform_testing::family::{Family, ROLES, Role};
use isoform_testing::oracle;

use crate::build::MAPPED;

/// The number of cases in the files; a case is one verdict.
const COUNT: usize = 244;

/// The verdict of a block, with the subject.
#[derive(Clone)]
struct Case {
    /// File, line and sentence.
    name: String,
    options: CompareOptions,
    /// `[left, right]`, after the definitions used by both.
    text: String,
    /// The binder that `F` represents.
    binder: Option<String>,
    says: Says,
    hash: Names,
    digest: Names,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Says {
    Equal,
    /// The places of the first mismatch.
    Different(String, String),
    /// The kind and place of an error.
    Fails(String, String),
}

/// The relation between the hashes or the digests of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Names {
    Same,
    Other,
    /// At least one side has no name.
    None,
}

#[derive(Default)]
struct Block {
    sentence: String,
    options: CompareOptions,
    definitions: Vec<String>,
    left: Option<String>,
    right: Option<String>,
    cases: usize,
}

/// The cases of one file, in the format of `tests/cases/README.md`.
fn parse(file: &str, text: &str) -> std::result::Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    let mut block: Option<Block> = None;
    for (index, line) in text.lines().chain(["## "]).enumerate() {
        let place = format!("{file}:{}", index + 1);
        let wrong = |what: &str| Err(format!("{place}: {what}: {line}"));
        if let Some(sentence) = line.strip_prefix("## ") {
            if block.is_some_and(|block| block.cases == 0) {
                return wrong("the case before has no verdict");
            }
            let sentence = sentence.to_string();
            block = Some(Block {
                sentence,
                ..Block::default()
            });
            continue;
        }
        if line.is_empty() || line.starts_with("// ") {
            continue;
        }
        let Some(block) = &mut block else {
            return wrong("before the first case");
        };
        let is_definition = line.starts_with(['%', '@']);
        if block.cases > 0 && !line.starts_with("F is ") {
            return wrong("after a verdict");
        }
        if is_definition {
            block.definitions.push(line.to_string());
        } else if line == "map_free_vars" {
            block.options = MAPPED;
        } else if let Some(left) = line.strip_prefix("left: ") {
            if block.left.replace(left.to_string()).is_some() {
                return wrong("a second left side");
            }
        } else if let Some(right) = line.strip_prefix("right: ") {
            if block.right.replace(right.to_string()).is_some() {
                return wrong("a second right side");
            }
        } else {
            let (Some(left), Some(right)) = (&block.left, &block.right) else {
                return wrong("a verdict before both sides");
            };
            let definitions = block.definitions.join("\n");
            let text = format!("{definitions}\n[{left}, {right}]");
            let (binders, verdict) = match line.strip_prefix("F is ") {
                Some(rest) => match rest.split_once(": ") {
                    Some((binders, verdict)) => (binders.split(", ").map(Some).collect(), verdict),
                    None => return wrong("no verdict"),
                },
                None => (vec![None], line),
            };
            if binders[0].is_some() != has_word(&text, "F(") {
                return wrong("F is used and said together");
            }
            for binder in binders {
                let Some((says, hash, digest)) = verdict_of(verdict) else {
                    return wrong("neither a part of a case nor a verdict");
                };
                cases.push(Case {
                    name: format!("{place}: {} {}", block.sentence, binder.unwrap_or_default()),
                    options: block.options,
                    text: text.clone(),
                    binder: binder.map(str::to_string),
                    says,
                    hash,
                    digest,
                });
                block.cases += 1;
            }
        }
    }
    Ok(cases)
}

fn verdict_of(text: &str) -> Option<(Says, Names, Names)> {
    let mut parts = text.split("; ");
    let verdict = parts.next()?;
    let (says, names) = match verdict.split_once(" at ") {
        None if verdict == "equal" => (Says::Equal, Names::Same),
        Some(("different", places)) => {
            let (left, right) = places.split_once(" and ").unwrap_or((places, places));
            (
                Says::Different(left.to_string(), right.to_string()),
                Names::Other,
            )
        }
        Some((kind @ ("TypeError" | "ValueError"), place)) => (
            Says::Fails(kind.to_string(), place.to_string()),
            Names::None,
        ),
        _ => return None,
    };
    let (mut hash, mut digest) = (names, names);
    for part in parts {
        let (which, names) = part.split_once(": ")?;
        let names = match names {
            "same" => Names::Same,
            "other" => Names::Other,
            "none" => Names::None,
            _ => return None,
        };
        match which {
            "hash" => hash = names,
            "digest" => digest = names,
            _ => return None,
        }
    }
    Some((says, hash, digest))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.'))
}

/// The text of a case with the type keys of a family: `Add(` becomes
/// `testing.Add(`.
fn with_keys(case: &Case, family: &Family) -> String {
    let mut text = String::new();
    for part in case.text.split_inclusive('(') {
        let word = part.trim_end_matches('(');
        let from = word.rfind(|c: char| !c.is_alphanumeric() && c != '.');
        let (before, word) = word.split_at(from.map_or(0, |index| index + 1));
        let role = match (word, &case.binder) {
            ("F", Some(binder)) => binder,
            _ => word,
        };
        let is_named = |candidate: &&Role| format!("{candidate:?}") == role;
        text += before;
        match ROLES.iter().find(is_named) {
            Some(role) if part.ends_with('(') => {
                text += isoform::host::type_info(family.type_of(*role)).key();
            }
            _ => text += word,
        }
        if part.ends_with('(') {
            text.push('(');
        }
    }
    text
}

fn files() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of the cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .filter(|path| !path.ends_with("values.txt"))
        .collect();
    found.sort();
    let read = |path: PathBuf| {
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        (name, std::fs::read_to_string(&path).expect("readable"))
    };
    found.into_iter().map(read).collect()
}

#[test]
fn every_case_holds() {
    let plain = Function::new(|_| Ok(Value::NONE));
    register_function("cases.plain", plain, true).expect("a name");
    let mut failures = Vec::new();
    let (mut count, mut named) = (0, 0);
    let mut sentences = HashSet::new();
    for (file, text) in files() {
        for case in parse(&file, &text).expect("well formed") {
            let sentence = case.name.split_once(": ").expect("a sentence").1;
            assert!(
                sentences.insert(sentence.to_string()),
                "said twice: {}",
                case.name
            );
            for family in Family::both().expect("the types register") {
                failures.extend(judge(&case, &family));
                if let Some(case) = with_names(&case) {
                    failures.extend(judge(&case, &family));
                    named += 1;
                }
            }
            count += 1;
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert_eq!(count, COUNT);
    assert!(
        named > COUNT / 2,
        "{named} cases without types of variables"
    );
}

/// The case with variables that have no compared fields, if no type of a variable
/// occurs.
fn with_names(case: &Case) -> Option<Case> {
    let text = case.text.replace("Var()", "Name()");
    let is_untyped = text != case.text && !text.contains("Var(") && !text.contains("ty=");
    let place = |path: &String| path.replace("Var(", "Name(").replace(", ty=None)", ")");
    let says = match &case.says {
        Says::Equal => Says::Equal,
        Says::Different(left, right) => Says::Different(place(left), place(right)),
        Says::Fails(kind, path) => Says::Fails(kind.clone(), place(path)),
    };
    is_untyped.then(|| Case {
        name: format!("{} (of names)", case.name),
        text,
        says,
        ..case.clone()
    })
}

/// Returns the violations of a case.
fn judge(case: &Case, family: &Family) -> Vec<String> {
    let name = format!("{} ({})", case.name, family.name());
    let pair = match from_text(&with_keys(case, family)).and_then(|pair| pair.extract()) {
        Ok(pair) => pair,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let pair: Array<Value> = pair;
    let (left, right) = (
        pair.get(0).expect("a left side"),
        pair.get(1).expect("a right side"),
    );
    let (options, says) = (case.options, &case.says);
    let mut failures = Vec::new();
    let mismatch = |l, r| options.first_mismatch(l, r);
    let turned = mismatch(right, left).map(|mismatch| mismatch.is_none());
    for (who, got) in [
        ("the mismatch", shown(mismatch(left, right), family)),
        ("the turned mismatch", verdict(turned, says, family)),
        (
            "equality",
            verdict(options.equal(left, right), says, family),
        ),
        (
            "turned equality",
            verdict(options.equal(right, left), says, family),
        ),
        (
            "the oracle",
            verdict(oracle::equal(left, right, options), says, family),
        ),
        (
            "the turned oracle",
            verdict(oracle::equal(right, left, options), says, family),
        ),
    ] {
        if got != *says {
            failures.push(format!("{name}: {who} says {got:?}, not {says:?}"));
        }
    }
    let hash = |value| options.hash(value);
    let digest = |value| options.digest(value);
    for (which, expected, got) in [
        ("hashes", case.hash, names(hash(left), hash(right))),
        ("digests", case.digest, names(digest(left), digest(right))),
    ] {
        if got != expected {
            failures.push(format!("{name}: {which} are {got:?}, not {expected:?}"));
        }
    }
    for side in [left, right] {
        if let Ok(false) = options.equal(side, side) {
            failures.push(format!("{name}: {side:?} is not equal to itself"));
        }
    }
    let canonical = |value| oracle::canonical(value, options);
    if let (Ok(l), Ok(r)) = (canonical(left), canonical(right))
        && (l == r) != (case.says == Says::Equal)
    {
        failures.push(format!("{name}: the canonical texts are\n    {l}\n    {r}"));
    }
    failures
}

/// The result of a call, with paths in which types have no prefix.
fn shown(mismatch: Result<Option<(AccessPath, AccessPath)>>, family: &Family) -> Says {
    let expr = isoform::host::type_info(family.type_of(Role::Expr)).key();
    let prefix = expr.trim_end_matches("Expr");
    let path = |path: &AccessPath| path.to_string().replace(prefix, "");
    match mismatch {
        Ok(None) => Says::Equal,
        Ok(Some((left, right))) => Says::Different(path(&left), path(&right)),
        Err(error) => {
            let place = error.path().map(path);
            Says::Fails(error.kind().name().to_string(), place.unwrap_or_default())
        }
    }
}

/// The verdict of a function that only returns true or false. For an expected
/// difference, the places are taken from the expectation.
fn verdict(result: Result<bool>, expected: &Says, family: &Family) -> Says {
    match (result, expected) {
        (Ok(true), _) => Says::Equal,
        (Ok(false), Says::Different(..)) => expected.clone(),
        (Ok(false), _) => Says::Different(String::new(), String::new()),
        (Err(error), _) => shown(Err(error), family),
    }
}

fn names<T: PartialEq>(left: Result<T>, right: Result<T>) -> Names {
    match (left, right) {
        (Ok(left), Ok(right)) if left == right => Names::Same,
        (Ok(_), Ok(_)) => Names::Other,
        (Err(error), _) | (_, Err(error)) => {
            let known = [ErrorKind::Type, ErrorKind::Value];
            assert!(known.contains(&error.kind()), "{error}");
            Names::None
        }
    }
}

#[test]
fn a_malformed_case_is_refused() {
    for (text, says) in [
        ("left: 1", "before the first case"),
        ("## a\nleft: 1\nright: 1", "has no verdict"),
        ("## a", "has no verdict"),
        ("## a\nleft: 1\nequal", "a verdict before both sides"),
        ("## a\nleft: 1\nleft: 1", "a second left side"),
        ("## a\nright: 1\nright: 1", "a second right side"),
        ("## a\nleft: 1\nright: 1\nsimilar", "neither"),
        ("## a\nleft: 1\nright: 2\ndifferent", "neither"),
        ("## a\nleft: 1\nright: 1\nequal; hash: maybe", "neither"),
        ("## a\nleft: 1\nright: 1\nequal; size: same", "neither"),
        ("## a\nleft: 1\nright: 1\nequal\n%x = 1", "after a verdict"),
        ("## a\nleft: 1\nright: 1\nequal\nequal", "after a verdict"),
        ("## a\nleft: F()\nright: 1\nequal", "F is used"),
        ("## a\nleft: 1\nright: 1\nF is Add: equal", "F is used"),
        (
            "## a\nmap_all\nleft: 1\nright: 1\nequal",
            "a verdict before both sides",
        ),
    ] {
        let error = parse("x.txt", text)
            .err()
            .unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_wrong_case_is_noticed() {
    for (verdict, says) in [
        ("equal", "turned equality says Different"),
        ("different at <root>", "the mismatch says Different"),
        ("different at <root>.rhs; hash: same", "hashes are Other"),
        ("different at <root>.rhs; digest: none", "digests are Other"),
        ("TypeError at <root>.rhs", "the oracle says Different"),
    ] {
        let text = format!("## a\nleft: Add(lhs=1, rhs=2)\nright: Add(lhs=1, rhs=3)\n{verdict}");
        let cases = parse("x.txt", &text).expect("well formed");
        for family in Family::both().expect("the types register") {
            let failures = judge(&cases[0], &family).join("\n");
            assert!(failures.contains(says), "{verdict}: {failures}");
        }
    }
    let cases = parse("x.txt", "## a\nleft: NoSuch()\nright: 1\nequal").expect("well formed");
    let family = Family::native().expect("the types register");
    assert!(judge(&cases[0], &family)[0].contains("NoSuch"));
}
