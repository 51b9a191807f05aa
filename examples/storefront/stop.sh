#!/bin/sh
# stop.sh [DIRECTORY]: stops the storefront on every target whose releases lie in DIRECTORY (.slipway/storefront).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
directory=${1:-$here/../../.slipway/storefront}

for pid_file in "$directory"/*/app.pid; do
  [ -f "$pid_file" ] || continue
  root=$(cd -P "$(dirname "$pid_file")" && pwd)
  echo "${root##*/}: $(sh "$here/app/control.sh" stop "$root")"
done
