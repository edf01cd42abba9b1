//! Recurrent networks.

use isoform_kernels::math;

use super::dense::{Dense, Work};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::Outcome;
use isoform::values::ValueRef;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "RNN" => |args| run(args, Cell::Rnn),
        "GRU" => |args| run(args, Cell::Gru),
        "LSTM" => |args| run(args, Cell::Lstm),
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Rnn,
    Gru,
    Lstm,
}

impl Cell {
    fn gates(self) -> usize {
        match self {
            Cell::Rnn => 1,
            Cell::Gru => 3,
            Cell::Lstm => 4,
        }
    }

    fn activations(self) -> &'static [&'static str] {
        match self {
            Cell::Rnn => &["Tanh"],
            Cell::Gru => &["Sigmoid", "Tanh"],
            Cell::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

/// A function of a gate.
fn activation(args: &Args<'_>, name: &str) -> Result<fn(f64) -> f64, Refusal> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "sigmoid" => math::sigmoid,
        "tanh" => math::tanh,
        "relu" => |x| x.max(0.0),
        "softsign" => |x| x / (1.0 + x.abs()),
        "softplus" => super::activation::softplus,
        _ => return Err(args.fault(format!("activation '{name}' is not supported"))),
    })
}

/// The weights of one direction.
struct Direction<'a> {
    cell: Cell,
    hidden: usize,
    width: usize,
    weights: &'a [f64],
    recurrence: &'a [f64],
    /// For the inputs, then for the state.
    bias: Vec<f64>,
    peepholes: Vec<f64>,
    functions: Vec<fn(f64) -> f64>,
    clip: f64,
    resets_after: bool,
    couples: bool,
}

