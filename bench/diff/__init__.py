"""Differences of documents and of models, beside the differences of other tools.

    python -m bench.diff [--quick] [--command PATH] [--markdown FILE]

`make bench-diff` runs it in a separate environment. Both sides of a row run alternately
in one session, and a tool that makes a patch has to apply the patch: the median of the
ratios of the correct runs counts.
"""
