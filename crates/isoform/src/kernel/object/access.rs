//! The access rule: when code may read and write fields of types declared at run time,
//! and the contents of lists and dicts.
//!
//! These contents, all called fields here, can change while an object has any number of
//! owners. The rule has these parts:
//!
//! * **Sections.** Fields are read only inside a *section* of the reading thread
//!   ([`reading`], [`traversing`]). While a thread is in a section, it holds either the
//!   process-wide lock, shared, or the exclusive lock of a host language (see
//!   [`host_lock`](super::host_lock)).
//! * **The token.** A section passes its body a [`Section`], required by every read of
//!   a field (`view`, `pair`). A reference *into* a field, lent by a read, is bound to
//!   the borrow of the token, and calls that may leave the section take the token as
//!   `&mut`. The compiler therefore rejects reading a field outside of a section, and
//!   keeping a reference into a field while the section is left. The compiler cannot
//!   reject a traversal begun inside of another section without its token; debug builds
//!   assert against nested traversals, and assert each read of a field.
//! * **Writers** hold the process-wide lock exclusively *and*, if a host language
//!   registered its lock, the host's lock ([`writing`]). No field therefore changes
//!   while anybody reads, and no read is torn.
//! * **No foreign code runs in a section.** A section calls hooks and callbacks
//!   [`outside`], with the lock released; code outside of sections calls them through
//!   [`calling`]. Destructors of objects dying in a section wait for its end
//!   (`release::park`). User code may therefore read and write fields wherever user
//!   code runs, without waiting for a lock of its own thread.
//! * **The rest of a traversal** may run outside of its section, in a section of its
//!   own ([`without_host`]), with the host's lock released.
//! * **Borrowed objects stay alive.** A value removed from a field by a write is kept
//!   until all traversals running at that time have ended (`deferred_drop`). An
//!   `ObjRef` read before a call of a hook is therefore valid after the call: frames
//!   hold objects, never references into fields.
//! * **Free for programs without run-time fields.** Until the first type with fields
//!   declared at run time is registered, or the first list or dict made, a section
//!   takes no lock. A list, a dict or an object of such a type can reach a running
//!   traversal only from foreign code; after foreign code, the check is repeated.
//!
//! Deadlocks: no thread waits for the process-wide lock while holding the host's lock,
//! or for the host's lock while holding the process-wide lock shared. A thread may wait
//! for the host's lock while holding the process-wide lock exclusively: the owner of
//! the host's lock never waits for ours. If the host's lock is shared, the order is the
//! opposite: a thread with the host's lock waits for the process-wide lock, whose owner
//! never waits for the host, since no section and no write calls the host.
//!
//! # The token in signatures
//!
//! A [`Section`] has no size. Every read of a field takes `&Section`, and a reference
//! to the contents of the field (`FieldValue`) is bound to this borrow. Calls that may
//! leave the section (`outside`, `hooks::run`, `Poll::step`) take `&mut Section`: the
//! signature of an engine's method tells whether user code may run in the method.
//! `reading` lends its token immutably, hence its section is never left. Code outside
//! of sections calls users through `calling`, `hooks::run_outside` and
//! `Poll::step_outside`; debug builds assert that no section is open.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::{Duration, Instant};

use super::deferred_drop::{self, EpochGuard};
use super::host_lock as host;
use super::release;
use crate::kernel::error::{Error, ErrorKind, Result};

/// True once a type with fields declared at run time was registered, or a list or dict
/// made.
static RUN_TIME_FIELDS: AtomicBool = AtomicBool::new(false);
/// True once an object with children was stored into a field of an existing object:
/// without that, no fields form a cycle.
static LINKED: AtomicBool = AtomicBool::new(false);

static LOCK: RwLock<()> = RwLock::new(());

/// The number of times a traversal that could read fields was left for foreign code.
static LEFT: AtomicU64 = AtomicU64::new(0);

/// The number of writes by this thread to a field, list or dict.
pub(crate) fn own_writes() -> u64 {
    LOCAL.with(|local| local.writes.get())
}

