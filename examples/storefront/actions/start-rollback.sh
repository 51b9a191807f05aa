# Stops the release that failed. Which one runs instead is decided by the rollback of "switch", which comes next.
set -eu

root=$SLIPWAY_VAR_BASE_DIRECTORY/$SLIPWAY_VAR_DIRECTORY
if [ -f "$root/current/control.sh" ]; then sh "$root/current/control.sh" stop "$root"; fi
