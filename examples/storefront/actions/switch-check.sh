# Whether `current` still points at the deployed release. Exit code 1: it does not.
set -u

root=$SLIPWAY_VAR_BASE_DIRECTORY/$SLIPWAY_VAR_DIRECTORY
current=$(readlink "$root/current") || { echo "nothing is current in $root"; exit 1; }
[ "$current" = "releases/$SLIPWAY_VAR_VERSION" ] ||
  { echo "current is ${current#releases/} instead of $SLIPWAY_VAR_VERSION"; exit 1; }
