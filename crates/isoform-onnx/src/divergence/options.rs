//! Options, and the comparison from end to end.

use std::collections::{HashMap, HashSet};

use isoform::{Error, Ref, Value};
use isoform_ir::transform::check_interrupted;
use isoform_kernels::Control;
use isoform_kernels::difference::Tolerance;

use super::inputs::{self, InputPair};
use super::inside::first_difference_inside;
use super::measure::{Distance, distance};
use super::outcome::{Crossing, Divergence, PairError, PairKind, PairStatus};
use super::pairs::{Pairs, ValuePair, paired};
use super::quantization::Quantizations;
use super::rounds::{Rounds, Visitor};
use super::side::{Side, place};
use super::wrappers::resolved;
use crate::ir::Program;
use crate::layout::made_by;
use crate::values::ValueKey;
use crate::verify::{
    Evaluator, HALF, Inputs, LOOSE, Plan, Runner, UserInputs, has_half, plans, wider,
};

/// The values of a round take at most about this many bytes.
const BUDGET: usize = 1 << 28;

/// How two models are run and compared.
///
/// ```
/// use isoform_onnx::divergence::DivergenceOptions;
///
/// let options = DivergenceOptions::default().seed(7).sets(1).thresholds([1e-3]);
/// assert_ne!(options, DivergenceOptions::default());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DivergenceOptions {
    tolerance: Option<Tolerance>,
    seed: u64,
    sets: usize,
    thresholds: Vec<f64>,
    user_inputs: UserInputs,
}

impl Default for DivergenceOptions {
    fn default() -> Self {
        DivergenceOptions {
            tolerance: None,
            seed: 1,
            sets: 2,
            thresholds: vec![1e-6, 1e-4, 1e-2],
            user_inputs: UserInputs::default(),
        }
    }
}

/// Runs two models on random inputs with the evaluator, and compares all pairs of values; see
/// [`DivergenceOptions::compare`].
///
/// # Errors
///
/// As there.
pub fn divergence(left: &Ref<Program>, right: &Ref<Program>) -> isoform::Result<Divergence> {
    DivergenceOptions::default().compare(left, right, &[&Evaluator], &mut |_, _| ())
}

impl DivergenceOptions {
    /// Sets how far numbers may be apart, with the right model as the reference; by default
    /// [`LOOSE`](crate::verify::LOOSE), and at least [`HALF`](crate::verify::HALF) where a
    /// model computes in 16-bit floats.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Sets the seed of the inputs; 1 by default. Equal seeds draw equal inputs.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of sets of inputs; 2 by default, and at least 1. The first few have
    /// different sizes if the model allows, and the others have the same sizes with other
    /// numbers.
    #[must_use]
    pub fn sets(mut self, sets: usize) -> Self {
        self.sets = sets.max(1);
        self
    }

    /// Sets the relative L2 errors of [`Divergence::crossings`].
    #[must_use]
    pub fn thresholds(mut self, thresholds: impl IntoIterator<Item = f64>) -> Self {
        self.thresholds = thresholds.into_iter().collect();
        self
    }

    /// Gives values for inputs by their names in the left model, in the form used by the
    /// evaluator; the remaining inputs are drawn. If all inputs have values, there is one set.
    #[must_use]
    pub fn inputs<S: Into<String>>(mut self, inputs: impl IntoIterator<Item = (S, Value)>) -> Self {
        let inputs = inputs.into_iter().map(|(name, value)| (name.into(), value));
        self.user_inputs.values.extend(inputs);
        self
    }

    /// Gives shapes of drawn inputs by their names in the left model.
    #[must_use]
    pub fn shapes<S: Into<String>>(
        mut self,
        shapes: impl IntoIterator<Item = (S, Vec<i64>)>,
    ) -> Self {
        let shapes = shapes.into_iter().map(|(name, shape)| (name.into(), shape));
        self.user_inputs.shapes.extend(shapes);
        self
    }

