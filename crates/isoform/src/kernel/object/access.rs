//! The access rule: when fields of types declared at run time, and what lists
//! and dicts hold, may be read and written.
//!
//! These fields, as they are all called here, can change while an object has any
//! number of owners, so:
//!
//! * **Sections.** Fields are read only inside a *section* of the reading
//!   thread ([`reading`], [`traversing`]). While a thread is in a section, the
//!   process-wide lock is held shared, or the host language's lock is held
//!   (see [`host_lock`](super::host_lock)).
//! * **The token.** A section hands its body a [`Section`], which every read of
//!   a field takes (`view`, `pair`). A reference *into* a field that a read
//!   lends is bound to the borrow of the token; what may leave the section
//!   takes the token as `&mut`. So the compiler refuses to read a field
//!   outside of a section, and to keep such a reference while the section is
//!   left. What it cannot see, that no traversal begins inside of a section
//!   whose token it does not have, is asserted in debug builds, as is each
//!   read of a field.
//! * **Writers** hold the process-wide lock exclusively *and*, if a host
//!   language registered its lock, that one as well ([`writing`]). So no field
//!   changes while anybody reads, and no read is torn.
//! * **No foreign code runs in a section.** A hook or callback is called
//!   [`outside`], where the lock is given up, or, by code that is in no
//!   section, through [`calling`]; destructors of objects that die in a section
//!   wait for its end (`release::park`). So code of users may read and write
//!   fields wherever it runs, and waits for no lock of its own thread.
//! * **Borrowed objects stay alive.** What a write takes out of a field is
//!   kept until all traversals that run at that time have ended (`deferred_drop`), so
//!   an `ObjRef` read before a hook was called is valid after it: frames hold
//!   objects, never references into their fields.
//! * **Free for programs without such types.** Until the first one is
//!   registered, or the first list or dict made, a section takes no lock. Such
//!   an object can reach a traversal that runs already only from foreign code;
//!   there the question is asked again.
//!
//! Deadlocks: the process-wide lock is never waited for while the host's lock
//! is held, and the host's lock never while the process-wide one is held
//! shared. A thread may wait for the host's lock with the process-wide lock
//! held exclusively: who has the host's lock never waits for ours.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use super::deferred_drop::{self, Ticket};
use super::host_lock as host;
use super::release;
use crate::kernel::error::{Error, ErrorKind, Result};

/// Whether a type with fields declared at run time was registered, or a list or
/// dict made.
static RUN_TIME_FIELDS: AtomicBool = AtomicBool::new(false);
/// Whether an object with children was ever stored into a field of an object
/// that existed already: without that, no fields form a cycle.
static LINKED: AtomicBool = AtomicBool::new(false);

static LOCK: RwLock<()> = RwLock::new(());

/// How often a traversal was left for foreign code while it could read fields.
static LEFT: AtomicU64 = AtomicU64::new(0);

/// How often this thread wrote a field, list or dict.
pub(crate) fn own_writes() -> u64 {
    LOCAL.with(|local| local.writes.get())
}

/// How often traversals were left so far. Does not change in a section, nor for
/// who holds the locks of a writer.
#[inline(always)]
pub(super) fn times_left() -> u64 {
    LEFT.load(Ordering::Relaxed)
}

/// What a thread is doing.
struct Local {
    /// How many sections are open, one inside the other.
    depth: Cell<u32>,
    /// Whether fields of types declared at run time may be read.
    active: Cell<bool>,
    /// Whether the section is a traversal.
    traversal: Cell<bool>,
    /// How the traversal is counted, once it was left for foreign code for the
    /// first time: until then nobody can write.
    ticket: Cell<Option<Ticket>>,
    /// What `release::park` answered.
    parked: Cell<bool>,
    writes: Cell<u64>,
    // Without a destructor of its own, so that it can be used until the very
    // end of a thread.
    guard: Cell<ManuallyDrop<Option<RwLockReadGuard<'static, ()>>>>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            depth: Cell::new(0),
            active: Cell::new(false),
            traversal: Cell::new(false),
            ticket: Cell::new(None),
            parked: Cell::new(false),
            writes: Cell::new(0),
            guard: Cell::new(ManuallyDrop::new(None)),
        }
    };
}

/// A type with fields declared at run time is about to be registered, or a list
/// or dict made.
#[inline]
pub(super) fn note_run_time_fields() {
    if !RUN_TIME_FIELDS.load(Ordering::Relaxed) {
        RUN_TIME_FIELDS.store(true, Ordering::Release);
    }
}

/// An object with children is about to be stored into an existing object.
pub(super) fn note_link() {
    LINKED.store(true, Ordering::Relaxed);
}

/// Whether a cycle through fields may exist in this process.
#[inline(always)]
pub(crate) fn may_have_cycles() -> bool {
    LINKED.load(Ordering::Relaxed)
}

/// The token of a section: who has it may read fields.
///
/// What a read lends out of a field is bound to a shared borrow of the token,
/// and who leaves the section for foreign code must give it up for that time.
/// So no reference into a field outlives the moment in which nobody writes.
/// It has no size, and belongs to one thread.
pub(crate) struct Section(PhantomData<*mut ()>);

