"""The cases of `tests/cases`, on classes that Python and Rust declare.

`crates/isoform-tests/tests/it/cases.rs` runs the same files on types of Rust, on types
registered at run time and against canonical texts.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import isoform
import isoform.testing
import nodes
from isoform import structural_digest, structural_equal, structural_hash, text

FOLDER = Path(__file__).parent / "cases"
# The number of cases in the files; a case is one verdict.
COUNT = 244
GROUPS = 69


class Case(NamedTuple):
    """One verdict of a block, with the values and options of the comparison."""

    name: str
    mapped: bool
    text: str
    binder: str
    says: str
    hash: str
    digest: str


NAMES = {"equal": "same", "different": "other", "TypeError": "none", "ValueError": "none"}
VERDICT = re.compile(
    r"(?:F is (?P<binders>\w+(?:, \w+)*): )?"
    r"(?P<says>equal|(?P<kind>different|TypeError|ValueError) at <root>[^;]*)"
    r"(?:; hash: (?P<hash>same|other|none))?(?:; digest: (?P<digest>same|other|none))?"
)


def cases_of(name: str, content: str) -> list[Case]:
    """The cases of a file, in the format of `cases/README.md`."""
    cases = []
    head, *blocks = re.split(r"^## ", content, flags=re.MULTILINE)
    assert all(line.startswith("// ") for line in head.splitlines() if line), name
    for block in blocks:
        sentence, *lines = [
            line for line in block.splitlines() if line and not line.startswith("// ")
        ]
        place = f"{name}: {sentence}"
        definitions = [line for line in lines if line[0] in "%@"]
        sides = [line for line in lines if line.startswith(("left: ", "right: "))]
        assert [side.split(": ")[0] for side in sides] == ["left", "right"], place
        left, right = (side.split(": ", 1)[1] for side in sides)
        others = {"map_free_vars", *definitions, *sides}
        verdicts = [line for line in lines if line not in others]
        assert verdicts, f"{place}: no verdict"
        for line in verdicts:
            verdict = VERDICT.fullmatch(line)
            assert verdict, f"{place}: neither a part of a case nor a verdict: {line}"
            names = NAMES[verdict["kind"] or "equal"]
            cases += [
                Case(
                    f"{place} {binder}".strip(),
                    "map_free_vars" in lines,
                    "\n".join([*definitions, f"[{left}, {right}]"]),
                    binder,
                    verdict["says"],
                    verdict["hash"] or names,
                    verdict["digest"] or names,
                )
                for binder in (verdict["binders"] or "").split(", ")
            ]
    return cases


FILES = sorted(path for path in FOLDER.glob("*.txt") if path.name != "values.txt")
CASES = [case for path in FILES for case in cases_of(path.stem, path.read_text("utf-8"))]


@isoform.register_global_func("cases.plain", override=True)
def plain() -> None:
    """Is compared with itself."""


def sides(case: Case, family: Any) -> Any:
    """The two values, made of the types of a family."""

    def keyed(found: re.Match[str]) -> str:
        name = case.binder if found[0] == "F" else found[0]
        cls = getattr(family, name, None)
        return cls.__isoform_type_key__ if cls else found[0]

    return text.from_text(re.sub(r"(?<![\w.])[A-Z]\w*(?=\()", keyed, case.text))


def outcome(call: Callable[[], Any]) -> str:
    """The verdict for the result of a call."""
    try:
        found = call()
    except (TypeError, ValueError) as error:
        place = re.search(r"\(at (.*)\)$", str(error))
        return f"{type(error).__name__} at {place and place[1]}"
    if isinstance(found, bool):
        return "equal" if found else "different"
    if found is None:
        return "equal"
    return f"different at {' and '.join(dict.fromkeys(map(str, found)))}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_holds(family, case):
    left, right = sides(case, family)
    flags = {"map_free_vars": case.mapped}
    mismatch = outcome(lambda: isoform.get_first_structural_mismatch(left, right, **flags))
    expr = family.Expr.__isoform_type_key__
    assert mismatch.replace(expr.removesuffix("Expr"), "") == case.says
    says = "different" if case.says.startswith("different") else case.says
    for one, two in ((left, right), (right, left)):
        for answer in (
            lambda: structural_equal(one, two, **flags),
            lambda: isoform.testing.oracle_equal(one, two, **flags),
            lambda: isoform.get_first_structural_mismatch(one, two, **flags) is None,
            lambda: isoform.explain_structural_mismatch(one, two, **flags) is None,
        ):
            assert outcome(answer) == says

    def names(function: Any) -> str:
        try:
            return "same" if function(left, **flags) == function(right, **flags) else "other"
        except (TypeError, ValueError):
            return "none"

    assert names(structural_hash) == case.hash
    assert names(structural_digest) == case.digest


def test_every_case_is_read():
    assert len(CASES) == COUNT
    assert len({case.name for case in CASES}) == COUNT


@pytest.mark.parametrize(
    "content",
    [
        "left: 1",
        "## a\nleft: 1\nequal",
        "## a\nleft: 1\nright: 1",
        "## a\nleft: 1\nright: 1\nsimilar",
        "## a\nleft: 1\nright: 2\ndifferent",
        "## a\nleft: 1\nright: 1\nequal; hash: maybe",
        "## a\nmap_all\nleft: 1\nright: 1\nequal",
    ],
)
def test_a_malformed_case_is_refused(content):
    with pytest.raises(AssertionError):
        cases_of("x", content)


@pytest.mark.parametrize(
    "verdict",
    [
        "equal",
        "different at <root>",
        "different at <root>.rhs; hash: same",
        "different at <root>.rhs; digest: none",
        "TypeError at <root>.rhs",
    ],
)
def test_a_wrong_case_is_noticed(family, verdict):
    content = f"## a\nleft: Add(lhs=1, rhs=2)\nright: Add(lhs=1, rhs=3)\n{verdict}"
    (case,) = cases_of("x", content)
    with pytest.raises(AssertionError):
        test_case_holds(family, case)


VALUES = [
    text.from_text(line)
    for line in (FOLDER / "values.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("// ")
]


def test_values_of_one_line_are_equal_and_of_two_are_not():
    assert len(VALUES) == GROUPS
    labelled = [(n, value) for n, group in enumerate(VALUES) for value in group]
    for n, left in labelled:
        for m, right in labelled:
            same = n == m
            assert structural_equal(left, right) is same, (left, right)
            assert (structural_hash(left) == structural_hash(right)) is same, (left, right)
            boxed = nodes.Box(left), nodes.Box(right)
            assert structural_equal(*boxed) is same, boxed
            assert isoform.testing.oracle_equal(left, right) is same, (left, right)
