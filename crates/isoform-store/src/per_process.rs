//! State that a process does not share with its forks.
//!
//! A fork copies the memory of a process but only the forking thread: a mutex that
//! another thread holds stays locked in the child forever, and a connection to SQLite
//! must not be used in the child, nor closed there. A child thus makes its own state on
//! first use, and leaves the state of its ancestors alone.

use std::mem;
use std::process;
use std::sync::OnceLock;

/// A value for each process that uses a handle: a forked child makes a value of its own,
/// and leaves the value of its parent alone.
///
/// An [`Engine`](crate::Engine) keeps connections and threads in such a value.
///
/// ```
/// use isoform_store::PerProcess;
///
/// let connection = PerProcess::new();
/// assert_eq!(connection.get(|| 1), &1);
/// // The process keeps its first value.
/// assert_eq!(connection.get(|| 2), &1);
/// ```
#[derive(Debug)]
pub struct PerProcess<T> {
    first: OnceLock<Node<T>>,
}

#[derive(Debug)]
struct Node<T> {
    process: u32,
    /// None during a drop only.
    value: Option<T>,
    /// The state of a forked child; the list has a node for each generation.
    next: OnceLock<Box<Node<T>>>,
}

impl<T> PerProcess<T> {
    /// A value that no process has used yet.
    pub const fn new() -> Self {
        PerProcess {
            first: OnceLock::new(),
        }
    }

    /// Returns the value of this process, and makes the value on first use. O(depth of
    /// forks).
    pub fn get(&self, make: impl Fn() -> T) -> &T {
        self.get_for(process::id(), make)
    }

    fn get_for(&self, process: u32, make: impl Fn() -> T) -> &T {
        let fresh = || Node {
            process,
            value: Some(make()),
            next: OnceLock::new(),
        };
        let mut node = self.first.get_or_init(fresh);
        loop {
            if node.process == process
                && let Some(value) = &node.value
            {
                return value;
            }
            node = node.next.get_or_init(|| Box::new(fresh()));
        }
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> PerProcess<T> {
    fn forget_others(&mut self, process: u32) {
        let mut next = self.first.get_mut();
        while let Some(node) = next {
            if node.process != process {
                mem::forget(node.value.take());
            }
            next = node.next.get_mut().map(|node| &mut **node);
        }
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        self.forget_others(process::id());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_child_gets_its_own_value_and_leaves_the_value_of_its_parent() {
        struct Counted<'c>(u32, &'c AtomicU32);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.1.fetch_add(self.0, Ordering::Relaxed);
            }
        }
        let dropped = AtomicU32::new(0);
        let mut state = PerProcess::new();
        assert_eq!(state.get_for(1, || Counted(1, &dropped)).0, 1);
        assert_eq!(state.get_for(2, || Counted(10, &dropped)).0, 10);
        assert_eq!(state.get_for(1, || Counted(100, &dropped)).0, 1);
        assert_eq!(state.get_for(2, || Counted(1000, &dropped)).0, 10);
        state.forget_others(2);
        drop(state);
        // Dropping in this process forgets the rest.
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        let mut state = PerProcess::new();
        let own = process::id();
        state.get_for(own, || Counted(1, &dropped));
        state.get_for(own + 1, || Counted(10, &dropped));
        state.forget_others(own);
        drop(state);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    }
}
