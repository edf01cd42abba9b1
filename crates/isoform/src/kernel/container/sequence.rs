//! `Array` (immutable, copy-on-write) and `List` (mutable, shared).

use std::fmt;
use std::iter::FilterMap;
use std::marker::PhantomData;
use std::ops::{Index, Range};
use std::slice;

use super::demands;
use super::mutable::Mutable;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::field::ElementType;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

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
/// assert_eq!((b[3], b.last()), (4, Some(&4)));
/// for number in &a {
///     assert!(b.contains(number));
/// }
/// ```
#[repr(transparent)]
pub struct Array<T = Value> {
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

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.reference.items.len()
    }

    /// True if the array is empty.
    pub fn is_empty(&self) -> bool {
        self.reference.items.is_empty()
    }

    /// The first element.
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The last element.
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// True if an element is equal by `==`, which is identity for nodes. O(n).
    pub fn contains(&self, item: &T) -> bool
    where
        T: PartialEq,
    {
        self.iter().any(|element| element == item)
    }

    /// The elements as a vector. O(n).
    pub fn to_vec(&self) -> Vec<T> {
        self.iter().cloned().collect()
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

    /// True if both are the same object.
    pub fn same_as(&self, other: &Array<T>) -> bool {
        self.reference.same_as(&other.reference)
    }

    /// Appends an element. Amortised O(1) for the only owner, O(n) otherwise.
    pub fn push(&mut self, item: T) {
        self.make_mut().push(item.into_value());
    }

    /// Replaces the element at a position and returns the old element.
    ///
    /// # Errors
    ///
    /// `IndexError` if the position has no element.
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
        // The reference is unique now; the fallback is never taken and only avoids a
        // panic path.
        match self.reference.get_mut() {
            Some(payload) => &mut payload.items,
            None => unreachable!("a fresh object has one owner"),
        }
    }

    pub(crate) fn reference(&self) -> &Ref<ArrayObj> {
        &self.reference
    }
}

/// The positions are given, so no search is needed.
fn nowhere<P>(_: &P) -> Result<()> {
    Ok(())
}

fn out_of_range(index: usize, len: usize) -> Error {
    Error::new(
        ErrorKind::Index,
        format!("position {index} in a sequence of {len} elements"),
    )
}

/// # Panics
///
/// If the position has no element, as for a slice; [`get`](Array::get) returns None instead.
impl<T: ElementType> Index<usize> for Array<T> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: usize) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => panic!("{}", out_of_range(index, self.len()).message()),
        }
    }
}

/// The elements of an array, borrowed.
type Elements<'a, T> = FilterMap<slice::Iter<'a, Value>, fn(&'a Value) -> Option<&'a T>>;

impl<'a, T: ElementType> IntoIterator for &'a Array<T> {
    type Item = &'a T;
    type IntoIter = Elements<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.values().iter().filter_map(T::peek)
    }
}

impl<T: ElementType> IntoIterator for Array<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.to_vec().into_iter()
    }
}

