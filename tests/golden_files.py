"""Golden files: one value in each format, which every later version reads.

    PYTHONPATH=tests python -c "import golden_files; golden_files.write_newest()"

writes the files of the newest formats to `tests/cases/golden/NEWEST`; pickles name this module.
Folders of earlier formats are never written again; `docs/evolution.md` has the rule.
"""

import pickle
from pathlib import Path

import numpy as np

import isoform
from isoform import BigInt, Object, serialization, text
from isoform.dataclasses import Enum, auto, field, py_class

NEWEST = "1"
FOLDER = Path(__file__).resolve().parent / "cases" / "golden"


class Color(Enum, type_key="golden.Color"):
    red = auto()
    green = auto()


@py_class("golden.Var", structural_eq="var")
class Var(Object):
    name: str = field(default="", structural_eq="ignore")


@py_class("golden.Function", scope=True)
class Function(Object):
    params: list[Var] = field(structural_eq="def")
    body: object


@py_class("golden.Shared", structural_eq="dag")
class Shared(Object):
    value: int


class Celsius(Object):
    degrees: float

    def __data_to_json__(self):
        return {"c": self.degrees}

    @staticmethod
    def __data_from_json__(data):
        return Celsius(data["c"])


Celsius = py_class("golden.Celsius")(Celsius)


@py_class("golden.All")
class All(Object):
    """A field of each kind."""

    integer: int
    number: float
    flag: bool
    text: str
    data: bytes
    big: BigInt
    color: Color
    optional: "int | None"
    dtype: isoform.dtype
    device: isoform.Device
    shape: isoform.Shape
    tensor: isoform.Tensor
    array: isoform.Array
    items: list[float]
    map: isoform.Map
    entries: dict[str, int]
    nodes: object
    ignored: int = field(default=7, structural_eq="ignore")


def value():
    """The value of all golden files."""
    x, shared = Var("x"), Shared(5)
    numbers = np.arange(6, dtype="float32").reshape(2, 3)
    return All(
        integer=-(2**63),
        number=-0.0,
        flag=True,
        text="text, \u00e4\U0001f600\n",
        data=bytes(range(0, 256, 15)),
        big=2**200,
        color=Color.green,
        optional=None,
        dtype=isoform.dtype("bfloat16x4"),
        device=isoform.device("cuda:1"),
        shape=isoform.Shape((2, 3)),
        tensor=isoform.Tensor(numbers),
        array=isoform.Array([1, 2.5, "a", None, True]),
        items=[1.0, float("inf")],
        map=isoform.Map({1: "one", "two": 2}),
        entries={"b": 1, "a": 2},
        nodes=[Function([x], [x, x]), shared, shared, Celsius(36.6), isoform.List([[]])],
        ignored=8,
    )


def write(folder):
    """Writes the files of the newest formats to a folder."""
    made = value()
    graph = serialization.to_json_graph_str(made, metadata={"golden": NEWEST})
    (folder / "graph.json").write_text(graph, encoding="utf-8", newline="\n")
    (folder / "binary.bin").write_bytes(serialization.to_bytes(made))
    (folder / "text.iso").write_text(text.to_text(made), encoding="utf-8", newline="\n")
    for protocol in (4, 5):
        # Protocol 5 keeps tensors in buffers.
        (folder / f"protocol-{protocol}.pickle").write_bytes(pickle.dumps(made, protocol=protocol))


def write_newest():
    """Writes the files in the repository."""
    (FOLDER / NEWEST).mkdir(parents=True, exist_ok=True)
    write(FOLDER / NEWEST)


def read(path):
    """The value of a golden file."""
    if path.suffix == ".json":
        return serialization.from_json_graph_str(path.read_text(encoding="utf-8"))
    if path.suffix == ".iso":
        return text.from_text(path.read_text(encoding="utf-8"))
    if path.suffix == ".bin":
        return serialization.from_bytes(path.read_bytes())
    return pickle.loads(path.read_bytes())
