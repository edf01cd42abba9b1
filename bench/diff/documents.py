"""Documents like those in files of JSON: a list of records, and three edits."""

from __future__ import annotations

import copy
from typing import Any

# A record has ten nodes: itself, its five values, and the contents of two values.
RECORDS = (21, 63, 210, 630)

Document = dict[str, Any]


def document(records: int) -> Document:
    """Return a document with the given number of records."""
    return {"version": 1, "records": [record(number) for number in range(records)]}


def record(number: int) -> Document:
    """Return a record; the number makes the record unique."""
    return {
        "id": number,
        "name": f"record {number}",
        "tags": ["a", "b", f"tag {number % 7}"],
        "place": {"x": number, "y": 2 * number},
    }


def edited(original: Document) -> Document:
    """Return a copy with a changed value, an inserted record and a deleted record."""
    result = copy.deepcopy(original)
    records = result["records"]
    count = len(records)
    records[count // 4]["place"]["x"] = -1
    records.insert(count // 2, record(-1))
    del records[3 * count // 4]
    return result


def nodes(value: Any) -> int:
    """Count the values in a document; keys belong to their mapping."""
    count = 0
    todo = [value]
    while todo:
        value = todo.pop()
        count += 1
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return count
