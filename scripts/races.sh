#!/usr/bin/env bash
# Runs the tests of threads under ThreadSanitizer, with small sizes. Two
# accesses to the same place that nothing orders are an error.
#
# The standard library is built anew, since what its locks order must be seen;
# this needs its source (`rustup component add rust-src`). The helgrind and drd
# of valgrind cannot stand in: they know the locks of pthreads, not atomics, and
# report thousands of places of the standard library in a sound test.
#
# Further arguments are names of tests to run in place of the usual ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CARGO=${CARGO:-cargo}
RUSTC=${RUSTC:-rustc}
# Sizes are divided by this, and the rounds of threads with them.
export ISOFORM_TEST_SCALE=${ISOFORM_TEST_SCALE:-50}

if [ ! -d "$("$RUSTC" --print sysroot)/lib/rustlib/src/rust/library" ]; then
    echo 'races.sh: skipped, the source of the standard library is not here (rustup component add rust-src)'
    exit 0
fi

if [ "$#" -eq 0 ]; then
    set -- threads:: mutation:: collect:: host:: host_lock::
fi

# A test binary of its own: nothing of the usual builds is instrumented.
host=$("$RUSTC" -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=thread"
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1}"
exec "$CARGO" test -p isoform -p isoform-tests --locked -Zbuild-std --target "$host" \
    --target-dir "${CARGO_TARGET_DIR:-target}/races" --lib --test it -- "$@"
