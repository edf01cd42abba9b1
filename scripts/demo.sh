#!/usr/bin/env bash
# Shows Isoform at work on real models and on programs of an IR.
#
#     scripts/demo.sh command    builds the command `isoform`, and asks it about models
#     scripts/demo.sh package    the same core from Python; .venv has the package already
#
# Every exit status is checked (0 equal, 1 different, 2 error); a wrong status stops the
# demo with status 1. Run it through `make demo`, which fetches the models first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CARGO=${CARGO:-cargo}
PYTHON=${PYTHON:-.venv/bin/python}
MODELS=${MODELS:-.cache/models}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

die() {
    printf 'demo: %s\n' "$*" >&2
    exit 1
}

heading() {
    printf '\n=== %s\n' "$*"
}

# expect STATUS LINES COMMAND…: echo the command, run it, print the start of its output,
# check its status.
expect() {
    local wanted=$1 most=$2 got=0 lines
    shift 2
    local shown="$*"
    shown=${shown//"$isoform"/isoform}
    shown=${shown//"$PYTHON"/python}
    shown=${shown//"$scratch"\//}
    shown=${shown//"$MODELS"\//}
    printf '\n$ %s\n' "$shown"
    "$@" >"$scratch/output" 2>&1 || got=$?
    head -n "$most" "$scratch/output" | sed "s|$scratch/||g"
    lines=$(wc -l <"$scratch/output")
    if ((lines > most)); then
        printf '… %d more lines\n' $((lines - most))
    fi
    if ((got != wanted)); then
        tail -n 20 "$scratch/output" >&2
        die "'$shown' exited with $got where $wanted was expected"
    fi
}

# edited OPERATION MODEL NAME: an edited copy of a model, named NAME.
edited() {
    "$PYTHON" scripts/edit_model.py "$1" "$2" "$scratch/$3" --seed 1 >"$scratch/output" ||
        die "scripts/edit_model.py $1 failed: $(<"$scratch/output")"
}

# The command, without the lines of cargo unless the build fails.
build_command() {
    scripts/quietly.sh 'building the command isoform' \
        "$CARGO" build --profile quick --locked -p isoform-cli
}

[[ -d $MODELS ]] || die "no models in $MODELS; run 'make demo', which fetches them"
[[ -x $PYTHON ]] || die "no $PYTHON; run 'make demo', which sets it up"
isoform=${CARGO_TARGET_DIR:-target}/quick/isoform
model=$MODELS/light_squeezenet.onnx
module=examples/ir/residual.iso

ask_command() {
    build_command

    heading 'A model as a program: one line for each node'
    expect 0 6 "$isoform" show "$model"

    heading 'Are these two the same program?'
    printf 'The first copy has other names and another order of nodes: equal, status 0.\n'
    edited scramble "$model" scrambled.onnx
    expect 0 3 "$isoform" diff "$model" "$scratch/scrambled.onnx"
    printf '\nIn the second copy, one attribute differs: status 1.\n'
    edited edit-attribute "$model" attribute.onnx
    expect 1 5 "$isoform" diff "$model" "$scratch/attribute.onnx"
    printf '\nIn the third copy, one weight moved by the smallest step.\n'
    edited edit-weight "$model" weight.onnx
    expect 1 6 "$isoform" diff "$model" "$scratch/weight.onnx"
    expect 0 2 "$isoform" diff --architecture "$model" "$scratch/weight.onnx"

    heading 'Which of many models are the same program? An index tells'
    expect 0 1 "$isoform" index "$MODELS" -o "$scratch/models.parquet"
    expect 0 4 "$isoform" dedup "$scratch/models.parquet"
    expect 0 2 "$isoform" find "$scratch/weight.onnx" "$scratch/models.parquet"

    heading 'How small can a model be made without changing its results?'
    expect 0 3 "$isoform" optimize --explain "$MODELS/light_shufflenet.onnx" "$scratch/small.onnx"
    expect 0 3 "$isoform" diff --simplify "$MODELS/light_shufflenet.onnx" "$scratch/small.onnx"

    heading 'A program of an IR, as text, JSON graph and binary form'
    expect 0 2 "$isoform" convert "$module" "$scratch/module.isob"
    expect 0 3 "$isoform" hash "$module" "$scratch/module.isob"
    sed 's/args=\[%x, %w\]/args=[%w, %x]/' "$module" >"$scratch/swapped.iso"
    expect 1 8 "$isoform" diff "$module" "$scratch/swapped.iso"
}

ask_package() {
    heading 'The same core in Python: declare node types once'
    expect 0 8 "$PYTHON" examples/quickstart.py

    heading 'Passes written in Python, on a model'
    expect 0 8 "$PYTHON" -m isoform run --import examples/onnx_passes.py --changes --limit 4 \
        --width 80 'onnx.GuardDropout,onnx.CollapseIfs' "$model"

    heading 'Passes of the library, on a program of Relay'
    expect 0 7 "$PYTHON" -m isoform run --changes --limit 4 --width 80 --verify --opt-level 3 \
        FoldConstant,EliminateCommonSubexpr,DeadCodeElimination examples/ir/relay.iso
    printf '\nMore: the pages in docs/, the programs in examples/, and `%s --help`.\n' "$isoform"
}

case ${1:-} in
command) ask_command ;;
package) ask_package ;;
*) die "usage: scripts/demo.sh command|package" ;;
esac
