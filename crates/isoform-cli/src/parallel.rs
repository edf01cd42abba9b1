//! Parallel work whose results arrive in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;

/// Runs `work` on every item, on all cores, and passes the results to `emit` in the
/// order of the items. A result is passed on as soon as all earlier items are done.
///
/// `emit` runs on the calling thread. If `emit` breaks, work that has not begun is
/// skipped.
pub(crate) fn in_order<T, R, B>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut emit: impl FnMut(&T, R) -> ControlFlow<B>,
) -> ControlFlow<B>
where
    T: Sync,
    R: Send,
{
    // A single item needs no threads, and most commands have only one.
    if let [item] = items {
        return emit(item, work(item));
    }
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let (work, stop) = (&work, &stop);
        scope.spawn(move || {
            items
                .par_iter()
                .enumerate()
                // Small chunks of neighbours come first, because results are needed in order.
                .with_max_len(1)
                .for_each_with(sender, |sender, (index, item)| {
                    if !stop.load(Ordering::Relaxed) {
                        // There is no receiver once `emit` has stopped.
                        let _ = sender.send((index, work(item)));
                    }
                });
        });
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&next) {
                if let ControlFlow::Break(reason) = emit(&items[next], result) {
                    stop.store(true, Ordering::Relaxed);
                    return ControlFlow::Break(reason);
                }
                next += 1;
            }
        }
        ControlFlow::Continue(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..200).collect();
        let mut seen = Vec::new();
        let outcome = in_order(
            &items,
            |&item| {
                // Early items take longest, and therefore complete in a different
                // order.
                thread::sleep(std::time::Duration::from_micros(200 - item));
                item * 2
            },
            |&item, result| {
                seen.push((item, result));
                ControlFlow::<()>::Continue(())
            },
        );
        assert_eq!(outcome, ControlFlow::Continue(()));
        assert_eq!(
            seen,
            items
                .iter()
                .map(|&item| (item, item * 2))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_break_ends_the_work() {
        let items: Vec<u64> = (0..10_000).collect();
        let done = std::sync::atomic::AtomicUsize::new(0);
        let outcome = in_order(
            &items,
            |_| {
                done.fetch_add(1, Ordering::Relaxed);
                thread::sleep(std::time::Duration::from_micros(100));
            },
            |&item, ()| {
                if item == 3 {
                    ControlFlow::Break("enough")
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        assert_eq!(outcome, ControlFlow::Break("enough"));
        assert!(done.into_inner() < items.len());
    }
}
