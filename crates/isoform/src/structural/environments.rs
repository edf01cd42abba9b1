//! Results of shared nodes, with the bindings under which they were found.
//!
//! A node below scopes that bind the same few variables again and again is met under
//! many bindings, although few of these bindings change the meaning of the node. The
//! result depends only on the meanings of the node's free variables, which therefore
//! serve as the key of the result. (The names of free variables as the key of a memo:
//! Maziarz et al., "Hashing Modulo Alpha-Equivalence", 2021.)
//!
//! A node enters this table only after one of its results has become void, as happens
//! to few nodes.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

/// The maximum number of results kept in one comparison. After that, nodes met under
/// more bindings are visited again.
const LIMIT: usize = 1 << 20;

/// The subject of a result: one object, or a left and a right object.
pub(crate) type Subject = [u64; 2];

/// A variable that a result depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VarDependency {
    /// The variable's identity number.
    pub(crate) ident: u64,
    /// True if a definition field below the node contains the variable.
    pub(crate) defined: bool,
}

/// Results by subject and by the meanings of the subject's variables.
pub(crate) struct Environments<V> {
    /// The variables read by the latest result of a subject, as a range of `reads`.
    subjects: HashMap<Subject, (u32, u32), RandomState>,
    reads: Vec<VarDependency>,
    results: HashMap<Box<[u64]>, V, RandomState>,
    key: Vec<u64>,
}

impl<V> Default for Environments<V> {
    fn default() -> Self {
        Environments {
            subjects: HashMap::default(),
            reads: Vec::new(),
            results: HashMap::default(),
            key: Vec::new(),
        }
    }
}

impl<V: Copy> Environments<V> {
    pub(crate) fn clear(&mut self) {
        // Most comparisons insert nothing; emptying a table costs time in its size.
        if !self.subjects.is_empty() {
            *self = Environments::default();
        }
    }

    /// Finds the result of a subject for the current meanings of its variables;
    /// `name` appends the meaning of one variable, or returns false if a visit
    /// would bind it.
    pub(crate) fn find(
        &mut self,
        subject: Subject,
        name: impl FnMut(VarDependency, &mut Vec<u64>) -> bool,
    ) -> Option<V> {
        let &(from, to) = self.subjects.get(&subject)?;
        let named = self.make_key(subject, from, to, name);
        if named {
            self.results.get(&self.key[..]).copied()
        } else {
            None
        }
    }

    /// The variables that the last [`find`](Self::find) read for the subject.
    pub(crate) fn reads(&self, subject: Subject) -> &[VarDependency] {
        match self.subjects.get(&subject) {
            Some(&(from, to)) => &self.reads[from as usize..to as usize],
            None => &[],
        }
    }

    /// Keeps a result that was found with the current meanings of the
    /// variables.
    pub(crate) fn keep(
        &mut self,
        subject: Subject,
        reads: impl Iterator<Item = VarDependency>,
        name: impl FnMut(VarDependency, &mut Vec<u64>) -> bool,
        result: V,
    ) {
        if self.results.len() >= LIMIT {
            return;
        }
        let start = self.reads.len();
        self.reads.extend(reads);
        self.reads[start..].sort_unstable();
        let range = self.subjects.get(&subject).copied();
        let (from, to) = match range {
            Some((from, to)) if self.reads[from as usize..to as usize] == self.reads[start..] => {
                self.reads.truncate(start);
                (from, to)
            }
            _ => {
                let reads = (start as u32, self.reads.len() as u32);
                self.subjects.insert(subject, reads);
                reads
            }
        };
        if self.make_key(subject, from, to, name) {
            self.results.insert(self.key.as_slice().into(), result);
        }
    }

    fn make_key(
        &mut self,
        subject: Subject,
        from: u32,
        to: u32,
        mut name: impl FnMut(VarDependency, &mut Vec<u64>) -> bool,
    ) -> bool {
        self.key.clear();
        self.key.extend(subject);
        let reads = &self.reads[from as usize..to as usize];
        reads.iter().all(|&read| {
            self.key.push(read.ident);
            self.key.push(u64::from(read.defined));
            name(read, &mut self.key)
        })
    }
}
