//! Collection of cycles: objects kept alive only by each other.
//!
//! Reference counts free all garbage except cycles, and a cycle needs an edge younger
//! than both its ends: an element inserted into a list or dict, or a written field.
//! Objects with a younger edge are *tracked*. A collection visits all objects reachable
//! from the tracked objects, and counts for each object the references from visited
//! objects. If these references are all the object's owners, and no object with other
//! owners reaches the object, the object is garbage. (Trial deletion: Bacon and Rajan,
//! "Concurrent Cycle Collection in Reference Counted Systems", 2001; here with the
//! world stopped.)
//!
//! A collection starts automatically once many more objects are tracked than the
//! previous collection left: at least [`MIN_FRESH`], and a share of the objects visited
//! then. A tracked object thus costs O(1) visits, regardless of all other objects.
//!
//! # Why the counts can be trusted
//!
//! Other threads may own objects and follow references while counts are read. During a
//! collection, the writer's lock is held: nobody reads or writes a field declared at
//! run time, a list or a dict, and dying tracked objects keep their fields until the
//! end of the collection. A thread owning a visited object can then move only to
//! children of arrays, maps and Rust structs, and these edges form no cycles. Counts
//! are read along these edges, parents first: a thread leaving an object before its
//! count is read moves to an object with a later read, and is found at the last such
//! object at the latest.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::{HashMap, HashSet};

use super::access;
use super::build::take_field;
use super::class::Payload;
use super::ffi::PRESERVED;
use super::field::DropSlot;
use super::guarded::Content;
use super::header::Header;
use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::release::child_in;
use super::table::{self, TypeInfo};
use super::view::ObjRef;
use crate::kernel::container::Mutable;

type Addresses = HashSet<usize, rapidhash::fast::RandomState>;

static TRACKED: Mutex<Option<Addresses>> = Mutex::new(None);
/// The number of tracked objects; written under the lock of [`TRACKED`].
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The least number of newly tracked objects before the next collection.
const MIN_FRESH: usize = 10_000;
/// The number of visits allowed to a collection for each newly tracked object.
const VISITS_PER_FRESH: usize = 4;
/// A collection is due when this many objects are tracked; `usize::MAX` while one is
/// running.
static DUE: AtomicUsize = AtomicUsize::new(MIN_FRESH);

fn tracked() -> MutexGuard<'static, Option<Addresses>> {
    TRACKED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn insert(address: usize) {
    let mut tracked = tracked();
    let tracked = tracked.get_or_insert_default();
    tracked.insert(address);
    COUNT.store(tracked.len(), Ordering::Relaxed);
}

/// Records an object that may have become part of a cycle.
pub(super) fn track(object: &Ref<Obj>) {
    object.type_info().tracked.store(true, Ordering::Release);
    track_raw(object.raw());
}

/// [`track`] for a type with tracked objects.
pub(super) fn track_raw(object: NonNull<Header>) {
    insert(object.as_ptr() as usize);
}

/// As [`track`], for a list or dict.
pub(crate) fn track_payload<T: Content>(payload: &Mutable<T>) {
    insert(address_of(payload));
}

/// Stops tracking a dying list or dict; waits for a running collection.
pub(crate) fn untrack_payload<T: Content>(payload: &Mutable<T>) {
    forget(address_of(payload));
}

/// The address of the header of the object beginning with this payload.
fn address_of<T: Content>(payload: &Mutable<T>) -> usize {
    std::ptr::from_ref(payload) as usize - super::header::HEADER_SIZE
}

/// Stops tracking an object of a declared type that dies; waits for a running
/// collection.
#[cold]
pub(super) fn untrack(object: NonNull<Header>) {
    forget(object.as_ptr() as usize);
}

fn forget(address: usize) {
    if let Some(tracked) = &mut *tracked() {
        tracked.remove(&address);
        COUNT.store(tracked.len(), Ordering::Relaxed);
    }
}

fn is_tracked(object: &Ref<Obj>) -> bool {
    let info = object.type_info();
    let may_be = match info.class() {
        Payload::Mutable => true,
        _ => info.tracked.load(Ordering::Acquire),
    };
    let address = object.raw().as_ptr() as usize;
    may_be
        && tracked()
            .as_ref()
            .is_some_and(|tracked| tracked.contains(&address))
}

/// True if a cycle may go through an object.
pub(crate) fn may_lead_on(object: &Ref<Obj>) -> bool {
    let info = object.type_info();
    match info.class() {
        Payload::Plain | Payload::Node => {
            !info.slots.is_empty() || !info.hooks.are_structural_defaults()
        }
        class => class.has_parts(),
    }
}

