"""`__verify__` and `isoform.verify`: all failures with their paths."""

import pytest

import isoform
import nodes
from isoform import Object, verify
from isoform.access_path import AccessPath
from isoform.dataclasses import py_class


@py_class("verify.Positive")
class Positive(Object):
    n: int

    def __verify__(self):
        if self.n <= 0:
            raise ValueError(f"{self.n} is not positive")


@py_class("verify.Small")
class Small(Positive):
    def __verify__(self):
        if self.n > 10:
            raise TypeError(f"{self.n} is too large")


def test_nothing_to_report():
    assert not verify([Positive(1), nodes.Box(Small(2))])
    assert verify(nodes.Box(1), raise_on_error=False) == []
    assert verify(5, raise_on_error=False) == []


def test_all_failures_are_reported():
    root = nodes.Add(Positive(-1), [nodes.Box(Small(11)), Positive(3), Positive(-2)])
    failures = verify(root, raise_on_error=False)
    assert all(isinstance(path, AccessPath) for path, _ in failures)
    found = {str(path): (type(error), str(error)) for path, error in failures}
    assert found == {
        "<root>.lhs": (ValueError, "-1 is not positive"),
        "<root>.rhs[0].v": (TypeError, "11 is too large"),
        "<root>.rhs[2]": (ValueError, "-2 is not positive"),
    }
    for path, _ in failures:
        assert isinstance(path.get(root), Positive)


def test_raising_lists_everything():
    root = nodes.Add(Positive(-1), Small(11))
    for call in (lambda: verify(root), lambda: verify(root, raise_on_error=True)):
        with pytest.raises(ValueError) as caught:
            call()
        text = str(caught.value)
        for part in ("<root>.lhs", "-1 is not positive", "<root>.rhs", "11 is too large"):
            assert part in text


def test_verifiers_of_parents_run_too():
    failures = verify(Small(-5), raise_on_error=False)
    assert [str(error) for _, error in failures] == ["-5 is not positive"]


def test_shared_nodes_are_verified_once(key):
    calls = []

    @py_class(key())
    class Node(Object):
        n: int

        def __verify__(self):
            calls.append(self.n)

    node = Node(1)
    assert verify(nodes.doubled(40, node), raise_on_error=False) == []
    assert calls == [1]


def test_deep_chain():
    failures = verify(nodes.chain(100_000, Positive(0)), raise_on_error=False)
    assert len(failures) == 1
    assert failures[0][0].depth == 100_000


def test_a_verifier_may_look_at_the_whole_node(key):
    @py_class(key())
    class Lam(Object):
        params: list
        body: nodes.Add

        def __verify__(self):
            if self.body.lhs not in list(self.params):
                raise ValueError("lhs is no parameter")

    x = nodes.Var("x")
    assert verify(Lam([x], nodes.Add(x, 1)), raise_on_error=False) == []
    assert len(verify(Lam([], nodes.Add(x, 1)), raise_on_error=False)) == 1


def test_what_is_no_report_propagates(key):
    @py_class(key())
    class Node(Object):
        n: int

        def __verify__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(Node(1), raise_on_error=False)


def test_verification_is_never_automatic():
    assert Positive(-1).n == -1
    assert isoform.structural_equal(Positive(-1), Positive(-1))


def test_what_is_no_report_ends_the_verification(key):
    calls = []

    @py_class(key())
    class Node(Object):
        n: int

        def __verify__(self):
            calls.append(self.n)
            raise SystemExit(self.n)

    with pytest.raises(SystemExit) as caught:
        verify([Node(1), Node(2), Node(3)], raise_on_error=False)
    assert caught.value.code == 1
    assert calls == [1]