/// The number of times traversals were left in this process. It does not change in a
/// section, nor while a caller holds the locks of a writer.
#[inline(always)]
pub(super) fn times_left() -> u64 {
    LEFT.load(Ordering::Relaxed)
}

/// The state of a thread.
struct Local {
    /// The number of open, nested sections.
    depth: Cell<u32>,
    /// True if fields of types declared at run time may be read.
    active: Cell<bool>,
    /// True if the section is a traversal.
    traversal: Cell<bool>,
    /// The traversal's ticket, once it has been left for foreign code for the first
    /// time: until then nobody can write.
    ticket: Cell<Option<EpochGuard>>,
    /// The result of `release::park`.
    parked: Cell<bool>,
    writes: Cell<u64>,
    // Without a destructor, for use until the very end of a thread.
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

/// Called before a type with fields declared at run time is registered, or a list or
/// dict made.
#[inline]
pub(super) fn note_run_time_fields() {
    if !RUN_TIME_FIELDS.load(Ordering::Relaxed) {
        RUN_TIME_FIELDS.store(true, Ordering::Release);
    }
}

/// Called before an object with children is stored into an existing object.
pub(super) fn note_link() {
    LINKED.store(true, Ordering::Relaxed);
}

/// True if a cycle through fields may exist in this process.
#[inline(always)]
pub(crate) fn may_have_cycles() -> bool {
    LINKED.load(Ordering::Relaxed)
}

/// The token of a section: its owner may read fields.
///
/// A reference lent from a field is bound to a shared borrow of the token, and code
/// leaving the section for foreign code must end this borrow. No reference into a field
/// can therefore outlive the time without writers. The token has no size, and belongs
/// to one thread.
pub struct Section(PhantomData<*mut ()>);

/// Runs `body` in a section open until the end of `body`: the token is only lent, so
/// `body` runs no foreign code. `body` must keep no borrowed object beyond its end.
#[inline]
pub(crate) fn reading<T>(body: impl FnOnce(&Section) -> T) -> T {
    let _open = SectionGuard::enter(false);
    let _watch = Watch::begin(true);
    body(&Section(PhantomData))
}

/// Reads fields while holding the locks of a writer. `body` must run no foreign code.
pub(super) fn exclusively<T>(body: impl FnOnce(&Section) -> T) -> T {
    let _watch = Watch::begin(true);
    body(&Section(PhantomData))
}

/// Runs a traversal in a section: objects borrowed in the section stay alive until its
/// end, even across foreign code called [`outside`].
///
/// A traversal begins outside of all sections: its token would not hold back the token
/// of an enclosing section.
#[inline]
pub fn traversing<T>(body: impl FnOnce(&mut Section) -> T) -> T {
    assert_outside();
    let _open = SectionGuard::enter(true);
    let _watch = Watch::begin(true);
    body(&mut Section(PhantomData))
}

/// Runs foreign code from inside a section, leaving the section meanwhile.
#[inline(always)]
pub fn outside<T>(section: &mut Section, body: impl FnOnce() -> T) -> T {
    let _given_up = section;
    leaving(body)
}

/// Runs foreign code where no section is open.
#[inline]
pub(crate) fn calling<T>(body: impl FnOnce() -> T) -> T {
    assert_outside();
    leaving(body)
}

/// Asserts that no caller further up in this thread reads fields of types declared at
/// run time.
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

/// Tracks, in debug builds, whether this thread runs code of a section.
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
    // No lock is held yet. If `body` registers the first type with fields declared at
    // run time, or makes the first list or dict, a section opened by `body` takes the
    // lock itself.
    if !RUN_TIME_FIELDS.load(Ordering::Acquire) && host::hooks().is_none() {
        let result = body();
        refresh();
        return result;
    }
    let _left = SuspendedSection::leave();
    body()
}

/// Checks again whether sections need the lock; called where a running traversal visits
/// objects that were unreachable at its beginning.
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

