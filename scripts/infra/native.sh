# Private servers of this clone, without a service manager: started as plain processes that listen on loopback only.
# Sourced by infra.sh. Each server keeps its files in its own folder under $(data_dir).

clone_hash() { printf '%s' "$ROOT" | sha256sum | cut -c 1-10; }

# .slipway/infra/data is a folder, or a link where Postgres's user cannot reach the clone.
data_dir() { (cd "$STATE/data" 2>/dev/null && pwd -P); }

native_packages() {
  local server packages=''
  for server in "$@"; do
    case $server in
      postgres) packages="$packages initdb=postgresql" ;;
      rabbitmq) packages="$packages rabbitmq-server=rabbitmq-server" ;;
      redis) packages="$packages redis-server=redis-server" ;;
    esac
  done
  if [ $# -gt 0 ]; then need_packages ps=procps setpriv=util-linux $packages; fi
}

native_prepare() {
  native_packages "$@"
  if [ -z "$(data_dir)" ]; then make_data_dir; fi
}

make_data_dir() {
  local elsewhere
  elsewhere="/var/tmp/slipway-$(clone_hash)"
  rm -rf "$STATE/data"
  mkdir -p "$STATE/data"
  chmod 755 "$STATE" "$STATE/data"
  if as_postgres test -x "$STATE/data"; then return; fi
  # The clone is under a folder that only root may enter.
  if [ -e "$elsewhere" ] || [ -L "$elsewhere" ]; then remove_leftover "$elsewhere"; fi
  mkdir -m 755 "$elsewhere"
  rmdir "$STATE/data"
  ln -s "$elsewhere" "$STATE/data"
  say "user postgres cannot enter $ROOT: the data is in $elsewhere"
}

# A clone that was deleted without `make clean` at the same path left its servers and its data behind.
remove_leftover() {
  if [ -L "$1" ] || [ ! -O "$1" ]; then fail "$1 exists and is not ours; remove it"; fi
  ln -sfn "$1" "$STATE/data.leftover"
  STATE_DATA="$1" native_stop_all
  rm -rf "$1" "$STATE/data.leftover"
}

# --- processes --------------------------------------------------------------------------------------------------

base() { echo "${STATE_DATA:-$(data_dir)}"; }

pid_file() {
  case $1 in
    postgres) echo "$(base)/postgres/data/postmaster.pid" ;;
    rabbitmq) echo "$(base)/rabbitmq/pid" ;;
    redis) echo "$(base)/redis/pid" ;;
  esac
}

program_of() { case $1 in postgres) echo postgres ;; rabbitmq) echo beam.smp ;; redis) echo redis-server ;; esac; }

# The server's process id, when it lives and is that program: numbers are used again after a restart of the machine.
pid_of() {
  local file pid
  file="$(pid_file "$1")"
  [ -s "$file" ] || return 1
  pid="$(head -n 1 "$file" | tr -d ' ')"
  process_lives "$pid" && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$(program_of "$1")" ] && echo "$pid"
}

runs_here() {
  if [ "$(remembered "$1")" = docker ]; then docker_runs "$1"; else [ -n "$(base)" ] && pid_of "$1" >/dev/null; fi
}

stop_process() { # PID: asks, waits up to 15 s, then forces
  kill -TERM "$1" 2>/dev/null || return 0
  for _ in $(seq 150); do process_lives "$1" || return 0; sleep 0.1; done
  say "process $1 does not stop; killing it"
  kill -KILL "$1" 2>/dev/null || true
}

wait_for() { # SERVER LOG COMMAND...: up to three minutes, for a busy machine
  local server=$1 log=$2
  shift 2
  for _ in $(seq 1800); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.1; done
  tail -n 20 "$log" >&2 || true
  fail "$server is not ready after three minutes; its log is $log"
}

native_up() {
  local server pids='' pid failed=0
  # Not the lock (9): a server that inherited it would hold it as long as it lives.
  for server in "$@"; do
    if runs_here "$server" && port_is_open "$(own_port "$server")"; then announce "$server"; continue; fi
    say "starting $server on 127.0.0.1:$(own_port "$server")"
    { "${server}_up" && announce "$server"; } 9>&- &
    pids="$pids $!"
  done
  for pid in $pids; do wait "$pid" || failed=1; done
  return $failed
}

