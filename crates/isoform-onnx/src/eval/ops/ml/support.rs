//! Support vectors.

use isoform_kernels::{ElementType, math};

use super::inputs::observations;
use super::scores::PostTransform;
use crate::eval::args::Args;
use crate::eval::ops::dense::{Dense, Work};
use crate::eval::ops::kernel::Kernel;
use crate::eval::results::Outcome;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "SVMRegressor" => regressor,
        _ => return None,
    })
}

/// The similarity of two vectors.
enum Similarity {
    Linear,
    Polynomial { gamma: f64, bias: f64, degree: f64 },
    Sigmoid { gamma: f64, bias: f64 },
    Radial { gamma: f64 },
}

impl Similarity {
    fn of(&self, a: &[f64], b: &[f64]) -> f64 {
        let pairs = a.iter().zip(b);
        let dot = || pairs.clone().map(|(a, b)| a * b).sum::<f64>();
        match *self {
            Similarity::Linear => dot(),
            Similarity::Polynomial {
                gamma,
                bias,
                degree,
            } => math::pow(gamma * dot() + bias, degree),
            Similarity::Sigmoid { gamma, bias } => math::tanh(gamma * dot() + bias),
            Similarity::Radial { gamma } => {
                let distance: f64 = pairs.map(|(a, b)| (a - b) * (a - b)).sum();
                math::exp(-gamma * distance)
            }
        }
    }
}

fn regressor(args: &Args<'_>) -> Outcome {
    let x = observations(args)?;
    let (rows, features) = (x.shape[0], x.shape[1]);
    let supports = args.size("n_supports", 0)?;
    let coefficients = args.floats("coefficients")?.unwrap_or_default();
    let vectors = args.floats("support_vectors")?.unwrap_or_default();
    let rho = args.floats("rho")?.unwrap_or_default();
    let &[rho] = &rho[..] else {
        return Err(args.fault(format!("expected one number in rho, got {}", rho.len())));
    };
    if PostTransform::of(args)? != PostTransform::None {
        return Err(args.fault("runtimes differ in what a post_transform makes of one score"));
    }
    let (gamma, bias, degree) = match args.floats("kernel_params")?.as_deref() {
        None | Some([]) => (0.0, 0.0, 0.0),
        Some(&[gamma, bias, degree]) => (gamma, bias, degree),
        Some(other) => {
            return Err(args.fault(format!("expected 3 kernel_params, got {}", other.len())));
        }
    };
    let similarity = match &*args.text("kernel_type", "LINEAR")? {
        _ if supports == 0 => Similarity::Linear,
        "LINEAR" => Similarity::Linear,
        "POLY" => Similarity::Polynomial {
            gamma,
            bias,
            degree,
        },
        "RBF" => Similarity::Radial { gamma },
        "SIGMOID" => Similarity::Sigmoid { gamma, bias },
        other => {
            return Err(args.fault(format!(
                "expected LINEAR, POLY, RBF or SIGMOID, got '{other}'"
            )));
        }
    };
    let expected = match supports {
        0 => (features, vectors.len()),
        _ => (supports, supports.saturating_mul(features)),
    };
    if (coefficients.len(), vectors.len()) != expected {
        return Err(args.fault(format!(
            "expected {} coefficients and {} numbers in support_vectors, got {} and {}",
            expected.0,
            expected.1,
            coefficients.len(),
            vectors.len()
        )));
    }
    let is_class = args.flag("one_class", false)?;
    let mut scores = Dense::filled(vec![rows, 1], 0.0, args.control)?;
    let mut work = Work::new(args.control);
    for (row, score) in scores.data.iter_mut().enumerate() {
        let values = &x.data[row * features..][..features];
        let sum = match supports {
            0 => similarity.of(values, &coefficients),
            _ => {
                let vectors = vectors.chunks_exact(features.max(1));
                let parts = vectors.zip(&coefficients);
                parts
                    .map(|(vector, c)| c * similarity.of(values, vector))
                    .sum()
            }
        };
        let sum = sum + rho;
        *score = match (is_class, sum > 0.0) {
            (false, _) => sum,
            (true, true) => 1.0,
            (true, false) => -1.0,
        };
        work.advance(features * (supports + 1) + 1)?;
    }
    Ok(vec![scores.made(ElementType::Float32, args.control)?])
}
