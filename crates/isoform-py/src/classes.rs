//! Classes of subterms, duplicates, repeated blocks and interning for Python.

use isoform::compare::{
    Class, ClassOptions, Duplicate, RepeatedBlock, SubtermClasses, intern as interned,
};
use isoform::{Obj, Ref, Value};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;

/// Adds the functions and classes of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ClassesHandle>()?;
    module.add_class::<DuplicateHandle>()?;
    module.add_class::<BlockHandle>()?;
    module.add_function(wrap_pyfunction!(subterm_classes, module)?)?;
    module.add_function(wrap_pyfunction!(duplicates, module)?)?;
    module.add_function(wrap_pyfunction!(repeated_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(intern, module)?)
}

/// The class of every subterm of a value, found in one walk.
///
/// Two subterms have the same class if and only if they are structurally equal as values of
/// their own. Compiler passes ask this to share equal computations, to find clones or to
/// number values.
///
/// Args:
///     value: the value; objects in it, containers and keys of maps are subterms.
///     map_free_vars: whether free variables of a subterm are equal up to renaming, as for
///         clones; otherwise they match by identity, as for sharing computations.
///     sharing: whether dag objects are equal only if they are shared in the same way;
///         otherwise they are compared by contents. Subterms with several equal dag objects
///         are then compared as a whole, which is quadratic in their depth.
///     mutable_by_identity: whether lists, dicts and objects with mutable fields (those of
///         classes that are not frozen) are only equal to themselves, so that classes stay
///         right whatever is written later; otherwise their contents at this moment count.
///     confirm: whether comparison checks every member of a class, instead of a hash of 64
///         bits; it also separates dag objects that are shared in different ways.
///
/// Raises:
///     ValueError: a value contains itself, with the path.
///
/// O(n log n) for n distinct objects; linear unless many variables are in use at a time.
#[pyfunction]
#[pyo3(signature = (value, map_free_vars=false, *, sharing=false, mutable_by_identity=false, confirm=false))]
fn subterm_classes(
    value: &Bound<'_, PyAny>,
    map_free_vars: bool,
    sharing: bool,
    mutable_by_identity: bool,
    confirm: bool,
) -> PyResult<ClassesHandle> {
    let options = ClassOptions {
        map_free_vars,
        sharing,
        mutable_by_identity,
    };
    let root = untyped(value)?;
    let find = || {
        let mut classes = options.classes(root)?;
        if confirm {
            classes.confirm()?;
        }
        Ok(classes)
    };
    Ok(ClassesHandle(under_gil(value.py(), find).into_py()?))
}

/// The subterms that occur several times in values, those that save most first.
///
/// Comparison has confirmed that all members of a group are equal. A group is left out if all
/// occurrences of its members are inside members of another one. Objects that select a result of
/// a node, by the attribute `rewrite.projection`, are in no group: the node counts.
///
/// Args:
///     values: the programs.
///     min_size: the smallest number of nodes in a member, at least two.
///     min_count: the smallest number of members, at least two.
///     map_free_vars: whether free variables are equal up to renaming.
///     sharing: whether dag objects count as different if they are shared in different ways.
///     mutable_by_identity: whether objects that can change are only equal to themselves.
///
/// Raises:
///     ValueError: a value contains itself, with the path.
///
/// O(n log n) for n distinct objects, plus the sizes of all members found.
#[pyfunction]
#[pyo3(signature = (values, min_size=2, min_count=2, map_free_vars=true, *, sharing=false, mutable_by_identity=false))]
fn duplicates(
    values: &Bound<'_, PyAny>,
    min_size: u64,
    min_count: usize,
    map_free_vars: bool,
    sharing: bool,
    mutable_by_identity: bool,
) -> PyResult<Vec<DuplicateHandle>> {
    let options = ClassOptions {
        map_free_vars,
        sharing,
        mutable_by_identity,
    };
    let given = programs(values)?;
    let find = || options.duplicates(&given, min_size, min_count);
    let found = under_gil(values.py(), find).into_py()?;
    Ok(found.into_iter().map(DuplicateHandle).collect())
}

/// The blocks of dataflow nodes that occur several times in values, those that save most
/// first: the layers of a model, for example.
///
/// Nodes are objects of kind dag. Copies have the same nodes in the same order, apart from the
/// elements of tensors, and use each other in the same way; whatever else they use is a
/// parameter, and may differ. A block is a run of nodes in the order in which a depth-first
/// visit finishes them. Blocks do not overlap, and are not repetitions of smaller ones. They
/// are chosen greedily, with bounded work.
///
/// Args:
///     values: the programs.
///     min_size: the smallest number of nodes in a copy.
///     min_count: the smallest number of copies, at least two.
///
/// Raises:
///     ValueError: a value contains itself, with the path.
///
/// O(n log² n) for n distinct objects.
#[pyfunction]
#[pyo3(signature = (values, min_size=4, min_count=2))]
fn repeated_blocks(
    values: &Bound<'_, PyAny>,
    min_size: usize,
    min_count: usize,
) -> PyResult<Vec<BlockHandle>> {
    let given = programs(values)?;
    let find = || isoform::compare::repeated_blocks(&given, min_size, min_count);
    let found = under_gil(values.py(), find).into_py()?;
    Ok(found.into_iter().map(BlockHandle).collect())
}

fn programs(values: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    values.try_iter()?.map(|value| untyped(&value?)).collect()
}