native_down() {
  local server
  for server in "$@"; do "${server}_down"; done
}

native_stop_all() { native_down $SERVERS; }

native_remove() {
  local dir
  # Directories of local commands, see scripts/suite/local-user.mjs.
  rm -rf "/var/tmp/slipway-local-$(clone_hash)"
  dir="$(data_dir)" || return 0
  case $dir in "$STATE/data" | "/var/tmp/slipway-$(clone_hash)") rm -rf "$dir" ;; esac
}

# --- Postgres ---------------------------------------------------------------------------------------------------

# Debian keeps the server's programs out of PATH, one folder for each version.
postgres_programs() {
  local dir
  dir="$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)"
  if [ -z "$dir" ] && command -v initdb >/dev/null 2>&1; then dir="$(dirname "$(command -v initdb)")"; fi
  [ -n "$dir" ] && [ -x "$dir/initdb" ] && echo "$dir"
}

# Postgres refuses to run as root, and its user may not be able to read root's working directory.
as_postgres() (
  cd /
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid=postgres --regid=postgres --init-groups --reset-env -- "$@"
  else
    "$@"
  fi
)

postgres_up() {
  local programs dir port
  programs="$(postgres_programs)" dir="$(base)/postgres" port="$(own_port postgres)"
  mkdir -p "$dir"
  if [ "$(id -u)" = 0 ]; then chown postgres: "$dir"; fi
  if [ ! -s "$dir/data/PG_VERSION" ]; then
    # The roles are gone with the data.
    rm -f "$(addresses_file postgres)"
    as_postgres rm -rf "$dir/data"
    (umask 077 && echo "$POSTGRES_PASSWORD" >"$dir/password")
    if [ "$(id -u)" = 0 ]; then chown postgres: "$dir/password"; fi
    as_postgres "$programs/initdb" --pgdata="$dir/data" --username=postgres --pwfile="$dir/password" \
      --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 >"$dir/initdb.log" 2>&1 ||
      { tail -n 20 "$dir/initdb.log" >&2; fail 'postgres: initdb failed'; }
    rm -f "$dir/password"
  fi
  # A postmaster that was killed leaves this file; while its zombie waits to be reaped, Postgres would believe it.
  if ! pid_of postgres >/dev/null; then rm -f "$dir/data/postmaster.pid"; fi
  # No Unix socket: its path would be too long in a deep clone.
  if ! as_postgres "$programs/pg_ctl" --pgdata="$dir/data" --log="$dir/log" --wait --timeout=180 --silent \
    --options="-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=300" start; then
    tail -n 20 "$dir/log" >&2
    fail "postgres did not start; its log is $dir/log"
  fi
  create_role "$programs" "$port"
  create_database "$programs" "$port"
}

# The role of Slipway is no superuser: superusers pass by row-level security. It makes and drops databases for tests.
create_role() { # PROGRAMS PORT
  export PGPASSWORD="$POSTGRES_PASSWORD" PGHOST=127.0.0.1 PGPORT="$2"
  if "$1/psql" -qAt -U slipway -d postgres -c 'select 1' >/dev/null 2>&1; then return; fi
  printf "create role slipway login createdb password :'password';\n" |
    "$1/psql" -qAt -U postgres -d postgres -v ON_ERROR_STOP=1 -v "password=$POSTGRES_PASSWORD"
}

create_database() { # PROGRAMS PORT
  local sql="select 1 from pg_database where datname = 'slipway'"
  export PGPASSWORD="$POSTGRES_PASSWORD" PGHOST=127.0.0.1 PGPORT="$2" PGUSER=slipway
  if [ "$("$1/psql" -qAt -d postgres -c "$sql")" != 1 ]; then "$1/createdb" slipway; fi
}

postgres_down() {
  pid_of postgres >/dev/null || return 0
  as_postgres "$(postgres_programs)/pg_ctl" --pgdata="$(base)/postgres/data" --mode=fast --wait --silent stop ||
    stop_process "$(pid_of postgres)"
}

# --- RabbitMQ ---------------------------------------------------------------------------------------------------

# Debian's own wrappers change to user rabbitmq and hide errors in a log: these are the scripts they call.
rabbitmq_programs() {
  local server
  server="$(ls -d /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin 2>/dev/null | sort -V | tail -n 1)"
  echo "${server:-$(dirname "$(command -v rabbitmq-server)")}"
}

