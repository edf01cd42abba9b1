//! Convolutions and pools over data `(batch, channels, spatial..)`.
//!
//! For other layouts, use [`layout_transform`](crate::movement::layout_transform)
//! before and after. The time is the size of the result times the size of the window,
//! for convolutions also times the channels of a group.

use crate::control::Control;
use crate::element::dispatch;
use crate::element_type::{ElementType, not_defined};
use crate::error::Result;
use crate::number::{Integer, Number, Wide};
use crate::products::{accumulates_floats, floats, integers, narrow_floats, narrow_integers};
use crate::shape::{self, PoolRounding, Window};
use crate::strided::row_major;
use crate::tensor::{Tensor, View};

/// A convolution, strictly a cross-correlation: the window is not mirrored.
///
/// ```
/// use isoform_kernels::shape::Window;
/// use isoform_kernels::windows::Convolution;
/// use isoform_kernels::{Control, Tensor};
///
/// let data = Tensor::from_slice(&[1, 1, 4], &[1.0_f32, 2.0, 3.0, 4.0])?;
/// let weight = Tensor::from_slice(&[1, 1, 2], &[10.0_f32, 1.0])?;
/// let convolution = Convolution { windows: &[Window::new(2)], groups: 1, result_type: None };
/// let result = convolution.apply(data.view(), weight.view(), &Control::default())?;
/// assert_eq!(result.view().to_vec::<f32>()?, [12.0, 23.0, 34.0]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolution<'a> {
    /// One window per spatial axis, with the sizes of the weights.
    pub windows: &'a [Window],
    /// The number of groups into which channels and outputs are divided.
    pub groups: usize,
    /// The type of the result. None means the type of the data.
    pub result_type: Option<ElementType>,
}

impl Convolution<'_> {
    /// The convolution of data `(batch, channels, spatial..)` with weights
    /// `(outputs, channels / groups, spatial..)`.
    ///
    /// Floats accumulate in `f64`, by channel and then by place in the window, and round
    /// once; integers wrap around in the type of the result.
    ///
    /// # Errors
    ///
    /// A type error unless data, weights and result are all integers or all floats; a shape
    /// error as [`shape::convolution`].
    pub fn apply(&self, data: View<'_>, weight: View<'_>, control: &Control<'_>) -> Result<Tensor> {
        let ty = self.result_type.unwrap_or(data.element_type());
        let shape = shape::convolution(data.shape(), weight.shape(), self.windows, self.groups)?;
        control.elements(&shape, ty.size())?;
        if accumulates_floats("convolution", ty, data, weight)? {
            let (x, w) = (floats(data, control)?, floats(weight, control)?);
            let sums = self.sums(&x, &w, data.shape(), weight.shape(), &shape, control)?;
            return narrow_floats(&sums, ty, shape, control);
        }
        let (x, w) = (integers(data, control)?, integers(weight, control)?);
        let sums = self.sums(&x, &w, data.shape(), weight.shape(), &shape, control)?;
        narrow_integers(&sums, ty, shape, control)
    }

    fn sums<W: Wide>(
        &self,
        data: &[W],
        weight: &[W],
        data_shape: &[usize],
        weight_shape: &[usize],
        shape: &[usize],
        control: &Control<'_>,
    ) -> Result<Vec<W>> {
        let mut sums = control.scratch(shape.iter().product(), W::default())?;
        let plane: usize = shape[2..].iter().product();
        let data_plane: usize = data_shape[2..].iter().product();
        let kernel: usize = weight_shape[2..].iter().product();
        let (channels, outputs, depth) = (data_shape[1], shape[1], weight_shape[1]);
        if sums.is_empty() || depth == 0 {
            return Ok(sums);
        }
        let steps = Steps::new(self.windows, &data_shape[2..], &shape[2..]);
        let mut progress = control.progress();
        // A place outside of the data contributes nothing. If every weight is finite, a
        // zero has the same effect, and the data seen by a place of the window forms
        // one vector for all outputs.
        if weight.iter().all(|factor| factor.is_finite()) {
            let per_group = outputs / self.groups;
            let mut seen = control.scratch(kernel * plane, W::default())?;
            for number in 0..data_shape[0] * channels {
                let (image, channel) = (number / channels, number % channels);
                let (group, within) = (channel / depth, channel % depth);
                let from = &data[number * data_plane..][..data_plane];
                steps.each(|place, run| {
                    let to = &mut seen[place * plane + run.out..][..run.len];
                    let from = from[run.start..].iter().step_by(run.step);
                    for (to, from) in to.iter_mut().zip(from) {
                        *to = *from;
                    }
                    progress.advance(run.len + 1)
                })?;
                for output in group * per_group..(group + 1) * per_group {
                    let to = &mut sums[(image * outputs + output) * plane..][..plane];
                    let weights = &weight[(output * depth + within) * kernel..][..kernel];
                    for (factor, seen) in weights.iter().zip(seen.chunks_exact(plane)) {
                        for (to, seen) in to.iter_mut().zip(seen) {
                            *to = to.add(factor.multiply(*seen));
                        }
                    }
                    progress.advance(kernel * plane)?;
                }
            }
            return Ok(sums);
        }
        for (number, to) in sums.chunks_exact_mut(plane).enumerate() {
            let (image, output) = (number / outputs, number % outputs);
            let first = output / (outputs / self.groups) * depth;
            for channel in 0..depth {
                let plane =
                    &data[(image * channels + first + channel) * data_plane..][..data_plane];
                let weights = &weight[(output * depth + channel) * kernel..][..kernel];
                steps.each(|place, run| {
                    let factor = weights[place];
                    let to = &mut to[run.out..run.out + run.len];
                    if run.step == 1 {
                        let from = &plane[run.start..run.start + run.len];
                        for (to, from) in to.iter_mut().zip(from) {
                            *to = to.add(factor.multiply(*from));
                        }
                    } else {
                        let from = plane[run.start..].iter().step_by(run.step);
                        for (to, from) in to.iter_mut().zip(from) {
                            *to = to.add(factor.multiply(*from));
                        }
                    }
                    progress.advance(run.len + 1)
                })?;
            }
        }
        Ok(sums)
    }
}