/// An array for a field or an argument of nodes, each given as for a field of its own: owned
/// or borrowed, of the type of the elements or of one that extends it.
///
/// An array literal has elements of one type, and fields take it with exactly their type of
/// elements, so that `[]` has a type, too.
///
/// ```
/// use isoform::{Array, Node, Ref, nodes};
///
/// /// An expression.
/// #[derive(Node, Default)]
/// #[node(key = "doc.list.Expr")]
/// #[repr(C)]
/// pub struct Expr {}
///
/// /// A number.
/// #[derive(Node)]
/// #[node(key = "doc.list.Int")]
/// #[repr(C)]
/// pub struct Int {
///     #[node(base, default)]
///     base: Expr,
///     /// The number.
///     pub value: i64,
/// }
///
/// /// A sum.
/// #[derive(Node)]
/// #[node(key = "doc.list.Sum")]
/// #[repr(C)]
/// pub struct Sum {
///     #[node(base, default)]
///     base: Expr,
///     /// The terms.
///     pub terms: Array<Ref<Expr>>,
/// }
///
/// let one = Int::new(1);
/// let sum = Sum::new(nodes![&one, Int::new(2), Sum::new([])]);
/// assert_eq!(sum.terms.len(), 3);
/// ```
#[macro_export]
macro_rules! nodes {
    ($($node:expr),* $(,)?) => {
        [$($crate::types::IntoField::into_field($node)),*]
    };
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

impl<T> Clone for Array<T> {
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

impl<T: ElementType> From<&Array<T>> for Value {
    fn from(items: &Array<T>) -> Self {
        items.clone().into()
    }
}

impl<T: ElementType> From<Array<T>> for Value {
    fn from(array: Array<T>) -> Self {
        Value::from_object(array.reference.into_object())
    }
}

/// The payload of a list.
pub(crate) type ListObj = Mutable<Array>;

/// A mutable sequence; cloning the handle shares the list.
///
/// ```
/// use isoform::values::List;
/// let a = List::from(vec![1i64, 2]);
/// let b = a.clone();
/// b.push(3)?;
/// assert_eq!(a.len(), 3);
/// # Ok::<(), isoform::Error>(())
/// ```
#[repr(transparent)]
pub struct List<T = Value> {
    reference: Ref<ListObj>,
    elements: PhantomData<T>,
}

impl<T: ElementType> List<T> {
    /// An empty list.
    pub fn new() -> Self {
        List::of(Array::new())
    }

    /// A list with the items of an array. O(1).
    pub(crate) fn of(items: Array) -> Self {
        List {
            reference: Ref::new(ListObj::holding(items)),
            elements: PhantomData,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.reference.held.read(Array::len)
    }

    /// True if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The current contents as an immutable array. O(1).
    pub fn snapshot(&self) -> Array {
        self.reference.snapshot()
    }

    /// Returns a copy of the element at a position.
    pub fn get(&self, index: usize) -> Option<T> {
        let get = |items: &Array| items.get(index).and_then(T::peek).cloned();
        self.reference.held.read(get)
    }

    /// Appends an element.
    ///
    /// Like every change of a list, the call waits until running comparisons, hashes
    /// and walks of other threads reach a hook, a callback or their end.
    ///
    /// # Errors
    ///
    /// `TypeError` if the type of a field containing the list forbids the element;
    /// errors from the hooks of types converting the element; `RuntimeError` if the
    /// host language has shut down. On an error, the list is unchanged.
    pub fn push(&self, item: T) -> Result<()> {
        self.reshape([item.into_value()], |items, [item]| {
            items.push(std::mem::take(item));
            Ok(())
        })
    }

    /// Removes and returns the last element. Also returns None after the shutdown of
    /// the host language, when values can no longer change.
    pub fn pop(&self) -> Option<Value> {
        self.reshape([], |items, []| Ok(items.pop())).ok().flatten()
    }

    /// Inserts an element before a position.
    ///
    /// # Errors
    ///
    /// `IndexError` if the position is past the end, otherwise the errors of
    /// [`push`](Self::push).
    pub fn insert(&self, index: usize, item: T) -> Result<()> {
        self.reshape([item.into_value()], |items, [item]| {
            if index > items.len() {
                return Err(out_of_range(index, items.len()));
            }
            items.insert(index, std::mem::take(item));
            Ok(())
        })
    }

    /// Replaces the element at a position and returns the old element.
    ///
    /// # Errors
    ///
    /// `IndexError` if the position has no element, otherwise the errors of
    /// [`push`](Self::push).
    pub fn set(&self, index: usize, item: T) -> Result<Value> {
        self.change([item.into_value()], |items, [item]| {
            if index >= items.len() {
                return Err(out_of_range(index, items.len()));
            }
            items.set(index, std::mem::take(item))
        })
    }

    /// Removes and returns the element at a position.
    ///
    /// # Errors
    ///
    /// `IndexError` if the position has no element, otherwise the errors of
    /// [`push`](Self::push).
    pub fn remove(&self, index: usize) -> Result<Value> {
        self.reshape([], |items, []| {
            if index >= items.len() {
                return Err(out_of_range(index, items.len()));
            }
            Ok(items.remove(index))
        })
    }

    /// Removes all elements. Does nothing after the shutdown of the host language.
    pub fn clear(&self) {
        // This is the only possible error.
        let _ended = self.replace(Array::new());
    }

    /// Replaces all elements and returns the old elements. O(n).
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn replace(&self, items: Array) -> Result<Array> {
        let list = &self.reference;
        let admit = |number, items: &mut Array| demands::admit_items(number, items.make_mut());
        list.change(list.identity(), items, admit, nowhere, |held, items, ()| {
            items.values().iter().for_each(|item| list.note(item));
            list.advance_version();
            Some(std::mem::replace(held, std::mem::take(items)))
        })
    }

    /// Replaces the elements in a range and returns the old elements. O(n).
    ///
    /// # Errors
    ///
    /// `IndexError` if the range ends past the last element or before its own start,
    /// otherwise the errors of [`push`](Self::push).
    ///
    /// ```
    /// use isoform::values::List;
    /// let list: List<i64> = List::from(vec![1, 2, 3]);
    /// let old = list.splice(1..2, vec![7, 8])?;
    /// assert_eq!((old, list.len()), (vec![2.into()], 4));
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn splice(&self, range: Range<usize>, items: Vec<T>) -> Result<Vec<Value>> {
        let items: Vec<Value> = items.into_iter().map(T::into_value).collect();
        self.reshape(items, |held, items| {
            if range.end > held.len() || range.start > range.end {
                return Err(out_of_range(range.end, held.len()));
            }
            Ok(held.splice(range, items.drain(..)).collect())
        })
    }

    /// Changes length or order, unless `body` finds the change impossible.
    fn reshape<P: AsMut<[Value]>, R>(
        &self,
        items: P,
        body: impl FnOnce(&mut Vec<Value>, &mut P) -> Result<R>,
    ) -> Result<R> {
        self.change(items, |held, items| {
            let done = body(held.make_mut(), items)?;
            self.reference.advance_version();
            Ok(done)
        })
    }

    /// Changes the list with these items, after converting the items for the list's
    /// demands.
    fn change<P: AsMut<[Value]>, R>(
        &self,
        items: P,
        body: impl FnOnce(&mut Array, &mut P) -> Result<R>,
    ) -> Result<R> {
        let (list, mut body) = (&self.reference, Some(body));
        let admit = |number, items: &mut P| demands::admit_items(number, items.as_mut());
        list.change(list.identity(), items, admit, nowhere, |held, items, ()| {
            items.as_mut().iter().for_each(|item| list.note(item));
            body.take().map(|body| body(held, items))
        })?
    }

    /// A number that changes whenever length or order do, but not when an element is
    /// replaced. O(1).
    ///
    /// Iterators of host languages use the number to detect concurrent changes of the
    /// list.
    pub fn version(&self) -> u64 {
        self.reference.version()
    }

    /// True if both are the same object.
    pub fn same_as(&self, other: &List<T>) -> bool {
        self.reference.same_as(&other.reference)
    }
}

/// The elements at the time of the call.
impl<T: ElementType> IntoIterator for &List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        let elements = self.snapshot();
        let elements: Vec<T> = elements
            .values()
            .iter()
            .filter_map(T::peek)
            .cloned()
            .collect();
        elements.into_iter()
    }
}

impl<T: ElementType, const N: usize> From<[T; N]> for List<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T: ElementType> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: ElementType> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        List::of(items.into_iter().map(T::into_value).collect())
    }
}

impl<T: ElementType> Default for List<T> {
    fn default() -> Self {
        List::new()
    }
}

impl<T> Clone for List<T> {
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

impl<T: ElementType> From<&List<T>> for Value {
    fn from(items: &List<T>) -> Self {
        items.clone().into()
    }
}

impl<T: ElementType> From<List<T>> for Value {
    fn from(list: List<T>) -> Self {
        Value::from_object(list.reference.into_object())
    }
}