rabbitmq_environment() { # DIR PORT
  export HOME="$1/home" LC_ALL=C.UTF-8 # HOME holds the cookie of this node alone
  export RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_CONFIG_FILE="$1/rabbitmq" RABBITMQ_ENABLED_PLUGINS_FILE="$1/plugins"
  export RABBITMQ_GENERATED_CONFIG_DIR="$1/generated" RABBITMQ_PID_FILE="$1/pid"
  export RABBITMQ_MNESIA_BASE="$1/mnesia" RABBITMQ_LOG_BASE="$1/log"
  # `localhost` keeps the node independent of the machine's name, and no port in it keeps the data when ports change.
  export RABBITMQ_NODENAME=slipway@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT="$2"
  export RABBITMQ_DIST_PORT=$(($2 + 1)) ERL_EPMD_PORT=$(($2 + 2)) ERL_EPMD_ADDRESS=127.0.0.1
  export RABBITMQ_CTL_DIST_PORT_MIN=$(($2 + 10)) RABBITMQ_CTL_DIST_PORT_MAX=$(($2 + 30))
  # `+sbwt none`: idle Erlang schedulers would otherwise spin.
  export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none'
}

rabbitmq_up() {
  local dir port
  dir="$(base)/rabbitmq" port="$(own_port rabbitmq)"
  # The users are gone with the data.
  if [ ! -e "$dir/mnesia" ]; then rm -f "$(addresses_file rabbitmq)"; fi
  mkdir -p "$dir/home" "$dir/log" "$dir/mnesia"
  rm -f "$dir/pid"
  echo '[].' >"$dir/plugins"
  cat >"$dir/rabbitmq.conf" <<CONF
default_user = slipway
default_pass = $RABBITMQ_PASSWORD
disk_free_limit.absolute = 50MB
vm_memory_high_watermark.absolute = 1GB
raft.wal_max_size_bytes = 64000000
log.file.level = warning
CONF
  rabbitmq_environment "$dir" "$port"
  (cd / && exec setsid "$(rabbitmq_programs)/rabbitmq-server" >"$dir/log/stdout" 2>&1 </dev/null) &
  wait_for rabbitmq "$dir/log/stdout" port_is_open "$port"
}

native_import_definitions() ( # FILE
  rabbitmq_environment "$(base)/rabbitmq" "$(own_port rabbitmq)"
  # The port is open before the node has all that it needs for users.
  "$(rabbitmq_programs)/rabbitmqctl" --quiet await_startup --timeout 180
  "$(rabbitmq_programs)/rabbitmqctl" --quiet import_definitions "$1"
)

rabbitmq_down() {
  local pid
  if pid="$(pid_of rabbitmq)"; then stop_process "$pid"; fi
  stop_port_mapper
}

# The port mapper outlives its node. It is known by its port, and refuses to end while it serves a living node.
stop_port_mapper() {
  if command -v epmd >/dev/null 2>&1; then epmd -port $(($(own_port rabbitmq) + 2)) -kill >/dev/null 2>&1 || true; fi
}

# --- Redis ------------------------------------------------------------------------------------------------------

redis_up() {
  local dir port
  dir="$(base)/redis" port="$(own_port redis)"
  mkdir -p "$dir"
  # The users are gone with their file.
  if [ ! -e "$dir/users.acl" ]; then rm -f "$(addresses_file redis)"; fi
  REDISCLI_AUTH="$REDIS_PASSWORD" "$ROOT/deploy/redis-acl-file.sh" "$dir/users.acl"
  (umask 077 && cat >"$dir/redis.conf") <<CONF
bind 127.0.0.1
port $port
aclfile "$dir/users.acl"
dir "$dir"
pidfile "$dir/pid"
logfile "$dir/log"
daemonize yes
appendonly yes
save ""
maxmemory-policy noeviction
CONF
  (cd / && redis-server "$dir/redis.conf" >/dev/null) || { tail -n 20 "$dir/log" >&2; fail 'redis did not start'; }
  wait_for redis "$dir/log" env REDISCLI_AUTH="$REDIS_PASSWORD" redis-cli -h 127.0.0.1 -p "$port" ping
}

redis_down() {
  local pid
  if pid="$(pid_of redis)"; then stop_process "$pid"; fi
}