    /// Runs both models on the same inputs and compares all pairs of values.
    ///
    /// Dimensions without a size get different sizes in each set of inputs, as for
    /// [`verify`](crate::verify::VerifyOptions::verify). Runners are tried in order; the
    /// first runner that runs both models on at least one set of inputs decides. `progress`
    /// is called with the number of pairs that are done, and of all pairs.
    ///
    /// The time is that of a diff and of the runs: each round of the comparison runs the
    /// models up to the values that it compares, and holds at most about 256 MB of values.
    ///
    /// # Errors
    ///
    /// `ValueError` for models with different inputs or random results, for models that
    /// cannot be run, and for values and shapes that contradict the models; `KeyError` for
    /// inputs missing from the left model. Errors of the runners; interruption.
    pub fn compare(
        &self,
        left: &Ref<Program>,
        right: &Ref<Program>,
        runners: &[&dyn Runner],
        progress: &mut dyn FnMut(usize, usize),
    ) -> isoform::Result<Divergence> {
        let sides = [
            Side::new("left", left.clone())?,
            Side::new("right", right.clone())?,
        ];
        let sides = sides.each_ref();
        let inputs = inputs::paired(&left.graph, &right.graph)?;
        let runnable = self.runnable(sides, &inputs, runners)?;
        let half = has_half(left) || has_half(right);
        let tolerance = if half && runnable.runner.name() != Evaluator.name() {
            wider(self.tolerance.unwrap_or(LOOSE), HALF)
        } else {
            self.tolerance.unwrap_or(LOOSE)
        };
        let pairs = paired(sides, &inputs)?;
        let mut comparison = Comparison {
            sides,
            pairs: &pairs.list,
            quantizations: sides.map(Quantizations::new),
            tolerance,
            distances: vec![None; pairs.list.len()],
            progress,
        };
        let rounds = Rounds {
            runner: runnable.runner,
            sides,
            inputs: runnable.inputs,
            budget: BUDGET,
        };
        rounds.visit(&pairs.list, &mut comparison)?;
        let distances = std::mem::take(&mut comparison.distances);
        let (mut result, positions) = judged(sides, &pairs, distances);
        result.inside = match result.first.map(|first| &pairs.list[positions[first]]) {
            Some(pair) => first_difference_inside(sides, &pair.values)?,
            None => None,
        };
        result.runner = runnable.runner.name();
        result.inputs = runnable.texts;
        (result.rtol, result.atol) = (tolerance.rtol, tolerance.atol);
        result.crossings = self.crossings(&result.pairs);
        Ok(result)
    }

    /// The first runner that runs both models, with the sets of inputs on which it does.
    fn runnable<'r>(
        &self,
        sides: [&Side; 2],
        inputs: &[InputPair],
        runners: &[&'r dyn Runner],
    ) -> isoform::Result<Runnable<'r>> {
        let graphs = sides.map(|side| &side.program.graph);
        let user_inputs: HashSet<String> = self
            .user_inputs
            .values
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        let declared = inputs::declared(graphs[0], inputs, &user_inputs);
        let plans = match plans(graphs[0], &declared, &self.user_inputs)? {
            Ok(plans) => plans,
            Err(reason) => return Err(Error::value_error(format!("the left model: {reason}"))),
        };
        let mut reasons: Vec<String> = Vec::new();
        for runner in runners {
            let mut runnable = Runnable {
                runner: *runner,
                inputs: [Vec::new(), Vec::new()],
                texts: Vec::new(),
            };
            let mut working: Vec<Plan> = Vec::new();
            for plan in &plans {
                // Large sizes are for models that run on no small ones.
                if runnable.texts.len() == self.sets || plan.is_large() && !working.is_empty() {
                    break;
                }
                check_interrupted()?;
                match self.try_plan(sides, inputs, plan, *runner)? {
                    Ok(both) => {
                        runnable.add(both, plan);
                        working.push(plan.clone());
                    }
                    Err(reason) => {
                        let reason = format!("{} ({plan}): {reason}", runner.name());
                        reasons.push(reason);
                    }
                }
            }
            // More sets have the same sizes and other numbers, as long as some run.
            while runnable.texts.len() < self.sets {
                working = working.iter().filter_map(Plan::again).collect();
                let mut refused = 0;
                for plan in &working {
                    if runnable.texts.len() == self.sets {
                        break;
                    }
                    check_interrupted()?;
                    match self.try_plan(sides, inputs, plan, *runner)? {
                        Ok(both) => runnable.add(both, plan),
                        Err(_) => refused += 1,
                    }
                }
                if refused == working.len() {
                    break;
                }
            }
            if !runnable.texts.is_empty() {
                return Ok(runnable);
            }
        }
        reasons.dedup();
        let shown = reasons.len().min(MOST_REASONS);
        Err(Error::value_error(format!(
            "no inputs were found on which both models run; give inputs or their sizes; {}",
            reasons[..shown].join("; ")
        )))
    }

    /// The inputs of a plan if both models run on them, or else the reason.
    fn try_plan(
        &self,
        sides: [&Side; 2],
        inputs: &[InputPair],
        plan: &Plan,
        runner: &dyn Runner,
    ) -> isoform::Result<Result<[Inputs; 2], String>> {
        let both = match inputs::for_both(inputs, plan.draw(self.seed)) {
            Ok(both) => both,
            Err(reason) => return Err(Error::value_error(reason)),
        };
        for (side, name) in ["left", "right"].into_iter().enumerate() {
            let program = sides[side].exposing(sides[side].results());
            let ran = runner.run((&program).into(), &both[side..=side])?;
            if let Some(Err(reason)) = ran.into_iter().next() {
                return Ok(Err(format!("the {name} model does not run: {reason}")));
            }
        }
        Ok(Ok(both))
    }

    fn crossings(&self, pairs: &[PairError]) -> Vec<Crossing> {
        let crossing = |threshold: &f64| Crossing {
            threshold: *threshold,
            pair: pairs
                .iter()
                .position(|pair| pair.relative_l2.is_some_and(|error| error > *threshold)),
        };
        self.thresholds.iter().map(crossing).collect()
    }
}

