//! The order of private symbols that no other operation of their region reaches.
//!
//! Each operation has a rank, first by its own form, then by the ranks of the operations to
//! which it refers and of those that refer to it, until the ranks tell no more apart. The
//! order begins with the lowest rank, and follows the references in both directions before
//! it takes the next one. Operations of one rank are interchangeable, save in graphs of equal
//! operations that this refinement of ranks cannot tell apart; two such programs may stay
//! different.

use hashbrown::HashMap;
use isoform::compare::CompareOptions;
use isoform::{Ref, Result};
use rapidhash::fast::RandomState;

use super::order::SymbolTable;
use crate::nodes::Operation;

/// The maximum number of refinements. The limit keeps the time linear for long chains of
/// equal operations, whose ends tell them apart.
const ROUNDS: usize = 64;

/// The maximum number of references that ranks take into account. Attributes that many
/// operations share can have more than memory holds; then only the forms count.
const REFERENCES: usize = 1 << 20;

/// A reference of an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// A symbol with a place in the order.
    Placed(usize),
    /// The number of an unreached operation, or its rank.
    Unreached(usize),
}

/// The unreached operations by their numbers.
struct Graph {
    ranks: Vec<usize>,
    targets: Vec<Vec<Target>>,
    /// The operations that refer to an operation, with the position of the reference.
    users: Vec<Vec<(usize, usize)>>,
}

/// The order of the operations in `rest`; those in `order` have their places.
pub(super) fn unreached_order(
    table: &SymbolTable<'_>,
    order: &[usize],
    rest: &[usize],
) -> Result<Vec<usize>> {
    let mut graph = Graph::new(table, order, rest)?;
    graph.refine();
    Ok(graph
        .order()
        .into_iter()
        .map(|number| rest[number])
        .collect())
}

impl Graph {
    fn new(table: &SymbolTable<'_>, order: &[usize], rest: &[usize]) -> Result<Graph> {
        let placed = order.iter().enumerate();
        let placed = placed.map(|(number, &place)| (place, Target::Placed(number)));
        let unreached = rest.iter().enumerate();
        let unreached = unreached.map(|(number, &place)| (place, Target::Unreached(number)));
        let targets_by_place: HashMap<usize, Target, RandomState> =
            placed.chain(unreached).collect();
        let mut forms = Vec::with_capacity(rest.len());
        let mut targets = Vec::with_capacity(rest.len());
        let mut users = vec![Vec::new(); rest.len()];
        let mut count = 0;
        for (number, &place) in rest.iter().enumerate() {
            let operation = &table.block.operations[place];
            forms.push(form(operation)?);
            let references = table.references(operation)?;
            count += references.len();
            if count > REFERENCES {
                continue;
            }
            let found = references.iter().map(|place| targets_by_place[place]);
            let found: Vec<Target> = found.collect();
            for (position, target) in found.iter().enumerate() {
                if let Target::Unreached(target) = target {
                    users[*target].push((number, position));
                }
            }
            targets.push(found);
        }
        if count > REFERENCES {
            targets = vec![Vec::new(); rest.len()];
            users.iter_mut().for_each(Vec::clear);
        }
        Ok(Graph {
            ranks: ranks_of(&forms),
            targets,
            users,
        })
    }

    /// Makes the ranks as different as the references allow.
    fn refine(&mut self) {
        let mut count = number_of(&self.ranks);
        for _ in 0..ROUNDS {
            let keys = (0..self.ranks.len()).map(|number| self.neighbours(number));
            let keys: Vec<_> = keys.collect();
            self.ranks = ranks_of(&keys);
            let refined = number_of(&self.ranks);
            if refined == count {
                return;
            }
            count = refined;
        }
    }

    /// An operation by the ranks of its neighbours.
    fn neighbours(&self, number: usize) -> (usize, Vec<Target>, Vec<(usize, usize)>) {
        let ranked = |target: &Target| match target {
            Target::Unreached(target) => Target::Unreached(self.ranks[*target]),
            placed => *placed,
        };
        let targets = self.targets[number].iter().map(ranked).collect();
        let users = self.users[number].iter();
        let mut users: Vec<_> = users
            .map(|&(user, position)| (self.ranks[user], position))
            .collect();
        users.sort_unstable();
        (self.ranks[number], targets, users)
    }

    /// The numbers of the operations in their order.
    fn order(&self) -> Vec<usize> {
        let mut roots: Vec<usize> = (0..self.ranks.len()).collect();
        roots.sort_by_key(|&number| self.ranks[number]);
        let mut order = Vec::with_capacity(roots.len());
        let mut is_placed = vec![false; roots.len()];
        let mut place = |order: &mut Vec<usize>, number: usize| {
            if !is_placed[number] {
                is_placed[number] = true;
                order.push(number);
            }
        };
        let mut next = 0;
        for root in roots {
            place(&mut order, root);
            while let Some(&number) = order.get(next) {
                next += 1;
                for target in &self.targets[number] {
                    if let Target::Unreached(target) = target {
                        place(&mut order, *target);
                    }
                }
                let mut users = self.users[number].clone();
                users.sort_by_key(|&(user, position)| (self.ranks[user], position));
                for (user, _) in users {
                    place(&mut order, user);
                }
            }
        }
        order
    }
}

/// The hash of an operation alone, whose symbols are numbered by their first references.
/// Two forms of one hash only share a rank.
fn form(operation: &Ref<Operation>) -> Result<u64> {
    let no_names = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    no_names.hash(operation)
}

/// The rank of each key among the different keys.
fn ranks_of<K: Ord>(keys: &[K]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..keys.len()).collect();
    sorted.sort_by_key(|&number| &keys[number]);
    let mut ranks = vec![0; keys.len()];
    let mut rank = 0;
    for pair in sorted.windows(2) {
        rank += usize::from(keys[pair[0]] != keys[pair[1]]);
        ranks[pair[1]] = rank;
    }
    ranks
}

/// The number of different ranks.
fn number_of(ranks: &[usize]) -> usize {
    ranks.iter().max().map_or(0, |max| max + 1)
}
