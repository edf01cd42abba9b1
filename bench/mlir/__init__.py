"""Programs of MLIR, beside MLIR's own parser and xDSL.

    python -m bench.mlir [--quick] [--markdown FILE]

`make bench-mlir` runs it in a separate environment. All sides of a row run alternately in one
session; the median of the ratios counts.
"""
