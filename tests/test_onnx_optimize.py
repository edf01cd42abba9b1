"""ONNX programs made smaller, cut and verified; rules written in Python."""

import subprocess
import sys

import numpy as np
import pytest

from isoform import Tensor, _onnxruntime, dtype, onnx, structural_equal
from isoform.transform import make_pass

needs_runtime = pytest.mark.skipif(
    _onnxruntime.find() is None, reason="onnxruntime is not installed"
)
FLOATS = onnx.TensorType(dtype("float32"), [onnx.Dim("n"), 3])


def call(op, *inputs, name="", outputs=(), version=17, domain="", **attrs):
    made = onnx.Call(
        domain, op, version, None, attrs, list(inputs), 1, name=name, output_names=list(outputs)
    )
    return onnx.Output(made, 0)


def program(build, ty=FLOATS):
    x = onnx.Input(ty=ty, default=None, name="x")
    return onnx.Program(onnx.Graph([x], [ty], [build(x)], result_names=["y"]), [], ir_version=8)


def clumsy(x):
    turned = call("Transpose", call("Transpose", x, perm=[1, 0]), perm=[1, 0])
    return call("Relu", call("Identity", turned, outputs=["v"]), name="last", outputs=["y"])


def endless(x):
    scalars = [onnx.TensorType(dtype(name), []) for name in ("int64", "bool")]
    names = ("i", "go", "held")
    params = [
        onnx.Input(ty=ty, default=None, name=name)
        for ty, name in zip([*scalars, FLOATS], names, strict=True)
    ]
    body = onnx.Graph(params, [scalars[1], FLOATS], params[1:], result_names=["next", "out"])
    yes = Tensor.from_bytes(b"\1", [], "bool")
    return onnx.Output(onnx.Call("", "Loop", 17, None, {"body": body}, [None, yes, x], 1), 0)


def test_a_program_gets_smaller():
    given = program(clumsy)
    done = onnx.optimize(given)
    assert structural_equal(done.program, program(lambda x: call("Relu", x)))
    report = done.report
    assert (report.nodes_before, report.nodes_after) == (4, 1)
    assert sum(fired.nodes for fired in report.fired) == 3
    assert "merge-transposes" in {fired.rule for fired in report.fired}
    assert onnx.optimize(done.program).program is done.program


def test_options():
    given = program(clumsy)
    assert onnx.optimize(given, only=["merge-transposes"]).report.nodes_after < 4
    assert onnx.optimize(given, only=[]).program is given
    for wrong in ({"only": ["merge"]}, {"without": ["x"]}):
        with pytest.raises(ValueError, match="there is no rule"):
            onnx.optimize(given, **wrong)
    with pytest.raises(ValueError, match="expected 'none', 'exact' or 'all', got 'some'"):
        onnx.optimize(given, fold="some")
    with pytest.raises(TypeError, match="expected a list of names"):
        onnx.optimize(given, without="merge-transposes")
    with pytest.raises(TypeError, match=r"onnx\.Program"):
        onnx.optimize(1)


def test_rules_are_listed():
    rules = {rule.name: rule for rule in onnx.rules()}
    assert {rule.group for rule in rules.values()} == {"step", "exact", "fuse"}
    assert rules["merge-transposes"].before == ["Transpose(inner:Transpose(x))"]
    assert all(rule.reason for rule in rules.values())


def test_the_pass_is_registered():
    done = make_pass("onnx.Simplify", fold="none")(program(clumsy))
    assert structural_equal(done, program(lambda x: call("Relu", x)))