/// The number of objects that may be part of a cycle: lists and dicts with an inserted
/// object, and objects with a field set to an object.
pub fn tracked_count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Collects cycles if a collection is due. Called at the end of a write, outside of
/// sections.
#[inline]
pub(crate) fn collect_if_due() {
    if COUNT.load(Ordering::Relaxed) >= DUE.load(Ordering::Relaxed) {
        collect_once();
    }
}

#[cold]
fn collect_once() {
    // One thread is enough, and writes by destructors start no other collection.
    if DUE.swap(usize::MAX, Ordering::Relaxed) != usize::MAX {
        collect_cycles();
    }
}

/// Frees all objects kept alive only by each other, and returns their number.
///
/// Cycles can only go through [`List`](crate::values::List),
/// [`Dict`](crate::values::Dict) and objects with mutable fields. O(objects reachable
/// from the tracked objects); other threads wait meanwhile before reading or writing
/// fields. A write starts a collection once many more objects may be part of a cycle
/// than after the previous collection.
///
/// ```
/// use isoform::Value;
/// use isoform::objects::collect_cycles;
/// use isoform::values::List;
/// let list: List = List::new();
/// list.push(Value::from(list.clone()))?;
/// drop(list);
/// assert!(collect_cycles() >= 1);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn collect_cycles() -> usize {
    let mut doomed = Garbage::default();
    let mut visited = 0;
    // An error means the shutdown of the host language, and of the process with it.
    let _ended = access::writing(|_idle| {
        let tracked = tracked();
        let Some(roots) = tracked.as_ref().filter(|tracked| !tracked.is_empty()) else {
            return;
        };
        let mut addresses: Vec<usize> = roots.iter().copied().collect();
        // The order of a hash set differs between runs.
        addresses.sort_unstable();
        let roots: Vec<_> = addresses
            .into_iter()
            .filter_map(|address| NonNull::new(address as *mut Header))
            .collect();
        if let Some(graph) = Graph::visit(&roots, usize::MAX) {
            visited = graph.objects.len();
            graph.break_up(&mut doomed);
        }
    });
    let count = doomed.objects.len();
    // Destructors may be user code, so no lock is held while they run.
    drop(doomed);
    let fresh = MIN_FRESH.max(visited / VISITS_PER_FRESH);
    DUE.store(tracked_count() + fresh, Ordering::Relaxed);
    count
}

/// Visits the objects kept alive by the caller alone: the object, if it has one owner,
/// and all objects reached through objects with one owner, but at most `limit` objects.
/// If the object may be part of a cycle, owners kept alive by the object itself do not
/// count, provided that the object reaches at most `limit` objects. A preserved wrapper
/// does not count as an owner of a reached object, since only that object keeps its
/// wrapper alive; the visitor recognises the wrapper by the bit [`PRESERVED`] of the
/// spare word. For the cycle collector of a host language, to find the objects kept
/// alive by its wrapper.
///
/// # Safety
///
/// No field, list or dict may be written meanwhile: an exclusive lock of the host is held,
/// or the host has stopped its threads. `visit` must run no code that changes objects.
pub unsafe fn visit_exclusively_owned(
    object: &Ref<Obj>,
    limit: usize,
    visit: &mut dyn FnMut(&Ref<Obj>),
) {
    if object.owners() > 1 && is_tracked(object) {
        let Some(mut graph) = Graph::visit(&[object.raw()], limit) else {
            return;
        };
        if object.header().host.load(Ordering::Relaxed) & PRESERVED == 0 {
            // The wrapper of the caller.
            graph.internal[0] += 1;
        }
        let garbage = graph.garbage();
        if !graph.speaks_for(&garbage) {
            return;
        }
        for number in garbage {
            let pointer = graph.objects[number as usize];
            // SAFETY: the object keeps all objects reached from it alive.
            let borrowed = unsafe { ObjRef::new(pointer) };
            visit(borrowed.as_ref());
        }
        return;
    }
    let mut waiting = PendingObjects(Vec::new());
    // The caller's wrapper is itself an owner.
    if object.owners() == 1 {
        waiting.0.push(object.raw());
    }
    let mut left = limit;
    while let Some(object) = waiting.0.pop() {
        if left == 0 {
            return;
        }
        left -= 1;
        // SAFETY: the object is kept alive by the previous object, whose fields nobody
        // changes, as promised by the caller.
        unsafe {
            let borrowed = ObjRef::new(object);
            visit(borrowed.as_ref());
            let info = borrowed.info();
            for slot in &info.drop_slots {
                if let Some(child) = child_in(object, *slot) {
                    waiting.add(child);
                }
            }
            borrowed.each_part(|part| waiting.value(part));
            let held = borrowed.peek_held();
            held.into_iter().for_each(|held| waiting.add(held));
        }
    }
}

