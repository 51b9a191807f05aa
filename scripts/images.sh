#!/usr/bin/env bash
# Builds the images with docker, podman or buildah, whichever there is, and says how large they are:
#
#   scripts/images.sh [--archives FOLDER] [NAME...]   all, or some of: the services (folders of services/), migrate, cli;
#                                                     with --archives also writes each one to FOLDER as an OCI archive
#   scripts/images.sh --check                         says what is missing to build them, and builds nothing
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
archives='' only_check=''
case ${1:-} in
  --archives) archives="${2:?which folder?}"; shift 2 ;;
  --check) only_check=yes; shift ;;
esac
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
  *) fail 'no docker, podman or buildah answers here; install one, or start the daemon of docker' ;;
esac
[ -z "${SLIPWAY_BASE_IMAGE:-}" ] || build+=(--build-arg "BASE=$SLIPWAY_BASE_IMAGE")
[ -z "${SLIPWAY_BUILD_IMAGE:-}" ] || build+=(--build-arg "BUILD_BASE=$SLIPWAY_BUILD_IMAGE")
[ -z "${SLIPWAY_NPMRC:-}" ] || build+=(--secret "id=npmrc,src=$SLIPWAY_NPMRC")

default_of() { sed -n "s/^ARG $1=//p" deploy/Dockerfile; }

has_image() {
  case $builder in
    docker) docker image inspect "$1" ;;
    podman) podman image exists "$1" ;;
    buildah) buildah inspect --type image "$1" ;;
  esac >/dev/null 2>&1
}

check() {
  local image
  for image in "${SLIPWAY_BASE_IMAGE:-$(default_of BASE)}" "${SLIPWAY_BUILD_IMAGE:-$(default_of BUILD_BASE)}"; do
    has_image "$image" || timeout 300 "$builder" pull --quiet "$image" >/dev/null 2>&1 ||
      fail "$builder cannot pull $image; set SLIPWAY_BASE_IMAGE and SLIPWAY_BUILD_IMAGE to images that it has or can pull"
  done
}

write_archive() { # IMAGE FILE
  rm -f "$2"
  case $builder in
    docker)
      docker save --output "$2" "$1"
      tar -tf "$2" oci-layout >/dev/null 2>&1 || fail "this docker writes no OCI archives: version 25 or newer does"
      ;;
    podman | buildah) "$builder" push --quiet "$1" "oci-archive:$2:$(full_name "$1")" ;;
  esac
}

# podman and buildah put localhost/ before a name without a registry. Clusters look for it below docker.io/.
full_name() { case ${1%%/*} in *.* | *:* | localhost) echo "$1" ;; *) echo "docker.io/$1" ;; esac; }

if [ -n "$only_check" ]; then check; exit; fi

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
  if [ -n "$archives" ]; then write_archive "$prefix$name:$tag" "$archives/slipway-$name-$tag.oci.tar"; fi
done

"$builder" images | awk -v tag="$tag" 'NR == 1 || $2 == tag' | grep -E "^REPOSITORY|(^|/)${prefix}($(IFS='|'; echo "${wanted[*]}")) "
