//! Sliding windows over images: convolutions and pools.

use super::dims::{self, Dim};
use super::layout::positions;
use crate::attrs::{AvgPool2DAttrs, Conv2DAttrs, GlobalPool2DAttrs, MaxPool2DAttrs, size};
use crate::op::relation::CallTypes;
use crate::text::{dim_text, shape_text};
use isoform::{Array, Error, Ref, Result, Str};
use isoform_ir::ir::Type;

/// Two sizes, for height and width.
fn pair(name: &str, sizes: &Array<Dim>) -> Result<[Dim; 2]> {
    match sizes.values().len() {
        2 => {}
        count => {
            return Err(Error::value_error(format!(
                "{name}: expected two sizes, for height and width, got {count}"
            )));
        }
    }
    let pair: Vec<Dim> = sizes.iter().cloned().collect();
    for (dim, least) in pair.iter().zip([1; 2]) {
        if dims::known(dim).is_some_and(|dim| dim < least) {
            return Err(Error::value_error(format!(
                "{name}={}: expected sizes from {least}",
                shape_text(&pair)
            )));
        }
    }
    let [height, width] = &pair[..] else {
        return Err(Error::value_error(format!("{name}: expected two sizes")));
    };
    Ok([height.clone(), width.clone()])
}

/// The padding of height and width, both sides together.
fn padding(sizes: &Array<Dim>) -> Result<[Dim; 2]> {
    let all: Vec<Dim> = sizes.iter().cloned().collect();
    match &all[..] {
        [one] => {
            let both = dims::add(one, one)?;
            Ok([both.clone(), both])
        }
        [height, width] => Ok([dims::add(height, height)?, dims::add(width, width)?]),
        [top, left, bottom, right] => Ok([dims::add(top, bottom)?, dims::add(left, right)?]),
        _ => Err(Error::value_error(format!(
            "padding: expected one, two or four sizes, got {}",
            all.len()
        ))),
    }
}

/// The number of positions of a window.
fn windows(
    what: &str,
    length: &Dim,
    window: &Dim,
    padding: &Dim,
    stride: &Dim,
    dilation: &Dim,
    ceil: bool,
) -> Result<Dim> {
    let one = size(1);
    let extent = dims::add(&dims::mul(&dims::sub(window, &one)?, dilation)?, &one)?;
    let padded = dims::add(length, padding)?;
    // The last window may lack this number of elements.
    let missing = if ceil {
        dims::known(stride).map(|stride| stride - 1)
    } else {
        Some(0)
    };
    if let (Some(padded), Some(extent), Some(missing)) =
        (dims::known(&padded), dims::known(&extent), missing)
        && (padded <= 0 || padded.saturating_add(missing) < extent)
    {
        return Err(Error::value_error(format!(
            "{what}: a window of {extent} elements does not fit into {padded}, the size {} with \
             its padding",
            dim_text(length)
        )));
    }
    // Known sizes are added first, to keep symbolic sizes simple.
    let mut extra = dims::sub(padding, &extent)?;
    if dims::known(stride) == Some(1) {
        return dims::add(length, &dims::add(&extra, &one)?);
    }
    if ceil {
        extra = dims::add(&extra, &dims::sub(stride, &one)?)?;
    }
    dims::add(&dims::div(&dims::add(length, &extra)?, stride)?, &one)
}

/// The result of `nn.conv2d`.
pub(in super::super) fn conv2d(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<Conv2DAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = dims::shape_of(data);
    dims::expect_rank("nn.conv2d: data", &shape, 4)?;
    let [n, c, h, w] = positions("data_layout", &attrs.data_layout, "NCHW")?;
    let [o, i, kh, kw] = positions("kernel_layout", &attrs.kernel_layout, "OIHW")?;
    let out: [usize; 4] = if attrs.out_layout.is_empty() {
        positions("out_layout", &attrs.data_layout, "NCHW")?
    } else {
        positions("out_layout", &attrs.out_layout, "NCHW")?
    };
    if attrs.groups < 1 {
        return Err(Error::value_error(format!(
            "groups={}: expected a number from 1",
            attrs.groups
        )));
    }
    if dims::known(&shape[c]).is_some_and(|channels| channels % attrs.groups != 0) {
        return Err(Error::value_error(format!(
            "groups={} do not divide the {} channels of the input",
            attrs.groups,
            dim_text(&shape[c])
        )));
    }
    let per_group = dims::div(&shape[c], &size(attrs.groups))?;
    let kernel = attrs
        .kernel_size
        .as_ref()
        .map(|kernel| pair("kernel_size", kernel))
        .transpose()?;
    let (channels, window) = match (types.tensor(1)?, &attrs.channels, kernel) {
        (Some(weight), channels, kernel) => {
            let sizes = dims::shape_of(weight);
            dims::expect_rank("nn.conv2d: weight", &sizes, 4)?;
            let inconsistent = |what: &str, expected: &Dim, got: &Dim| {
                Error::value_error(format!(
                    "Conv2D: shape of weight {} is inconsistent with {what}: expected {}, got {}",
                    shape_text(&sizes),
                    dim_text(expected),
                    dim_text(got)
                ))
            };
            if let Some(channels) = channels
                && !dims::may_be_equal(channels, &sizes[o])
            {
                return Err(inconsistent("channels", channels, &sizes[o]));
            }
            if let Some([height, width]) = &kernel {
                for (expected, got) in [(height, &sizes[kh]), (width, &sizes[kw])] {
                    if !dims::may_be_equal(expected, got) {
                        return Err(inconsistent("kernel_size", expected, got));
                    }
                }
            }
            if !dims::may_be_equal(&per_group, &sizes[i]) {
                return Err(inconsistent(
                    "the channels of the input",
                    &per_group,
                    &sizes[i],
                ));
            }
            if dims::known(&sizes[o]).is_some_and(|channels| channels % attrs.groups != 0) {
                return Err(Error::value_error(format!(
                    "groups={} do not divide the {} channels of the result",
                    attrs.groups,
                    dim_text(&sizes[o])
                )));
            }
            (sizes[o].clone(), [sizes[kh].clone(), sizes[kw].clone()])
        }
        (None, Some(channels), Some(kernel)) => {
            let mut weight = vec![size(0); 4];
            weight[o] = channels.clone();
            weight[i] = per_group;
            weight[kh] = kernel[0].clone();
            weight[kw] = kernel[1].clone();
            types.assign(1, dims::tensor(weight, data.dtype));
            (channels.clone(), kernel)
        }
        _ => return Ok(None),
    };
    let (strides, dilation) = (
        pair("strides", &attrs.strides)?,
        pair("dilation", &attrs.dilation)?,
    );
    let padding = padding(&attrs.padding)?;
    let mut result = vec![size(0); 4];
    result[out[0]] = shape[n].clone();
    result[out[1]] = channels;
    for (side, from) in [h, w].into_iter().enumerate() {
        result[out[2 + side]] = windows(
            "nn.conv2d",
            &shape[from],
            &window[side],
            &padding[side],
            &strides[side],
            &dilation[side],
            false,
        )?;
    }
    let dtype = dims::dtype_or(attrs.out_dtype, data.dtype);
    Ok(Some(dims::tensor(result, dtype)))
}

