#!/usr/bin/env bash
# scripts/phase.sh NAME COMMAND...: runs a part of a start without its output, and says how long it takes: every 4 s, and at its
# end unless that is within 1 s. If the command fails, prints all of its output.
set -uo pipefail
name=$1
shift
log="$(mktemp)"
# The sleep must not keep the output open after the end of this script.
while sleep 4 </dev/null >/dev/null 2>&1; do echo "slipway: $name … $SECONDS s"; done &
ticker=$!
trap 'kill "$ticker" 2>/dev/null; rm -f "$log"' EXIT
status=0
"$@" </dev/null >"$log" 2>&1 || status=$?
if [ $status -ne 0 ]; then
  cat "$log" >&2
  echo "slipway: $name failed after $SECONDS s" >&2
elif [ $SECONDS -gt 0 ]; then
  echo "slipway: $name: $SECONDS s"
fi
exit $status