/// The number of reasons in a message.
const MOST_REASONS: usize = 4;

/// A runner, and sets of inputs on which it runs both models.
struct Runnable<'r> {
    runner: &'r dyn Runner,
    inputs: [Vec<Inputs>; 2],
    texts: Vec<String>,
}

impl Runnable<'_> {
    /// Adds a set of inputs, made by a plan.
    fn add(&mut self, both: [Inputs; 2], plan: &Plan) {
        let [left, right] = both;
        self.inputs[0].push(left);
        self.inputs[1].push(right);
        self.texts.push(plan.to_string());
    }
}

/// The distances of pairs in the making.
struct Comparison<'a> {
    sides: [&'a Side; 2],
    pairs: &'a [ValuePair],
    quantizations: [Quantizations; 2],
    tolerance: Tolerance,
    distances: Vec<Option<Distance>>,
    progress: &'a mut dyn FnMut(usize, usize),
}

impl Visitor for Comparison<'_> {
    fn values(&mut self, pair: usize, values: [&Value; 2]) -> isoform::Result<()> {
        let places = &self.pairs[pair].values;
        let quantization =
            [0, 1].map(|side| self.quantizations[side].of(self.sides[side], &places[side]));
        let interrupted = || check_interrupted().is_err();
        let control = Control {
            interrupted: Some(&interrupted),
            ..Control::default()
        };
        let measured = distance(
            (values[0], values[1]),
            quantization,
            self.tolerance,
            &control,
        )?;
        check_interrupted()?;
        self.distances[pair] = Some(match self.distances[pair].take() {
            Some(before) => before.worse(measured),
            None => measured,
        });
        Ok(())
    }

    fn failed(&mut self, pair: usize, reason: String) {
        self.distances[pair] = Some(Distance::skipped(reason));
    }

    fn progress(&mut self, pairs: usize) {
        (self.progress)(pairs, self.pairs.len());
    }
}

