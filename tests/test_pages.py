"""Pages, pictures and the output of notebooks, from Python."""

import copy
import html.parser
import json
import pickle
import re

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import isoform
from isoform import dataclasses as dc, diff as diffs, ir, onnx, pages, pto, relay
from isoform._paged import Paged

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b"


@dc.py_class("test.pages.Leaf", structural_eq="tree")
class Leaf(isoform.Object):
    value: object


@dc.py_class("test.pages.Pair", structural_eq="tree")
class Pair(isoform.Object):
    left: object
    right: object = None


class Elements(html.parser.HTMLParser):
    """The elements of a page, and the texts in them."""

    VOID = ("meta", "input", "br", "img", "link", "hr")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def shown(value):
    """The elements that a notebook shows of a value; never a script or a request."""
    page = value._repr_html_()
    assert isinstance(page, str)
    elements = Elements(page)
    assert "script" not in elements.tags and "img" not in elements.tags
    for _, name, text in elements.attributes:
        assert not name.startswith("on") and name not in ("src", "srcset")
        assert name != "href" or text.startswith("#")
    return elements


def model(axis=-1, name="sm", weight=0.5):
    """Softmax(Relu(x) @ m)."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("MatMul", ["r", "m"], ["p"], name="mm"),
        helper.make_node("Softmax", ["p"], ["y"], name=name, axis=axis),
    ]
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])]
    out = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    matrix = np.arange(9, dtype=np.float32).reshape(3, 3)
    matrix[1, 2] = weight
    graph = helper.make_graph(nodes, "g", values, out, [numpy_helper.from_array(matrix, "m")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return onnx.load(made)


def optimized():
    """A model with a node that computes nothing, made smaller."""
    x = onnx.Input(ty=None, default=None, name="x")
    same = onnx.Output(onnx.Call("", "Identity", 13, None, {}, [x], 1, name="same"), 0)
    relu = onnx.Output(onnx.Call("", "Relu", 13, None, {}, [same], 1, name="relu"), 0)
    program = onnx.Program(onnx.Graph([x], [None], [relu], result_names=["y"]), [])
    return program, onnx.optimize(program)


def mismatch():
    return isoform.explain_structural_mismatch(Pair(1, [1, 2]), Pair(1, [1, 3]))


#: Results of each kind, and words that each of their pages has.
RESULTS = {
    "difference": (lambda: diffs.diff(Pair(1, 2), Pair(1, 3)), ["<root>.right", "2 → 3"]),
    "model difference": (lambda: onnx.diff(model(), model(0)), ["Softmax", "sm", "axis"]),
    "mismatch": (mismatch, ["<root>.right[1]", "the values differ"]),
    "model": (model, ["3 nodes", "MatMul", "Softmax"]),
    "optimisation": (lambda: optimized()[1].report, ["Optimized", "2 → 1 nodes", "Identity"]),
}
DIFFERENT = {"difference", "model difference", "mismatch"}


@pytest.fixture(params=RESULTS)
def result(request):
    make, words = RESULTS[request.param]
    return request.param, make(), words


def test_a_result_is_a_page_of_its_own(result):
    kind, value, words = result
    page = value.to_html()
    elements = Elements(page)
    assert page.startswith("<!DOCTYPE html>")
    assert "Content-Security-Policy" in page
    for word in words:
        assert word in elements.text, word
    assert ("Different" in elements.text) == (kind in DIFFERENT)
    assert pages.to_html(value) == page == value.to_html()


def test_a_result_is_a_summary(result):
    kind, value, words = result
    summary = value.to_markdown(page_url="https://example.org/page.html")
    assert summary.startswith("**≠ Different.**") == (kind in DIFFERENT)
    assert "https://example.org/page.html" in summary
    assert len(summary.encode("utf-16-le")) // 2 < 60_000
    plain = re.sub(r"\\|<!-- -->|&lt;|&gt;|`", "", summary)
    assert any(word.strip("<>") in plain for word in words)
    assert pages.to_markdown(value) == value.to_markdown()


def test_a_result_is_shown_by_notebooks(result):
    kind, value, words = result
    elements = shown(value)
    for word in words:
        assert word in elements.text, word
    assert ("Different" in elements.text) == (kind in DIFFERENT)


def test_models_and_their_changes_are_drawn():
    found = onnx.diff(model(), model(0))
    for value, node in ((model(), "MatMul"), (found, "Softmax")):
        assert "<svg" in value._repr_html_() and "<svg" in value.to_html()
        svg, dot, mermaid = map(value.picture, ("svg", "dot", "mermaid"))
        assert svg.startswith("<svg") and node in svg
        assert dot.startswith("digraph") and node in dot
        assert mermaid.startswith("flowchart") and node in mermaid
        assert pages.picture(value, "dot") == dot
    assert "fifty &lt; sixty" in found.picture(title="fifty < sixty")
    value = Pair(Leaf(1), Pair(Leaf(2)))
    assert pages.picture(value, "mermaid").count("Leaf") == 2
    assert "<svg" in value._repr_html_()
    with pytest.raises(ValueError, match="format: expected 'svg', 'dot' or 'mermaid', got \"png\""):
        model().picture("png")
    with pytest.raises(TypeError, match="a mismatch has no picture"):
        pages.picture(mismatch())


def test_equal_values_have_the_verdict():
    for found in (diffs.diff([1], [1]), onnx.diff(model(), model())):
        assert "Equal" in shown(found).text
        assert found.to_markdown().startswith("**= Equal.**")


def test_names_of_sides():
    found = diffs.diff([1], [2])
    assert "left → right" in Elements(found.to_html()).text
    page = found.to_html(names=("old <b>", "new"))
    assert "old <b> → new" in Elements(page).text and "old <b>" not in page
    with pytest.raises(ValueError, match='names of both sides, got only "one"'):
        found.to_html(names="one")
    with pytest.raises(ValueError, match="the name of one value"):
        pages.to_html([1], names=("a", "b"))
    with pytest.raises(TypeError, match="names"):
        pages.to_html([1], names=1)
    assert "a model" in Elements(model().to_html(names="a model")).text


def test_models_have_the_names_of_their_files(tmp_path):
    paths = [tmp_path / side / "model.onnx" for side in ("old", "new")]
    for path, axis in zip(paths, (-1, 0), strict=True):
        path.parent.mkdir()
        onnx.save(model(axis), path)
    left, right = map(onnx.load, paths)
    assert "old/model.onnx → new/model.onnx" in Elements(onnx.diff(left, right).to_html()).text
    title = Elements(onnx.diff(left, model(0)).to_html()).text
    assert "model.onnx → right" in title and str(tmp_path) not in title
    assert str(tmp_path) not in left.to_html()


def test_texts_of_files_are_no_markup():
    hostile = model(name=HOSTILE)
    values = [
        Leaf(HOSTILE),
        hostile,
        onnx.diff(hostile, model(0, HOSTILE)),
        diffs.diff(Leaf(HOSTILE), Leaf("b")),
        isoform.explain_structural_mismatch(Leaf(HOSTILE), Leaf("b")),
    ]
    for value in values:
        for page in (pages.to_html(value, names=None), value._repr_html_()):
            assert "<img" not in page and "\u202e" not in page and "\x1b" not in page
            assert page.count("</script>") == page.count("<script")
            Elements(page)
        assert "onerror" in shown(value).text
    # Graphviz reads a text in quotes as text alone.
    for picture in ("svg", "mermaid"):
        assert "<img" not in hostile.picture(picture)
    assert "\u202e" not in hostile.picture("dot")


def test_a_page_is_saved_completely_or_not_at_all(tmp_path):
    for number, (make, _) in enumerate(RESULTS.values()):
        value = make()
        file = tmp_path / f"{number}.html"
        assert value.save_html(file) is None
        assert file.read_text(encoding="utf-8") == value.to_html()
    file = tmp_path / "value.html"
    pages.save_html([1], str(file))
    before = file.read_bytes()
    with pytest.raises(FileExistsError, match="force=True replaces it") as failure:
        pages.save_html([2], file)
    assert failure.value.filename == str(file)
    assert file.read_bytes() == before
    pages.save_html([2], file, force=True)
    assert file.read_bytes() != before
    with pytest.raises(FileNotFoundError) as failure:
        pages.save_html([1], tmp_path / "absent" / "page.html")
    assert failure.value.filename.endswith("page.html")
    with pytest.raises(IsADirectoryError) as failure:
        pages.save_html([1], tmp_path, force=True)
    assert failure.value.filename == str(tmp_path)
    cyclic = isoform.List([1])
    cyclic.append(cyclic)
    with pytest.raises(ValueError):
        pages.save_html(cyclic, tmp_path / "cyclic.html")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".html"] * 6


def test_nodes_are_shown_with_bindings_and_sharing():
    shared = isoform.List([1, 2])
    page = Pair(shared, Pair(shared, "b"))._repr_html_()
    assert shown(Pair(shared, Pair(shared, "b"))).text.count("List[1, 2]") == 1
    assert len(re.findall(r'<bdi data-binding="\d+">%0</bdi>', page)) == 2
    assert len(re.findall(r'<bdi class="definition" data-binding="\d+">%0</bdi>', page)) == 1
    # Readable where styles are gone, and open.
    assert re.search(r"<details open[^>]*><summary>Text", page)


def test_programs_are_shown_in_the_format_of_their_dialect():
    x = relay.var("x")
    elements = shown(relay.Function([x], relay.op.exp(x)))
    assert "fn (%x" in elements.text and "exp(%x)" in elements.text
    bindings = {value for _, name, value in elements.attributes if name == "data-binding"}
    assert len(bindings) == 1


def test_programs_of_pto_are_shown_in_their_format():
    number = pto.ir.ScalarType(pto.DataType.INT64)
    builder = pto.ir.IRBuilder()
    with builder.function("double") as function:
        x = function.param("x", number)
        function.return_type(number)
        builder.return_(x + x)
    program = pto.ir.Program([function.get_result()], "kernel", pto.ir.Span.unknown())
    assert "return x + x" in shown(program).text


@pytest.mark.parametrize("make", [isoform.Array, isoform.List, tuple])
def test_large_values_are_cut(make):
    pages_of = [Pair(make(range(size)))._repr_html_() for size in (10_000, 100_000)]
    assert pages_of[0] == pages_of[1]
    assert "1990, ..." in Elements(pages_of[0]).text or "..." in Elements(pages_of[0]).text
    assert "the first 2000 parts" in Elements(pages_of[0]).text
    assert len(pages_of[0]) < 200_000


def test_the_cost_of_large_values_does_not_depend_on_their_size(key):
    printed = []

    @dc.py_class(key("Counted"), structural_eq="tree")
    class Counted(isoform.Object):
        value: int

        def __data_to_json__(self):
            printed.append(self.value)
            return self.value

        @staticmethod
        def __data_from_json__(data):
            return Counted(data)

    for size in (3_000, 30_000):
        printed.clear()
        value = isoform.List([Counted(number) for number in range(size)])
        assert "the first 2000 parts" in shown(value).text
        # The list itself is a part.
        assert printed == list(range(1_999))


def test_deep_wide_and_long_values_are_cut():
    deep = Leaf(0)
    for _ in range(50_000):
        deep = Pair(deep)
    assert "the first 2000 parts" in shown(deep).text
    table = isoform.Map({f"k{number}": number for number in range(50_000)})
    text = shown(Leaf(table)).text
    assert "the first 2000 parts" in text and '"k198": 198' in text and "802 more lines" in text
    for long in ("x" * 100_000, b"x" * 100_000, 10**50_000):
        page = Leaf(long)._repr_html_()
        assert "..." in Elements(page).text
        assert len(page) < 100_000
    assert "..." not in shown(Leaf(10**50)).text


def test_what_has_no_text_is_shown_by_its_repr(key):
    cyclic = isoform.List([1])
    cyclic.append(cyclic)
    assert cyclic._repr_html_() is None
    assert Leaf(cyclic)._repr_html_() is None
    assert cyclic._repr_pretty_ is not None

    unfinished = []

    @dc.py_class(key("Unfinished"), init=False)
    class Unfinished(isoform.Object):
        value: int

        def __init__(self, value):
            unfinished.append(self._repr_html_())
            self.__ffi_init__(value)

    Unfinished(1)
    assert unfinished == [None]
    tensor = isoform.from_dlpack(np.arange(100_000, dtype=np.float32))
    for value in (isoform.convert(lambda: 1), tensor):
        assert value._repr_html_() is None
    # Inside of others they have places.
    assert "<Function>" in shown(Leaf(isoform.convert(lambda: 1))).text
    assert "Tensor(float32, [100000]" in shown(Leaf(tensor)).text
    for value in (isoform.Array([]), isoform.Map({}), ir.IRModule()):
        assert shown(value).text


def test_a_broken_hook_does_not_break_a_notebook(key):
    @dc.py_class(key("Broken"), structural_eq="tree")
    class Broken(isoform.Object):
        value: int

        def __data_to_json__(self):
            raise RuntimeError("broken")

        @staticmethod
        def __data_from_json__(data):
            return Broken(data)

    assert isoform.List([Broken(1)])._repr_html_() is None
    with pytest.raises(RuntimeError, match="broken"):
        pages.to_html(isoform.List([Broken(1)]))


def test_a_class_that_shows_itself_is_left_alone(key):
    @dc.py_class(key("Own"), structural_eq="tree")
    class Own(isoform.Object):
        value: int

        def _repr_html_(self):
            return f"<b>{self.value}</b>"

    @dc.py_class(key("OwnRepr"), structural_eq="tree")
    class OwnRepr(isoform.Object):
        value: int

        def __repr__(self):
            return "mine"

    @dc.py_class(key("OwnPretty"), structural_eq="tree")
    class OwnPretty(isoform.Object):
        value: int

        def _repr_pretty_(self, printer, cycle):
            printer.text("mine")

    class Latex(Leaf):
        def _repr_latex_(self):
            return "$x$"

    assert Own(3)._repr_html_() == "<b>3</b>"
    assert OwnRepr(3)._repr_html_() is None
    assert OwnPretty(3)._repr_html_() is None
    assert Latex(3)._repr_html_() is None
    assert "OwnRepr" in shown(Pair(OwnRepr(3))).text


def test_a_field_may_have_the_name_of_the_method(key):
    @dc.py_class(key("Named"), structural_eq="tree")
    class Named(isoform.Object):
        _repr_html_: str
        to_html: str

    # Notebooks call functions alone.
    named = Named("a", "b")
    assert named._repr_html_ == "a" and named.to_html == "b"
    assert "to_html" in Elements(pages.to_html(named)).text
    assert "to_html" in shown(Pair(named)).text


def test_the_repr_is_the_same_as_ever():
    value = Pair(1, Leaf(2))
    before = repr(value)
    value._repr_html_()
    assert repr(value) == before == "test.pages.Pair(left=1, right=test.pages.Leaf(value=2))"


def test_a_verification_is_on_the_page_of_an_optimisation():
    program, done = optimized()
    verified = onnx.verify(program, done.program, runtime=False)
    report = done.report.verified(verified)
    assert report == done.report
    assert "Verification" not in Elements(done.report.to_html()).text
    assert "Verification" in Elements(report.to_html()).text
    assert done._repr_html_() == done.report._repr_html_()


def test_copies_have_the_data_and_no_page():
    for value in (onnx.diff(model(), model(0)), optimized()[1].report):
        for same in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert same == value and repr(same) == repr(value)
            assert same._repr_html_() is None
            with pytest.raises(ValueError, match=f"this {type(value).__name__} has no page"):
                same.to_html()
    verified = pickle.loads(pickle.dumps(onnx.verify(model(), model(), runtime=False)))
    assert verified.is_same
    with pytest.raises(ValueError, match="has no page"):
        optimized()[1].report.verified(verified)
    assert not any(isinstance(value, Paged) for value in ([], verified))


def test_all_changes_are_on_the_page():
    left = [Pair(number, number % 7) for number in range(300)]
    right = [Pair(number, number + 1000) for number in range(300)]
    found = diffs.diff(left, right)
    page = found.to_html()
    text = json.dumps(page)
    assert len(found) > 100
    for number in (1, len(found) // 2, len(found)):
        assert f"change-{number}" in text
    assert len(found._repr_html_()) < 300_000


def test_a_deep_value_has_a_page():
    deep = Leaf(0)
    for _ in range(20_000):
        deep = Pair(deep)
    assert "20001 objects of 2 types" in Elements(pages.to_html(deep)).text
    assert pages.picture(deep, "dot").startswith("digraph")
    found = diffs.diff(deep, Pair(deep))
    assert "1 change" in Elements(found.to_html()).text
    assert "1 change" in shown(found).text
