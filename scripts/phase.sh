#!/usr/bin/env bash
# scripts/phase.sh NAME COMMAND...: runs a part of a start without its output, and says how long it takes: every 4 s, and at its
# end unless that is within 1 s. If the command fails, prints all of its output.
set -uo pipefail
name=$1
shift
log="$(mktemp)"
# SECONDS counts whole seconds of the clock: a part of 30 ms could take one.
begin=${EPOCHREALTIME/[.,]/}
seconds() { echo $(((${EPOCHREALTIME/[.,]/} - begin) / 1000000)); }
# The sleep must not keep the output open after the end of this script.
while sleep 4 </dev/null >/dev/null 2>&1; do echo "slipway: $name … $(seconds) s"; done &
ticker=$!
trap 'kill "$ticker" 2>/dev/null; rm -f "$log"' EXIT
status=0
"$@" </dev/null >"$log" 2>&1 || status=$?
if [ $status -ne 0 ]; then
  cat "$log" >&2
  echo "slipway: $name failed after $(seconds) s" >&2
elif [ "$(seconds)" -gt 0 ]; then
  echo "slipway: $name: $(seconds) s"
fi
exit $status
