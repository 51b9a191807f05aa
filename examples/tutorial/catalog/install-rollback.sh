# Makes the release current that was so before this deployment, and restarts the shop.
set -eu

shop=$HOME/shop
note=$shop/before/$SLIPWAY_DEPLOYMENT_ID
if [ ! -e "$note" ]; then
  echo "this deployment changed nothing here"
  exit 0
fi
before=$(cat "$note")
if [ -z "$before" ]; then
  sh "$HOME/control.sh" stop "$shop"
  rm -f "$shop/current"
  echo "there was no release before: the shop is stopped"
  exit 0
fi
ln -sfn "$before" "$shop/current"
echo "back at ${before#releases/}"
sh "$HOME/control.sh" restart "$shop"