fn run(args: &Args<'_>, cell: Cell) -> Outcome {
    let x = Dense::input(args, 0)?;
    let (w, r) = (Dense::input(args, 1)?, Dense::input(args, 2)?);
    let ty = args.input(0)?.element_type();
    let batch_first = args.flag("layout", false)?;
    let &[first, second, width] = &x.shape[..] else {
        return Err(args.fault("expected rank 3"));
    };
    let (steps, batch) = if batch_first {
        (second, first)
    } else {
        (first, second)
    };
    let &[directions, rows, _] = &r.shape[..] else {
        return Err(args.fault("expected recurrence weights of rank 3"));
    };
    let hidden = args.size("hidden_size", (rows / cell.gates()) as i64)?;
    let gates = cell.gates();
    let order = args.text("direction", "forward")?;
    let reversed: &[bool] = match &*order {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(args.fault(format!("expected a known direction, got '{other}'"))),
    };
    let fits = directions == reversed.len()
        && rows == gates.saturating_mul(hidden)
        && r.shape == [directions, rows, hidden]
        && w.shape == [directions, rows, width];
    if !fits {
        return Err(args.fault(format!(
            "expected weights for hidden size {hidden}, got {:?} and {:?}",
            w.shape, r.shape
        )));
    }
    // Sequences without elements may still be too many to count.
    Dense::filled(vec![directions, batch, hidden.max(1)], 0.0, args.control)?;
    let bias = Dense::optional(args, 3)?;
    let lengths = match args.optional_ints(4)? {
        Some(lengths) if lengths.len() == batch => lengths
            .iter()
            .map(|length| usize::try_from(*length).unwrap_or(0).min(steps))
            .collect(),
        Some(_) => return Err(args.fault("expected a length for each sequence")),
        None => vec![steps; batch],
    };
    let initial = |position: usize| -> Result<Vec<f64>, Refusal> {
        match Dense::optional(args, position)? {
            None => Ok(vec![0.0; directions * batch * hidden]),
            Some(state) if state.data.len() != directions * batch * hidden => {
                Err(args.fault(format!("expected states for {directions} directions")))
            }
            Some(state) if batch_first => Ok(exchanged(&state.data, batch, directions, hidden)),
            Some(state) => Ok(state.data),
        }
    };
    let mut state = initial(5)?;
    let mut memory = if cell == Cell::Lstm {
        initial(6)?
    } else {
        Vec::new()
    };
    let peepholes = if cell == Cell::Lstm {
        Dense::optional(args, 7)?
    } else {
        None
    };
    let names: Vec<String> = match args
        .call
        .attribute("activations")?
        .map(|value| value.view())
    {
        Some(ValueRef::Array(items)) => {
            let names = items.values().iter().filter_map(|item| item.as_str());
            names.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    let defaults = cell.activations();
    if args.call.floats("activation_alpha")?.is_some()
        || args.call.floats("activation_beta")?.is_some()
    {
        return Err(args.fault("activations with parameters are not supported"));
    }
    // Memory for all outputs is checked before the loop.
    let mut outputs = Dense::filled(vec![steps, directions, batch, hidden], 0.0, args.control)?;
    let mut work = Work::new(args.control);
    for (direction, backwards) in reversed.iter().enumerate() {
        let functions = (0..defaults.len()).map(|index| {
            let name = names
                .get(direction * defaults.len() + index)
                .map_or(defaults[index], String::as_str);
            activation(args, name)
        });
        let part = |values: Option<&Dense>, count: usize| -> Result<Vec<f64>, Refusal> {
            match values {
                None => Ok(vec![0.0; count]),
                Some(values) if values.data.len() == directions * count => {
                    Ok(values.data[direction * count..][..count].to_vec())
                }
                Some(_) => Err(args.fault(format!("expected {count} biases or peepholes"))),
            }
        };
        let cells = Direction {
            cell,
            hidden,
            width,
            weights: &w.data[direction * rows * width..][..rows * width],
            recurrence: &r.data[direction * rows * hidden..][..rows * hidden],
            bias: part(bias.as_ref(), 2 * rows)?,
            peepholes: part(peepholes.as_ref(), 3 * hidden)?,
            functions: functions.collect::<Result<_, _>>()?,
            clip: args.call.float("clip")?.unwrap_or(f64::INFINITY),
            resets_after: args.flag("linear_before_reset", false)?,
            couples: args.flag("input_forget", false)?,
        };
        for (sequence, length) in lengths.iter().enumerate() {
            let place = (direction * batch + sequence) * hidden;
            let mut h = state[place..][..hidden].to_vec();
            let mut c = memory
                .get(place..place + hidden)
                .map_or_else(Vec::new, <[f64]>::to_vec);
            for number in 0..*length {
                let time = if *backwards {
                    length - 1 - number
                } else {
                    number
                };
                let row = if batch_first {
                    sequence * steps + time
                } else {
                    time * batch + sequence
                };
                cells.step(&x.data[row * width..][..width], &mut h, &mut c);
                let to = ((time * directions + direction) * batch + sequence) * hidden;
                outputs.data[to..][..hidden].copy_from_slice(&h);
                work.advance(rows * (width + hidden))?;
            }
            state[place..][..hidden].copy_from_slice(&h);
            if cell == Cell::Lstm {
                memory[place..][..hidden].copy_from_slice(&c);
            }
        }
    }
    if batch_first {
        let mut data = Vec::with_capacity(outputs.data.len());
        for sequence in 0..batch {
            for time in 0..steps {
                for direction in 0..directions {
                    let from = ((time * directions + direction) * batch + sequence) * hidden;
                    data.extend_from_slice(&outputs.data[from..][..hidden]);
                }
            }
        }
        outputs = Dense {
            shape: vec![batch, steps, directions, hidden],
            data,
        };
    }
    let last = |values: Vec<f64>| {
        if batch_first {
            let data = exchanged(&values, directions, batch, hidden);
            Dense {
                shape: vec![batch, directions, hidden],
                data,
            }
        } else {
            Dense {
                shape: vec![directions, batch, hidden],
                data: values,
            }
        }
    };
    let mut results = vec![
        outputs.made(ty, args.control)?,
        last(state).made(ty, args.control)?,
    ];
    if cell == Cell::Lstm {
        results.push(last(memory).made(ty, args.control)?);
    }
    Ok(results)
}

/// Rows with their first two axes exchanged.
fn exchanged(values: &[f64], outer: usize, inner: usize, row: usize) -> Vec<f64> {
    let mut result = Vec::with_capacity(values.len());
    for second in 0..inner {
        for first in 0..outer {
            result.extend_from_slice(&values[(first * inner + second) * row..][..row]);
        }
    }
    result
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

impl Direction<'_> {
    /// The part of a gate that comes from the input, with its bias.
    fn input_part(&self, gate: usize, unit: usize, x: &[f64]) -> f64 {
        let row = gate * self.hidden + unit;
        dot(&self.weights[row * self.width..][..self.width], x) + self.bias[row]
    }

    /// The part of a gate that comes from the state, with its bias.
    fn state_part(&self, gate: usize, unit: usize, h: &[f64]) -> f64 {
        let row = gate * self.hidden + unit;
        let rows = self.cell.gates() * self.hidden;
        dot(&self.recurrence[row * self.hidden..][..self.hidden], h) + self.bias[rows + row]
    }

    fn apply(&self, function: usize, value: f64) -> f64 {
        self.functions[function](value.clamp(-self.clip, self.clip))
    }

    fn step(&self, x: &[f64], h: &mut Vec<f64>, c: &mut [f64]) {
        let units = 0..self.hidden;
        let gate = |gate: usize, unit: usize, h: &[f64]| {
            self.input_part(gate, unit, x) + self.state_part(gate, unit, h)
        };
        *h = match self.cell {
            Cell::Rnn => units.map(|unit| self.apply(0, gate(0, unit, h))).collect(),
            Cell::Gru => {
                let update: Vec<f64> = units
                    .clone()
                    .map(|unit| self.apply(0, gate(0, unit, h)))
                    .collect();
                let reset: Vec<f64> = units
                    .clone()
                    .map(|unit| self.apply(0, gate(1, unit, h)))
                    .collect();
                let kept: Vec<f64> = h.iter().zip(&reset).map(|(h, reset)| h * reset).collect();
                units
                    .map(|unit| {
                        let state = if self.resets_after {
                            reset[unit] * self.state_part(2, unit, h)
                        } else {
                            self.state_part(2, unit, &kept)
                        };
                        let new = self.apply(1, self.input_part(2, unit, x) + state);
                        (1.0 - update[unit]) * new + update[unit] * h[unit]
                    })
                    .collect()
            }
            Cell::Lstm => {
                let peephole = |gate: usize, unit: usize| self.peepholes[gate * self.hidden + unit];
                let mut next = Vec::with_capacity(self.hidden);
                for unit in units {
                    let old = c[unit];
                    let input = self.apply(0, gate(0, unit, h) + peephole(0, unit) * old);
                    let forget = if self.couples {
                        1.0 - input
                    } else {
                        self.apply(0, gate(2, unit, h) + peephole(2, unit) * old)
                    };
                    let new = forget * old + input * self.apply(1, gate(3, unit, h));
                    let output = self.apply(0, gate(1, unit, h) + peephole(1, unit) * new);
                    c[unit] = new;
                    next.push(output * self.functions[2](new));
                }
                next
            }
        };
    }
}
