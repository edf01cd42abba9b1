//! Blocks of a model: repeated ones, and those that the names of nodes suggest.

use std::collections::HashMap;

use isoform::Value;
use isoform::compare::RepeatedBlock;
use isoform_page::picture::{Picture, PictureBlock};

use super::parts::Parts;

/// Kinds of repeated blocks that are drawn, those with the largest savings.
const MOST_BLOCKS: usize = 24;

/// The largest copy that is drawn in full.
const LARGEST: usize = 120;

/// Nodes beside each other in one block; more are grouped by their names.
const MANY: usize = 150;

/// Nodes of a group without names.
const RUN: usize = 100;

/// Levels of names.
const DEEPEST: usize = 16;

/// Makes a block of each copy of a repeated block; the first copy is drawn, the others are
/// collapsed. A copy whose nodes are not in one graph, or in a block already, stays as it is.
/// O(nodes of the copies).
pub(super) fn group_repeats(parts: &Parts, repeats: &[RepeatedBlock], picture: &mut Picture) {
    let bodies: Vec<Option<usize>> = picture.nodes.iter().map(|node| node.block).collect();
    let mut letters = 'A'..;
    for repeat in repeats.iter().take(MOST_BLOCKS) {
        let copies = repeat.places.iter().map(|(_, nodes)| {
            let numbers = nodes
                .iter()
                .filter_map(|node| parts.number(&Value::from(node)));
            numbers.collect::<Vec<usize>>()
        });
        let copies: Vec<Vec<usize>> = copies
            .filter(|copy| {
                copy.len() == repeat.size()
                    && copy.iter().all(|&node| {
                        bodies[node] == bodies[copy[0]] && picture.nodes[node].block == bodies[node]
                    })
            })
            .collect();
        if copies.len() < 2 {
            continue;
        }
        let letter = letters.next().unwrap_or('Z');
        for (number, copy) in copies.iter().enumerate() {
            let name = common_scope(copy.iter().map(|&node| parts.list[node].name()));
            let name = name.unwrap_or_else(|| match number {
                0 => format!("block {letter}"),
                _ => format!("block {letter}, copy {}", number + 1),
            });
            let block = picture.blocks.len();
            picture.blocks.push(PictureBlock {
                label: name,
                count: if number == 0 { copies.len() } else { 1 },
                parent: bodies[copy[0]],
                is_collapsed: number > 0 || copy.len() > LARGEST,
            });
            for &node in copy {
                picture.nodes[node].block = Some(block);
            }
        }
    }
}

/// The beginning that names share, up to a separator.
fn common_scope<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut names = names.filter(|name| !name.is_empty());
    let mut common = names.next()?;
    for name in names {
        let pairs = common.char_indices().zip(name.chars());
        let differing = pairs.clone().find(|((_, left), right)| left != right);
        let end = differing.map_or(common.len().min(name.len()), |((end, _), _)| end);
        common = &common[..end];
    }
    let end = common.rfind(['/', '.'])?;
    let scope = common[..end].trim_start_matches('/');
    (!scope.is_empty()).then(|| scope.to_owned())
}

/// Collapses nodes whose names begin alike into blocks, in each block with too many nodes, and
/// inside of these blocks again. Nodes without such names are collapsed in runs.
/// O(characters of the names × levels).
pub(super) fn group_names(parts: &Parts, picture: &mut Picture) {
    let mut loose: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (number, node) in picture.nodes.iter().enumerate() {
        loose.entry(node.block).or_default().push(number);
    }
    let mut pending: Vec<(Option<usize>, usize, Vec<usize>)> = loose
        .into_iter()
        .map(|(block, nodes)| (block, 0, nodes))
        .collect();
    // A table has no order.
    pending.sort_unstable_by_key(|(block, ..)| std::cmp::Reverse(*block));
    while let Some((block, depth, nodes)) = pending.pop() {
        if nodes.len() <= MANY {
            continue;
        }
        let (groups, rest) = scopes(parts, &nodes, depth);
        if let [(_, only)] = &groups[..]
            && only.len() == nodes.len()
        {
            pending.push((block, depth + 1, nodes));
            continue;
        }
        let is_crowded = groups.len() + rest.len() > MANY;
        for (name, members) in groups {
            let inner = add_block(picture, name, block, &members);
            pending.push((Some(inner), depth + 1, members));
        }
        if is_crowded {
            for (run, members) in rest.chunks(RUN).enumerate() {
                let first = run * RUN + 1;
                let name = format!("nodes {first} to {}", first + members.len() - 1);
                add_block(picture, name, block, members);
            }
        }
    }
}

fn add_block(
    picture: &mut Picture,
    label: String,
    parent: Option<usize>,
    members: &[usize],
) -> usize {
    let block = picture.blocks.len();
    picture.blocks.push(PictureBlock {
        label,
        count: 1,
        parent,
        is_collapsed: true,
    });
    for &node in members {
        picture.nodes[node].block = Some(block);
    }
    block
}

type Groups = Vec<(String, Vec<usize>)>;

/// Nodes with the same part of the name at a depth, in the order of their first nodes; and the
/// other nodes.
fn scopes(parts: &Parts, nodes: &[usize], depth: usize) -> (Groups, Vec<usize>) {
    let mut groups: Groups = Vec::new();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut rest = Vec::new();
    for &node in nodes {
        let name = parts.list[node].name();
        let separator = if name.contains('/') { '/' } else { '.' };
        let mut scopes = name.split(separator).filter(|scope| !scope.is_empty());
        let last = scopes.next_back();
        let scope = scopes
            .nth(depth)
            .filter(|_| last.is_some() && depth < DEEPEST);
        let Some(scope) = scope.filter(|_| parts.list[node].call().is_some()) else {
            rest.push(node);
            continue;
        };
        let next = groups.len();
        let group = *by_name.entry(scope).or_insert(next);
        if group == next {
            groups.push((scope.to_owned(), Vec::new()));
        }
        groups[group].1.push(node);
    }
    let (groups, single): (Groups, Groups) = groups
        .into_iter()
        .partition(|(_, members)| members.len() > 1);
    rest.extend(single.into_iter().flat_map(|(_, members)| members));
    rest.sort_unstable();
    (groups, rest)
}
