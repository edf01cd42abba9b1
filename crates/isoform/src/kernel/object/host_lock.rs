//! The lock of a host language, and how sections of the access rule use it.
//!
//! The code of a host such as Python holds the lock of the host nearly all the time. A
//! thread with the host's lock may read fields of types declared at run time without the
//! library's lock, because writers hold both locks.
//!
//! A free-threaded host has no such lock: any number of its threads run at once, and the
//! host can stop all of them, for example to collect garbage. Its *lock* is then shared
//! ([`HostHooks::is_exclusive`]). Readers take the library's lock as in any Rust thread,
//! and a writer holds the library's lock and the host's: no field changes while the host
//! has stopped its threads.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::access;
use crate::kernel::error::{Error, Result};

/// The host's functions for its lock.
#[derive(Clone, Copy)]
pub struct HostHooks {
    /// True if at most one thread holds the host's lock at a time. Otherwise the host
    /// waits for all threads with its lock before it stops them.
    pub is_exclusive: bool,
    /// True if this thread holds the host's lock.
    pub is_held: fn() -> bool,
    /// Runs a closure once while this thread holds the host's lock; the thread may hold
    /// the lock already. Does not run it if the lock is no longer available, for
    /// example while the host shuts down.
    pub hold: fn(&mut dyn FnMut()),
    /// Runs a closure once while this thread, the holder of the host's lock, has
    /// released the lock, and takes the lock again.
    pub release_while: fn(&mut dyn FnMut()),
    /// Called every few thousand steps of a long operation by a thread holding the
    /// host's lock: returns an error to end the operation early, and true to release
    /// the lock, because other threads have waited long enough. An operation without
    /// further calls to the host then releases the lock until its end. Runs outside of
    /// sections, like a callback.
    pub poll: fn() -> Result<bool>,
    /// Called with an error that no caller receives, such as that of the text of a part in a
    /// message, so that an interruption of the program takes effect later. Runs outside of
    /// sections, like a callback.
    pub lost_error: fn(Error),
}

impl fmt::Debug for HostHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostHooks").finish_non_exhaustive()
    }
}

static HOOKS: OnceLock<HostHooks> = OnceLock::new();
/// True if the registered lock is shared.
static SHARED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static ASSUMED: Cell<bool> = const { Cell::new(false) };
    static RELEASED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Registers the host's lock; once per process.
///
/// Waits until the traversals of other threads reach a hook, a callback or their end.
///
/// # Errors
///
/// `ValueError` if a host's lock is already registered.
///
/// # Safety
///
/// An exclusive lock must be exclusive: at most one thread of the process holds it at a
/// time. `is_held` returns true in threads that hold the lock only. `hold` and `release_while` must do
/// what [`HostHooks`] documents, call the closure at most once and return with the lock
/// in the state found. None of the three may panic, or use this library except through
/// the closure. `poll` returns with the lock held.
///
/// ```
/// use isoform::host::{HostHooks, install};
/// # mod host {
/// #     use std::{cell::Cell, sync::{Mutex, MutexGuard}};
/// #     static LOCK: Mutex<()> = Mutex::new(());
/// #     thread_local!(static GUARD: Cell<Option<MutexGuard<'static, ()>>> = const { Cell::new(None) });
/// #     pub fn swap(guard: Option<MutexGuard<'static, ()>>) -> Option<MutexGuard<'static, ()>> {
/// #         GUARD.with(|cell| cell.replace(guard))
/// #     }
/// #     pub fn is_locked() -> bool {
/// #         let guard = swap(None);
/// #         let held = guard.is_some();
/// #         drop(swap(guard));
/// #         held
/// #     }
/// #     pub fn lock() { drop(swap(LOCK.lock().ok())) }
/// #     pub fn unlock() { drop(swap(None)) }
/// # }
/// let hooks = HostHooks {
///     is_exclusive: true,
///     is_held: host::is_locked,
///     hold: |body| {
///         if host::is_locked() {
///             return body();
///         }
///         host::lock();
///         body();
///         host::unlock();
///     },
///     release_while: |body| {
///         host::unlock();
///         body();
///         host::lock();
///     },
///     poll: || Ok(false),
///     lost_error: drop,
/// };
/// // SAFETY: the lock of this host is a mutex, and the functions do no more
/// // than their names say.
/// unsafe { install(hooks) }?;
/// assert!(unsafe { install(hooks) }.is_err());
/// # Ok::<(), isoform::Error>(())
/// ```
pub unsafe fn install(hooks: HostHooks) -> Result<()> {
    // Any writer that did not use the host's lock has ended when this is acquired.
    let guard = access::write_lock();
    let installed = HOOKS.set(hooks);
    if installed.is_ok() {
        SHARED.store(!hooks.is_exclusive, Ordering::Relaxed);
    }
    drop(guard);
    installed.map_err(|_| Error::value_error("the lock of a host language is registered already"))
}

