//! `Array` (immutable, copy-on-write) and `List` (mutable, shared).

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::demands::{self, Demands};
use crate::error::{Error, ErrorKind, Result};
use crate::object::access::refresh;
use crate::object::collect;
use crate::object::field::ElementType;
use crate::object::reference::Ref;
use crate::value::Value;

/// The payload of an array.
#[derive(Debug, Default)]
pub(crate) struct ArrayObj {
    items: Vec<Value>,
}

impl ArrayObj {
    pub(crate) fn from_items(items: Vec<Value>) -> Self {
        ArrayObj { items }
    }

    pub(crate) fn items(&self) -> &[Value] {
        &self.items
    }

    pub(crate) fn copy_payload(&self) -> Self {
        ArrayObj {
            items: self.items.clone(),
        }
    }
}

/// An immutable sequence; cloning shares it.
///
/// ```
/// use isoform::Array;
/// let a = Array::from(vec![1i64, 2, 3]);
/// let mut b = a.clone();
/// b.push(4);
/// assert_eq!((a.len(), b.len()), (3, 4));
/// assert_eq!(b.iter().sum::<i64>(), 10);
/// ```
#[repr(transparent)]
pub struct Array<T: ElementType = Value> {
    reference: Ref<ArrayObj>,
    elements: PhantomData<T>,
}

impl<T: ElementType> Array<T> {
    /// An empty array.
    pub fn new() -> Self {
        Array::from_values(Vec::new())
    }

    fn from_values(items: Vec<Value>) -> Self {
        Array {
            reference: Ref::new(ArrayObj { items }),
            elements: PhantomData,
        }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.reference.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.reference.items.is_empty()
    }

    /// The elements as values.
    pub fn values(&self) -> &[Value] {
        &self.reference.items
    }

    /// The element at a position.
    pub fn get(&self, index: usize) -> Option<&T> {
        T::peek(self.reference.items.get(index)?)
    }

    /// The elements, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.reference.items.iter().filter_map(T::peek)
    }

    /// Whether both are the same object.
    pub fn same_as(&self, other: &Array<T>) -> bool {
        self.reference.same_as(&other.reference)
    }

    /// Appends an element. Amortised O(1) for the only owner, O(n) otherwise.
    pub fn push(&mut self, item: T) {
        self.make_mut().push(item.into_value());
    }

    /// Replaces the element at a position and gives the old one back.
    ///
    /// # Errors
    ///
    /// `IndexError` when the position is behind the last element.
    pub fn set(&mut self, index: usize, item: T) -> Result<Value> {
        let len = self.len();
        match self.make_mut().get_mut(index) {
            Some(slot) => Ok(std::mem::replace(slot, item.into_value())),
            None => Err(out_of_range(index, len)),
        }
    }

    /// The elements for writing: in place for the only owner, else a copy.
    fn make_mut(&mut self) -> &mut Vec<Value> {
        if self.reference.get_mut().is_none() {
            self.reference = Ref::new(self.reference.copy_payload());
        }
        // The reference is unique now; the fallback is never taken and only
        // spares a panic path.
        match self.reference.get_mut() {
            Some(payload) => &mut payload.items,
            None => unreachable!("a fresh object has one owner"),
        }
    }

    pub(crate) fn reference(&self) -> &Ref<ArrayObj> {
        &self.reference
    }
}

fn out_of_range(index: usize, len: usize) -> Error {
    Error::new(
        ErrorKind::Index,
        format!("position {index} in a sequence of {len} elements"),
    )
}

impl<T: ElementType> From<Vec<T>> for Array<T> {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: ElementType, const N: usize> From<[T; N]> for Array<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T: ElementType> FromIterator<T> for Array<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Array::from_values(items.into_iter().map(T::into_value).collect())
    }
}

impl<T: ElementType> Default for Array<T> {
    fn default() -> Self {
        Array::new()
    }
}

impl<T: ElementType> Clone for Array<T> {
    fn clone(&self) -> Self {
        Array {
            reference: self.reference.clone(),
            elements: PhantomData,
        }
    }
}

impl<T: ElementType> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reference.fmt(f)
    }
}

impl<T: ElementType> From<Array<T>> for Value {
    fn from(array: Array<T>) -> Self {
        Value::from_object(array.reference.into_object())
    }
}

/// The payload of a list: a snapshot that is replaced or, while nobody else
/// holds it, changed in place under the lock.
#[derive(Debug)]
pub(crate) struct ListObj {
    items: Mutex<Array>,
    /// Counts the changes of length or order; written under the lock.
    version: AtomicU64,
    /// Whether the collector of cycles knows the list.
    tracked: AtomicBool,
    demands: Demands,
}

/// The elements of a list while its lock is held.
pub(crate) type ListGuard<'a> = MutexGuard<'a, Array>;

