"""The sizes of large tests."""

import os

_DIVISOR = max(1, int(os.environ.get("ISOFORM_TEST_SCALE", "1")))

# Whether tests run in full, as for releases.
FULL = _DIVISOR == 1


def scaled(full: int, least: int = 10) -> int:
    """`full` divided by the environment variable `ISOFORM_TEST_SCALE`, at least `least`."""
    return max(least, full // _DIVISOR)
