"""Stores and functions that keep their results, beside those of other tools.

    python -m bench.store [--quick] [--markdown FILE]

`make bench-store` runs it in a separate environment. All sides of a row run alternately in
one session, each in a folder of its own; the median of the ratios counts, and every result
is checked.
"""