/// Objects with one owner, still to be visited.
struct PendingObjects(Vec<NonNull<Header>>);

impl PendingObjects {
    fn add(&mut self, object: NonNull<Header>) {
        // SAFETY: callers pass objects that are alive.
        let header = unsafe { object.as_ref() };
        let preserved = header.host.load(Ordering::Relaxed) & PRESERVED != 0;
        if header.count() == 1 + u32::from(preserved) {
            self.0.push(object);
        }
    }

    fn value(&mut self, value: &Value) {
        if let Some(object) = NonNull::new(value.object_pointer()) {
            self.add(object);
        }
    }
}

/// The values to drop at the end of a collection.
#[derive(Default)]
struct Garbage {
    children: Vec<Value>,
    objects: Vec<Ref<Obj>>,
}

/// The objects reachable from the tracked ones.
#[derive(Default)]
struct Graph {
    numbers: HashMap<usize, u32, rapidhash::fast::RandomState>,
    objects: Vec<NonNull<Header>>,
    /// The number of references from visited objects.
    internal: Vec<u64>,
    /// The children of object `n` are `edges[starts[n]..starts[n + 1]]`.
    edges: Vec<u32>,
    starts: Vec<usize>,
}

impl Graph {
    /// Returns None for more than `limit` objects.
    fn visit(roots: &[NonNull<Header>], limit: usize) -> Option<Self> {
        let mut graph = Graph::default();
        for &root in roots {
            graph.number(root);
        }
        let mut next = 0;
        while let Some(&object) = graph.objects.get(next) {
            graph.starts.push(graph.edges.len());
            graph.children(object);
            next += 1;
            if graph.objects.len() > limit {
                return None;
            }
        }
        graph.starts.push(graph.edges.len());
        Some(graph)
    }

    fn number(&mut self, object: NonNull<Header>) -> u32 {
        let next = self.objects.len() as u32;
        let number = *self.numbers.entry(object.as_ptr() as usize).or_insert(next);
        if number == next {
            self.objects.push(object);
            self.internal.push(0);
        }
        number
    }

    fn edge(&mut self, child: NonNull<Header>) {
        let number = self.number(child);
        self.internal[number as usize] += 1;
        self.edges.push(number);
    }

    fn value(&mut self, value: &Value) {
        if let Some(child) = NonNull::new(value.object_pointer()) {
            self.edge(child);
        }
    }

    fn children(&mut self, object: NonNull<Header>) {
        // SAFETY: the object is tracked and does not die before the end of the
        // collection, or is kept alive by a field of a tracked object; see the module
        // documentation.
        let header: &Header = unsafe { object.as_ref() };
        let info = table::info(header.type_index);
        for slot in &info.drop_slots {
            // SAFETY: the slot is one of the object's own type, and fields do
            // not change while the writer's lock is held.
            let child = unsafe { child_in(object, *slot) };
            if let Some(child) = child {
                self.edge(child);
            }
        }
        // SAFETY: alive, as above, and nobody writes a list or dict during a collection.
        let (object, held) = unsafe {
            let object = ObjRef::new(object);
            (object, object.peek_held())
        };
        object.each_part(|part| self.value(part));
        held.into_iter().for_each(|held| self.edge(held));
    }

    fn edges_of(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.edges[self.starts[number]..self.starts[number + 1]]
    }