/// Runs `body` with the promise that this thread holds the host's lock, avoiding a
/// check on reads of fields. Hooks and callbacks inside `body` are exempt: they may
/// release the lock if they hold it again on return.
///
/// # Safety
///
/// An exclusive host's lock must be registered ([`install`]), and this thread must hold
/// the lock while running code of this library inside `body`, hooks and callbacks excepted.
///
/// ```no_run
/// # let (left, right) = (isoform::Value::from(1), isoform::Value::from(2));
/// // SAFETY: called by the host, with its lock held.
/// let equal = unsafe { isoform::host::assume_held(|| isoform::structural_equal(left, right)) };
/// ```
pub unsafe fn assume_held<R>(body: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            ASSUMED.set(self.0);
        }
    }
    let _restore = Restore(ASSUMED.replace(true));
    body()
}

/// The time without the host's lock in a traversal whose thread held the lock.
pub(super) struct Released(Option<Instant>);

impl Released {
    pub(super) fn begin() -> Self {
        Released(replace_released(Some(Instant::now())))
    }
}

impl Drop for Released {
    fn drop(&mut self) {
        replace_released(self.0);
    }
}

/// When the host was last asked, if a traversal of this thread has released its lock.
pub(super) fn asked_when_released() -> Option<Instant> {
    RELEASED.get()
}

/// Sets the time; returns the previous time.
#[inline(always)]
pub(super) fn replace_released(asked: Option<Instant>) -> Option<Instant> {
    RELEASED.replace(asked)
}

/// True if this thread holds a registered host's lock.
pub(super) fn is_held() -> bool {
    ASSUMED.get() || RELEASED.get().is_none() && hooks().is_some_and(|hooks| (hooks.is_held)())
}

/// Tells the host about an error that no caller receives.
pub(crate) fn lose_error(error: Error) {
    if let Some(hooks) = hooks() {
        (hooks.lost_error)(error);
    }
}

/// True if this thread holds a host's lock that keeps all writers out.
#[inline]
pub(super) fn keeps_writers_out() -> bool {
    !SHARED.load(Ordering::Relaxed) && is_held()
}

pub(super) fn hooks() -> Option<&'static HostHooks> {
    HOOKS.get()
}

