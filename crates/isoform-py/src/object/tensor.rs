//! Exchange of tensor memory: DLPack capsules and buffers.
//!
//! # Aliasing
//!
//! A tensor of the core never changes, and its exports are marked as read-only, or
//! copied if the format has no read-only mark. Memory *imported* without a copy remains
//! the producer's. The producer may still write to the memory. Reading therefore relies
//! on a contract, as with memory-mapped files: the memory is written only under the
//! GIL, or while no core function that reads tensors is running. All reads of the core
//! happen with the GIL held, so assignments in Python keep the contract by themselves;
//! only native code that releases the GIL while writing into a shared array can break
//! the contract. Sharing must therefore be requested, by `from_dlpack`; an array that
//! is merely stored in a field is copied unless it is read-only.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{self, NonNull};

use isoform::values::{DType, Tensor, ValueRef};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyType;

use super::wrapper;

const UNVERSIONED: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_UNVERSIONED: &CStr = c"used_dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

const CPU: i32 = 1;
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDevice {
    kind: i32,
    ordinal: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DlType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor` of the DLPack specification, like the structs below.
#[repr(C)]
#[derive(Clone, Copy)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DlType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct ManagedVersioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// The right to memory exported by another library.
enum Lease {
    Plain(NonNull<Managed>),
    Versioned(NonNull<ManagedVersioned>),
}

// SAFETY: a managed tensor may be released in any thread; here this happens under the
// GIL.
unsafe impl Send for Lease {}

impl Lease {
    fn tensor(&self) -> DlTensor {
        // SAFETY: the lease owns the managed tensor.
        unsafe {
            match self {
                Lease::Plain(managed) => managed.as_ref().tensor,
                Lease::Versioned(managed) => managed.as_ref().tensor,
            }
        }
    }

    fn is_read_only(&self) -> bool {
        match self {
            Lease::Plain(_) => false,
            // SAFETY: the lease owns the managed tensor.
            Lease::Versioned(managed) => unsafe { managed.as_ref().flags & READ_ONLY != 0 },
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Producers release Python objects here. While the interpreter shuts down, the
        // memory is not released.
        let _ended = Python::try_attach(|_py| {
            // SAFETY: the lease owns the managed tensor and ends here.
            unsafe {
                match self {
                    Lease::Plain(managed) => {
                        if let Some(deleter) = managed.as_ref().deleter {
                            deleter(managed.as_ptr());
                        }
                    }
                    Lease::Versioned(managed) => {
                        if let Some(deleter) = managed.as_ref().deleter {
                            deleter(managed.as_ptr());
                        }
                    }
                }
            }
        });
    }
}

/// Bytes of a producer, kept alive by the lease.
struct SharedBytes {
    data: *const u8,
    len: usize,
    _lease: Lease,
}

// SAFETY: the memory belongs to the lease and may be read in any thread.
unsafe impl Send for SharedBytes {}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the producer keeps the memory as long as the lease lives; the
        // module's contract excludes concurrent writes.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

/// The memory of a buffer of Python, which is kept alive.
struct BufferBytes(PyBuffer<u8>);

impl AsRef<[u8]> for BufferBytes {
    fn as_ref(&self) -> &[u8] {
        if self.0.len_bytes() == 0 {
            return &[];
        }
        // SAFETY: the buffer is contiguous, as `elements_of` checks, and keeps its memory;
        // the module's contract excludes concurrent writes.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), self.0.len_bytes()) }
    }
}

/// The bytes of a buffer: shared if the buffer is read-only, otherwise copied.
///
/// # Errors
///
/// `BufferError` for a buffer that is not contiguous.
pub(crate) fn elements_of(py: Python<'_>, buffer: PyBuffer<u8>) -> PyResult<bytes::Bytes> {
    if !buffer.readonly() {
        return Ok(buffer.to_vec(py)?.into());
    }
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("expected a contiguous buffer"));
    }
    Ok(bytes::Bytes::from_owner(BufferBytes(buffer)))
}

/// The use of a producer's memory: shared or copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Not copied if the layout allows it.
    Shared,
    /// Never copied; an error if sharing is impossible.
    Required,
    /// Shared if the memory is read-only, otherwise copied.
    ReadOnly,
    /// Always copied.
    Copied,
}

/// Makes a tensor from a DLPack capsule, which is consumed.
///
/// # Errors
///
/// `TypeError` for arguments other than an unused capsule, `BufferError` for memory
/// unusable by the core: another device, an unknown data type or version.
pub(crate) fn import(capsule: &Bound<'_, PyAny>, sharing: Sharing) -> PyResult<Tensor> {
    let lease = take(capsule)?;
    let tensor = lease.tensor();
    if tensor.device.kind != CPU {
        return Err(PyBufferError::new_err(format!(
            "expected a tensor in the memory of the CPU, got DLPack device kind {}",
            tensor.device.kind
        )));
    }
    let dtype = DType::from_parts(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)
        .ok_or_else(|| {
            let DlType { code, bits, lanes } = tensor.dtype;
            PyBufferError::new_err(format!(
                "unknown DLPack data type: code {code}, {bits} bits, {lanes} lanes"
            ))
        })?;
    let ndim = usize::try_from(tensor.ndim).unwrap_or(0);
    // SAFETY: the producer gives `ndim` dimensions, and strides or null.
    let (shape, strides) = unsafe { (dims(tensor.shape, ndim), dims(tensor.strides, ndim)) };
    let shape = shape.unwrap_or_default();
    if shape.len() != ndim || shape.iter().any(|&dim| dim < 0) {
        return Err(PyBufferError::new_err(format!(
            "a tensor of {ndim} dimensions has the shape {shape:?}"
        )));
    }
    let count = shape
        .iter()
        .try_fold(1u64, |count, &dim| count.checked_mul(dim as u64));
    let len = count.and_then(|count| dtype.byte_size(count));
    let len = len
        .and_then(|len| usize::try_from(len).ok())
        .ok_or_else(|| {
            PyBufferError::new_err(format!("a tensor of shape {shape:?} is too large"))
        })?;
    let data = tensor
        .data
        .cast::<u8>()
        .cast_const()
        .wrapping_add(tensor.byte_offset as usize);
    let contiguous = strides
        .as_ref()
        .is_none_or(|strides| len == 0 || is_row_major(&shape, strides));
    let share = match sharing {
        Sharing::Shared | Sharing::Required => contiguous,
        Sharing::ReadOnly => contiguous && lease.is_read_only(),
        Sharing::Copied => false,
    };
    if !share && sharing == Sharing::Required {
        return Err(PyBufferError::new_err(
            "the array is not contiguous and cannot be used without a copy",
        ));
    }
    let bytes = if share {
        bytes::Bytes::from_owner(SharedBytes {
            data,
            len,
            _lease: lease,
        })
    } else if contiguous {
        let shared = SharedBytes {
            data,
            len,
            _lease: lease,
        };
        bytes::Bytes::copy_from_slice(shared.as_ref())
    } else {
        let size = dtype.byte_size(1).unwrap_or(0) as usize;
        if !usize::from(dtype.bits())
            .saturating_mul(dtype.lanes().into())
            .is_multiple_of(8)
        {
            return Err(PyBufferError::new_err(format!(
                "an array of dtype {dtype} must be contiguous"
            )));
        }
        // SAFETY: shape and strides are the producer's, whose memory the lease keeps
        // alive.
        let gathered = unsafe { gather(data, &shape, &strides.unwrap_or_default(), size, len) };
        drop(lease);
        gathered.into()
    };
    Tensor::new(dtype, shape, bytes)
        .map_err(|error| PyValueError::new_err(error.message().to_owned()))
}

fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Lease> {
    // Of several threads with one capsule, the first takes the memory.
    with_critical_section(capsule, || take_alone(capsule))
}

fn take_alone(capsule: &Bound<'_, PyAny>) -> PyResult<Lease> {
    let py = capsule.py();
    // SAFETY: the object is alive; names are compared by CPython, and a capsule
    // of this name holds a pointer to this structure. The functions wait for nothing, so
    // no other thread uses the capsule meanwhile.
    unsafe {
        let raw = capsule.as_ptr();
        if ffi::PyCapsule_IsValid(raw, VERSIONED.as_ptr()) != 0 {
            let pointer = ffi::PyCapsule_GetPointer(raw, VERSIONED.as_ptr());
            if let Some(managed) = NonNull::new(pointer.cast::<ManagedVersioned>()) {
                let major = managed.as_ref().major;
                if major != 1 {
                    return Err(PyBufferError::new_err(format!(
                        "expected DLPack version 1, got {major}"
                    )));
                }
                if ffi::PyCapsule_SetName(raw, USED_VERSIONED.as_ptr()) != 0 {
                    return Err(PyErr::fetch(py));
                }
                return Ok(Lease::Versioned(managed));
            }
        } else if ffi::PyCapsule_IsValid(raw, UNVERSIONED.as_ptr()) != 0 {
            let pointer = ffi::PyCapsule_GetPointer(raw, UNVERSIONED.as_ptr());
            if let Some(managed) = NonNull::new(pointer.cast::<Managed>()) {
                if ffi::PyCapsule_SetName(raw, USED_UNVERSIONED.as_ptr()) != 0 {
                    return Err(PyErr::fetch(py));
                }
                return Ok(Lease::Plain(managed));
            }
        }
    }
    Err(PyTypeError::new_err(format!(
        "expected an unused DLPack capsule, got {}",
        capsule.get_type().name()?
    )))
}

/// # Safety
///
/// `pointer` must be null or point to `count` numbers.
unsafe fn dims(pointer: *const i64, count: usize) -> Option<Vec<i64>> {
    if count == 0 {
        return Some(Vec::new());
    }
    if pointer.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    Some(unsafe { std::slice::from_raw_parts(pointer, count) }.to_vec())
}

fn is_row_major(shape: &[i64], strides: &[i64]) -> bool {
    let mut expected = 1i64;
    for (&dim, &stride) in shape.iter().zip(strides).rev() {
        if dim != 1 && stride != expected {
            return false;
        }
        expected = expected.wrapping_mul(dim);
    }
    true
}

/// Copies elements of `size` bytes into row-major order.
///
/// # Safety
///
/// The elements at all positions of the shape, `strides` elements apart, must
/// be readable.
unsafe fn gather(
    data: *const u8,
    shape: &[i64],
    strides: &[i64],
    size: usize,
    len: usize,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(len);
    let mut position = vec![0i64; shape.len()];
    let mut offset = 0i64;
    while out.len() < len {
        let element = data.wrapping_offset(offset as isize * size as isize);
        // SAFETY: promised by the caller.
        out.extend_from_slice(unsafe { std::slice::from_raw_parts(element, size) });
        for axis in (0..shape.len()).rev() {
            position[axis] += 1;
            offset += strides[axis];
            if position[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            position[axis] = 0;
        }
    }
    out
}

/// The row-major strides of a shape, in elements.
pub(crate) fn strides_of(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis].max(1));
    }
    strides
}

/// The data at the pointer of an exported managed tensor.
struct Exported {
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// Keeps the memory alive if the tensor owns the memory.
    _tensor: Option<Tensor>,
    /// The copy, in words for alignment.
    _copy: Vec<u64>,
}

/// Makes a DLPack capsule of a tensor's memory, or of a copy. Memory shared without a
/// copy can be exported only in the versioned form, as read-only.
///
/// # Errors
///
/// Exceptions from CPython when it cannot make a capsule.
pub(crate) fn export<'py>(
    py: Python<'py>,
    tensor: &Tensor,
    versioned: bool,
    copy: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let copied = copy || !versioned;
    let mut memory: Vec<u64> = Vec::new();
    let data: *mut c_void = if copied {
        let bytes = tensor.data();
        memory.resize(bytes.len().div_ceil(8), 0);
        let (chunks, rest) = bytes.as_chunks::<8>();
        for (word, chunk) in memory.iter_mut().zip(chunks) {
            *word = u64::from_ne_bytes(*chunk);
        }
        if let (Some(word), false) = (memory.last_mut(), rest.is_empty()) {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            *word = u64::from_ne_bytes(last);
        }
        memory.as_mut_ptr().cast()
    } else {
        tensor.data().as_ptr().cast_mut().cast()
    };
    let dtype = tensor.dtype();
    let mut exported = Box::new(Exported {
        shape: tensor.shape().to_vec(),
        strides: strides_of(tensor.shape()),
        _tensor: (!copied).then(|| tensor.clone()),
        _copy: memory,
    });
    let raw = DlTensor {
        data,
        device: DlDevice {
            kind: CPU,
            ordinal: 0,
        },
        ndim: exported.shape.len() as i32,
        dtype: DlType {
            code: dtype.code() as u8,
            bits: dtype.bits(),
            lanes: dtype.lanes(),
        },
        shape: exported.shape.as_mut_ptr(),
        strides: exported.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let context = Box::into_raw(exported).cast::<c_void>();
    let (pointer, name): (*mut c_void, &CStr) = if versioned {
        let managed = Box::new(ManagedVersioned {
            major: 1,
            minor: 0,
            context,
            deleter: Some(delete_versioned),
            flags: if copied { IS_COPIED } else { READ_ONLY },
            tensor: raw,
        });
        (Box::into_raw(managed).cast(), VERSIONED)
    } else {
        let managed = Box::new(Managed {
            tensor: raw,
            context,
            deleter: Some(delete_plain),
        });
        (Box::into_raw(managed).cast(), UNVERSIONED)
    };
    // SAFETY: the pointer is not null, and the destructor frees it unless a consumer
    // took it over.
    unsafe {
        let capsule = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(drop_capsule));
        if capsule.is_null() {
            free(pointer, versioned);
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// # Safety
///
/// `pointer` must come from [`export`] and not be freed yet.
unsafe fn free(pointer: *mut c_void, versioned: bool) {
    // SAFETY: promised by the caller.
    unsafe {
        if versioned {
            delete_versioned(pointer.cast());
        } else {
            delete_plain(pointer.cast());
        }
    }
}

unsafe extern "C" fn delete_plain(managed: *mut Managed) {
    // SAFETY: the consumer calls this once, with the tensor that `export` made.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Exported>()));
    }
}

unsafe extern "C" fn delete_versioned(managed: *mut ManagedVersioned) {
    // SAFETY: as in `delete_plain`.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Exported>()));
    }
}

unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that still has its name was not consumed, and contains the
    // tensor made by `export`.
    unsafe {
        for (name, versioned) in [(VERSIONED, true), (UNVERSIONED, false)] {
            if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) != 0 {
                free(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()), versioned);
            }
        }
    }
}

/// The data of a buffer view.
struct View {
    format: &'static CStr,
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

fn format_of(dtype: DType) -> Option<&'static CStr> {
    use isoform::values::DTypeCode as C;
    if dtype.lanes() != 1 {
        return None;
    }
    Some(match (dtype.code(), dtype.bits()) {
        (C::Bool, 8) => c"?",
        (C::Int, 8) => c"b",
        (C::UInt, 8) => c"B",
        (C::Int, 16) => c"h",
        (C::UInt, 16) => c"H",
        (C::Int, 32) => c"i",
        (C::UInt, 32) => c"I",
        (C::Int, 64) => c"q",
        (C::UInt, 64) => c"Q",
        (C::Float, 16) => c"e",
        (C::Float, 32) => c"f",
        (C::Float, 64) => c"d",
        (C::Complex, 64) => c"Zf",
        (C::Complex, 128) => c"Zd",
        _ => return None,
    })
}

/// `bf_getbuffer` of `Tensor`: read-only views, typed if Python has the type, otherwise
/// as plain bytes for consumers that request no format.
unsafe extern "C" fn get_buffer(
    this: *mut ffi::PyObject,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> c_int {
    // SAFETY: CPython passes a live instance and a view to fill in, and holds
    // the GIL.
    unsafe {
        let py = Python::assume_attached();
        let object = Bound::from_borrowed_ptr(py, this);
        (*view).obj = ptr::null_mut();
        let core = wrapper::core_of(&object).map(isoform::host::view);
        let Some(ValueRef::Tensor(tensor)) = core else {
            PyBufferError::new_err("expected a Tensor").restore(py);
            return -1;
        };
        let data = tensor.data();
        if flags & ffi::PyBUF_ND != ffi::PyBUF_ND {
            let data = data.as_ptr().cast_mut().cast();
            return ffi::PyBuffer_FillInfo(
                view,
                this,
                data,
                tensor.data().len() as isize,
                1,
                flags,
            );
        }
        let Some(format) = format_of(tensor.dtype()) else {
            let dtype = tensor.dtype();
            PyBufferError::new_err(format!("Python's buffers know no dtype {dtype}")).restore(py);
            return -1;
        };
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            PyBufferError::new_err("a Tensor cannot be written to").restore(py);
            return -1;
        }
        let shape: Vec<_> = tensor.shape().iter().map(|&dim| dim as isize).collect();
        let column_major = flags & ffi::PyBUF_F_CONTIGUOUS == ffi::PyBUF_F_CONTIGUOUS;
        if column_major && shape.iter().filter(|&&dim| dim > 1).count() > 1 {
            PyBufferError::new_err("a Tensor is row-major").restore(py);
            return -1;
        }
        let size = tensor.dtype().byte_size(1).unwrap_or(1) as isize;
        let strides = strides_of(tensor.shape());
        let strides = strides.iter().map(|&stride| stride as isize * size);
        let mut held = Box::new(View {
            format,
            strides: strides.collect(),
            shape,
        });
        (*view).buf = data.as_ptr().cast_mut().cast();
        (*view).len = data.len() as isize;
        (*view).itemsize = size;
        (*view).readonly = 1;
        (*view).ndim = held.shape.len() as c_int;
        let with_format = flags & ffi::PyBUF_FORMAT == ffi::PyBUF_FORMAT;
        (*view).format = if with_format {
            held.format.as_ptr().cast_mut()
        } else {
            ptr::null_mut()
        };
        (*view).shape = held.shape.as_mut_ptr();
        let with_strides = flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES;
        (*view).strides = if with_strides {
            held.strides.as_mut_ptr()
        } else {
            ptr::null_mut()
        };
        (*view).suboffsets = ptr::null_mut();
        (*view).internal = Box::into_raw(held).cast();
        ffi::Py_INCREF(this);
        (*view).obj = this;
        0
    }
}

unsafe extern "C" fn release_buffer(_this: *mut ffi::PyObject, view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` was set by `get_buffer`, or is null in a view without shape.
    unsafe {
        if !(*view).internal.is_null() {
            drop(Box::from_raw((*view).internal.cast::<View>()));
            (*view).internal = ptr::null_mut();
        }
    }
}

/// Lets instances of a class be read as buffers.
pub(crate) fn install_buffer(class: &Bound<'_, PyType>) {
    // SAFETY: the class is a live heap type, which has the group of slots;
    // the functions check their argument.
    unsafe {
        let slots = (*class.as_type_ptr()).tp_as_buffer;
        (*slots).bf_getbuffer = Some(get_buffer);
        (*slots).bf_releasebuffer = Some(release_buffer);
        ffi::PyType_Modified(class.as_type_ptr());
    }
}
