//! Passes that go on in another thread.

use std::fmt;

use super::context::ThreadContexts;
use super::frames::ThreadPasses;

/// The contexts and the running passes of a thread, for a pass that goes on in another
/// thread and waits.
///
/// The thread that waits has no contexts and no running passes meanwhile.
///
/// ```
/// use isoform_ir::transform::{ContextOptions, PassContext, PassContextRef, ThreadState};
///
/// let level = || PassContext::current().opt_level;
/// let ctx = ContextOptions::default().opt_level(3).make()?;
/// let inside = ctx.within(|| {
///     let mut state = ThreadState::default();
///     state.exchange();
///     let there = std::thread::scope(|scope| {
///         let thread = scope.spawn(|| {
///             state.exchange();
///             let there = level();
///             state.exchange();
///             there
///         });
///         thread.join().expect("the thread ends")
///     });
///     state.exchange();
///     Ok((there, level()))
/// })?;
/// assert_eq!(inside, (3, 3));
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Default)]
pub struct ThreadState {
    contexts: ThreadContexts,
    passes: ThreadPasses,
}

impl ThreadState {
    /// Exchanges this state with the state of the calling thread. O(1).
    pub fn exchange(&mut self) {
        self.contexts.exchange();
        self.passes.exchange();
    }
}

impl fmt::Debug for ThreadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ThreadState").field(&self.contexts).finish()
    }
}
