# Puts the release beside the earlier ones, makes it the current one and restarts the shop.
set -eu

version=$SLIPWAY_VAR_VERSION
shop=$HOME/shop
release=$shop/releases/$version
before=$shop/before/$SLIPWAY_DEPLOYMENT_ID

mkdir -p "$release" "$shop/settings" "$shop/before"
cp server.mjs "$release/server.mjs"
echo "$version" >"$release/VERSION"
printf '%s' "$SLIPWAY_VAR_PORT" >"$shop/settings/PORT"
printf '%s' "$SLIPWAY_VAR_REGION" >"$shop/settings/REGION"

# For the rollback. A second attempt of this deployment must not replace the note of the first one.
if [ ! -e "$before" ]; then
  readlink "$shop/current" >"$before.new" || true
  mv "$before.new" "$before"
fi
ln -sfn "releases/$version" "$shop/current"
sh "$HOME/control.sh" restart "$shop"