/// The common settings of both pools.
struct Pool<'a> {
    name: &'static str,
    pool_size: &'a Array<Dim>,
    strides: &'a Array<Dim>,
    dilation: &'a Array<Dim>,
    padding: &'a Array<Dim>,
    layout: &'a Str,
    out_layout: &'a Str,
    ceil_mode: bool,
}

/// The result of `nn.max_pool2d`.
pub(in super::super) fn max_pool2d(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<MaxPool2DAttrs>()?;
    let pool = Pool {
        name: "nn.max_pool2d",
        pool_size: &attrs.pool_size,
        strides: &attrs.strides,
        dilation: &attrs.dilation,
        padding: &attrs.padding,
        layout: &attrs.layout,
        out_layout: &attrs.out_layout,
        ceil_mode: attrs.ceil_mode,
    };
    pool.result(types)
}

/// The result of `nn.avg_pool2d`.
pub(in super::super) fn avg_pool2d(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<AvgPool2DAttrs>()?;
    let pool = Pool {
        name: "nn.avg_pool2d",
        pool_size: &attrs.pool_size,
        strides: &attrs.strides,
        dilation: &attrs.dilation,
        padding: &attrs.padding,
        layout: &attrs.layout,
        out_layout: &attrs.out_layout,
        ceil_mode: attrs.ceil_mode,
    };
    pool.result(types)
}

impl Pool<'_> {
    fn result(&self, types: &CallTypes<'_>) -> Result<Option<Ref<Type>>> {
        let Some(data) = types.tensor(0)? else {
            return Ok(None);
        };
        let shape = dims::shape_of(data);
        let mut result = reordered(self.name, &shape, self.layout, self.out_layout)?;
        let window = pair("pool_size", self.pool_size)?;
        let (strides, dilation) = (
            pair("strides", self.strides)?,
            pair("dilation", self.dilation)?,
        );
        let padding = padding(self.padding)?;
        for (side, axis) in result.sides.into_iter().enumerate() {
            result.shape[axis] = windows(
                self.name,
                &result.shape[axis],
                &window[side],
                &padding[side],
                &strides[side],
                &dilation[side],
                self.ceil_mode,
            )?;
        }
        Ok(Some(dims::tensor(result.shape, data.dtype)))
    }
}

/// A shape in the layout of the result, and where height and width are in it.
struct LayoutShape {
    shape: Vec<Dim>,
    sides: [usize; 2],
}

fn reordered(name: &str, shape: &[Dim], layout: &str, out_layout: &str) -> Result<LayoutShape> {
    dims::expect_rank(&format!("{name}: data"), shape, 4)?;
    let from: [usize; 4] = positions("layout", layout, "NCHW")?;
    let to: [usize; 4] = if out_layout.is_empty() {
        from
    } else {
        positions("out_layout", out_layout, "NCHW")?
    };
    let mut result = shape.to_vec();
    for (from, to) in from.into_iter().zip(to) {
        result[to] = shape[from].clone();
    }
    Ok(LayoutShape {
        shape: result,
        sides: [to[2], to[3]],
    })
}

/// The result of the pools over the whole image.
pub(in super::super) fn global_pool2d(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<GlobalPool2DAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = dims::shape_of(data);
    let mut result = reordered("global pool", &shape, &attrs.layout, &attrs.out_layout)?;
    for side in result.sides {
        result.shape[side] = size(1);
    }
    Ok(Some(dims::tensor(result.shape, data.dtype)))
}
