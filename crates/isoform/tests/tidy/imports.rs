//! The imports between files of a crate, with re-exports followed to the file that
//! defines the name.
//!
//! It resolves names, not types: calls of methods, expansions of macros and the names of
//! macros are left out.

use std::collections::BTreeMap;

use crate::modules::{Module, Use, crates};
use crate::repo::Repo;

/// A name that a file imports from a different file.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) name: String,
    pub(crate) line: usize,
}

/// Every import between files of one crate, once, with the first line.
pub(crate) fn imports(repo: &Repo) -> Vec<Import> {
    let mut found = Found::default();
    for modules in crates(repo) {
        Crate { modules }.imports(&mut found);
    }
    found.list()
}

/// A path for messages: within the crate, if inside of one.
pub(crate) fn short(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(_, rest)| rest)
}

/// The first line of each import, by both files and the name.
#[derive(Default)]
pub(crate) struct Found(BTreeMap<(String, String, String), usize>);

impl Found {
    pub(crate) fn add(&mut self, from: &str, line: usize, name: &str, to: &str) {
        if from != to {
            let key = (from.to_owned(), to.to_owned(), name.to_owned());
            let first = self.0.entry(key).or_insert(line);
            *first = line.min(*first);
        }
    }

    pub(crate) fn list(self) -> Vec<Import> {
        let import = |((from, to, name), line)| Import {
            from,
            to,
            name,
            line,
        };
        self.0.into_iter().map(import).collect()
    }
}

/// The modules of one crate, the root first.
struct Crate {
    modules: Vec<Module>,
}

/// The target of a path.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    /// An item that the module with this number declares.
    Item(usize),
}

/// The lookups in progress, since glob imports between modules can be circular.
type Pending = Vec<(usize, String)>;

impl Crate {
    fn imports(&self, found: &mut Found) {
        for (id, module) in self.modules.iter().enumerate() {
            let mut add = |line, (targets, name): (Vec<Target>, &str)| {
                for target in targets {
                    if let Target::Item(owner) = target {
                        found.add(&module.file, line, name, &self.modules[owner].file);
                    }
                }
            };
            for leaf in module.uses.iter().filter(|leaf| !leaf.listing) {
                add(leaf.line, self.resolve(id, &leaf.path, &mut Vec::new()));
            }
            for (path, line) in &module.paths {
                add(*line, self.resolve(id, path, &mut Vec::new()));
            }
            for (word, line) in &module.words {
                // A name imported by a `use` of this module is counted there.
                let own = |leaf: &Use| !leaf.listing && leaf.name.as_ref() == Some(word);
                if !module.items.contains(word) && !module.uses.iter().any(own) {
                    let targets = self.lookup(id, word, true, &mut Vec::new());
                    add(*line, (targets.unwrap_or_default(), word));
                }
            }
        }
    }

    /// The target of a path in this module, and the deciding segment of the path;
    /// empty for another crate.
    fn resolve<'p>(
        &self,
        id: usize,
        path: &'p [String],
        pending: &mut Pending,
    ) -> (Vec<Target>, &'p str) {
        let Some((first, rest)) = path.split_first() else {
            return (Vec::new(), "");
        };
        let mut name = first.as_str();
        let mut targets = match name {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(id)],
            "super" => vec![Target::Module(self.modules[id].parent)],
            _ => self.lookup(id, name, true, pending).unwrap_or_default(),
        };
        for segment in rest {
            let module = targets.iter().find_map(|target| match target {
                Target::Module(module) => Some(*module),
                Target::Item(_) => None,
            });
            // Segments after an item name its variants or methods.
            let Some(module) = module else { break };
            name = segment;
            targets = match name {
                "self" => vec![Target::Module(module)],
                "super" => vec![Target::Module(self.modules[module].parent)],
                // A name without a declaration comes from a macro of the module.
                _ => self
                    .lookup(module, name, false, pending)
                    .unwrap_or_else(|| vec![Target::Item(module)]),
            };
        }
        (targets, name)
    }

    /// The meaning of a name in a module; `None` if the module does not declare or import it.
    fn lookup(
        &self,
        id: usize,
        name: &str,
        from_inside: bool,
        pending: &mut Pending,
    ) -> Option<Vec<Target>> {
        let module = &self.modules[id];
        let child = module
            .children
            .get(name)
            .map(|child| Target::Module(*child));
        let key = (id, name.to_owned());
        if pending.contains(&key) {
            return child.map(|child| vec![child]);
        }
        pending.push(key);
        let mut known = child.is_some() || module.macros.contains(name);
        let mut targets: Vec<Target> = child.into_iter().collect();
        if module.items.contains(name) {
            known = true;
            targets.push(Target::Item(id));
        }
        for leaf in &module.uses {
            if leaf.name.as_deref() == Some(name) && (from_inside || !leaf.local) {
                known = true;
                targets.extend(self.resolve(id, &leaf.path, pending).0);
            }
        }
        let globs = module.uses.iter().filter(|leaf| leaf.name.is_none());
        for glob in globs.filter(|glob| from_inside || !glob.local) {
            if known {
                break;
            }
            for target in self.resolve(id, &glob.path, pending).0 {
                if let Target::Module(module) = target
                    && let Some(through) = self.lookup(module, name, false, pending)
                {
                    known = true;
                    targets.extend(through);
                }
            }
        }
        pending.pop();
        if !known && module.generated.contains(name) {
            return Some(vec![Target::Item(id)]);
        }
        known.then_some(targets)
    }
}

