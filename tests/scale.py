"""The sizes of large tests."""

import os

_DIVISOR = max(1, int(os.environ.get("ISOFORM_TEST_SCALE", "1")))


def scaled(full: int) -> int:
    """`full` divided by the environment variable `ISOFORM_TEST_SCALE`, at least 10."""
    return max(10, full // _DIVISOR)
