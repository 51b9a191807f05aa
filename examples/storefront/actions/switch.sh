# Points `current` at the new release and `settings` at this deployment's settings. What they were before is kept under
# the deployment's id, for the rollback; a second try of the same deployment finds that note and leaves it alone.
set -eu

root=$SLIPWAY_VAR_BASE_DIRECTORY/$SLIPWAY_VAR_DIRECTORY
note=$root/switches/$SLIPWAY_DEPLOYMENT_ID
settings=$root/settings.d/$SLIPWAY_DEPLOYMENT_ID

# A rename, so that nobody ever finds the link missing. (-T: GNU, -h: BSD; both mean "replace the link itself".)
point() {
  ln -sfn "$2" "$1.new"
  mv -fT "$1.new" "$1" 2>/dev/null || mv -fh "$1.new" "$1"
}

[ -f "$root/releases/$SLIPWAY_VAR_VERSION/server.mjs" ] ||
  { echo "version $SLIPWAY_VAR_VERSION is not unpacked in $root/releases" >&2; exit 1; }

if [ ! -d "$note" ]; then
  mkdir -p "$root/switches"
  rm -rf "$note.new"
  mkdir "$note.new"
  for link in current settings; do
    [ ! -L "$root/$link" ] || cp -P "$root/$link" "$note.new/$link"
  done
  mv "$note.new" "$note"
fi

# One file for each environment variable: values of any content need no quoting.
mkdir -p "$settings"
printf '%s' "$((SLIPWAY_VAR_FIRST_PORT + SLIPWAY_VAR_NUMBER))" >"$settings/PORT"
printf '%s' "$SLIPWAY_TARGET_NAME" >"$settings/TARGET"
printf '%s' "$SLIPWAY_VAR_GREETING" >"$settings/GREETING"
printf '%s' "$SLIPWAY_VAR_COLOUR" >"$settings/COLOUR"
printf '%s' "$SLIPWAY_VAR_FAIL_HEALTH" >"$settings/FAIL_HEALTH"

before=$(readlink "$root/current" || echo nothing)
point "$root/settings" "settings.d/$SLIPWAY_DEPLOYMENT_ID"
point "$root/current" "releases/$SLIPWAY_VAR_VERSION"
echo "current: ${before#releases/} -> $SLIPWAY_VAR_VERSION"
