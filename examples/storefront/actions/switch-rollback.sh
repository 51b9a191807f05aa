# Points `current` and `settings` back to what they were before this deployment and starts that again. The restart is
# here and not in the rollback of "start", because that one runs first, when `current` still names the failed release.
set -eu

root=$SLIPWAY_VAR_BASE_DIRECTORY/$SLIPWAY_VAR_DIRECTORY
note=$root/switches/$SLIPWAY_DEPLOYMENT_ID

if [ ! -d "$note" ]; then
  echo "nothing was switched"
  exit 0
fi

for link in settings current; do
  if [ -L "$note/$link" ]; then
    cp -P -f "$note/$link" "$root/$link.new"
    mv -fT "$root/$link.new" "$root/$link" 2>/dev/null || mv -fh "$root/$link.new" "$root/$link"
  else
    rm -f "$root/$link"
  fi
done

if [ ! -L "$root/current" ]; then
  echo "there was no release before: nothing is left to start"
  exit 0
fi
echo "back at $(cat "$root/current/VERSION")"
sh "$root/current/control.sh" restart "$root"
