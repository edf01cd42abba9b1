"""Every entry of the `tvm.ir` interface has a test."""

import re
from pathlib import Path

import pytest
from ir_checklist import IDS, covers


def covered(text):
    """Find the ids named by decorators in a source."""
    found = re.findall(r"^@covers\(([^)]*)\)", text, re.MULTILINE)
    return {name for call in found for name in re.findall(r'"([^"]+)"', call)}


def test_each_entry_has_a_test():
    sources = Path(__file__).parent.glob("test_ir_*.py")
    known = set().union(*(covered(path.read_text()) for path in sources))
    assert sorted(set(IDS) - known) == []


def test_the_number_of_entries():
    classes = [name for name in IDS if name[0] == "C" and "." not in name]
    methods = [name for name in IDS if "." in name]
    functions = [name for name in IDS if name[0] == "F"]
    assert (len(classes), len(methods), len(functions)) == (45, 48, 8)


def test_a_missing_id_is_noticed():
    assert covered('@covers("C01", "C02.1")\ndef test(): ...\n') == {"C01", "C02.1"}
    assert covered('# @covers("C01")\n') == set()
    with pytest.raises(ValueError, match="no such entry: C46"):
        covers("C46")
