//! The memory of tables, which a thread keeps for its next difference.
//!
//! Tables are about as large as the values themselves. Memory that is new to the
//! process costs a page fault per 4096 bytes, almost a third of all time for large
//! values.

use std::cell::RefCell;

use super::rows::{Cell, Node};

/// Larger vectors are returned to the allocator.
const KEPT_BYTES: usize = 1 << 23;
/// A difference has two sides.
const KEPT_SIDES: usize = 2;

type Rows = (Vec<Node>, Vec<Cell>);

thread_local! {
    static KEPT: RefCell<Vec<Rows>> = const { RefCell::new(Vec::new()) };
}

/// Empty vectors, with the memory of earlier vectors if available.
pub(super) fn take() -> Rows {
    KEPT.with(|kept| kept.borrow_mut().pop())
        .unwrap_or_default()
}

/// Empties vectors after use, and keeps their memory.
pub(super) fn give_back((nodes, cells): Rows) {
    // Dropping values may run foreign code, which may ask for another difference.
    let rows = (emptied(nodes), emptied(cells));
    // A thread that ends keeps no memory.
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < KEPT_SIDES {
            kept.push(rows);
        }
    });
}

fn emptied<T>(mut items: Vec<T>) -> Vec<T> {
    items.clear();
    if items.capacity() * size_of::<T>() > KEPT_BYTES {
        Vec::new()
    } else {
        items
    }
}