/// Counts the steps of a long operation, and regularly asks the host whether to
/// continue; see [`host::HostHooks::poll`].
pub struct Poll {
    /// The number of steps until the next check.
    left: u32,
    /// The number of visits at which the next check is due.
    due: u64,
}

impl Default for Poll {
    fn default() -> Self {
        Poll {
            left: Poll::STEPS,
            due: u64::from(Poll::STEPS),
        }
    }
}

impl Poll {
    /// A few hundred microseconds of work: far less than people notice, and far more
    /// than the check costs.
    const STEPS: u32 = 1 << 14;

    /// Counts one step of a traversal. May run foreign code [`outside`].
    ///
    /// # Errors
    ///
    /// Errors from the host, ending the operation.
    #[inline(always)]
    pub(crate) fn step(&mut self, section: &mut Section) -> Result<()> {
        let _given_up = section;
        self.count()
    }

    /// Counts one step of an operation outside of sections. May run foreign code.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    #[inline(always)]
    pub fn step_outside(&mut self) -> Result<()> {
        assert_outside();
        self.count()
    }

    /// Returns true if a traversal has made many visits without leaving the section,
    /// and should soon call [`step`](Self::step) to check with the host. The traversal
    /// counts these visits; the poll does not count them again.
    #[inline(always)]
    pub(crate) fn is_due(&mut self, visits: u64) -> bool {
        if visits < self.due {
            return false;
        }
        self.due = visits + u64::from(Poll::STEPS);
        self.left = 1;
        true
    }

    /// Checks with the host at once, between two long operations that are not in a
    /// section. May run foreign code.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    pub fn now() -> Result<()> {
        assert_outside();
        Poll::default().ask(false).map(drop)
    }

    /// As [`step`](Self::step). Returns true if the rest of the traversal should run
    /// [`without_host`], which is possible only with `can_release`.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    #[inline(always)]
    pub(crate) fn step_to_release(
        &mut self,
        section: &mut Section,
        can_release: impl FnOnce() -> bool,
    ) -> Result<bool> {
        let _given_up = section;
        self.left -= 1;
        if self.left == 0 {
            self.ask(can_release())
        } else {
            Ok(false)
        }
    }

    #[inline(always)]
    fn count(&mut self) -> Result<()> {
        self.left -= 1;
        if self.left == 0 {
            self.ask(false).map(drop)
        } else {
            Ok(())
        }
    }

    #[cold]
    #[inline(never)]
    fn ask(&mut self, can_release: bool) -> Result<bool> {
        self.left = Poll::STEPS;
        let Some(hooks) = host::hooks() else {
            return Ok(false);
        };
        if !host::is_held() {
            if let Some(last) = host::asked_when_released()
                && leaving(|| ask_again(hooks, last))?
            {
                host::replace_released(Some(Instant::now()));
            }
            return Ok(false);
        }
        let release = leaving(hooks.poll)?;
        if release && !can_release {
            leaving(|| (hooks.release_while)(&mut || ()));
        }
        Ok(release && can_release)
    }
}

/// The longest time without a check while the host's lock is released: taking it may
/// take milliseconds, and nobody notices a tenth of a second.
const RARELY: Duration = Duration::from_millis(100);

/// Checks with the host from a traversal running [`without_host`]. Outside of its
/// section, to let writers in. Returns false if the check was not necessary yet.
fn ask_again(hooks: &host::HostHooks, last: Instant) -> Result<bool> {
    if last.elapsed() < RARELY {
        return Ok(false);
    }
    let mut answer = Ok(false);
    (hooks.hold)(&mut || answer = (hooks.poll)());
    answer.map(|_| true)
}