class TestRules:
    def optimize(self, rewrite, build=lambda x: call("Relu", x), pattern="Relu(x)", **options):
        rule = onnx.Rule("mine", pattern, rewrite, **options)
        return onnx.optimize(program(build), rules=[rule]).program.graph.results[0].call

    def test_a_site_knows_its_surroundings(self):
        seen = []

        def rewrite(site):
            x, two = site["x"], site["two"]
            seen.append((site.root.op, site.version, site.shape(x), site.elem_type(x)))
            seen.append((site.floats(two), site.ints(two), site.has_one_use(x)))
            seen.append(site["missing"] if site.root is None else None)

        two = Tensor.from_bytes(b"\0\0\0\x40", [], "float32")
        self.optimize(rewrite, lambda x: call("Mul", x, two), "Mul(x, #two)")
        assert seen[0][0:2] == ("Mul", 17)
        assert (seen[0][2][1], seen[0][3]) == (3, "float")
        assert isinstance(seen[0][2][0], str)
        assert (list(seen[1][0]), seen[1][1]) == ([2.0], None)

    def test_values_are_replaced(self):
        def rewrite(site):
            one = self.one(site)
            inner = site.make("Unsqueeze", [site["x"], one])
            return site.replace("Squeeze", [inner, one])

        only = self.optimize(lambda site: [site.replace("Elu", [site["x"]], alpha=2.0)])
        assert (only.op, only.attrs["alpha"]) == ("Elu", 2.0)
        assert self.optimize(lambda site: None).op == "Relu"
        # What a rule makes is simplified, too.
        done = onnx.optimize(
            program(lambda x: call("Tanh", call("Relu", x))),
            rules=[onnx.Rule("mine", "Relu(x)", rewrite)],
        )
        assert done.program.graph.results[0].call.op == "Tanh"

    def test_calls_have_several_outputs(self):
        def rewrite(site):
            values, places = site.make("TopK", [site["x"], self.one(site)], outputs=2, axis=0)
            assert (values.index, places.index) == (0, 1)
            return site.replace("Expand", [values, site.make("Shape", [site["x"]])])

        assert self.optimize(rewrite).op == "Expand"
        for outputs in (0, -1, 1 << 40):
            with pytest.raises(ValueError, match=f"with {outputs} outputs: expected 1 to"):
                self.optimize(lambda site, n=outputs: site.make("TopK", [site["x"]], outputs=n))

    def one(self, site):
        return site.constant(Tensor.from_bytes(b"\1" + bytes(7), [1], "int64"))

    def test_versions_limit_a_rule(self):
        rewrite = lambda site: site.replace("Elu", [site["x"]])  # noqa: E731
        assert self.optimize(rewrite, versions=(1, 16)).op == "Relu"
        assert self.optimize(rewrite, versions=(17, None)).op == "Elu"

    def test_exceptions_come_out_unchanged(self):
        raised = KeyError("mine alone")

        def rewrite(site):
            raise raised

        with pytest.raises(KeyError) as caught:
            self.optimize(rewrite)
        assert caught.value is raised
        assert "in rule 'mine'" in caught.value.__notes__

    def test_mistakes_are_explained(self):
        with pytest.raises(ValueError, match="max_constant: expected a number of bytes from 0"):
            onnx.optimize(program(lambda x: x), max_constant=-1)
        with pytest.raises(TypeError, match=r"got str; isoform\.onnx\.load reads files"):
            onnx.optimize("m.onnx")
        with pytest.raises(KeyError, match="its pattern has no value 'y'"):
            self.optimize(lambda site: site["y"])
        with pytest.raises(ValueError, match=r"rule 'mine'.*expected 1 values.*got 2"):
            self.optimize(lambda site: [site["x"], site["x"]])
        with pytest.raises(ValueError, match="elements of"):
            self.optimize(lambda site: site.make("Cast", [site["x"]], to=7))
        with pytest.raises(ValueError, match="column 5"):
            onnx.Rule("mine", "Relu", print)
        with pytest.raises(TypeError, match=r"Rule\.rewrite: expected a callable, got int"):
            onnx.Rule("mine", "Relu(x)", 1)

    def test_a_site_is_of_no_use_afterwards(self):
        kept = []
        self.optimize(kept.append)
        with pytest.raises(RuntimeError, match=r"only while Rule\.rewrite runs"):
            kept[0].make("Relu", [])


class TestExtract:
    def test_a_part_between_values(self):
        part = onnx.extract(program(clumsy), ["v"], ["y"])
        assert [one.name for one in part.graph.params] == ["v"]
        assert part.graph.params[0].ty is not None
        assert part.graph.results[0].call.op == "Relu"
        whole = onnx.extract(program(clumsy), outputs=["y"])
        assert structural_equal(whole, program(clumsy))

    def test_mistakes(self):
        with pytest.raises(ValueError, match="no value 'w'"):
            onnx.extract(program(clumsy), outputs=["w"])
        with pytest.raises(ValueError, match="at least one value"):
            onnx.extract(program(clumsy), ["v"])


