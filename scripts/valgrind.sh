#!/usr/bin/env bash
# Runs the tests of the object model, the containers and the threads under
# valgrind, with small sizes. An invalid access or a lost block is an error; the
# entries of the type table live as long as the process and are no leak.
# Further arguments are names of tests to run in place of the usual ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CARGO=${CARGO:-cargo}
# Sizes are divided by this: ten million nodes become two thousand.
export ISOFORM_TEST_SCALE=${ISOFORM_TEST_SCALE:-5000}

if ! command -v valgrind >/dev/null 2>&1; then
    echo 'valgrind.sh: skipped, there is no valgrind here'
    exit 0
fi

# The last executable that cargo names is the test binary.
binary=$("$CARGO" test -p isoform-tests --test it --no-run --message-format=json \
    | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
if [ ! -x "$binary" ]; then
    echo 'valgrind.sh: cargo named no test binary' >&2
    exit 1
fi

if [ "$#" -eq 0 ]; then
    set -- object_model:: containers:: threads:: values:: registry:: paths:: walk:: digest:: keys:: \
        mutable:: mutation:: cycles:: json:: binary:: layout:: type_attrs:: type_hooks functions:: node_traits::
fi

# A destructor that panics may leave blocks behind, on purpose: see the test.
# What hangs on a lost block only adds to its report, so the blocks themselves count.
valgrind --error-exitcode=1 --suppressions=scripts/valgrind.supp --leak-check=full --errors-for-leak-kinds=definite \
    --show-leak-kinds=definite --num-callers=30 \
    "$binary" --test-threads=2 --skip a_panic_in_a_destructor "$@"