impl Drop for ListObj {
    fn drop(&mut self) {
        if *self.tracked.get_mut() {
            collect::untrack_payload(self);
        }
    }
}

impl ListObj {
    pub(crate) fn holding(items: Array) -> Self {
        ListObj {
            items: Mutex::new(items),
            version: AtomicU64::new(0),
            tracked: AtomicBool::new(false),
            demands: Demands::default(),
        }
    }

    /// The lock, if no other thread holds it.
    pub(crate) fn try_lock(&self) -> Option<ListGuard<'_>> {
        match self.items.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Tells the collector of cycles when an element may lead back here.
    fn note(&self, item: &Value) {
        let links = item.as_object().is_some_and(collect::may_lead_on);
        if links && !self.tracked.swap(true, Ordering::Relaxed) {
            collect::track_payload(self);
        }
    }

    /// Makes one more demand on the elements, once they are checked, unless it
    /// is made already.
    pub(super) fn demand(
        &self,
        extend: impl Fn(u32) -> u32,
        check: impl Fn(&Array) -> Result<()>,
    ) -> Result<()> {
        loop {
            let before = self.demands.number();
            let after = extend(before);
            if after == before {
                return Ok(());
            }
            let items = self.snapshot();
            check(&items)?;
            let held = self.lock();
            // Nothing changes an array that has a second owner.
            if held.same_as(&items) && self.demands.number() == before {
                self.demands.set(after);
                return Ok(());
            }
        }
    }

    /// Fills a copy of another list, which obeys the same demands.
    pub(crate) fn fill_copy(&self, source: &ListObj, copy: impl FnOnce(&Array) -> Array) -> Array {
        // In this order: what the list held later obeys these demands, too.
        self.demands.set(source.demands.number());
        let snapshot = source.snapshot();
        self.fill(copy(&snapshot));
        snapshot
    }

    /// The lock, once the items are such as the list demands.
    fn lock_for(&self, items: &mut [Value]) -> Result<MutexGuard<'_, Array>> {
        let mut met = 0;
        loop {
            let number = self.demands.number();
            if number != met {
                demands::admit_items(number, items)?;
                met = number;
            }
            let held = self.lock();
            if self.demands.number() == met {
                return Ok(held);
            }
        }
    }

    fn note_reshape(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    /// Replaces all elements.
    fn fill(&self, items: Array) {
        // The old elements are dropped after the lock is released, because
        // their destructors may be user code that looks at this list.
        items.values().iter().for_each(|item| self.note(item));
        let old = std::mem::replace(&mut *self.lock_to_reshape(), items);
        drop(old);
    }

    /// The elements, for a change of length or order.
    fn lock_to_reshape(&self) -> MutexGuard<'_, Array> {
        let items = self.lock();
        self.note_reshape();
        items
    }

    fn lock(&self) -> MutexGuard<'_, Array> {
        // Every change keeps the array valid, so a panic elsewhere while the
        // lock was held leaves nothing half-done.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn snapshot(&self) -> Array {
        let items = self.lock().clone();
        // A traversal meets objects here that did not exist when it began.
        refresh();
        items
    }

    pub(crate) fn copy_payload(&self) -> Self {
        ListObj::holding(self.snapshot())
    }
}

/// A mutable sequence; cloning the handle shares it.
///
/// ```
/// use isoform::List;
/// let a = List::from(vec![1i64, 2]);
/// let b = a.clone();
/// b.push(3)?;
/// assert_eq!(a.len(), 3);
/// # Ok::<(), isoform::Error>(())
/// ```
#[repr(transparent)]
pub struct List<T: ElementType = Value> {
    reference: Ref<ListObj>,
    elements: PhantomData<T>,
}

