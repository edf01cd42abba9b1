#!/usr/bin/env bash
# Runs a long command with one line of progress: quietly.sh TITLE COMMAND…
#
# On a terminal the line counts the lines that the command printed. The whole output
# appears only if the command fails, with its status.
set -euo pipefail

title=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
start=$SECONDS
# In a process group of its own, so that a signal ends the command and all that it started.
set -m
"$@" >"$log" 2>&1 </dev/null &
pid=$!
set +m
trap 'kill -- -"$pid" 2>/dev/null || true; exit 130' INT TERM
if [[ -t 1 ]]; then
    while kill -0 "$pid" 2>/dev/null; do
        printf '\r==> %s: %d steps, %d s ' "$title" "$(wc -l <"$log")" $((SECONDS - start))
        sleep 1
    done
    printf '\r\033[K'
fi
status=0
wait "$pid" || status=$?
printf '==> %s: %d s\n' "$title" $((SECONDS - start))
if ((status != 0)); then
    cat "$log" >&2
    printf 'error: %s failed with status %d\n' "$title" "$status" >&2
    exit "$status"
fi
