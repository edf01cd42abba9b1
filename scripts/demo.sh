#!/usr/bin/env bash
# Shows what the `isoform` command says about real models: one model printed, the
# programs that occur twice, and models compared with edited copies of themselves;
# pipelines of passes, with what each of them changes; then about a module of an IR.
# Every exit status is checked (0 equal, 1 different, 2 trouble); a wrong one stops
# the demo with status 1. Run it through `make demo`, which fetches the models first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CARGO=${CARGO:-cargo}
PYTHON=${PYTHON:-.venv/bin/python}
MODELS=${MODELS:-.cache/models}
SHOWN_LINES=${SHOWN_LINES:-40}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
checks=0

die() {
    printf 'demo: %s\n' "$*" >&2
    exit 1
}

heading() {
    printf '\n=== %s\n' "$*"
}

explain() {
    printf '%s\n' "$@"
}

# A long output is cut, and says so.
print_cut() {
    local file=$1 lines
    lines=$(wc -l <"$file")
    head -n "$SHOWN_LINES" "$file"
    if ((lines > SHOWN_LINES)); then
        printf '… %d more lines\n' $((lines - SHOWN_LINES))
    fi
}

# expect STATUS COMMAND…: echo the command, run it, print its output, check its status.
expect() {
    local wanted=$1 got=0
    shift
    local shown="$*"
    shown=${shown//"$isoform"/isoform}
    shown=${shown//"$PYTHON" -m isoform/python -m isoform}
    shown=${shown//"$scratch"\//}
    shown=${shown//"$MODELS"\//}
    printf '\n$ %s\n' "$shown"
    "$@" >"$scratch/output" 2>&1 || got=$?
    print_cut "$scratch/output"
    printf '[exit status %d]\n' "$got"
    if ((got != wanted)); then
        die "'$shown' exited with $got where $wanted was due"
    fi
    checks=$((checks + 1))
}

# edit OPERATION IN OUT: make an edited copy; the script's one line says what it did.
edit() {
    expect 0 "$PYTHON" scripts/edit_model.py "$1" "$2" "$3" --seed 1
    [[ -s $3 ]] || die "scripts/edit_model.py $1 wrote no model"
}

compare_with_copies() {
    local model=$1 name
    name=$(basename "$model")

    heading "$name against a copy with every name changed and the nodes shuffled"
    explain 'Names and the order of independent nodes are no part of a program: equal, status 0.'
    edit scramble "$model" "$scratch/scrambled.onnx"
    expect 0 "$isoform" diff "$model" "$scratch/scrambled.onnx"

    heading "$name against a copy with one attribute of one operator changed"
    explain 'Another program: status 1, a summary, and the change.'
    edit edit-attribute "$model" "$scratch/attribute.onnx"
    expect 1 "$isoform" diff "$model" "$scratch/attribute.onnx"

    heading "$name against a copy with one weight moved by the smallest step"
    explain 'One float of one tensor differs in its last bit: status 1.'
    edit edit-weight "$model" "$scratch/weight.onnx"
    expect 1 "$isoform" diff "$model" "$scratch/weight.onnx"

    explain '' 'Without the contents of the weights the two are one architecture: status 0.'
    expect 0 "$isoform" diff --architecture "$model" "$scratch/weight.onnx"
}

[[ -d $MODELS ]] || die "no models in $MODELS; run 'make demo', which fetches them"
[[ -x $PYTHON ]] || die "no $PYTHON; run 'make demo', which sets it up"

heading 'Build the command'
"$CARGO" build --profile quick --locked -p isoform-cli
target=$("$CARGO" metadata --format-version 1 --no-deps --locked |
    "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
isoform=$target/quick/isoform
[[ -x $isoform ]] || die "the build left no $isoform"

mapfile -t magika < <(find "$MODELS" -ipath "$MODELS/*magika*" -name '*.onnx' | LC_ALL=C sort)
mapfile -t light < <(find "$MODELS" -name 'light_*.onnx' | LC_ALL=C sort)
((${#magika[@]} >= 1)) || die "no magika model in $MODELS"
((${#light[@]} >= 3)) || die "three light_* models are needed in $MODELS, there are ${#light[@]}"

heading 'A model as a program'
explain 'What the file computes, printed without the noise of its names.'
expect 0 "$isoform" show "${magika[0]}"

heading 'Programs that occur more than once'
explain 'Every model of the folder gets the digest of its program; equal digests are equal programs.'
expect 0 "$isoform" dedup "$MODELS"

for model in "${magika[0]}" "${light[@]:0:3}"; do
    compare_with_copies "$model"
done

transform_models() {
    local passes=(--import examples/onnx_passes.py)
    local report=(--changes --limit 10 --width 80)
    local model=$MODELS/light_squeezenet.onnx

    heading 'A pipeline of passes, and what each of them changes'
    explain 'Passes written in Python run on models. A line for each pass says how long it took' \
        'and what it changed, and the start of the difference follows.'
    expect 0 "$PYTHON" -m isoform run "${passes[@]}" "${report[@]}" \
        'onnx.GuardDropout,onnx.CollapseIfs,onnx.FoldConstants{limit=1048576}' "$model"

    explain '' 'A branch that is put around Dropout and taken again leaves the same program: equal.'
    expect 0 "$PYTHON" -m isoform run "${passes[@]}" \
        'onnx.GuardDropout{training=true},onnx.CollapseIfs' "$model" -o "$scratch/same.isob"
    expect 0 "$isoform" diff "$model" "$scratch/same.isob"

    explain '' 'In a larger model, most operators compute weights from constants.'
    expect 0 "$PYTHON" -m isoform run "${passes[@]}" "${report[@]}" \
        'onnx.CollapseIfs,onnx.FoldConstants' "$MODELS/light_densenet121.onnx"

    explain '' 'The passes of the library need no Python: here on a program of Relay.'
    expect 0 "$isoform" run --changes --limit 7 --width 80 --verify --opt-level 3 \
        'FoldConstant,EliminateCommonSubexpr,DeadCodeElimination' examples/ir/relay.iso
}

transform_models

optimize_models() {
    local model=${magika[0]} light=$MODELS/light_squeezenet.onnx

    heading 'A smaller model that computes the same, with the reasons and a check'
    explain 'Every bit of every output stays. The command of the Python package verifies with' \
        'onnxruntime if that is installed, and otherwise with the evaluator of Isoform.'
    expect 0 "$isoform" optimize --explain "$model" "$scratch/small.onnx"
    expect 0 "$isoform" optimize --verify "$light" "$scratch/light.onnx"

    explain '' 'What became of the nodes, with their own names.'
    expect 1 "$isoform" diff "$light" "$scratch/light.onnx"

    explain '' 'Simplified, the original is the optimised model; without, they are two programs.'
    expect 0 "$isoform" diff --simplify "$model" "$scratch/small.onnx"
    expect 1 "$isoform" diff -q "$model" "$scratch/small.onnx"

    explain '' 'The part of a model that computes one of its values.'
    expect 0 "$isoform" extract "$light" "$scratch/part.onnx" --to r9
    expect 0 "$isoform" show --limit 2 "$scratch/part.onnx"
}

optimize_models

heading 'A module of an IR, in every form'
explain 'Text, a JSON graph and the binary form hold the same program.'
module=examples/ir/residual.iso
expect 0 "$isoform" convert "$module" "$scratch/module.json"
expect 0 "$isoform" convert "$scratch/module.json" "$scratch/module.isob"
expect 0 "$isoform" hash "$module" "$scratch/module.json" "$scratch/module.isob"
expect 0 "$isoform" show "$scratch/module.isob"

explain '' 'Other names for variables: equal, status 0. Other operands: status 1, and the place.'
sed 's/%x/%data/g' "$module" >"$scratch/renamed.iso"
expect 0 "$isoform" diff "$scratch/module.json" "$scratch/renamed.iso"
sed 's/args=\[%x, %w\]/args=[%w, %x]/' "$module" >"$scratch/swapped.iso"
expect 1 "$isoform" diff "$scratch/module.json" "$scratch/swapped.iso"
expect 1 "$isoform" diff --first "$scratch/module.json" "$scratch/swapped.iso"

heading "Done: $checks commands, every one with the status foretold"
