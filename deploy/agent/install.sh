#!/usr/bin/env bash
# Installs the agent on this machine, or a newer version over it, and enrols it where a token is given:
#   sudo deploy/agent/install.sh --url https://bridge.example.com:8082 --token TOKEN [--address HOST[:PORT]]
# From the repository, or from an archive that package.sh made. Needs Node 20.19 or newer.
#   --ca FILE      the CA certificate of the bridge, where the system does not trust its CA
#   --user NAME    whose commands are run as; slipway-agent unless given, which is made
#   --no-service   without systemd: says how to start it
set -euo pipefail

url= token= address= ca= user=slipway-agent service=yes
while [ $# -gt 0 ]; do
  case $1 in
    --url) url=$2 && shift 2 ;;
    --token) token=$2 && shift 2 ;;
    --address) address=$2 && shift 2 ;;
    --ca) ca=$2 && shift 2 ;;
    --user) user=$2 && shift 2 ;;
    --no-service) service= && shift ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2 && exit 64 ;;
  esac
done

here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
app=/opt/slipway-agent
state=/var/lib/slipway-agent
settings=/etc/slipway-agent.env
ca_file=/etc/slipway-agent-ca.crt

[ "$(id -u)" = 0 ] || { echo 'run it as root' >&2; exit 1; }
node=$(realpath "$(command -v node)") || { echo 'Node is missing: install version 20.19 or newer' >&2; exit 1; }
"$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' \
  || { echo "the agent needs Node 20.19 or newer; this is $("$node" --version)" >&2; exit 1; }
case $node in /home/* | /root/*) echo "$node lies in a home, where $user may not read it: install Node elsewhere" >&2; exit 1 ;; esac

files=$here
if [ ! -d "$here/app" ]; then
  files=$(mktemp -d)
  trap 'rm -rf "$files"' EXIT
  "$here/package.sh" "$files/agent.tar.gz" >/dev/null
  tar -C "$files" --strip-components=1 -xzf "$files/agent.tar.gz"
fi

id "$user" >/dev/null 2>&1 || useradd --system --home-dir "$state" --shell /usr/sbin/nologin "$user"
# Beside the old one and then in its place: an agent that runs loads nothing of two versions.
rm -rf "$app.new"
cp -r "$files/app" "$app.new"
cp "$files/uninstall.sh" "$app.new/"
chown -R root:root "$app.new" && chmod -R go-w,a+rX "$app.new"
rm -rf "$app.old"
[ ! -e "$app" ] || mv "$app" "$app.old"
mv "$app.new" "$app"
rm -rf "$app.old"
install -d -m 700 -o "$user" -g "$(id -gn "$user")" "$state"
# It may have been another user's.
chown -R "$user:" "$state"
[ -e "$settings" ] ||
  echo '# Settings of the agent, see docs/agent.md. Then: systemctl restart slipway-agent' >"$settings"
if [ -n "$ca" ]; then
  install -m 644 "$ca" "$ca_file"
  grep -q '^SLIPWAY_BRIDGE_CA_FILE=' "$settings" || echo "SLIPWAY_BRIDGE_CA_FILE=$ca_file" >>"$settings"
fi

as_agent() {
  (set -a && . "$settings" && set +a && exec setpriv --reuid="$user" --regid="$(id -gn "$user")" --init-groups -- \
    env SLIPWAY_AGENT_STATE_DIR="$state" "$node" "$app/dist/main.js" "$@")
}
# On standard input, where no list of processes shows it.
if [ -n "$token" ]; then
  printf '%s\n' "$token" | as_agent enrol --url "$url" --token - ${address:+--address "$address"}
fi

if [ -z "$service" ]; then
  echo "installed; to start it as $user: set -a; . $settings; set +a; SLIPWAY_AGENT_STATE_DIR=$state exec $node $app/dist/main.js"
  exit 0
fi
sed -e "s|@NODE@|$node|; s|@APP@|$app|; s|@USER@|$user|; s|@SETTINGS@|$settings|" \
  "$files/slipway-agent.service" >/etc/systemd/system/slipway-agent.service
systemctl daemon-reload
systemctl enable --quiet slipway-agent
systemctl restart slipway-agent
echo "installed and running: journalctl -u slipway-agent"
