#!/usr/bin/env bash
# Prints how many instructions the engines take per node, counted by valgrind's
# callgrind: the figure does not depend on what else the machine does. Arguments
# are names of figures to count in place of all of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CARGO=${CARGO:-cargo}
REPEATS=${REPEATS:-50}

if ! command -v valgrind >/dev/null 2>&1; then
    echo 'instructions.sh: skipped, there is no valgrind here'
    exit 0
fi

# The last executable that cargo names is the benchmark.
binary=$("$CARGO" bench -p isoform --bench instructions --no-run --message-format=json \
    | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
if [ ! -x "$binary" ]; then
    echo 'instructions.sh: cargo named no benchmark' >&2
    exit 1
fi

count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$1" "$2" 2>&1 \
        | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-20s %s\n' figure 'instructions per node'
"$binary" list | while read -r figure nodes; do
    if [ "$#" -gt 0 ] && ! printf '%s\n' "$@" | grep -qx -- "$figure"; then
        continue
    fi
    # The difference of two runs is free of what it takes to build the program.
    few=$(count "$figure" "$REPEATS")
    many=$(count "$figure" $((2 * REPEATS)))
    awk -v figure="$figure" -v total=$((many - few)) -v nodes=$((nodes * REPEATS)) \
        'BEGIN { printf "%-20s %.1f\n", figure, total / nodes }'
done
