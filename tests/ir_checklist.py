"""The entry of the `tvm.ir` interface covered by a test.

An entry is a class (C01 to C45), a method or property of one (C18.3), a
function (F1 to F8), or something used with the interface (X1 to X7).
"""

METHODS = {
    "C02": 2,
    "C07": 1,
    "C08": 5,
    "C09": 2,
    "C12": 2,
    "C13": 1,
    "C14": 1,
    "C16": 4,
    "C18": 15,
    "C19": 12,
    "C20": 1,
    "C30": 1,
    "C37": 1,
}

IDS = [
    *(
        name
        for number in range(1, 46)
        for key in [f"C{number:02}"]
        for name in [key, *(f"{key}.{method}" for method in range(1, METHODS.get(key, 0) + 1))]
    ),
    *(f"F{number}" for number in range(1, 9)),
    *("X1", "X2", "X3", "X4", "X5", "X6", "X7"),
]


def covers(*ids):
    """Name the entries covered by the decorated test."""
    unknown = [name for name in ids if name not in IDS]
    if unknown:
        raise ValueError(f"no such entry: {', '.join(unknown)}")
    return lambda test: test
