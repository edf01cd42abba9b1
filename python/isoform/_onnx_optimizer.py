"""Optimisation of ONNX programs: the names exported by `isoform.onnx`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from isoform import _core, _onnxruntime
from isoform._core import OnnxModel, OnnxRule as Rule
from isoform._onnx_shapes import extent, fix_dims
from isoform._onnx_values import as_value
from isoform._paged import Paged, paged
from isoform._results import result

if TYPE_CHECKING:
    from isoform.types.onnx import Program


class Fired(NamedTuple):
    """One use of a rule."""

    #: The rule or step.
    rule: str
    #: Operator of the node that was replaced.
    op: str
    #: Name of the node; may be empty.
    node: str
    #: Name of the node's first output; may be empty.
    output: str
    #: Name of the graph or function that lists it.
    graph: str
    #: The net number of nodes removed, including nodes that became unused.
    nodes: int
    #: The number of bytes of constants saved.
    bytes: int


class _Report(NamedTuple):
    #: The number of nodes before, those of bodies and functions included.
    nodes_before: int
    #: The number of nodes after.
    nodes_after: int
    #: The bytes of all constants before.
    bytes_before: int
    #: The bytes of all constants after.
    bytes_after: int
    #: The number of walks over the program.
    rounds: int
    #: All uses of rules, in order.
    fired: list[Fired]


class Report(Paged, _Report):
    """The changes that `optimize` made. Constants are counted once, `Constant` nodes not at all.

    `to_html`, `save_html`, `to_markdown` and `picture` show the rules that fired, why each is
    right, and the difference of both programs, to which the report refers.
    """

    def verified(self, verification: Verification) -> Report:
        """Return the same report with the results of `verify` on its page.

        Raises ValueError for a copy of a report or of a verification.
        """
        same = type(self)(*self)
        return paged(same, self._subject().verified(verification._subject()))


class Optimized(NamedTuple):
    """The result of `optimize`."""

    #: The program; the same object if nothing was found.
    program: Program
    #: The changes.
    report: Report

    def _repr_html_(self) -> str | None:
        """Return the report for a notebook."""
        return self.report._repr_html_()


class RuleInfo(NamedTuple):
    """A rule or step of the library."""

    #: The name, for `only` and `without`.
    name: str
    #: `"step"`, `"exact"`, or `"fuse"` for those that `fuse` allows.
    group: str
    #: The first and the last version of `ai.onnx` to which it applies; None for no last one.
    versions: tuple[int, int | None]
    #: The patterns that it looks for.
    before: list[str]
    #: The replacement.
    after: str
    #: Why the result is the same.
    reason: str


class Difference(NamedTuple):
    """An output that differs."""

    #: Name of the output; empty if the whole program is concerned.
    output: str
    #: The node that computes it.
    node: str
    #: The difference, for people.
    reason: str
    #: The largest absolute difference of two elements, if they are numbers.
    max_abs: float | None


class Case(NamedTuple):
    """A set of inputs on which programs were compared."""

    #: The sizes of the dimensions, for people.
    inputs: str
    #: The name of the runtime.
    runner: str
    #: `"same"`, `"close"` (within the tolerance, or with the same bits once the constants of
    #: both programs are computed first), `"different"` or `"not run"`.
    outcome: str
    #: The largest absolute difference, if they are close.
    max_abs: float | None
    #: The reason why the original could not be run, or why results without a tolerance are close.
    reason: str | None
    #: The outputs that differ.
    differences: list[Difference]


class _Verification(NamedTuple):
    #: The sets of inputs, those that could not be run included.
    cases: list[Case]
    #: The same for people.
    text: str


class Verification(_Verification):
    """The result of `verify`; its `str` is for people.

    `Report.verified` shows the result on the page of an optimisation.
    """

    # As for results with a page of their own.
    _core_result = None
    _subject = Paged._subject
    __getstate__ = Paged.__getstate__

    @property
    def judged(self) -> int:
        """The number of sets of inputs on which both programs were compared."""
        return sum(case.outcome != "not run" for case in self.cases)

    @property
    def is_same(self) -> bool:
        """True if the programs were compared, and no outcome is `"different"`."""
        bad = any(case.outcome == "different" for case in self.cases)
        return self.judged > 0 and not bad

    def __str__(self) -> str:
        return self.text


def optimize(
    model: OnnxModel | Program,
    *,
    fold: str = "exact",
    fuse: bool = False,
    max_constant: int | None = None,
    only: Sequence[str] | None = None,
    without: Sequence[str] = (),
    rules: Sequence[Rule] = (),
    dims: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int | None]] | None = None,
) -> Optimized:
    """Make a program smaller without changing the results.

    Every bit of every result stays, unless `fold` or `fuse` allow otherwise. Names and
    types of inputs and outputs stay. Optimising the result again changes nothing.

    Args:
        model: A result of `load`, or an `onnx.Program`.
        fold: Which calls on constants are computed: `"none"`; `"exact"`, those with a
            result fixed bit by bit by the standard; or `"all"`, also transcendental
            functions, sums of floats and products of matrices, whose last bits may
            differ from those of a runtime.
        fuse: Whether operators are fused, which may change last bits.
        max_constant: The number of bytes up to which folding makes constants; larger
            constants are made only in place of even larger constants. By default up to 1
            MiB, and less if all constants would grow by more than 16 KiB and a tenth.
        only: The rules and steps to use, by name; all by default.
        without: Rules and steps to leave out.
        rules: Your own rules, tried after the rules of the library.
        dims: Extents of dimensions by name, which are fixed first; see `fix_dims`.
        input_shapes: Shapes of inputs by name, likewise.

    Raises ValueError for a rule that does not exist, for rules that replace each other
    without an end or put a value of another type in place, and for an invalid program;
    and exceptions of the functions of `rules`, with a note that names the rule.

    A walk over the program is linear in its nodes; most programs need two or three
    walks.

    >>> from isoform import onnx
    >>> x = onnx.Input(ty=None, default=None, name="x")
    >>> call = lambda op, value: onnx.Output(onnx.Call("", op, 13, None, {}, [value], 1), 0)
    >>> def program(result):
    ...     return onnx.Program(onnx.Graph([x], [None], [result], result_names=["y"]), [])
    >>> done = onnx.optimize(program(call("Relu", call("Identity", x))))
    >>> done.report.nodes_before, done.report.nodes_after
    (2, 1)
    >>> rule = onnx.Rule("gelu", "Relu(x)", lambda site: site.replace("Gelu", [site["x"]]))
    >>> done = onnx.optimize(program(call("Relu", x)), rules=[rule])
    >>> done.program.graph.results[0].call.op, [fired.rule for fired in done.report.fired]
    ('Gelu', ['gelu'])
    """
    if max_constant is not None and max_constant < 0:
        raise ValueError(f"max_constant: expected a number of bytes from 0, got {max_constant}")
    if dims or input_shapes:
        model = fix_dims(model, dims, input_shapes)
    program, report, core_report = _core.onnx_optimize(
        model,
        fold=fold,
        fuse=fuse,
        max_constant=max_constant,
        only=None if only is None else _names("only", only),
        without=_names("without", without),
        rules=list(rules),
    )
    return Optimized(program, paged(result(Report, report), core_report))


def _names(option: str, names: Sequence[str]) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f"{option}: expected a list of names, got a str; write [{names!r}]")
    return list(names)


def rules() -> list[RuleInfo]:
    """Return the rules and steps of `optimize`, in the order of application.

    >>> from isoform import onnx
    >>> next(rule for rule in onnx.rules() if rule.name == "merge-transposes").before
    ['Transpose(inner:Transpose(x))']
    """
    return result(list[RuleInfo], _core.onnx_rules())


def extract(
    model: OnnxModel | Program, inputs: Sequence[str] = (), outputs: Sequence[str] = ()
) -> Program:
    """Return the part of a program that computes given outputs from given inputs.

    Values have the names of the file: the names of inputs and outputs, and of the values
    that the nodes of the main graph compute.

    Args:
        model: A result of `load`, or an `onnx.Program`.
        inputs: The values that become inputs, with the known types; by default the
            required inputs.
        outputs: The values that become outputs.

    Raises ValueError for a name without a value, and for inputs needed by the part but
    missing in `inputs`. Linear in the program.

    >>> from isoform import onnx
    >>> x = onnx.Input(ty=None, default=None, name="x")
    >>> call = onnx.Call("", "Relu", 13, None, {}, [x], 1, output_names=["r"])
    >>> call = onnx.Call("", "Tanh", 13, None, {}, [onnx.Output(call, 0)], 1, output_names=["y"])
    >>> graph = onnx.Graph([x], [None], [onnx.Output(call, 0)], result_names=["y"])
    >>> part = onnx.extract(onnx.Program(graph, []), ["r"], ["y"])
    >>> [one.name for one in part.graph.params], part.graph.results[0].call.op
    (['r'], 'Tanh')
    """
    return _core.onnx_extract(model, _names("inputs", inputs), _names("outputs", outputs))


def verify(
    original: OnnxModel | Program,
    optimized: OnnxModel | Program,
    *,
    tolerance: tuple[float, float] | None = None,
    seed: int = 1,
    runtime: bool = True,
    inputs: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> Verification:
    """Run two programs on the same inputs and compare what comes out.

    Inputs are random unless given, and dimensions without a size get two assignments of
    sizes. The programs run with onnxruntime, in a separate process, if it is installed and
    can run the original; otherwise with the evaluator of this package, which does not know
    every operator.

    Args:
        original: A result of `load`, which then runs from the file, or an `onnx.Program`.
        optimized: The program to compare.
        tolerance: The relative and the absolute difference that two floats may have; by
            default not a bit. NaNs are equal. Where a program computes in floats of 16
            bits, onnxruntime is given 2e-3 in any case. It also multiplies by constants in
            another order than by computed weights: without a tolerance, results that differ
            by no more than 1e-3 are `"close"` if they agree bit by bit once the constants of
            both programs are computed first.
        seed: Determines the random inputs.
        runtime: False to use the evaluator alone.
        inputs: Values for inputs by name, as for `evaluate`. If all inputs are given, there
            is a single case.
        shapes: Sizes of random inputs by name. A dimension has the same size wherever its
            name occurs.

    Raises KeyError for inputs missing in the original, and ValueError for inputs and sizes
    that contradict each other or the types of the inputs. Failed runs and differences are
    part of the result. The time is that of the runs.

    >>> from isoform import dtype, onnx
    >>> x = onnx.Input(ty=onnx.TensorType(dtype("float32"), [onnx.Dim("n")]), default=None, name="x")
    >>> def program(op):
    ...     call = onnx.Call("", op, 13, None, {}, [x], 1)
    ...     return onnx.Program(onnx.Graph([x], [x.ty], [onnx.Output(call, 0)], result_names=["y"]), [])
    >>> onnx.verify(program("Relu"), program("Relu"), runtime=False).is_same
    True
    >>> found = onnx.verify(program("Relu"), program("Neg"), runtime=False)
    >>> found.cases[0].differences[0].reason
    '2 of 2 elements differ, by at most ...'
    >>> found = onnx.verify(program("Relu"), program("Relu"), runtime=False, shapes={"x": [5]})
    >>> found.cases[0].inputs
    'n=5'
    """
    file: os.PathLike[str] | None = getattr(original, "path", None)
    cases, text, verification = _core.onnx_verify(
        original,
        optimized,
        file=file,
        tolerance=tolerance,
        seed=seed,
        runtime=_onnxruntime.find() if runtime else None,
        inputs=[(name, as_value(value)) for name, value in (inputs or {}).items()],
        shapes=[
            (name, [extent(f"input '{name}'", size) for size in shape])
            for name, shape in (shapes or {}).items()
        ],
    )
    return paged(Verification(result(list[Case], cases), text), verification)
