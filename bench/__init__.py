"""Isoform beside its peers, in one process.

    python -m bench [--quick] [--only TEXT] [--markdown FILE]

`make bench-python` runs it in a separate environment. Both sides run the same program,
alternately, and the median of the ratios counts: times of different runs, or of
different machines, compare the machines.
"""
