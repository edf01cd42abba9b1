//! Work on several threads whose results arrive in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The number of items that may be begun before the first of them is done.
const WINDOW: usize = 1024;

/// The time between two events while no result arrives.
const TICK: Duration = Duration::from_millis(100);

/// A message of [`in_order`] to its caller.
pub enum Event<T, R> {
    /// An item is done, and so are all items before it.
    Done(T, R),
    /// A moment passed.
    Tick,
}

struct Queue<I> {
    items: I,
    /// The number of items that were begun.
    begun: usize,
    /// The number of items that were handed to the caller.
    done: usize,
    is_stopped: bool,
}

struct Shared<I> {
    queue: Mutex<Queue<I>>,
    changed: Condvar,
}

impl<I: Iterator> Shared<I> {
    fn lock(&self) -> MutexGuard<'_, Queue<I>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next item with its number; None at the end.
    fn next(&self) -> Option<(usize, I::Item)> {
        let mut queue = self.lock();
        while !queue.is_stopped && queue.begun >= queue.done + WINDOW {
            let waited = self.changed.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if queue.is_stopped {
            return None;
        }
        let item = queue.items.next()?;
        queue.begun += 1;
        Some((queue.begun - 1, item))
    }

    fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }
}

/// Ends the work of all threads if the thread panics: the result that the others would
/// wait for never comes.
struct StopOnPanic<'s, I: Iterator>(&'s Shared<I>);

impl<I: Iterator> Drop for StopOnPanic<'_, I> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Runs `work` on every item, on this many threads, and passes the results to `emit` in
/// the order of the items. A result is passed on as soon as all earlier items are done.
///
/// `emit` runs on the calling thread, also in between, every tenth of a second. If `emit`
/// breaks, work that has not begun is skipped. Items are taken from the iterator when they
/// are needed, and at most a thousand results wait.
pub fn in_order<T: Send, R: Send, B>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    mut emit: impl FnMut(Event<T, R>) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let shared = Shared {
        queue: Mutex::new(Queue {
            items,
            begun: 0,
            done: 0,
            is_stopped: false,
        }),
        changed: Condvar::new(),
    };
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let (shared, work) = (&shared, &work);
        let mut workers = 0;
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let worker = move || {
                let _stop = StopOnPanic(shared);
                while let Some((number, item)) = shared.next() {
                    let result = work(&item);
                    if sender.send((number, item, result)).is_err() {
                        break;
                    }
                }
            };
            // Fewer threads do the same work.
            workers += usize::from(thread::Builder::new().spawn_scoped(scope, worker).is_ok());
        }
        drop(sender);
        if workers == 0 {
            while let Some((_, item)) = shared.next() {
                let result = work(&item);
                shared.lock().done += 1;
                emit(Event::Done(item, result))?;
            }
            return ControlFlow::Continue(());
        }
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        loop {
            let flow = match receiver.recv_timeout(TICK) {
                Ok((number, item, result)) => {
                    waiting.insert(number, (item, result));
                    let mut flow = ControlFlow::Continue(());
                    while let (Some((item, result)), ControlFlow::Continue(())) =
                        (waiting.remove(&next), &flow)
                    {
                        next += 1;
                        flow = emit(Event::Done(item, result));
                    }
                    shared.lock().done = next;
                    shared.changed.notify_all();
                    flow
                }
                Err(RecvTimeoutError::Timeout) => emit(Event::Tick),
                Err(RecvTimeoutError::Disconnected) => return ControlFlow::Continue(()),
            };
            if flow.is_break() {
                shared.stop();
                return flow;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for threads in [1, 2, 7] {
            let mut results = Vec::new();
            let flow = in_order(
                0..3000_u64,
                threads,
                |&item| {
                    // Early items take longest, and complete in a different order.
                    if item % 100 < 3 {
                        thread::sleep(Duration::from_micros(300 - item % 100));
                    }
                    item * 2
                },
                |event| {
                    if let Event::Done(item, result) = event {
                        results.push((item, result));
                    }
                    ControlFlow::<()>::Continue(())
                },
            );
            assert_eq!(flow, ControlFlow::Continue(()));
            assert!(
                results
                    .into_iter()
                    .eq((0..3000).map(|item| (item, item * 2)))
            );
        }
    }

    #[test]
    fn a_break_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let flow = in_order(
            0..1_000_000,
            2,
            |_| begun.fetch_add(1, Ordering::Relaxed),
            |event| match event {
                Event::Done(3, _) => ControlFlow::Break("enough"),
                _ => ControlFlow::Continue(()),
            },
        );
        assert_eq!(flow, ControlFlow::Break("enough"));
        assert!(begun.into_inner() <= 4 + WINDOW);
    }

    #[test]
    fn a_slow_item_holds_back_a_bounded_number_of_others() {
        let most = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        let flow = in_order(
            0..10_000_usize,
            2,
            |&item| {
                if item == 0 {
                    thread::sleep(Duration::from_millis(300));
                }
                most.fetch_max(
                    item - done.load(Ordering::SeqCst).min(item),
                    Ordering::SeqCst,
                );
            },
            |event| {
                if let Event::Done(..) = event {
                    done.fetch_add(1, Ordering::SeqCst);
                }
                ControlFlow::<()>::Continue(())
            },
        );
        assert_eq!(flow, ControlFlow::Continue(()));
        assert!(most.into_inner() <= WINDOW + 2);
    }

    #[test]
    fn a_panic_of_the_work_reaches_the_caller() {
        let outcome = std::panic::catch_unwind(|| {
            in_order(
                0..10_000,
                2,
                |&item| assert!(item != 5, "planted"),
                |_| ControlFlow::<()>::Continue(()),
            )
        });
        assert!(outcome.is_err());
    }
}
