//! Selects the parts of an expression for names, to avoid writing shared parts
//! repeatedly.

use hashbrown::{HashMap, HashSet};

use isoform::{Obj, Ref};

/// Shared parts with fewer nodes than this are written at every place.
const SMALL: u32 = 12;

/// The parts of `root`, by identity, that occur several times and are too large to be
/// repeated.
///
/// `parts` returns the parts of a node. Every node is visited once, with an explicit
/// stack; linear.
pub(super) fn named_parts(
    root: &Ref<Obj>,
    parts: impl Fn(&Ref<Obj>) -> Vec<Ref<Obj>>,
) -> HashSet<u64> {
    struct Frame {
        ident: Option<u64>,
        parts: std::vec::IntoIter<Ref<Obj>>,
        size: u32,
    }
    let frame = |ident, parts: Vec<Ref<Obj>>| Frame {
        ident,
        parts: parts.into_iter(),
        size: 1,
    };
    // The number of nodes in the text of a part with several owners.
    let mut sizes: HashMap<u64, u32> = HashMap::new();
    let mut named = HashSet::new();
    let mut stack = vec![frame(None, parts(root))];
    while let Some(top) = stack.last_mut() {
        let Some(next) = top.parts.next() else {
            let size = top.size;
            if let Some(ident) = top.ident {
                sizes.insert(ident, size);
            }
            stack.pop();
            if let Some(above) = stack.last_mut() {
                above.size = above.size.saturating_add(size);
            }
            continue;
        };
        // The reference in the list of parts is an owner, too.
        let shared = (next.owners() > 2).then(|| next.identity());
        if let Some(ident) = shared
            && let Some(size) = sizes.get(&ident)
        {
            let is_large = *size >= SMALL;
            top.size = top.size.saturating_add(if is_large { 1 } else { *size });
            if is_large {
                named.insert(ident);
            }
            continue;
        }
        let below = parts(&next);
        if below.is_empty() {
            top.size = top.size.saturating_add(1);
        } else {
            stack.push(frame(shared, below));
        }
    }
    named
}