class TestVerify:
    def test_equal_programs(self):
        given = program(clumsy)
        found = onnx.verify(given, onnx.optimize(given).program, runtime=False)
        assert found.is_same
        assert [case.outcome for case in found.cases] == ["same", "same"]
        assert [case.inputs for case in found.cases] == ["n=2", "n=3"]

    def test_different_programs(self):
        given, other = (program(lambda x, op=op: call(op, x)) for op in ("Relu", "Neg"))
        found = onnx.verify(given, other, runtime=False)
        assert not found.is_same
        assert found.cases[0].differences[0].output == "y"
        assert found.cases[0].differences[0].max_abs > 0
        assert "elements differ" in str(found)
        assert onnx.verify(given, other, runtime=False, tolerance=(0, 100)).is_same

    def test_what_cannot_be_run_is_no_difference(self):
        given = program(lambda x: call("Unheard", x))
        found = onnx.verify(given, program(clumsy), runtime=False)
        assert found.judged == 0
        assert not found.is_same
        assert "Unheard" in found.cases[0].reason

    def test_inputs_and_sizes_of_the_user(self):
        given = program(clumsy)
        other = onnx.optimize(given).program
        found = onnx.verify(given, other, runtime=False, shapes={"x": [5, 3]})
        assert {case.inputs for case in found.cases} == {"n=5"}
        for value in ([[1.0, 2.0, 3.0]], np.float32([[1, 2, 3]])):
            arrays = {"x": np.asarray(value, np.float32)}
            found = onnx.verify(given, other, runtime=False, inputs=arrays)
            assert [case.inputs for case in found.cases] == ["the given inputs"]
            assert found.is_same, str(found)
        with pytest.raises(KeyError, match="the model has the inputs 'x'"):
            onnx.verify(given, other, runtime=False, inputs={"y": np.float32([0])})
        with pytest.raises(ValueError, match="expected elements of float32"):
            onnx.verify(given, other, runtime=False, inputs={"x": np.zeros((1, 3))})
        with pytest.raises(ValueError, match="expected 3 at axis 1"):
            onnx.verify(given, other, runtime=False, shapes={"x": [5, 4]})
        with pytest.raises(TypeError, match="input 'x': expected an int, got str"):
            onnx.verify(given, other, runtime=False, shapes={"x": "53"})

    def test_messages_are_for_people(self):
        ty = onnx.TensorType(dtype("float32"), [1, 1, 2])
        weights = Tensor.from_bytes(
            np.ones((1, 1, 64), np.float32).tobytes(), [1, 1, 64], "float32"
        )
        given = program(lambda x: call("Conv", x, weights), ty)
        (reason,) = {case.reason for case in onnx.verify(given, given, runtime=False).cases}
        assert "a window of size 64, stride 1, dilation 1 and padding 0 + 0" in reason
        assert "{" not in reason

    @needs_runtime
    def test_weights_that_become_constants_are_no_difference(self):
        """Then onnxruntime packs them, and adds up in another order."""
        weights = np.random.default_rng(0).standard_normal((1024, 1024)).astype(np.float32)
        ty = onnx.TensorType(dtype("float32"), [onnx.Dim("n"), 1024])

        def product(x):
            given = Tensor.from_bytes(weights.tobytes(), weights.shape, "float32")
            return call("MatMul", x, call("Identity", given))

        given = program(product, ty)
        done = onnx.optimize(given)
        assert done.report.nodes_after == 1
        found = onnx.verify(given, done.program, shapes={"x": [7, 1024]})
        assert found.is_same, str(found)
        for case in found.cases:
            assert case.outcome in ("same", "close")
            assert (case.outcome == "close") == (case.reason is not None)

    @needs_runtime
    def test_negative_extents_get_sizes(self):
        given = program(clumsy, onnx.TensorType(dtype("float32"), [-1, 3]))
        found = onnx.verify(given, onnx.optimize(given).program)
        assert [case.inputs for case in found.cases] == ["x[0]=2", "x[0]=3"]
        assert found.is_same, str(found)

    @needs_runtime
    def test_onnxruntime_judges(self):
        given = program(clumsy)
        found = onnx.verify(given, onnx.optimize(given).program)
        assert found.is_same, str(found)
        assert found.cases[0].runner.startswith("onnxruntime")
        other = program(lambda x: call("Neg", x))
        found = onnx.verify(given, other)
        assert found.cases[0].outcome == "different"

    @needs_runtime
    def test_loops_without_an_end_are_given_up(self, monkeypatch):
        monkeypatch.setattr(_onnxruntime, "MAX_SECONDS", 0.3)
        found = onnx.verify(given := program(endless), given)
        reasons = {case.runner.split()[0]: case.reason for case in found.cases}
        assert reasons["onnxruntime"] == "onnxruntime took longer than 0.3 s"
        assert "it takes too many steps" in reasons["isoform's"]
        assert {case.outcome for case in found.cases} == {"not run"}

    @needs_runtime
    def test_strings_go_through_pipes(self):
        ty = onnx.TensorType("string", [onnx.Dim("n")])
        given = program(lambda x: call("Identity", x), ty)
        found = onnx.verify(given, given)
        assert found.is_same, str(found)
        assert found.cases[0].runner.startswith("onnxruntime")


def test_the_command_verifies_and_leaves_nothing_behind(tmp_path):
    onnx.save(program(clumsy), tmp_path / "m.onnx")
    command = [sys.executable, "-m", "isoform", "optimize", "--verify", "m.onnx", "s.onnx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    runner = "isoform's evaluator" if _onnxruntime.find() is None else "onnxruntime"
    assert done.stdout.startswith(f"verified by {runner}")
    assert "4 → 1 nodes" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "s.onnx"]
