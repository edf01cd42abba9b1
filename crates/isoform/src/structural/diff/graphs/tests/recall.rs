//! The share of true pairs that are found, and of pairs that are wrong.

use super::families::{ALL, Family, OPS};
use super::model::{Judgement, Random, judge};

/// Changes between the two sides.
#[derive(Clone, Copy, Debug)]
struct Changes {
    edits: usize,
    /// Edits are spread over both sides.
    both: bool,
    /// All labels differ.
    perturbed: bool,
    named: bool,
}

fn mean(family: Family, size: usize, changes: Changes, seeds: u64) -> Judgement {
    let mut total = Judgement::default();
    for seed in 0..seeds {
        let mut random = Random(seed * 7919 + 1);
        let mut left = family.make(&mut random, size);
        if changes.named {
            for node in &mut left.nodes {
                node.name = u64::from(node.id) + 1;
            }
        }
        let mut right = left.clone();
        right.next_id += 1_000_000;
        for edit in 0..changes.edits {
            let side = if changes.both && edit % 2 == 0 { &mut left } else { &mut right };
            side.edit(&mut random, OPS);
        }
        if changes.perturbed {
            right.perturb(&mut random);
        }
        left.shuffle(&mut random);
        right.shuffle(&mut random);
        total.add(judge(&left, &right));
    }
    total
}

#[test]
fn table() {
    for edits in [100] {
        for both in [false, true] {
            for perturbed in [false, true] {
                for family in ALL {
                    let changes = Changes { edits, both, perturbed, named: false };
                    let start = std::time::Instant::now();
                    let found = mean(family, 3000, changes, 10);
                    println!("{edits:4} both={both:5} pert={perturbed:5} {family:16?} recall {:.4} wrong {:.5} {:?}", found.recall(), found.wrong_share(), start.elapsed() / 10);
                }
            }
        }
    }
}
#[test]
fn debug() {
    use std::collections::HashMap;
    let mut total = HashMap::new();
    for family in [Family::Branches, Family::Transformer] {
    for seed in 0..10u64 {
        let mut random = Random(seed * 7919 + 1);
        let mut left = family.make(&mut random, 3000);
        let mut right = left.clone();
        right.next_id += 1_000_000;
        for _ in 0..100 { right.edit(&mut random, OPS); }
        right.perturb(&mut random);
        left.shuffle(&mut random);
        right.shuffle(&mut random);
        let (l, r) = (left.graph(), right.graph());
        let lp: HashMap<u32,u32> = (0..).zip(&left.nodes).map(|(p,n)| (n.id,p)).collect();
        let rp: HashMap<u32,u32> = (0..).zip(&right.nodes).map(|(p,n)| (n.id,p)).collect();
        let fixed: Vec<_> = (0..).zip(&left.nodes).filter(|(_, n)| n.op==0).map(|(p,n)| (p, rp[&n.id])).collect();
        let a = super::super::align(&l, &r, &fixed);
        for (p, n) in left.nodes.iter().enumerate() {
            let got = a.left[p].map(|x| right.nodes[x as usize].id).or(a.replaced.iter().find(|x| x.0 as usize == p).map(|x| right.nodes[x.1 as usize].id));
            let truth = rp.get(&n.id);
            let kind = match (got, truth) {
                (Some(g), _) if g == n.id => "right",
                (Some(g), None) => if lp.contains_key(&g) {"deleted paired to wrong existing"} else {"deleted paired with inserted"},
                (Some(g), Some(_)) => if lp.contains_key(&g) {"wrong with existing"} else {"existing with inserted"},
                (None, None) => "deleted",
                (None, Some(&t)) => if right.nodes[t as usize].op != n.op || right.nodes[t as usize].operands.len() != n.operands.len() {"missed op change"} else if a.right[t as usize].is_some() {"missed: truth taken"} else {"missed: free"},
            };
            *total.entry((format!("{family:?}"), kind)).or_insert(0) += 1;
            if seed < 6 && kind != "right" && kind != "deleted" {
                println!("recall {seed} {family:?} {kind}: left {} op {} {:?} truth {:?} got {:?} {:?}", n.id, n.op, n.operands, truth.map(|t| (right.nodes[*t as usize].op, &right.nodes[*t as usize].operands)), got, got.map(|g| &right.nodes[rp[&g] as usize].operands));
            }
        }
    }}
    let mut t: Vec<_> = total.into_iter().collect(); t.sort();
    for x in t { println!("recall {x:?}"); }
}