/// Runs the rest of a traversal with the host's lock released. `body` must call no
/// function of the host other than hooks, which take the lock themselves.
///
/// For the traversal, `body` is like a hook: objects visited before stay alive, and
/// `body` reads fields in a section of its own, under the process-wide lock.
///
/// # Errors
///
/// Those of `body`.
pub(crate) fn without_host<T>(
    section: &mut Section,
    body: impl FnOnce(&mut Section) -> Result<T>,
) -> Result<T> {
    let mut body = Some(body);
    let mut result = None;
    outside(section, || {
        let mut run = || {
            if let Some(body) = body.take() {
                let _released = host::Released::begin();
                result = Some(traversing(body));
            }
        };
        match host::hooks() {
            Some(hooks) => (hooks.release_while)(&mut run),
            None => run(),
        }
    });
    result.unwrap_or_else(|| {
        let what = "the host did not run the rest of a traversal";
        Err(Error::new(ErrorKind::Runtime, what))
    })
}

/// Runs `body` while nobody else reads or writes fields; its argument is true if no
/// traversal is running. It must run no foreign code.
///
/// # Errors
///
/// `RuntimeError` if the host's lock is no longer available; on an error, no field was
/// written.
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
            // The host was registered while this thread waited, and its readers do not
            // use this lock.
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
        if guard.is_none() && hooks.is_exclusive {
            (hooks.release_while)(&mut || guard = Some(write_lock()));
        }
        if guard.is_none() {
            // A host that stops its threads does not have to wait for long readers; it
            // waits for the short time in which this thread has its lock again.
            (hooks.release_while)(&mut || drop(write_lock()));
            guard = Some(write_lock());
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

/// Waits until no section using the process-wide lock is open.
pub(super) fn write_lock() -> RwLockWriteGuard<'static, ()> {
    // The lock guards no data of its own, so a panic leaves no data broken.
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
        if !host::keeps_writers_out() {
            let guard = LOCK.read().unwrap_or_else(PoisonError::into_inner);
            self.guard.set(ManuallyDrop::new(Some(guard)));
        }
    }

    fn unlock(&self) {
        let guard = self.guard.replace(ManuallyDrop::new(None));
        drop(ManuallyDrop::into_inner(guard));
    }
}

/// An open section, closed by drop, even if a panic unwinds.
struct SectionGuard {
    /// True if the section took the lock unneeded by an outer section.
    activated: bool,
}

impl SectionGuard {
    #[inline]
    fn enter(traversal: bool) -> SectionGuard {
        LOCAL.with(|local| {
            local.depth.set(local.depth.get() + 1);
            let before = local.active.get();
            if RUN_TIME_FIELDS.load(Ordering::Acquire) {
                local.activate();
            }
            if traversal {
                local.traversal.set(true);
            }
            SectionGuard {
                activated: !before && local.active.get(),
            }
        })
    }
}

impl Drop for SectionGuard {
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
    // Destructors may run from this line on, outside of any section.
    release::resume(local.parked.get());
    if let Some(ticket) = ticket {
        deferred_drop::end(ticket);
    }
}

/// A section left for foreign code; drop re-enters the section.
struct SuspendedSection {
    depth: u32,
    active: bool,
    traversal: bool,
    ticket: Option<EpochGuard>,
    assumed: bool,
    released: Option<Instant>,
}

impl SuspendedSection {
    #[inline]
    fn leave() -> SuspendedSection {
        LOCAL.with(|local| {
            if local.traversal.get() && local.active.get() {
                LEFT.fetch_add(1, Ordering::Relaxed);
            }
            let uncounted = local.traversal.get() && local.ticket.get().is_none();
            if uncounted && local.active.get() {
                // From this point on, all objects already read must stay alive.
                local.ticket.set(Some(deferred_drop::begin()));
            }
            let left = SuspendedSection {
                depth: local.depth.replace(0),
                active: local.active.replace(false),
                traversal: local.traversal.replace(false),
                ticket: local.ticket.take(),
                // Foreign code may release the host's lock and take it again.
                assumed: host::replace_assumed(false),
                released: host::replace_released(None),
            };
            if left.active {
                local.unlock();
                release::resume(local.parked.get());
            }
            left
        })
    }
}

impl Drop for SuspendedSection {
    #[inline]
    fn drop(&mut self) {
        host::replace_assumed(self.assumed);
        host::replace_released(self.released);
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
