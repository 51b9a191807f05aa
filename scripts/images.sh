#!/usr/bin/env bash
# Builds the images with docker, podman or buildah, whichever there is, and says how large they are:
#
#   scripts/images.sh [NAME...]   all, or some of: the services (folders of services/), migrate, cli
#
# Settings: SLIPWAY_BASE_IMAGE (what images stand on), SLIPWAY_BUILD_IMAGE (what they are built in, with Node and npm),
# SLIPWAY_IMAGE_PREFIX (slipway/), SLIPWAY_IMAGE_TAG (the version), SLIPWAY_IMAGE_BUILDER (docker, podman or buildah),
# SLIPWAY_NPMRC (a file with settings of npm, for a registry of one's own).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "images: $*" >&2; exit 1; }

prefix="${SLIPWAY_IMAGE_PREFIX-slipway/}"
tag="${SLIPWAY_IMAGE_TAG:-$(node -p 'require("./package.json").version')}"
services="$(ls services)"
wanted=("$@")
[ $# -gt 0 ] || wanted=(migrate cli $services)

builder="${SLIPWAY_IMAGE_BUILDER:-}"
for each in docker podman buildah; do
  [ -z "$builder" ] || break
  # A docker that is there may have no daemon.
  if command -v $each >/dev/null && timeout 20 $each info >/dev/null 2>&1; then builder=$each; fi
done
case $builder in
  docker) build=(docker build) ;;
  # The other format has no health command. Layers are kept, for all images begin with the same ones.
  podman | buildah) build=("$builder" build --format docker --layers) ;;
  *) fail 'no docker, podman or buildah answers here' ;;
esac
[ -z "${SLIPWAY_BASE_IMAGE:-}" ] || build+=(--build-arg "BASE=$SLIPWAY_BASE_IMAGE")
[ -z "${SLIPWAY_BUILD_IMAGE:-}" ] || build+=(--build-arg "BUILD_BASE=$SLIPWAY_BUILD_IMAGE")
[ -z "${SLIPWAY_NPMRC:-}" ] || build+=(--secret "id=npmrc,src=$SLIPWAY_NPMRC")

for name in "${wanted[@]}"; do
  case $name in
    migrate | cli) target=(--target "$name") ;;
    *)
      grep -qx -- "$name" <<<"$services" || fail "there is no image $name; there are: migrate cli $(echo $services)"
      target=(--target service --build-arg "SERVICE=$name")
      ;;
  esac
  echo "images: $prefix$name:$tag" >&2
  "${build[@]}" "${target[@]}" --file deploy/Dockerfile --tag "$prefix$name:$tag" . >&2
done

"$builder" images | awk -v tag="$tag" 'NR == 1 || $2 == tag' | grep -E "^REPOSITORY|(^|/)${prefix}($(IFS='|'; echo "${wanted[*]}")) "