/// Compares all imports of an example, in the form `from:line name to` without the
/// folder.
#[cfg(test)]
#[track_caller]
fn check<const N: usize>(files: [(&str, &str); N], expected: &[&str]) {
    let found: Vec<String> = imports(&Repo::example(files))
        .iter()
        .map(|import| {
            let Import {
                from,
                to,
                name,
                line,
            } = import;
            format!("{from}:{line} {name} {to}").replace("crates/a/src/", "")
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn use_trees_and_paths_are_read() {
    check(
        [
            (
                "crates/a/src/lib.rs",
                "mod b;\nmod c;\nmod d { pub(crate) mod e; }\nfn f() -> c::C {}",
            ),
            (
                "crates/a/src/b/mod.rs",
                "pub(in crate::b) mod g;\npub struct B;",
            ),
            (
                "crates/a/src/b/g.rs",
                "use std::fmt;\nuse super::super::{c::{self, C as D}, d::e::*, b::B as _};\n\
                 // use crate::c::E;\nfn f(e: &fmt::Error) { c::f(\"crate::c::F\"); E::new(crate::c::G::H) }",
            ),
            (
                "crates/a/src/c.rs",
                "pub struct C;\npub fn f() -> Option<String> {}",
            ),
            ("crates/a/src/d/e.rs", "pub enum E {}"),
        ],
        &[
            "b/g.rs:2 B b/mod.rs",
            "b/g.rs:2 C c.rs",
            "b/g.rs:4 G c.rs",
            "b/g.rs:4 f c.rs",
            "b/g.rs:4 E d/e.rs",
            "lib.rs:4 C c.rs",
        ],
    );
}

#[test]
fn the_list_of_a_dialect_re_exports() {
    check(
        [
            (
                "crates/a/src/lib.rs",
                "mod b;\nmod user;\nmacros::dialect! { \"a\", crate = crate; pub use b::{Kind, Other}; }",
            ),
            ("crates/a/src/b.rs", "pub struct Kind;\npub struct Other;"),
            ("crates/a/src/user.rs", "use crate::Kind;"),
        ],
        &["user.rs:1 Kind b.rs"],
    );
}

#[test]
fn re_exports_are_followed() {
    check(
        [
            (
                "crates/a/src/lib.rs",
                "mod b;\nmod user;\npub use b::{Kind, deep::renamed};\n#[cfg(doctest)] use b::Late;",
            ),
            (
                "crates/a/src/b/mod.rs",
                "mod kind;\nmod deep;\nmod other;\npub use kind::*;\npub use other::{Other, made};\nfn f(_: Other) {}",
            ),
            (
                "crates/a/src/b/kind.rs",
                "use super::*;\npub enum Kind {}\nmake! { Made }\nfn f() -> Other {}",
            ),
            (
                "crates/a/src/b/deep.rs",
                "pub(crate) use super::other::call as renamed;",
            ),
            (
                "crates/a/src/b/other.rs",
                "pub struct Other;\npub fn call() {}\nmacro_rules! made { () => { $crate::Kind } }\npub(crate) use made;",
            ),
            (
                "crates/a/src/user.rs",
                "use crate::b::{Made, made};\nuse crate::{Kind, renamed};\nfn f() { crate::b::made!() }\n\
                 #[cfg(test)] mod tests { use crate::b::Other; }",
            ),
        ],
        &[
            "b/deep.rs:1 call b/other.rs",
            "b/kind.rs:4 Other b/other.rs",
            "b/mod.rs:6 Other b/other.rs",
            "b/other.rs:3 Kind b/kind.rs",
            "user.rs:2 Kind b/kind.rs",
            "user.rs:1 Made b/kind.rs",
            "user.rs:2 renamed b/other.rs",
        ],
    );
}