/// A structurally equal value in which equal subterms are one object: less memory, smaller
/// files, and traversals that visit every shared part once.
///
/// The first occurrence stays, with its ignored fields. Objects of kind tree and const-tree,
/// arrays and maps are merged, unless definitions in them are used after them. Variables and
/// their fields, lists, dicts, objects with mutable fields and keys of maps stay the same
/// objects; dag objects are never merged. The result is the same object if nothing is repeated.
///
/// Raises ValueError for a value that contains itself. O(n log n) for n distinct objects.
#[pyfunction]
fn intern<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (py, given) = (value.py(), untyped(value)?);
    let made = under_gil(py, || interned(given)).into_py()?;
    to_python(py, &made)
}

/// The class of every subterm of a value, by `subterm_classes`.
///
/// Classes are numbers from zero, in the order in which their first members are finished, parts
/// before wholes. The table describes the moment when it was made, and keeps the subterms alive.
#[pyclass(frozen, name = "SubtermClasses", module = "isoform")]
pub(crate) struct ClassesHandle(SubtermClasses);

impl ClassesHandle {
    fn class(&self, number: usize) -> PyResult<Class> {
        let found = self.0.class(number);
        found.ok_or_else(|| {
            let count = self.0.len();
            PyIndexError::new_err(format!(
                "expected the number of a class below {count}, got {number}"
            ))
        })
    }
}

#[pymethods]
impl ClassesHandle {
    /// The number of classes.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The class of a subterm; None for a value that is not an object, or not part of the value
    /// that the table was made of. O(1).
    fn class_of(&self, value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        Ok(self.0.class_of(&untyped(value)?).map(Class::number))
    }

    /// The members of a class, in the order in which they are finished; each object counts
    /// once. Raises IndexError for a number that is not a class.
    fn members<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let members = self.0.members(self.class(number)?);
        members.map(|member| object(py, member)).collect()
    }

    /// The number of nodes in each member of a class, each occurrence counted, at most
    /// 2**64 - 1. Containers, strings and tensors do not count. Raises IndexError for a number
    /// that is not a class.
    fn size(&self, number: usize) -> PyResult<u64> {
        Ok(self.0.size(self.class(number)?))
    }

    /// True if comparison found the class, since the equality of its members depends on more
    /// than their parts: a custom comparison is inside, for example. Raises IndexError for a
    /// number that is not a class.
    fn is_decided_by_comparison(&self, number: usize) -> PyResult<bool> {
        Ok(self.0.is_decided_by_comparison(self.class(number)?))
    }

    /// The work done, by name: `visits` of objects, `map_updates` and `map_copies` of entries
    /// for variables, `comparisons` for subterms that only these can decide, and the objects
    /// `compared` by them.
    #[getter]
    fn costs(&self) -> std::collections::BTreeMap<&'static str, u64> {
        let costs = self.0.costs();
        [
            ("visits", costs.visits),
            ("map_updates", costs.map_updates),
            ("map_copies", costs.map_copies),
            ("comparisons", costs.comparisons),
            ("compared", costs.compared),
        ]
        .into_iter()
        .collect()
    }

    fn __repr__(&self) -> String {
        format!("<SubtermClasses: {} classes>", self.0.len())
    }
}

/// A group of structurally equal subterms, found by `duplicates`.
#[pyclass(frozen, name = "Duplicate", module = "isoform")]
pub(crate) struct DuplicateHandle(Duplicate);

#[pymethods]
impl DuplicateHandle {
    /// The objects, each with the number of the first value that contains it.
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        let members = self.0.members.iter();
        members
            .map(|(number, member)| Ok((*number, object(py, member)?)))
            .collect()
    }

    /// The number of nodes in each of them, each occurrence counted, at most 2**64 - 1.
    #[getter]
    fn size(&self) -> u64 {
        self.0.size
    }

    /// The nodes that would go if one object took the place of all members. Parts that they
    /// share already, or that also occur elsewhere, do not count.
    #[getter]
    fn saved(&self) -> u64 {
        self.0.saved
    }

    fn __repr__(&self) -> String {
        let (count, size) = (self.0.members.len(), self.0.size);
        format!("<Duplicate: {count} members of {size} nodes>")
    }
}

/// A block of dataflow nodes that occurs several times, by `repeated_blocks`.
#[pyclass(frozen, name = "RepeatedBlock", module = "isoform")]
pub(crate) struct BlockHandle(RepeatedBlock);

#[pymethods]
impl BlockHandle {
    /// The copies in order: the number of the value that contains the copy, and its nodes.
    /// Nodes at the same position of two copies correspond to each other.
    #[getter]
    fn places<'py>(&self, py: Python<'py>) -> PyResult<Vec<(usize, Vec<Bound<'py, PyAny>>)>> {
        let places = self.0.places.iter();
        places
            .map(|(number, copy)| {
                let nodes = copy.iter().map(|node| object(py, node));
                Ok((*number, nodes.collect::<PyResult<_>>()?))
            })
            .collect()
    }

    /// The name of the block in hexadecimal digits, which the same block of another program
    /// has, too. Neither the elements of tensors nor the values used from outside count.
    /// None if a part of the block cannot be hashed.
    #[getter]
    fn digest(&self) -> Option<String> {
        self.0.digest.map(|digest| digest.to_string())
    }

    /// The number of nodes in each copy.
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// The nodes that would go if the block were a function, and each copy a call of it.
    #[getter]
    fn saved(&self) -> usize {
        self.0.saved()
    }

    fn __repr__(&self) -> String {
        let (count, size) = (self.0.places.len(), self.0.size());
        format!("<RepeatedBlock: {count} copies of {size} nodes>")
    }
}

fn object<'py>(py: Python<'py>, object: &Ref<Obj>) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &Value::from(object))
}
