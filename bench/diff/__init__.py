"""Differences of documents and of models, beside those of other tools.

    python -m bench.diff [--quick] [--command PATH] [--markdown FILE]

`make bench-diff` runs it in an environment of its own. Both sides of a row run
alternately in one session, and whoever makes a patch has to apply it: what counts is
the median of the ratios of those that are right.
"""
