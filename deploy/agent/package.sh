#!/usr/bin/env bash
# Packs the agent with all that it needs but Node into one archive, to be installed on machines without this repository:
#   deploy/agent/package.sh slipway-agent.tar.gz
#   scp slipway-agent.tar.gz db-1: && ssh db-1 'tar xzf slipway-agent.tar.gz && sudo slipway-agent/install.sh --url … --token …'
set -euo pipefail

archive=$(realpath -m "${1:?say where to: deploy/agent/package.sh slipway-agent.tar.gz}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make install >&2
PATH="$PWD/.tools/node_modules/.bin:$PATH"
node_modules/.bin/tsc -b services/target-agent >&2
pnpm --filter @slipway/target-agent deploy --prod --config.confirmModulesPurge=false "$work/slipway-agent/app" >&2
cp deploy/agent/install.sh deploy/agent/uninstall.sh deploy/agent/slipway-agent.service "$work/slipway-agent/"
tar -C "$work" -czf "$archive" slipway-agent
echo "$archive"
