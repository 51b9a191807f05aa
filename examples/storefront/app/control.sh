#!/bin/sh
# control.sh start|stop|restart ROOT: the storefront's process on one target.
#
# ROOT/current    the release to start
# ROOT/settings   a directory with a file for each environment variable, named like it
# ROOT/app.pid    the process that runs; written by that process itself, so it is right even if its starter was killed
set -eu

command=${1:?usage: control.sh start|stop|restart ROOT}
root=$(cd -P "${2:?usage: control.sh start|stop|restart ROOT}" && pwd)
pid_file=$root/app.pid
log=$root/app.log

# Prints the id of the storefront's process. After a reboot the number in the file may belong to anybody, so the
# process must also be one that was started from this root.
running() {
  [ -f "$pid_file" ] || return 1
  pid=$(cat "$pid_file")
  kill -0 "$pid" 2>/dev/null || return 1
  if [ -r "/proc/$pid/cmdline" ]; then
    arguments=$(tr '\0' ' ' <"/proc/$pid/cmdline")
  else
    arguments=$(ps -o args= -p "$pid")
  fi
  case $arguments in
    *"$root/"*) echo "$pid" ;;
    *) return 1 ;;
  esac
}

stop() {
  pid=$(running) || { rm -f "$pid_file"; return 0; }
  kill -TERM "$pid" 2>/dev/null || true
  tries=0
  while running >/dev/null; do
    tries=$((tries + 1))
    # 5 seconds to finish the requests in hand, then it has to go.
    [ "$tries" -lt 50 ] || kill -KILL "$pid" 2>/dev/null || true
    sleep 0.1
  done
  rm -f "$pid_file"
  echo "stopped process $pid"
}

start() {
  if pid=$(running); then
    echo "runs already as process $pid"
    return 0
  fi
  command -v node >/dev/null || { echo "node is needed to run the storefront; it is not in PATH ($PATH)" >&2; exit 1; }
  [ -f "$root/current/server.mjs" ] || { echo "there is no release at $root/current" >&2; exit 1; }
  # The release's own folder, not the link: a list of processes then shows which version runs.
  release=$(cd -P "$root/current" && pwd)
  [ ! -f "$log" ] || mv -f "$log" "$log.1"
  (
    for setting in "$root"/settings/*; do
      export "${setting##*/}=$(cat "$setting")"
    done
    # A session of its own: the process must outlive the command that starts it.
    detach=$(command -v setsid || echo nohup)
    exec "$detach" sh -c 'echo $$ >"$1.new" && mv "$1.new" "$1" && exec node "$2"' start \
      "$pid_file" "$release/server.mjs" >"$log" 2>&1 </dev/null
  ) &
  starter=$!
  tries=0
  until grep -q 'listening on' "$log" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ] || ! kill -0 "$starter" 2>/dev/null; then
      echo "the storefront did not start:" >&2
      tail -n 10 "$log" >&2
      exit 1
    fi
    sleep 0.1
  done
  echo "started $(cat "$root/current/VERSION") as process $(running)"
}

case $command in
  start) start ;;
  stop) stop ;;
  restart)
    stop
    start
    ;;
  *) echo "control.sh knows start, stop and restart, not $command" >&2; exit 64 ;;
esac
