#!/usr/bin/env bash
# Measures how long a developer waits after an edit: wall clock, and processor time.
# Every command runs once before the edit, so that only the edit is compiled again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CARGO=${CARGO:-cargo}
TIMEFORMAT='%R s (%U s of processor time)'

# after_edit TITLE FILE COMMAND…
after_edit() {
    local title=$1 file=$2
    shift 2
    "$@" >/dev/null 2>&1
    touch "$file"
    printf '%s: ' "$title"
    time "$@" >/dev/null 2>&1
}

after_edit 'an edit of the kernel, and a check of everything' \
    crates/isoform/src/kernel/value.rs \
    "$CARGO" check --workspace --all-features --locked --all-targets
after_edit 'an edit of a pass over relay, and all tests of the dialect' \
    crates/isoform-relay/src/passes/dead_code.rs \
    "$CARGO" test -p isoform-relay --locked
after_edit 'an edit of the optimiser of models, and its tests' \
    crates/isoform-onnx/src/optimize/rewriter.rs \
    "$CARGO" test -p isoform-onnx --locked --test it optimize::
