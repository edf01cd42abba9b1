//! Parallel work on a list of files.

use std::ops::ControlFlow;

use isoform_corpus::Event;

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
    let threads = rayon::current_num_threads().min(items.len());
    isoform_corpus::in_order(
        items.iter(),
        threads,
        |item| work(item),
        |event| match event {
            Event::Done(item, result) => emit(item, result),
            Event::Tick => ControlFlow::Continue(()),
        },
    )
}
