# Unpacks the artifact into releases/VERSION, once: a version that is there already is left as it is.
set -eu

version=$SLIPWAY_VAR_VERSION
artifact=$SLIPWAY_VAR_ARTIFACT
expected=$SLIPWAY_VAR_SHA256
releases=$SLIPWAY_VAR_BASE_DIRECTORY/$SLIPWAY_VAR_DIRECTORY/releases
release=$releases/$version

fail() {
  echo "$*" >&2
  exit 1
}

case $version in
  '' | .* | *[!A-Za-z0-9.+-]*) fail "'$version' is no version; write it like 1.0.0" ;;
esac

# The checksum is written before the folder gets its name: where it is, the release is whole.
if [ -f "$release/.sha256" ]; then
  [ "$(cat "$release/.sha256")" = "$expected" ] ||
    fail "version $version is here already with other content; a published version never changes, so raise the version"
  echo "storefront $version is unpacked already"
  exit 0
fi

[ -f "$artifact" ] || fail "there is no artifact at $artifact"
if command -v sha256sum >/dev/null; then sum=$(sha256sum <"$artifact"); else sum=$(shasum -a 256 <"$artifact"); fi
[ "${sum%% *}" = "$expected" ] || fail "$artifact has the checksum ${sum%% *}, expected $expected"

# A try that was killed may have left the same folder half full.
unpacking=$releases/.unpacking-$SLIPWAY_DEPLOYMENT_ID
rm -rf "$unpacking"
mkdir -p "$unpacking"
tar -xzf "$artifact" -C "$unpacking"
echo "$expected" >"$unpacking/.sha256"
rm -rf "$release"
mv "$unpacking" "$release"
echo "unpacked storefront $version ($(wc -c <"$artifact" | tr -d ' ') bytes, checksum as expected)"
