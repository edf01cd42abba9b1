#!/usr/bin/env bash
# Runs the Python examples, and the one that compares models on two real ones.
# A status other than the one foretold stops with status 1. Run it through
# `make demo`, which sets up what it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PYTHON=${PYTHON:-.venv/bin/python}
MODELS=${MODELS:-.cache/models}

# expect STATUS ARGUMENT…: echo the command, run it, check its status.
expect() {
    local wanted=$1 got=0
    shift
    printf '\n$ python %s\n' "$*"
    "$PYTHON" "$@" || got=$?
    printf '[exit status %d]\n' "$got"
    if ((got != wanted)); then
        printf 'examples: %s exited with %d where %d was due\n' "$*" "$got" "$wanted" >&2
        exit 1
    fi
}

for example in examples/*.py; do
    if [[ $example != examples/onnx_diff.py ]]; then
        expect 0 "$example"
    fi
done
expect 0 examples/onnx_diff.py "$MODELS"/light_squeezenet.onnx "$MODELS"/light_squeezenet.onnx
expect 1 examples/onnx_diff.py "$MODELS"/light_squeezenet.onnx "$MODELS"/light_shufflenet.onnx