/// Runs `body` in a section that is not left before its end: the token it gets
/// is only lent, so it runs no foreign code. It must keep no borrowed object
/// beyond its end.
#[inline]
pub(crate) fn reading<T>(body: impl FnOnce(&Section) -> T) -> T {
    let _open = Open::enter(false);
    let _watch = Watch::begin(true);
    body(&Section(PhantomData))
}

/// Reads fields by the one who holds the locks of a writer. `body` must run no
/// foreign code.
pub(super) fn exclusively<T>(body: impl FnOnce(&Section) -> T) -> T {
    let _watch = Watch::begin(true);
    body(&Section(PhantomData))
}

/// Runs a traversal in a section: objects borrowed in it stay alive until its
/// end, also across foreign code that is called [`outside`].
///
/// A traversal begins outside of all sections: its token would not hold that
/// of a section around it.
#[inline]
pub(crate) fn traversing<T>(body: impl FnOnce(&mut Section) -> T) -> T {
    assert_outside();
    let _open = Open::enter(true);
    let _watch = Watch::begin(true);
    body(&mut Section(PhantomData))
}

/// Runs foreign code from inside a section, which is left meanwhile.
#[inline(always)]
pub(crate) fn outside<T>(section: &mut Section, body: impl FnOnce() -> T) -> T {
    let _given_up = section;
    leaving(body)
}

/// Runs foreign code from where no section is open.
#[inline]
pub(crate) fn calling<T>(body: impl FnOnce() -> T) -> T {
    assert_outside();
    leaving(body)
}

/// Asserts that no code further up in this thread reads fields of types
/// declared at run time.
#[inline(always)]
fn assert_outside() {
    debug_assert!(
        !Watch::is_inside() || LOCAL.with(|local| !local.active.get()),
        "this needs the token of the section that is open"
    );
}

/// Asserts that fields may be read.
#[inline(always)]
pub(super) fn assert_inside() {
    debug_assert!(Watch::is_inside(), "fields are read in sections only");
}

/// Follows, in debug builds, whether this thread runs code of a section.
struct Watch {
    #[cfg(debug_assertions)]
    before: bool,
}

#[cfg(debug_assertions)]
thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

impl Watch {
    #[inline(always)]
    fn begin(_inside: bool) -> Watch {
        Watch {
            #[cfg(debug_assertions)]
            before: INSIDE.replace(_inside),
        }
    }

    #[inline(always)]
    fn is_inside() -> bool {
        #[cfg(debug_assertions)]
        {
            INSIDE.get()
        }
        #[cfg(not(debug_assertions))]
        {
            true
        }
    }
}

#[cfg(debug_assertions)]
impl Drop for Watch {
    fn drop(&mut self) {
        INSIDE.set(self.before);
    }
}

#[inline(always)]
fn leaving<T>(body: impl FnOnce() -> T) -> T {
    let _watch = Watch::begin(false);
    // No lock is held yet. If `body` registers the first such type, a section
    // that it opens takes the lock for itself.
    if !RUN_TIME_FIELDS.load(Ordering::Acquire) && host::hooks().is_none() {
        let result = body();
        refresh();
        return result;
    }
    let _left = Left::leave();
    body()
}

/// Asks again whether sections need the lock; called where objects come into
/// a running traversal that could not be reached when it began.
#[inline(always)]
fn refresh() {
    if RUN_TIME_FIELDS.load(Ordering::Acquire) {
        refresh_now();
    }
}

#[cold]
#[inline(never)]
fn refresh_now() {
    LOCAL.with(|local| {
        if local.depth.get() > 0 {
            local.traversal.set(true);
            local.activate();
        }
    });
}

/// Counts the steps of a long operation, and asks the host from time to time
/// whether to go on; see [`host::HostHooks::poll`].
pub(crate) struct Poll(u32);

impl Default for Poll {
    fn default() -> Self {
        Poll(Poll::STEPS)
    }
}

impl Poll {
    /// Some hundred microseconds of work: far less than people notice, and far
    /// more than the question costs.
    const STEPS: u32 = 1 << 14;

    /// One step of a traversal. May run foreign code [`outside`].
    ///
    /// # Errors
    ///
    /// What the host raises to end the operation.
    #[inline(always)]
    pub(crate) fn step(&mut self, section: &mut Section) -> Result<()> {
        let _given_up = section;
        self.count()
    }

    /// One step of an operation that is in no section. May run foreign code.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    #[inline(always)]
    pub(crate) fn step_outside(&mut self) -> Result<()> {
        assert_outside();
        self.count()
    }

