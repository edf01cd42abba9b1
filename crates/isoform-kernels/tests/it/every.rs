//! One call of every operator, on operands of a given size.

use isoform_kernels::attention::Attention;
use isoform_kernels::create::{arange, full};
use isoform_kernels::elementwise::{
    Binary, Comparison, Unary, bias_add, binary, cast, clip, compare, leaky_relu, select, unary,
};
use isoform_kernels::indexing::{
    GatherNd, IndexMode, OneHot, ScatterMode, Take, TupleAxis, argsort, gather, scatter_elements,
    scatter_nd, top_k,
};
use isoform_kernels::movement::{
    AxisSlice, PadMode, broadcast_to, concatenate, layout_transform, pad, repeat, reverse, split,
    stack, strided_slice, tile, transpose,
};
use isoform_kernels::normalize::{BatchNorm, LayerNorm, log_softmax, softmax};
use isoform_kernels::products::MatMul;
use isoform_kernels::reduce::{Axes, Extreme, Reduction, collapse_sum};
use isoform_kernels::shape::{PoolRounding, Window};
use isoform_kernels::windows::{Convolution, Pool};
use isoform_kernels::{Control, ElementType, Tensor, pack_bits, unpack_bits};

use crate::{Case, floats};

/// The operands of the calls, all of the same number of elements.
pub(crate) struct Operands {
    x: Tensor,
    row: Tensor,
    image: Tensor,
    column: Tensor,
    queries: Tensor,
    indices: Tensor,
    tuples: Tensor,
    condition: Tensor,
    scalar: Tensor,
    kernel: Tensor,
    nibbles: Tensor,
}