/// The results to which each place of a window contributes.
struct Steps<'a> {
    windows: &'a [Window],
    data: &'a [usize],
    out: &'a [usize],
    data_strides: Vec<isize>,
    out_strides: Vec<isize>,
}

/// Consecutive results along the last axis, and the data seen by them at one place.
struct Run {
    out: usize,
    start: usize,
    step: usize,
    len: usize,
}

impl<'a> Steps<'a> {
    fn new(windows: &'a [Window], data: &'a [usize], out: &'a [usize]) -> Self {
        Steps {
            windows,
            data,
            out,
            data_strides: row_major(data),
            out_strides: row_major(out),
        }
    }

    /// The results along an axis for which a place of the window is within the data.
    fn range(&self, axis: usize, place: usize) -> (usize, usize) {
        let window = &self.windows[axis];
        let offset = place * window.dilation;
        let first = window.before.saturating_sub(offset).div_ceil(window.stride);
        let end = (self.data[axis] + window.before)
            .saturating_sub(offset)
            .div_ceil(window.stride);
        (first, end.min(self.out[axis]))
    }

    /// Calls `work` with the number of each place in the window and a run of results, in
    /// the order of the places.
    fn each(&self, mut work: impl FnMut(usize, Run) -> Result<()>) -> Result<()> {
        let rank = self.windows.len();
        let Some(last) = rank.checked_sub(1) else {
            return work(
                0,
                Run {
                    out: 0,
                    start: 0,
                    step: 1,
                    len: 1,
                },
            );
        };
        let kernel: usize = self.windows.iter().map(|window| window.size).product();
        let mut place = vec![0; rank];
        let mut result_index = vec![0; rank];
        for number in 0..kernel {
            let ranges: Vec<(usize, usize)> = (0..rank)
                .map(|axis| self.range(axis, place[axis]))
                .collect();
            if ranges.iter().all(|(first, end)| first < end) {
                for (index, (first, _)) in result_index.iter_mut().zip(&ranges) {
                    *index = *first;
                }
                'rows: loop {
                    let (mut out, mut start) = (0, 0);
                    for axis in 0..rank {
                        let window = &self.windows[axis];
                        let position = result_index[axis] * window.stride
                            + place[axis] * window.dilation
                            - window.before;
                        out += result_index[axis] * self.out_strides[axis] as usize;
                        start += position * self.data_strides[axis] as usize;
                    }
                    let (first, end) = ranges[last];
                    work(
                        number,
                        Run {
                            out,
                            start,
                            step: self.windows[last].stride,
                            len: end - first,
                        },
                    )?;
                    let mut axis = last;
                    loop {
                        if axis == 0 {
                            break 'rows;
                        }
                        axis -= 1;
                        result_index[axis] += 1;
                        if result_index[axis] < ranges[axis].1 {
                            break;
                        }
                        result_index[axis] = ranges[axis].0;
                    }
                }
            }
            for (index, window) in place.iter_mut().zip(self.windows).rev() {
                *index += 1;
                if *index < window.size {
                    break;
                }
                *index = 0;
            }
        }
        Ok(())
    }
}

