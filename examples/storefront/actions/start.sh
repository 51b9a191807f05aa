# Stops what runs and starts the current release. The release brings the script that does it.
set -eu

root=$SLIPWAY_VAR_BASE_DIRECTORY/$SLIPWAY_VAR_DIRECTORY
sh "$root/current/control.sh" restart "$root"
