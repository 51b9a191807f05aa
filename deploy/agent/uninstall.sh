#!/usr/bin/env bash
# Removes the agent from this machine; with --purge also who it is, and its user. Revoke it as well:
#   DELETE /api/v1/targets/{id}/agent
set -euo pipefail

[ "$(id -u)" = 0 ] || { echo 'run it as root' >&2; exit 1; }
if [ -e /etc/systemd/system/slipway-agent.service ]; then
  systemctl disable --now slipway-agent
  rm -f /etc/systemd/system/slipway-agent.service
  systemctl daemon-reload
fi
rm -rf /opt/slipway-agent /opt/slipway-agent.new /opt/slipway-agent.old
if [ "${1:-}" = --purge ]; then
  rm -rf /var/lib/slipway-agent /etc/slipway-agent.env /etc/slipway-agent-ca.crt
  if id slipway-agent >/dev/null 2>&1; then userdel slipway-agent; fi
fi