/// A pool: one element for each position of a window.
///
/// ```
/// use isoform_kernels::shape::{PoolRounding, Window};
/// use isoform_kernels::windows::Pool;
/// use isoform_kernels::{Control, Tensor};
///
/// let data = Tensor::from_slice(&[1, 1, 4], &[1_i32, 5, 2, 3])?;
/// let window = Window { stride: 2, ..Window::new(2) };
/// let pool = Pool { windows: &[window], rounding: PoolRounding::Down };
/// let largest = pool.max(data.view(), &Control::default())?;
/// assert_eq!(largest.view().to_vec::<i32>()?, [5, 3]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool<'a> {
    /// One window per spatial axis.
    pub windows: &'a [Window],
    /// How many positions there are.
    pub rounding: PoolRounding,
}

impl Pool<'_> {
    /// The largest element in each window. Padding counts as less than every element; a
    /// window without any element yields -infinity or the smallest integer. NaN if any
    /// element is NaN.
    ///
    /// # Errors
    ///
    /// A type error for types other than integers and floats; a shape error as
    /// [`shape::pool`].
    pub fn max(&self, data: View<'_>, control: &Control<'_>) -> Result<Tensor> {
        let ty = data.element_type();
        dispatch!(number ty, T => self.largest::<T>(data, control),
            else Err(not_defined("max_pool", "an integer or float type", ty)))
    }

    fn largest<T: Number>(&self, data: View<'_>, control: &Control<'_>) -> Result<Tensor> {
        // Saturates to the smallest integer.
        let lowest = T::from_f64(f64::NEG_INFINITY);
        self.fold::<T, T>(data, lowest, control, T::maximum, |value, _| value)
    }

    /// The mean of the elements in each window. With `count_padding`, the declared
    /// padding counts as zeros; places beyond the padding, which rounding up may reach,
    /// never count. A window without counted places yields 0.
    ///
    /// Floats accumulate in `f64`; integers wrap around at 64 bits, and their quotient is
    /// rounded towards zero.
    ///
    /// # Errors
    ///
    /// As [`max`](Pool::max).
    pub fn average(
        &self,
        data: View<'_>,
        count_padding: bool,
        control: &Control<'_>,
    ) -> Result<Tensor> {
        let ty = data.element_type();
        let shape = shape::pool(data.shape(), self.windows, self.rounding)?;
        let counts = self.counts(&data.shape()[2..], &shape[2..], count_padding, control)?;
        let plane = counts.len().max(1);
        dispatch!(integer ty, T => return self.fold::<T, i64>(
            data, 0, control, |sum, value| sum.wrapping_add(value.wide()),
            |sum, at| average_of_integers::<T>(sum, counts[at % plane])), else {});
        dispatch!(float ty, T => self.fold::<T, f64>(
            data, 0.0, control, |sum, value| sum + value.wide(),
            |sum, at| T::narrow(sum / counts[at % plane].max(1) as f64)),
            else Err(not_defined("avg_pool", "an integer or float type", ty)))
    }

    /// The result of joining the elements in each window in the order of its places.
    fn fold<T: Number, A: Copy + 'static>(
        &self,
        data: View<'_>,
        start: A,
        control: &Control<'_>,
        join: impl Fn(A, T) -> A,
        finish: impl Fn(A, usize) -> T,
    ) -> Result<Tensor> {
        let shape = shape::pool(data.shape(), self.windows, self.rounding)?;
        let mut bytes = control.zeros(&shape, T::TYPE.size())?;
        let out_plane: usize = shape[2..].iter().product();
        let data_plane: usize = data.shape()[2..].iter().product();
        let steps = Steps::new(self.windows, &data.shape()[2..], &shape[2..]);
        let mut values = control.scratch(out_plane, start)?;
        let mut progress = control.progress();
        if bytes.is_empty() {
            return Ok(Tensor::raw(T::TYPE, shape, bytes));
        }
        let planes = T::chunks_mut(&mut bytes).chunks_exact_mut(out_plane);
        for (number, to) in planes.enumerate() {
            let plane = &data.elements::<T>()[number * data_plane..][..data_plane];
            values.fill(start);
            steps.each(|_, run| {
                let from = plane[run.start..].iter().step_by(run.step);
                for (value, from) in values[run.out..run.out + run.len].iter_mut().zip(from) {
                    *value = join(*value, T::read(*from));
                }
                progress.advance(run.len + 1)
            })?;
            for (index, (to, value)) in to.iter_mut().zip(&values).enumerate() {
                *to = finish(*value, index).write();
            }
        }
        Ok(Tensor::raw(T::TYPE, shape, bytes))
    }

    /// The number of counted places for each position.
    fn counts(
        &self,
        data: &[usize],
        out: &[usize],
        padding: bool,
        control: &Control<'_>,
    ) -> Result<Vec<i64>> {
        // Counted along each axis, and multiplied.
        let mut counts = vec![1_i64];
        for ((window, data), out) in self.windows.iter().zip(data).zip(out) {
            let (low, high) = if padding {
                (0, window.before + data + window.after)
            } else {
                (window.before, window.before + data)
            };
            let axis: Vec<i64> = (0..*out)
                .map(|position| {
                    let places =
                        (0..window.size).map(|i| position * window.stride + i * window.dilation);
                    places.filter(|place| (low..high).contains(place)).count() as i64
                })
                .collect();
            control.elements(&[counts.len(), axis.len()], size_of::<i64>())?;
            let products = counts
                .iter()
                .flat_map(|outer| axis.iter().map(move |inner| outer * inner));
            counts = products.collect();
        }
        Ok(counts)
    }
}

fn average_of_integers<T: Integer>(sum: i64, count: i64) -> T {
    let count = count.max(1);
    T::narrow(if T::TYPE == ElementType::UInt64 {
        (sum as u64 / count as u64) as i64
    } else {
        sum / count
    })
}

/// The windows of a global pool: each spans a whole spatial axis.
///
/// ```
/// use isoform_kernels::shape::PoolRounding;
/// use isoform_kernels::windows::{Pool, global_windows};
/// use isoform_kernels::{Control, Tensor};
///
/// let data = Tensor::from_slice(&[1, 1, 2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
/// let windows = global_windows(data.shape());
/// let pool = Pool { windows: &windows, rounding: PoolRounding::Down };
/// let mean = pool.average(data.view(), false, &Control::default())?;
/// assert_eq!(mean.view().to_vec::<f32>()?, [2.5]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[must_use]
pub fn global_windows(data: &[usize]) -> Vec<Window> {
    data.iter().skip(2).map(|size| Window::new(*size)).collect()
}
