//! Work done in parallel whose results come back in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;

/// Runs `work` on every item, on all cores, and hands the results to `emit` in
/// the order of the items, each as soon as those before it are done.
///
/// `emit` runs on the calling thread. When it breaks, work that has not begun is
/// left out.
pub(crate) fn in_order<T, R, B>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut emit: impl FnMut(&T, R) -> ControlFlow<B>,
) -> ControlFlow<B>
where
    T: Sync,
    R: Send,
{
    // One item needs no threads, and commands mostly have one.
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
                // Small chunks of neighbours first: results are wanted in order.
                .with_max_len(1)
                .for_each_with(sender, |sender, (index, item)| {
                    if !stop.load(Ordering::Relaxed) {
                        // Nobody receives any more once `emit` broke off.
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
                // Early items take longest, so that completion order differs.
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