/// The errors of all pairs, and the pairs at which they begin; and the position of each in the
/// list of pairs. O(nodes of both models).
fn judged(
    sides: [&Side; 2],
    pairs: &Pairs,
    distances: Vec<Option<Distance>>,
) -> (Divergence, Vec<usize>) {
    let distances = distances.into_iter();
    let distances: Vec<Distance> = distances
        .map(|it| it.unwrap_or_else(|| Distance::skipped("the value was not computed".to_owned())))
        .collect();
    let agreement = [0, 1].map(|side| Agreement::of(side, sides[side], pairs, &distances));
    let open_outputs = [0, 1].map(|side| open_outputs(side, sides[side], pairs, &distances));
    let mut errors = Vec::new();
    let mut origins = Vec::new();
    let mut positions = Vec::new();
    for (position, (pair, distance)) in pairs.list.iter().zip(distances).enumerate() {
        let places = [0, 1].map(|side| {
            let output = pair.outputs.map(|positions| positions[side]);
            place(&pair.values[side]).or_else(|| sides[side].output_place(output?))
        });
        let [Some(left), Some(right)] = places else {
            continue;
        };
        let inputs_agree = [0, 1]
            .iter()
            .all(|&side| agreement[side].of_inputs(pair, sides[side]));
        let numbers = distance.numbers;
        let relative_l2 = numbers.and_then(|it| it.relative_l2);
        if distance.status == PairStatus::Different && inputs_agree {
            origins.push(errors.len());
        }
        positions.push(position);
        errors.push(PairError {
            left,
            right,
            kind: pair.kind,
            status: distance.status,
            inputs_agree,
            shape: distance.shape,
            types: distance.types,
            count: distance.count,
            beyond: distance.beyond,
            max_abs: numbers.and_then(|it| it.max_abs),
            max_rel: numbers.and_then(|it| it.max_rel),
            relative_l2,
            cosine: numbers.and_then(|it| it.cosine),
            snr_db: relative_l2
                .filter(|error| *error > 0.0)
                .map(|error| -20.0 * error.log10()),
            note: distance.note,
        });
    }
    let first = origins.first().copied();
    let result = Divergence {
        first: first.or_else(|| errors.iter().position(PairError::diverges)),
        pairs: errors,
        origins,
        crossings: Vec::new(),
        runner: String::new(),
        inputs: Vec::new(),
        rtol: 0.0,
        atol: 0.0,
        unpaired: pairs.unpaired,
        outputs: sides.map(|side| side.results().len()),
        open_outputs,
        inner: sides.map(|side| side.inner),
        inside: None,
    };
    (result, positions)
}

/// The number of outputs of a side without a pair that was compared.
fn open_outputs(side: usize, nodes: &Side, pairs: &Pairs, distances: &[Distance]) -> usize {
    let key = |value: &Value| ValueKey::of(resolved(value));
    let compared = pairs.list.iter().zip(distances);
    let compared: HashSet<ValueKey> = compared
        .filter(|(_, distance)| distance.status != PairStatus::Skipped)
        .map(|(pair, _)| key(&pair.values[side]))
        .collect();
    let results = nodes.results().iter();
    results
        .filter(|value| !compared.contains(&key(value)))
        .count()
}

/// The verdicts on what the nodes of one side use, compared with the other side.
struct Agreement {
    side: usize,
    inputs_of_node: Vec<bool>,
}

impl Agreement {
    /// A value without a partner agrees if everything that it is computed from does.
    fn of(side: usize, nodes: &Side, pairs: &Pairs, distances: &[Distance]) -> Self {
        let mut verdicts: HashMap<ValueKey, bool> = HashMap::new();
        for (pair, distance) in pairs.list.iter().zip(distances) {
            let is_form = pair.kind == PairKind::Quantized && !is_own_form(pair, side);
            if distance.status != PairStatus::Skipped && !is_form {
                let agrees = distance.status != PairStatus::Different;
                *verdicts
                    .entry(ValueKey::of(&pair.values[side]))
                    .or_insert(true) &= agrees;
            }
        }
        let mut inputs_of_node = Vec::with_capacity(nodes.nodes.len());
        for uses in &nodes.uses {
            let agrees = uses
                .iter()
                .all(|value| match verdicts.get(&ValueKey::of(value)) {
                    Some(agrees) => *agrees,
                    None => nodes.maker(value).is_none_or(|maker| inputs_of_node[maker]),
                });
            inputs_of_node.push(agrees);
        }
        Agreement {
            side,
            inputs_of_node,
        }
    }

    /// True if the inputs of a pair agree. A dequantised form is computed from the value that
    /// is its partner, which has no inputs that matter.
    fn of_inputs(&self, pair: &ValuePair, nodes: &Side) -> bool {
        if pair.kind == PairKind::Quantized && !is_own_form(pair, self.side) {
            return true;
        }
        let maker = nodes.maker(&pair.values[self.side]);
        maker.is_none_or(|maker| self.inputs_of_node[maker])
    }
}

/// True if the value of this side is a dequantised form, and not what the form stands for.
fn is_own_form(pair: &ValuePair, side: usize) -> bool {
    made_by(&pair.values[side]).is_some_and(|(call, _)| call.op == "DequantizeLinear")
}
