#!/bin/sh
# deploy.sh [VERSION] [OPTION...]: packs a version of the storefront and deploys it to the three targets.
# Further options go to `slipway deploy`, for example --var fail_health:=true to see a rollback.
set -eu

version=1.0.0
case ${1:-} in [0-9]*) version=$1; shift ;; esac
here=$(cd "$(dirname "$0")" && pwd)
base=${STOREFRONT_DIRECTORY:-$here/../../.slipway/storefront}
mkdir -p "$base"
base=$(cd -P "$base" && pwd)

# Prints artifact= and sha256=, two of the variables that the actions need.
sh "$here/pack.sh" "$version" "$base/artifacts" >"$base/artifact.env"

# The targets listen on the ports after this one. Their addresses are printed on stderr.
first_port=$(sh "$here/ports.sh" "$base")

# One target at a time; a failure ends the rollout, and the failed target goes back to the version before.
exec slipway deploy 'Storefront release' --source-version '^1.0.0' --environment 'Storefront demo' \
  --tag app=storefront --tag role=web --all-tags \
  --mode rolling:1 --failure-strategy stop_on_first_failure --rollback-strategy failed_target_only \
  --max-retries 1 --command-timeout 60s --deployment-timeout 10m \
  --var-file "$base/artifact.env" --var "first_port:=$first_port" --var "version=$version" --var "base_directory=$base" \
  --follow "$@"