    fn info(&self, number: u32) -> &'static TypeInfo {
        // SAFETY: as in `children`.
        table::info(unsafe { self.objects[number as usize].as_ref() }.type_index)
    }

    /// True if other threads may go from an object to its children meanwhile.
    fn is_open(&self, number: u32) -> bool {
        let info = self.info(number);
        match info.class() {
            Payload::Mutable => false,
            Payload::Plain | Payload::Node => !info.has_run_time_fields(),
            _ => true,
        }
    }

    /// All objects, parents before children as far as threads can follow references.
    fn parents_first(&self) -> Vec<u32> {
        let count = self.objects.len();
        let mut waiting = vec![0u32; count];
        for number in (0..count as u32).filter(|&number| self.is_open(number)) {
            for &child in self.edges_of(number) {
                waiting[child as usize] += 1;
            }
        }
        let mut order: Vec<u32> = (0..count as u32)
            .filter(|&number| waiting[number as usize] == 0)
            .collect();
        let mut next = 0;
        while let Some(&number) = order.get(next) {
            next += 1;
            if !self.is_open(number) {
                continue;
            }
            for &child in self.edges_of(number) {
                waiting[child as usize] -= 1;
                if waiting[child as usize] == 0 {
                    order.push(child);
                }
            }
        }
        order
    }

    /// The objects kept alive only by each other.
    fn garbage(&self) -> Vec<u32> {
        let mut alive = vec![false; self.objects.len()];
        let mut pending = Vec::new();
        for number in self.parents_first() {
            // SAFETY: as in `children`.
            let header = unsafe { self.objects[number as usize].as_ref() };
            // Whoever drops the last other owner first takes the wrapper over, so the
            // wrapper is asked for after the count.
            let owners = header.count_after_releases();
            // A preserved wrapper is an owner kept alive only by the object.
            let preserved = header.host.load(Ordering::Relaxed) & PRESERVED != 0;
            let internal = self.internal[number as usize] + u64::from(preserved);
            // An object without owners is dying, and waits for the end of the
            // collection.
            if owners == 0 || u64::from(owners) > internal {
                pending.push(number);
            }
        }
        while let Some(number) = pending.pop() {
            if !std::mem::replace(&mut alive[number as usize], true) {
                pending.extend_from_slice(self.edges_of(number));
            }
        }
        (0..self.objects.len() as u32)
            .filter(|&number| !alive[number as usize])
            .collect()
    }

    /// True if the wrapper of the first object is the wrapper responsible for reporting
    /// a group of objects. Otherwise, preserved wrappers of objects reaching each other
    /// would all report the same group and count its objects several times.
    fn speaks_for(&self, garbage: &[u32]) -> bool {
        // SAFETY: as in `children`.
        let header = |number: u32| unsafe { self.objects[number as usize].as_ref() };
        let preserved = |number| header(number).host.load(Ordering::Relaxed) & PRESERVED != 0;
        let mut rivals = garbage.iter().filter(|&&number| preserved(number));
        !preserved(0) || rivals.all(|&number| header(number).ident() >= header(0).ident())
    }

    /// Removes the references forming the cycles of the garbage.
    fn break_up(self, doomed: &mut Garbage) {
        let garbage = self.garbage();
        let objects: Vec<NonNull<Header>> = garbage
            .iter()
            .map(|&number| self.objects[number as usize])
            .collect();
        // A preserved wrapper may be revived until its end, so its object must stay
        // readable.
        let readable = objects.iter().any(|object| {
            // SAFETY: as in `children`.
            let word = unsafe { object.as_ref() }.host.load(Ordering::Relaxed);
            word & PRESERVED != 0
        });
        for &object in &objects {
            // SAFETY: garbage is alive until its references are dropped after this
            // function; each object gets one more owner.
            unsafe {
                object.as_ref().retain();
                doomed.objects.push(Ref::from_raw(object));
            }
            // SAFETY: the object was just found alive.
            let header: &Header = unsafe { object.as_ref() };
            let info = table::info(header.type_index);
            // SAFETY: the writer's lock is held, and nobody but this collection
            // can reach the object.
            doomed
                .children
                .extend(unsafe { ObjRef::new(object).take_held() });
            if !info.has_run_time_fields() {
                continue;
            }
            for (slot, drop_slot) in info
                .slots
                .iter()
                .filter_map(|slot| Some((slot, slot.storage.drop_slot(slot.offset)?)))
            {
                if readable && slot.storage.holds_object() {
                    continue;
                }
                // SAFETY: the writer's lock is held and only this collection can reach
                // the object; a null pointer is fine for a nullable field, and for the
                // drop, the only remaining operation on the object.
                doomed
                    .children
                    .push(unsafe { empty_field(object, drop_slot) });
            }
        }
    }
}

/// Moves the value out of a field, leaving the field empty.
///
/// # Safety
///
/// The slot must belong to the type of the object, and nobody else may use
/// the field.
unsafe fn empty_field(object: NonNull<Header>, slot: DropSlot) -> Value {
    // SAFETY: promised by the caller; the field is written at once.
    unsafe {
        let held = take_field(object, slot);
        match slot {
            DropSlot::Pointer(offset) => object
                .byte_add(offset as usize)
                .cast::<*mut Header>()
                .write(std::ptr::null_mut()),
            DropSlot::Value(offset) => object
                .byte_add(offset as usize)
                .cast::<Value>()
                .write(Value::NONE),
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::collect_cycles;
    use crate::kernel::container::{Array, List};
    use crate::kernel::value::Value;

    #[test]
    fn what_is_dying_is_left_to_the_thread_that_gave_it_up() {
        let list: List = List::new();
        list.push(Array::<Value>::new().into())
            .expect("nothing is demanded");
        let value = Value::from(list.clone());
        let object = value.as_object().expect("an object");
        // The state between the last decrement and the end of the tracking.
        object.header().set_count_for_test(0);
        collect_cycles();
        let owners = object.owners();
        object.header().set_count_for_test(2);
        assert_eq!(owners, 0);
        assert_eq!(list.len(), 1);
    }
}