impl Operands {
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        let control = Control {
            max_bytes: usize::MAX,
            ..Control::default()
        };
        let x = floats(&[rows, columns]);
        let zeros = vec![0_i32; rows * columns];
        Operands {
            row: floats(&[columns]),
            image: floats(&[1, 1, rows, columns]),
            column: floats(&[rows * columns]),
            queries: floats(&[1, 1, rows * columns, 1]),
            indices: Tensor::from_slice(&[rows, columns], &zeros).unwrap(),
            tuples: Tensor::from_slice(&[2, rows * columns / 2], &zeros).unwrap(),
            condition: compare(Comparison::Less, x.view(), x.view(), &control).unwrap(),
            scalar: Tensor::scalar(1.0_f32),
            kernel: floats(&[1, 1, 1, 1]),
            nibbles: cast(x.view(), ElementType::Int4, &control).unwrap(),
            x,
        }
    }

    /// A call of each operator whose work is linear in its operands.
    pub(crate) fn calls(&self) -> Vec<Case<'_>> {
        let mut cases = self.elementwise();
        cases.extend(self.reducing());
        cases.extend(self.moving());
        cases.extend(self.indexing());
        cases
    }

    fn elementwise(&self) -> Vec<Case<'_>> {
        let (x, row, scalar) = (self.x.view(), self.row.view(), self.scalar.view());
        vec![
            ("unary", Box::new(move |c| unary(Unary::Negative, x, c))),
            ("exp", Box::new(move |c| unary(Unary::Exp, x, c))),
            ("ones_like", Box::new(move |c| unary(Unary::OnesLike, x, c))),
            ("binary", Box::new(move |c| binary(Binary::Add, x, x, c))),
            (
                "broadcast",
                Box::new(move |c| binary(Binary::Add, x, row, c)),
            ),
            (
                "compare",
                Box::new(move |c| compare(Comparison::Less, x, row, c)),
            ),
            ("bias_add", Box::new(move |c| bias_add(x, row, 1, c))),
            ("leaky_relu", Box::new(move |c| leaky_relu(x, 0.1, c))),
            ("clip", Box::new(move |c| clip(x, Some(scalar), None, c))),
            ("cast", Box::new(move |c| cast(x, ElementType::Int64, c))),
            (
                "select",
                Box::new(move |c| select(self.condition.view(), x, row, c)),
            ),
            (
                "unpack",
                Box::new(move |c| {
                    unpack_bits(ElementType::Int4, &[2 * x.len()], &vec![7; x.len()], c)
                }),
            ),
            (
                "pack",
                Box::new(move |c| {
                    let packed = pack_bits(self.nibbles.view(), c)?;
                    Tensor::new(ElementType::UInt8, vec![packed.len()], packed)
                }),
            ),
        ]
    }

    fn reducing(&self) -> Vec<Case<'_>> {
        const ALL: Axes<'static> = Axes {
            axes: None,
            keep_dims: false,
            exclude: false,
        };
        const FIRST: Axes<'static> = Axes {
            axes: Some(&[0]),
            keep_dims: true,
            exclude: false,
        };
        const WINDOWS: [Window; 2] = [Window {
            size: 1,
            stride: 1,
            dilation: 1,
            before: 0,
            after: 0,
        }; 2];
        const POOL: Pool<'static> = Pool {
            windows: &WINDOWS,
            rounding: PoolRounding::Down,
        };
        let (x, row, image) = (self.x.view(), self.row.view(), self.image.view());
        let extreme = Extreme {
            largest: true,
            last: false,
            index_type: ElementType::Int64,
        };
        let mut cases: Vec<Case<'_>> = vec![
            ("argmax", Box::new(move |c| ALL.position(extreme, x, c))),
            (
                "variance",
                Box::new(move |c| ALL.variance(x, None, false, c)),
            ),
            (
                "all",
                Box::new(move |c| ALL.reduce(Reduction::All, self.condition.view(), c)),
            ),
            (
                "mean of integers",
                Box::new(move |c| ALL.reduce(Reduction::Mean, self.indices.view(), c)),
            ),
            (
                "collapse_sum",
                Box::new(move |c| collapse_sum(x, row.shape(), c)),
            ),
            (
                "softmax",
                Box::new(move |c| softmax(self.column.view(), 0, c)),
            ),
            ("log_softmax", Box::new(move |c| log_softmax(x, 0, c))),
            (
                "batch_norm",
                Box::new(move |c| {
                    let norm = BatchNorm {
                        gamma: None,
                        beta: None,
                        mean: row,
                        variance: row,
                        axis: 1,
                        epsilon: 0.1,
                    };
                    norm.apply(x, c)
                }),
            ),
            (
                "layer_norm",
                Box::new(move |c| {
                    LayerNorm {
                        gamma: None,
                        beta: None,
                        axes: &[0, 1],
                        epsilon: 0.1,
                    }
                    .apply(x, c)
                }),
            ),
            (
                "matmul",
                Box::new(move |c| MatMul::default().apply(x, row, c)),
            ),
            (
                "convolution",
                Box::new(move |c| {
                    Convolution {
                        windows: &WINDOWS,
                        groups: 1,
                        result_type: None,
                    }
                    .apply(image, self.kernel.view(), c)
                }),
            ),
            (
                "attention",
                Box::new(move |c| {
                    let (query, kernel) = (self.queries.view(), self.kernel.view());
                    Ok(Attention::new(1.0).apply(query, kernel, kernel, c)?.0)
                }),
            ),
            ("max_pool", Box::new(move |c| POOL.max(image, c))),
            ("avg_pool", Box::new(move |c| POOL.average(image, true, c))),
        ];
        for reduction in [
            Reduction::Sum,
            Reduction::Product,
            Reduction::Max,
            Reduction::Mean,
        ] {
            cases.push((
                reduction.name(),
                Box::new(move |c| ALL.reduce(reduction, x, c)),
            ));
            cases.push((
                reduction.name(),
                Box::new(move |c| FIRST.reduce(reduction, x, c)),
            ));
        }
        cases
    }

    fn moving(&self) -> Vec<Case<'_>> {
        let (x, row, image, scalar) = (
            self.x.view(),
            self.row.view(),
            self.image.view(),
            self.scalar.view(),
        );
        vec![
            ("transpose", Box::new(move |c| transpose(x, None, c))),
            (
                "layout_transform",
                Box::new(move |c| layout_transform(image, "NCHW", "NWHC", c)),
            ),
            (
                "broadcast_to",
                Box::new(move |c| broadcast_to(row, x.shape(), c)),
            ),
            ("full", Box::new(move |c| full(x.shape(), scalar, c))),
            (
                "arange",
                Box::new(move |c| {
                    let [start, stop] = [0.0, x.len() as f32].map(Tensor::scalar);
                    arange(start.view(), stop.view(), scalar, c)
                }),
            ),
            ("concatenate", Box::new(move |c| concatenate(&[x, x], 1, c))),
            ("stack", Box::new(move |c| stack(&[x, x], 0, c))),
            (
                "split",
                Box::new(move |c| Ok(split(x, &[1], 0, c)?.remove(1))),
            ),
            (
                "strided_slice",
                Box::new(move |c| {
                    strided_slice(
                        x,
                        &[AxisSlice {
                            axis: 0,
                            begin: None,
                            end: None,
                            step: 1,
                        }],
                        c,
                    )
                }),
            ),
            ("reverse", Box::new(move |c| reverse(x, 1, c))),
            ("repeat", Box::new(move |c| repeat(x, 2, 0, c))),
            ("tile", Box::new(move |c| tile(x, &[2], c))),
            (
                "pad",
                Box::new(move |c| pad(x, &[(1, 1), (1, 1)], PadMode::Edge, c)),
            ),
        ]
    }

    fn indexing(&self) -> Vec<Case<'_>> {
        let (x, indices) = (self.x.view(), self.indices.view());
        let modes = (IndexMode::Reject, ScatterMode::Add);
        vec![
            (
                "take",
                Box::new(move |c| Take::default().apply(x, indices, c)),
            ),
            (
                "gather",
                Box::new(move |c| gather(x, indices, 0, IndexMode::Reject, c)),
            ),
            (
                "gather_nd",
                Box::new(move |c| {
                    let gather = GatherNd {
                        tuples: TupleAxis::First,
                        batch_dims: 0,
                        mode: IndexMode::Reject,
                    };
                    gather.apply(x, self.tuples.view(), c)
                }),
            ),
            (
                "scatter_elements",
                Box::new(move |c| scatter_elements(x, [indices, x], 0, modes, c)),
            ),
            (
                "scatter_nd",
                Box::new(move |c| {
                    let updates = full(
                        &[self.tuples.shape()[1]],
                        self.scalar.view(),
                        &Control::default(),
                    )?;
                    scatter_nd(
                        x,
                        [self.tuples.view(), updates.view()],
                        TupleAxis::First,
                        modes,
                        c,
                    )
                }),
            ),
            (
                "one_hot",
                Box::new(move |c| {
                    let (on, off) = (Tensor::scalar(1_u8), Tensor::scalar(0_u8));
                    OneHot {
                        on: on.view(),
                        off: off.view(),
                        depth: 2,
                        axis: 0,
                        from_end: false,
                    }
                    .apply(indices, c)
                }),
            ),
            (
                "argsort",
                Box::new(move |c| argsort(self.column.view(), 0, true, ElementType::Int64, c)),
            ),
            ("top_k", Box::new(move |c| Ok(top_k(x, 1, 0, true, c)?.0))),
        ]
    }
}
