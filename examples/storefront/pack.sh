#!/bin/sh
# pack.sh VERSION DIRECTORY: packs app/ as DIRECTORY/storefront-VERSION.tar.gz, as a build pipeline would.
# Prints what a deployment needs to know as NAME=VALUE lines. The same content gives the same bytes, whoever packs it.
set -eu

version=${1:?usage: pack.sh VERSION DIRECTORY}
directory=${2:?usage: pack.sh VERSION DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)

case $version in
  '' | .* | *[!A-Za-z0-9.+-]*) echo "pack.sh: '$version' is no version; write it like 1.0.0" >&2; exit 64 ;;
esac

mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
artifact=$directory/storefront-$version.tar.gz
stage=$(mktemp -d "$directory/.packing.XXXXXX")
trap 'rm -rf "$stage"' EXIT

mkdir "$stage/app"
cp -R "$here/app/." "$stage/app/"
echo "$version" >"$stage/app/VERSION"
find "$stage/app" -type d -exec chmod 755 {} +
find "$stage/app" -type f -exec chmod 644 {} +
chmod 755 "$stage/app/control.sh"

if tar --version 2>/dev/null | grep -q GNU; then
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --format=ustar -C "$stage/app" -cf "$stage/app.tar" .
else
  find "$stage/app" -exec touch -t 197001010000 {} +
  tar -C "$stage/app" -cf "$stage/app.tar" .
fi
gzip -n -9 "$stage/app.tar"
mv -f "$stage/app.tar.gz" "$artifact"

if command -v sha256sum >/dev/null; then sum=$(sha256sum <"$artifact"); else sum=$(shasum -a 256 <"$artifact"); fi
echo "artifact=$artifact"
echo "sha256=${sum%% *}"