/// Sets or clears the promise of [`assume_held`]; returns the previous state.
#[inline(always)]
pub(super) fn replace_assumed(assumed: bool) -> bool {
    ASSUMED.replace(assumed)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard, mpsc};
    use std::thread;

    use isoform_testing::source::scaled;

    use super::{HostHooks, assume_held, install};
    use crate::kernel::container::Array;
    use crate::kernel::hooks::DynEqual;
    use crate::kernel::object::access;
    use crate::kernel::object::dynamic::{construct, field_value, set_field};
    use crate::kernel::object::reference::{Obj, Ref};
    use crate::kernel::types::RegionChange;
    use crate::kernel::types::{FieldDef, Schema, TypeDef, register_type};
    use crate::kernel::value::Value;
    use crate::structural::{
        first_structural_mismatch, structural_digest, structural_equal, structural_hash,
    };
    use crate::traverse::{WalkResult, structural_walk};

    /// The lock of a host existing only in this test.
    struct HostLock {
        held: Mutex<bool>,
        freed: Condvar,
    }

    static HOST: HostLock = HostLock {
        held: Mutex::new(false),
        freed: Condvar::new(),
    };
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    static POLLED: AtomicUsize = AtomicUsize::new(0);

    thread_local! {
        static MINE: Cell<bool> = const { Cell::new(false) };
    }

    impl HostLock {
        fn acquire(&self) {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            while *held {
                let waited = self.freed.wait(held);
                held = waited.unwrap_or_else(PoisonError::into_inner);
            }
            *held = true;
            MINE.set(true);
        }

        fn release(&self) {
            MINE.set(false);
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = false;
            self.freed.notify_one();
        }

        /// Runs a closure under the lock, as a host runs its programs.
        fn run<T>(&self, body: impl FnOnce() -> T) -> T {
            self.acquire();
            let result = body();
            self.release();
            result
        }
    }

    const HOOKS: HostHooks = HostHooks {
        is_exclusive: true,
        is_held: || MINE.get(),
        hold: |body| {
            if MINE.get() {
                return body();
            }
            HOST.run(body);
        },
        release_while: |body| {
            RELEASED.fetch_add(1, Ordering::Relaxed);
            HOST.release();
            body();
            HOST.acquire();
        },
        poll: || Ok(POLLED.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)),
        lost_error: drop,
    };

    fn node(key: &str, hook: Option<DynEqual>) -> Ref<Obj> {
        let field = |name: &str| FieldDef::new(name, Schema::Any).mutable(true);
        let definition = TypeDef::new(key).field(field("value")).field(field("next"));
        let definition = match hook {
            None => definition,
            Some(hook) => definition.hook(hook),
        };
        let index = register_type(definition).expect("a valid definition");
        construct(index, vec![Value::NONE, Value::NONE]).expect("the values fit")
    }

    fn set(object: &Ref<Obj>, name: &str, value: impl Into<Value>) {
        set_field(object, name, value.into()).expect("the field is mutable");
    }

    fn long(number: usize) -> Value {
        Value::from(format!("a string that is not inline {number}"))
    }

    /// Reads the graph, and changes the graph in hooks, in callbacks and in between.
    fn exercise(nodes: &[Ref<Obj>], hooked: &Ref<Obj>, round: usize) {
        let last = nodes.len() - 1;
        let at = round % last;
        set(&nodes[at], "value", long(round));
        set(&nodes[at], "next", &nodes[at + 1 + round % (last - at)]);
        assert!(structural_equal(hooked, hooked).expect("comparable"));
        let _ = structural_equal(&nodes[0], &nodes[at]).expect("comparable");
        structural_hash(&nodes[0]).expect("can be hashed");
        structural_walk(&nodes[0], |visit| {
            if visit.depth() == 2 {
                set(&nodes[at], "value", Array::from([long(round), long(at)]));
            }
            Ok(WalkResult::<()>::Advance)
        })
        .expect("no cycle");
        field_value(&nodes[at], "value").expect("a field");
    }

    /// A chain of nodes.
    fn chain(levels: usize) -> Ref<Obj> {
        let first = node("host.Node", None);
        let index = first.type_index();
        (0..levels).fold(first, |next, _| {
            construct(index, vec![Value::NONE, next.into()]).expect("the values fit")
        })
    }

    /// Another thread holds the host's lock while a traversal started by the host takes
    /// further steps, and writes fields the traversal is about to read.
    fn long_operations_go_on_without_the_lock() {
        let levels = if cfg!(miri) { 100_000 } else { 1_000_000 };
        let (left, right) = (chain(levels), chain(levels));
        let operations: [&(dyn Fn() + Sync); 3] = [
            &|| assert!(structural_equal(&left, &right).expect("comparable")),
            &|| {
                assert!(
                    first_structural_mismatch(&left, &right)
                        .is_ok_and(|mismatch| mismatch.is_none())
                )
            },
            &|| assert!(structural_digest(&left).is_ok()),
        ];
        for operation in operations {
            let before = RELEASED.load(Ordering::Relaxed);
            let ended = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    // SAFETY: the lock is registered and held.
                    HOST.run(|| unsafe { assume_held(operation) });
                    ended.store(true, Ordering::Relaxed);
                });
                while RELEASED.load(Ordering::Relaxed) == before {
                    thread::yield_now();
                }
                HOST.run(|| {
                    let steps = access::times_left();
                    // The traversal cannot end: it needs this lock.
                    while access::times_left() < steps + 2 {
                        assert!(!ended.load(Ordering::Relaxed));
                        thread::yield_now();
                    }
                    set(&left, "value", Value::NONE);
                });
            });
        }
    }

    #[test]
    fn threads_with_and_without_the_lock_of_a_host() {
        // SAFETY: a mutex makes the lock exclusive, and the functions do what
        // their names say.
        unsafe { install(HOOKS) }.expect("the only test with a host");
        // SAFETY: as above; this call changes nothing.
        let again = unsafe { install(HOOKS) }.expect_err("once per process");
        assert!(again.message().contains("registered already"));

        let nodes: Vec<_> = (0..20).map(|_| node("host.Node", None)).collect();
        for (this, next) in nodes.iter().zip(&nodes[1..]) {
            set(this, "next", next);
        }
        let inside = nodes[3].clone();
        let hooked = node(
            "host.Hooked",
            Some(DynEqual::new(move |left, right, eq| {
                set(&inside, "value", long(7));
                // Imitates a host in a long computation: other threads get the lock.
                if MINE.get() {
                    HOST.release();
                    thread::yield_now();
                    HOST.acquire();
                }
                let (left, right) = (field_value(left, "next")?, field_value(right, "next")?);
                eq.equal_in(&left, &right, RegionChange::Inherit, "next")
            })),
        );
        set(&hooked, "next", &nodes[0]);
        let rounds = if cfg!(miri) { 3 } else { scaled(500) };
        thread::scope(|scope| {
            for worker in 0..4usize {
                let (nodes, hooked) = (&nodes, &hooked);
                scope.spawn(move || {
                    for round in 0..rounds {
                        let round = round * 3 + worker;
                        let work = || exercise(nodes, hooked, round);
                        match worker {
                            0 | 1 => work(),
                            2 => HOST.run(work),
                            // SAFETY: the lock is registered and held; only hooks
                            // release the lock, and take it again.
                            _ => HOST.run(|| unsafe { assume_held(work) }),
                        }
                    }
                });
            }
        });
        assert!(!MINE.get());

        // A writer waiting for a reader releases the host's lock.
        let before = RELEASED.load(Ordering::Relaxed);
        let (inside, is_inside) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                access::reading(|_section| {
                    inside.send(()).expect("the test waits for it");
                    while RELEASED.load(Ordering::Relaxed) == before {
                        thread::yield_now();
                    }
                });
            });
            is_inside.recv().expect("the reader comes to it");
            HOST.run(|| set(&nodes[0], "value", long(1)));
        });
        assert_eq!(RELEASED.load(Ordering::Relaxed), before + 1);
        let value = field_value(&nodes[0], "value").expect("a field");
        assert_eq!(value, long(1));
        long_operations_go_on_without_the_lock();
        nodes.iter().for_each(|node| set(node, "next", Value::NONE));
    }

    /// A host whose threads run at once, and which can stop them all: attached threads
    /// share this lock.
    static WORLD: RwLock<()> = RwLock::new(());
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);

    thread_local! {
        static ATTACHED: Cell<Option<RwLockReadGuard<'static, ()>>> = const { Cell::new(None) };
    }

    fn attach() {
        let guard = WORLD.read().unwrap_or_else(PoisonError::into_inner);
        ATTACHED.set(Some(guard));
        MINE.set(true);
    }

    fn detach() {
        MINE.set(false);
        drop(ATTACHED.take());
    }

    const SHARED_HOOKS: HostHooks = HostHooks {
        is_exclusive: false,
        is_held: || MINE.get(),
        hold: |body| {
            WRITTEN.fetch_add(1, Ordering::Relaxed);
            if MINE.get() {
                return body();
            }
            attach();
            body();
            detach();
        },
        release_while: |body| {
            detach();
            body();
            attach();
        },
        poll: || {
            detach();
            thread::yield_now();
            attach();
            Ok(POLLED.fetch_add(1, Ordering::Relaxed).is_multiple_of(2))
        },
        lost_error: drop,
    };

    /// The process of the other test has an exclusive lock, so this test has one of its own.
    #[test]
    #[cfg_attr(miri, ignore = "processes are not supported")]
    fn threads_with_the_shared_lock_of_a_host() {
        const MARK: &str = "ISOFORM_TEST_SHARED_HOST";
        if std::env::var_os(MARK).is_some() {
            return share();
        }
        let this = std::env::current_exe().expect("the program of the test");
        let name = "kernel::object::host_lock::tests::threads_with_the_shared_lock_of_a_host";
        let done = Command::new(this)
            .args(["--exact", name])
            .env(MARK, "1")
            .output()
            .expect("the program starts");
        let (output, errors) = (&done.stdout, &done.stderr);
        let shown = |text| String::from_utf8_lossy(text).into_owned();
        assert!(
            done.status.success() && shown(output).contains("1 passed"),
            "{}\n{}",
            shown(output),
            shown(errors)
        );
    }

    fn share() {
        // SAFETY: the lock counts its holders, and the functions do what their names say.
        unsafe { install(SHARED_HOOKS) }.expect("the only host of this process");
        let nodes: Vec<_> = (0..20).map(|_| node("host.Node", None)).collect();
        for (this, next) in nodes.iter().zip(&nodes[1..]) {
            set(this, "next", next);
        }
        let inside = nodes[3].clone();
        let hooked = node(
            "host.Hooked",
            Some(DynEqual::new(move |left, right, eq| {
                set(&inside, "value", long(7));
                let (left, right) = (field_value(left, "next")?, field_value(right, "next")?);
                eq.equal_in(&left, &right, RegionChange::Inherit, "next")
            })),
        );
        set(&hooked, "next", &nodes[0]);
        let rounds = scaled(500);
        let running = AtomicUsize::new(4);
        thread::scope(|scope| {
            for worker in 0..4usize {
                let (nodes, hooked, running) = (&nodes, &hooked, &running);
                scope.spawn(move || {
                    for round in 0..rounds {
                        let round = round * 3 + worker;
                        if worker < 2 {
                            attach();
                        }
                        exercise(nodes, hooked, round);
                        if worker < 2 {
                            detach();
                        }
                    }
                    running.fetch_sub(1, Ordering::Relaxed);
                });
            }
            // No field changes while the world is stopped, whoever writes.
            let mut stops = 0;
            while running.load(Ordering::Relaxed) > 0 || stops == 0 {
                let world = WORLD.write().unwrap_or_else(PoisonError::into_inner);
                let read = || nodes.iter().map(|node| field_value(node, "value"));
                let before: Vec<_> = read().map(|value| value.expect("a field")).collect();
                thread::yield_now();
                for (before, now) in before.iter().zip(read()) {
                    assert_eq!(*before, now.expect("a field"));
                }
                drop(world);
                stops += 1;
                thread::yield_now();
            }
        });
        assert!(WRITTEN.load(Ordering::Relaxed) > rounds);
        // A long operation polls without releasing its claim on the lock of fields.
        let polled = POLLED.load(Ordering::Relaxed);
        let long = chain(100_000);
        attach();
        structural_hash(&long).expect("can be hashed");
        detach();
        assert!(POLLED.load(Ordering::Relaxed) > polled);
        nodes.iter().for_each(|node| set(node, "next", Value::NONE));
    }
}
