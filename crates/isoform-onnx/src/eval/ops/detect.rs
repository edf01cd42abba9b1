//! Choosing among overlapping boxes.

use isoform_kernels::Tensor;

use super::dense::{Dense, Work};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "NonMaxSuppression" => non_max_suppression,
        _ => return None,
    })
}

fn non_max_suppression(args: &Args<'_>) -> Outcome {
    let (boxes, scores) = (Dense::input(args, 0)?, Dense::input(args, 1)?);
    let limit = args.optional_int_input(2)?.unwrap_or(0).max(0) as usize;
    let number = |index: usize| -> Result<Option<f64>, Refusal> {
        Ok(Dense::optional(args, index)?.and_then(|value| value.data.first().copied()))
    };
    let overlap = number(3)?.unwrap_or(0.0);
    let least = number(4)?;
    let centered = args.flag("center_point_box", false)?;
    let (&[batch, count, 4], &[_, classes, _]) = (&boxes.shape[..], &scores.shape[..]) else {
        return Err(args.fault("expected boxes of four numbers, and scores by class"));
    };
    if scores.shape != [batch, classes, count] {
        return Err(args.fault(format!("expected scores of [{batch}, classes, {count}]")));
    }
    if scores.data.is_empty() {
        return one(Tensor::from_slice::<i64>(&[0, 3], &[])?);
    }
    let mut chosen: Vec<i64> = Vec::new();
    let mut work = Work::new(args.control);
    for image in 0..batch {
        let corners: Vec<[f64; 4]> = boxes.data[image * count * 4..][..count * 4]
            .chunks_exact(4)
            .map(|b| {
                if centered {
                    let (x, y, w, h) = (b[0], b[1], b[2] / 2.0, b[3] / 2.0);
                    [y - h, x - w, y + h, x + w]
                } else {
                    [
                        b[0].min(b[2]),
                        b[1].min(b[3]),
                        b[0].max(b[2]),
                        b[1].max(b[3]),
                    ]
                }
            })
            .collect();
        for class in 0..classes {
            let scores = &scores.data[(image * classes + class) * count..][..count];
            let mut order: Vec<usize> = (0..count)
                .filter(|candidate| least.is_none_or(|least| scores[*candidate] > least))
                .collect();
            order.sort_by(|left, right| scores[*right].total_cmp(&scores[*left]));
            let mut kept: Vec<usize> = Vec::new();
            for candidate in order {
                if kept.len() >= limit {
                    break;
                }
                work.advance(kept.len() + 1)?;
                let clear = kept.iter().all(|other| {
                    intersection_over_union(&corners[candidate], &corners[*other]) <= overlap
                });
                if clear {
                    kept.push(candidate);
                    chosen.extend([image as i64, class as i64, candidate as i64]);
                }
            }
        }
    }
    one(Tensor::from_slice(&[chosen.len() / 3, 3], &chosen)?)
}

fn intersection_over_union(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let area = |b: &[f64; 4]| (b[2] - b[0]) * (b[3] - b[1]);
    let height = a[2].min(b[2]) - a[0].max(b[0]);
    let width = a[3].min(b[3]) - a[1].max(b[1]);
    let common = height.max(0.0) * width.max(0.0);
    if common <= 0.0 || area(a) <= 0.0 || area(b) <= 0.0 {
        return 0.0;
    }
    common / (area(a) + area(b) - common)
}
