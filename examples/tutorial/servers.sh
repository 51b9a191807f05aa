#!/bin/sh
# servers.sh start [N] | status | stop [DIRECTORY]: N servers (4) that stand in for machines. Each is an sshd of this user, with
# a home, a host key and ports of its own on 127.0.0.1. DIRECTORY/targets.yaml describes them for `slipway apply`.
# A server keeps its keys and ports until its folder is deleted.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
usage='usage: servers.sh start [N] | status [DIRECTORY] | stop [DIRECTORY]'
command=${1:?$usage}
count=4
case $command in start) count=${2:-4}; shift ;; esac
directory=${2:-${TUTORIAL_DIRECTORY:-$here/../../.slipway/tutorial}}

fail() {
  echo "servers.sh: $*" >&2
  exit 1
}

# Prints two free ports, for sshd and for the shop, below those that the system gives to outgoing connections. The search begins
# at a place that depends on the folder of the server, so that it does not meet another clone's.
free_ports() {
  node -e '
    const net = require("node:net")
    const isFree = (port) =>
      new Promise((resolve) => {
        const server = net.createServer().on("error", () => resolve(false))
        server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
      })
    const search = async (start) => {
      for (let tries = 0; tries < 1000; tries += 1) {
        const port = 22000 + ((start + tries) % 4000) * 2
        if ((await isFree(port)) && (await isFree(port + 1))) return `${port} ${port + 1}`
      }
      throw new Error("no two free ports between 22000 and 30000")
    }
    search(Number(process.argv[1])).then(console.log)
  ' "$(printf '%s' "$1" | cksum | cut -d ' ' -f 1)"
}

# Prints the id of the server's process. After a reboot the number in the file may belong to another process.
running() {
  [ -s "$1/sshd.pid" ] || return 1
  pid=$(cat "$1/sshd.pid")
  if [ -r "/proc/$pid/cmdline" ]; then
    arguments=$(tr '\0' ' ' <"/proc/$pid/cmdline")
  else
    arguments=$(ps -o args= -p "$pid") || return 1
  fi
  case $arguments in *"$1/sshd_config"*) echo "$pid" ;; *) return 1 ;; esac
}

new_key() {
  [ -f "$1" ] || ssh-keygen -q -t ed25519 -N '' -C "$2" -f "$1"
}

login() {
  server=$1
  shift
  ssh -F none -i "$directory/key" -o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout=5 \
    -o UserKnownHostsFile="$server/known_hosts" -p "$(cat "$server/ssh-port")" "$(id -un)@127.0.0.1" "$@"
}

start_server() {
  server=$1
  mkdir -p "$server/home"
  new_key "$server/host_key" "${server##*/}"
  if [ ! -s "$server/shop-port" ]; then
    ports=$(free_ports "$server")
    echo "${ports% *}" >"$server/ssh-port"
    echo "${ports#* }" >"$server/shop-port"
  fi
  port=$(cat "$server/ssh-port")
  echo "[127.0.0.1]:$port $(cat "$server/host_key.pub")" >"$server/known_hosts"
  # The service manager of the storefront stands in for systemd.
  cp "$here/../storefront/app/control.sh" "$server/home/control.sh"
  cat >"$server/sshd_config" <<CONFIG
Port $port
ListenAddress 127.0.0.1
HostKey "$server/host_key"
AuthorizedKeysFile "$directory/key.pub"
PidFile "$server/sshd.pid"
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
Subsystem sftp internal-sftp
# The folders of a clone may be writable for a group.
StrictModes no
SetEnv "HOME=$server/home" "PATH=$node_folder:/usr/local/bin:/usr/bin:/bin"
CONFIG
  "$sshd" -f "$server/sshd_config" -E "$server/sshd.log" || fail "sshd did not start: $(tail -n 3 "$server/sshd.log")"
  tries=0
  until login "$server" true 2>"$server/login.log"; do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || fail "no login on ${server##*/}: $(tail -n 3 "$server/login.log" "$server/sshd.log")"
    sleep 0.2
  done
}

# Servers in three regions, for the catalog.
describe() {
  number=${1##*-}
  case $((number % 3)) in 1) region=north ;; 2) region=west ;; 0) region=south ;; esac
  cat <<TARGET
---
kind: target
name: ${1##*/}
environment: Tutorial
connection:
  type: ssh
  host: 127.0.0.1
  port: $(cat "$1/ssh-port")
  username: $(id -un)
  private_key: !file key
  host_key: $(cut -d ' ' -f 1,2 "$1/host_key.pub")
tags:
  - { key: app, value: shop }
variables:
  port: $(cat "$1/shop-port")
  region: $region
TARGET
}

start() {
  case $count in '' | 0* | *[!0-9]*) fail "$usage" ;; esac
  sshd=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v sshd) ||
    fail 'sshd is missing. Install it: apt-get install openssh-server (its service need not run), or dnf, apk or brew'
  command -v ssh-keygen >/dev/null || fail 'ssh-keygen is missing. Install it: apt-get install openssh-client'
  node_folder=$(dirname "$(command -v node)") || fail 'node is missing'
  mkdir -p "$directory"
  directory=$(cd -P "$directory" && pwd)
  # sshd of root needs this folder, which the system usually makes when it starts its own sshd.
  [ "$(id -u)" != 0 ] || mkdir -p -m 755 /run/sshd
  new_key "$directory/key" slipway-tutorial
  printf '# Written by servers.sh. The key of the user is in the file beside this one, the host keys are pinned.\n' >"$directory/targets.new"
  printf 'manager: tutorial-servers\n---\nkind: environment\nname: Tutorial\n' >>"$directory/targets.new"
  number=1
  while [ "$number" -le "$count" ]; do
    server=$directory/shop-$number
    running "$server" >/dev/null || start_server "$server"
    describe "$server" >>"$directory/targets.new"
    echo "shop-$number: ssh on 127.0.0.1:$(cat "$server/ssh-port"), shop on http://127.0.0.1:$(cat "$server/shop-port")/"
    number=$((number + 1))
  done
  mv "$directory/targets.new" "$directory/targets.yaml"
}

status() {
  for server in "$directory"/shop-*; do
    [ -d "$server" ] || continue
    answer=$(curl -s --noproxy '*' --max-time 2 "http://127.0.0.1:$(cat "$server/shop-port")/") || answer='no answer'
    echo "${server##*/}: $answer"
  done
}

stop() {
  [ -d "$directory" ] || return 0
  directory=$(cd -P "$directory" && pwd)
  for server in "$directory"/shop-*; do
    [ -d "$server" ] || continue
    if [ -d "$server/home/shop" ]; then
      stopped=$(sh "$server/home/control.sh" stop "$server/home/shop")
      [ -z "$stopped" ] || echo "${server##*/}: $stopped"
    fi
    pid=$(running "$server") || continue
    kill "$pid"
    echo "${server##*/}: stopped sshd $pid"
  done
}

case $command in
  start | status | stop) "$command" ;;
  *) fail "$usage" ;;
esac
