"""Isoform beside its peers, in one process.

    python -m bench [--quick] [--only TEXT] [--markdown FILE]

`make bench-python` runs it in an environment of its own. Both sides run the same
program, alternately, and what counts is the median of the ratios: times of
different runs, or of different machines, compare the machines.
"""