impl<T: ElementType> List<T> {
    /// An empty list.
    pub fn new() -> Self {
        Vec::new().into()
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.reference.lock().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the list holds now, as an immutable array. O(1).
    pub fn snapshot(&self) -> Array {
        self.reference.snapshot()
    }

    /// A copy of the element at a position.
    pub fn get(&self, index: usize) -> Option<T> {
        self.reference
            .lock()
            .values()
            .get(index)
            .and_then(T::peek)
            .cloned()
    }

    /// Appends an element.
    ///
    /// # Errors
    ///
    /// `TypeError` when the list stands in a field whose type forbids the
    /// element; what the hooks of types return that convert it.
    pub fn push(&self, item: T) -> Result<()> {
        let mut item = item.into_value();
        let mut items = self.reference.lock_for(std::slice::from_mut(&mut item))?;
        self.reference.note(&item);
        self.reference.note_reshape();
        items.make_mut().push(item);
        Ok(())
    }

    /// Takes the last element off.
    pub fn pop(&self) -> Option<Value> {
        self.reference.lock_to_reshape().make_mut().pop()
    }

    /// Puts an element before a position.
    ///
    /// # Errors
    ///
    /// `IndexError` when the position is behind the end, otherwise as
    /// [`push`](Self::push).
    pub fn insert(&self, index: usize, item: T) -> Result<()> {
        let mut item = item.into_value();
        let mut items = self.reference.lock_for(std::slice::from_mut(&mut item))?;
        if index > items.len() {
            let error = out_of_range(index, items.len());
            // The item is dropped after the lock is released: its destructor
            // may be user code.
            drop(items);
            return Err(error);
        }
        self.reference.note(&item);
        self.reference.note_reshape();
        items.make_mut().insert(index, item);
        Ok(())
    }

    /// Replaces the element at a position and gives the old one back.
    ///
    /// # Errors
    ///
    /// `IndexError` when the position is behind the last element, otherwise as
    /// [`push`](Self::push).
    pub fn set(&self, index: usize, item: T) -> Result<Value> {
        let mut item = item.into_value();
        let mut items = self.reference.lock_for(std::slice::from_mut(&mut item))?;
        // Checked before the item is handed over: dropped by an error inside,
        // it would run its destructor, maybe user code, under the lock.
        if index >= items.len() {
            let error = out_of_range(index, items.len());
            drop(items);
            return Err(error);
        }
        self.reference.note(&item);
        items.set(index, item)
    }

    /// Takes the element at a position out.
    ///
    /// # Errors
    ///
    /// `IndexError` when the position is behind the last element.
    pub fn remove(&self, index: usize) -> Result<Value> {
        let mut items = self.reference.lock_to_reshape();
        if index >= items.len() {
            return Err(out_of_range(index, items.len()));
        }
        Ok(items.make_mut().remove(index))
    }

    /// Takes all elements out.
    pub fn clear(&self) {
        self.reference.fill(Array::new());
    }

    /// Replaces all elements and gives the old ones back. O(n).
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn replace(&self, items: Array) -> Result<Array> {
        let mut items = items;
        loop {
            let number = self.reference.demands.number();
            if number != 0 {
                demands::admit_items(number, items.make_mut())?;
            }
            items
                .values()
                .iter()
                .for_each(|item| self.reference.note(item));
            let mut held = self.reference.lock();
            if self.reference.demands.number() == number {
                self.reference.note_reshape();
                return Ok(std::mem::replace(&mut *held, items));
            }
        }
    }

    /// Replaces the elements in a range and gives the old ones back. O(n).
    ///
    /// # Errors
    ///
    /// `IndexError` when the range ends behind the last element or before it
    /// starts, otherwise as [`push`](Self::push).
    ///
    /// ```
    /// use isoform::List;
    /// let list: List<i64> = List::from(vec![1, 2, 3]);
    /// let old = list.splice(1..2, vec![7, 8])?;
    /// assert_eq!((old, list.len()), (vec![2.into()], 4));
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn splice(&self, range: Range<usize>, items: Vec<T>) -> Result<Vec<Value>> {
        let mut items: Vec<Value> = items.into_iter().map(T::into_value).collect();
        let mut old = self.reference.lock_for(&mut items)?;
        items.iter().for_each(|item| self.reference.note(item));
        if range.end > old.len() || range.start > range.end {
            let error = out_of_range(range.end, old.len());
            // The items are dropped after the lock is released.
            drop(old);
            return Err(error);
        }
        self.reference.note_reshape();
        Ok(old.make_mut().splice(range, items).collect())
    }

    /// A number that is another one after each change of length or order; the
    /// replacement of an element is none. O(1).
    ///
    /// Iterators of host languages tell by it that a list changed under them.
    pub fn version(&self) -> u64 {
        self.reference.version.load(Ordering::Relaxed)
    }

    pub(super) fn payload(&self) -> &ListObj {
        &self.reference
    }

    /// Whether both are the same object.
    pub fn same_as(&self, other: &List<T>) -> bool {
        self.reference.same_as(&other.reference)
    }
}

impl<T: ElementType> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: ElementType> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let items = items.into_iter().map(T::into_value).collect();
        List {
            reference: Ref::new(ListObj::holding(items)),
            elements: PhantomData,
        }
    }
}

impl<T: ElementType> Default for List<T> {
    fn default() -> Self {
        List::new()
    }
}

impl<T: ElementType> Clone for List<T> {
    fn clone(&self) -> Self {
        List {
            reference: self.reference.clone(),
            elements: PhantomData,
        }
    }
}

impl<T: ElementType> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reference.fmt(f)
    }
}

impl<T: ElementType> From<List<T>> for Value {
    fn from(list: List<T>) -> Self {
        Value::from_object(list.reference.into_object())
    }
}