    #[inline(always)]
    fn count(&mut self) -> Result<()> {
        self.0 -= 1;
        if self.0 == 0 { self.ask() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn ask(&mut self) -> Result<()> {
        self.0 = Poll::STEPS;
        match host::hooks() {
            Some(hooks) if host::is_held() => leaving(hooks.poll),
            _ => Ok(()),
        }
    }
}

/// Runs `body` while nobody else reads or writes fields; `body` is told
/// whether no traversal runs. It must run no foreign code.
///
/// # Errors
///
/// `RuntimeError` when the host's lock cannot be had any more; nothing was
/// written then.
pub(super) fn writing<T>(body: impl FnOnce(bool) -> T) -> Result<T> {
    LOCAL.with(|local| local.writes.set(local.writes.get() + 1));
    calling(|| {
        let body = match host::hooks() {
            Some(hooks) => return write_with_host(hooks, body),
            None => body,
        };
        let guard = write_lock();
        match host::hooks() {
            None => Ok(body(deferred_drop::is_idle())),
            // The host came while this thread waited, and its readers do not
            // know this lock.
            Some(hooks) => {
                drop(guard);
                write_with_host(hooks, body)
            }
        }
    })
}

fn write_with_host<T>(hooks: &'static host::HostHooks, body: impl FnOnce(bool) -> T) -> Result<T> {
    let mut body = Some(body);
    let mut result = None;
    (hooks.hold)(&mut || {
        let mut guard = try_write_lock();
        if guard.is_none() {
            (hooks.release_while)(&mut || guard = Some(write_lock()));
        }
        if guard.is_some()
            && let Some(body) = body.take()
        {
            result = Some(body(deferred_drop::is_idle()));
        }
    });
    result.ok_or_else(|| {
        Error::new(
            ErrorKind::Runtime,
            "the lock of the host language cannot be taken any more, so no field can be written",
        )
    })
}

/// Waits until no section is open that uses the process-wide lock.
pub(super) fn write_lock() -> RwLockWriteGuard<'static, ()> {
    // The lock guards no data of its own, so a panic leaves nothing broken.
    LOCK.write().unwrap_or_else(PoisonError::into_inner)
}

fn try_write_lock() -> Option<RwLockWriteGuard<'static, ()>> {
    match LOCK.try_write() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Local {
    /// Opens the current section for fields declared at run time.
    #[inline]
    fn activate(&self) {
        if !self.active.replace(true) {
            self.lock();
        }
    }

    fn lock(&self) {
        self.parked.set(release::park());
        if !host::is_held() {
            let guard = LOCK.read().unwrap_or_else(PoisonError::into_inner);
            self.guard.set(ManuallyDrop::new(Some(guard)));
        }
    }

    fn unlock(&self) {
        let guard = self.guard.replace(ManuallyDrop::new(None));
        drop(ManuallyDrop::into_inner(guard));
    }
}

/// An open section; closed by drop, also when a panic passes.
struct Open {
    /// Whether it took the lock that an outer section did without.
    activated: bool,
}

impl Open {
    #[inline]
    fn enter(traversal: bool) -> Open {
        LOCAL.with(|local| {
            local.depth.set(local.depth.get() + 1);
            let before = local.active.get();
            if RUN_TIME_FIELDS.load(Ordering::Acquire) {
                local.activate();
            }
            if traversal {
                local.traversal.set(true);
            }
            Open {
                activated: !before && local.active.get(),
            }
        })
    }
}

impl Drop for Open {
    #[inline]
    fn drop(&mut self) {
        LOCAL.with(|local| {
            let depth = local.depth.get() - 1;
            local.depth.set(depth);
            if depth == 0 {
                local.traversal.set(false);
            }
            if (depth == 0 || self.activated) && local.active.get() {
                close(local);
            }
        });
    }
}

#[inline]
fn close(local: &Local) {
    local.active.set(false);
    let ticket = local.ticket.take();
    local.unlock();
    // Destructors may run from here on, and find this thread in no section.
    release::resume(local.parked.get());
    if let Some(ticket) = ticket {
        deferred_drop::end(ticket);
    }
}

/// A section that was left for foreign code; drop goes back into it.
struct Left {
    depth: u32,
    active: bool,
    traversal: bool,
    ticket: Option<Ticket>,
    assumed: bool,
}

impl Left {
    #[inline]
    fn leave() -> Left {
        LOCAL.with(|local| {
            if local.traversal.get() && local.active.get() {
                LEFT.fetch_add(1, Ordering::Relaxed);
            }
            let uncounted = local.traversal.get() && local.ticket.get().is_none();
            if uncounted && local.active.get() {
                // What was read so far must not die from here on.
                local.ticket.set(Some(deferred_drop::begin()));
            }
            let left = Left {
                depth: local.depth.replace(0),
                active: local.active.replace(false),
                traversal: local.traversal.replace(false),
                ticket: local.ticket.take(),
                // Foreign code may give up the host's lock and take it again.
                assumed: host::replace_assumed(false),
            };
            if left.active {
                local.unlock();
                release::resume(local.parked.get());
            }
            left
        })
    }
}

impl Drop for Left {
    #[inline]
    fn drop(&mut self) {
        host::replace_assumed(self.assumed);
        LOCAL.with(|local| {
            local.depth.set(self.depth);
            local.traversal.set(self.traversal);
            local.ticket.set(self.ticket);
            if self.active || self.depth > 0 && RUN_TIME_FIELDS.load(Ordering::Acquire) {
                local.activate();
            }
        });
    }
}
