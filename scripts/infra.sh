#!/usr/bin/env bash
# The three servers Slipway needs: Postgres, RabbitMQ, Redis.
#
#   scripts/infra.sh up [HOLDER]    start what is not running, on behalf of a process (its id) or of a name; says
#                                   `NAME ready` for each server as soon as it is
#   scripts/infra.sh release HOLDER it needs them no longer: stop them if nobody else does
#   scripts/infra.sh down           stop what was started here
#   scripts/infra.sh restart NAME   stop and start one of ours: postgres, rabbitmq or redis
#   scripts/infra.sh status         one line for each server; fails when one is down
#   scripts/infra.sh env            DATABASE_URL, RABBITMQ_URL and REDIS_URL as export lines; with the users of the
#                                   services, also the address of each (DATABASE_URL_GATEWAY and so on)
#   scripts/infra.sh packages       install the Debian packages of the servers that `up` would start; `packages test` also those
#                                   of `make test`, such as an sshd and a browser, and `packages test-all` those of `make test-all`
#   scripts/infra.sh remove         stop, and delete the data
#
# Settings: DATABASE_URL, RABBITMQ_URL, REDIS_URL (servers that exist already); SLIPWAY_PG_PORT, SLIPWAY_MQ_PORT,
# SLIPWAY_REDIS_PORT (ports of servers started here); POSTGRES_PASSWORD, RABBITMQ_PASSWORD, REDIS_PASSWORD
# (letters, digits, - and _; also read from .env, as Docker Compose does).
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
STATE="$ROOT/.slipway/infra"
SERVERS='postgres rabbitmq redis'

say() { echo "infra: $*" >&2; }
fail() { say "$*"; exit 1; }
# No silent end: a command that nobody expected to fail is named.
set -E
trap 'say "${BASH_SOURCE[0]##*/}, line $LINENO, failed: $BASH_COMMAND"' ERR

# A setting from the environment, else from .env, else the default.
setting() {
  local name=$1 default=$2 line=''
  if [ -n "${!name:-}" ]; then echo "${!name}"; return; fi
  if [ -f "$ROOT/.env" ]; then line="$(grep -E "^$name=" "$ROOT/.env" | tail -n 1 || true)"; fi
  if [ -n "$line" ]; then echo "${line#*=}"; else echo "$default"; fi
}

POSTGRES_PASSWORD="$(setting POSTGRES_PASSWORD slipway-development)"
RABBITMQ_PASSWORD="$(setting RABBITMQ_PASSWORD slipway-development)"
REDIS_PASSWORD="$(setting REDIS_PASSWORD slipway-development)"

# shellcheck source=scripts/infra/ports.sh
. "$ROOT/scripts/infra/ports.sh"
# shellcheck source=scripts/infra/packages.sh
. "$ROOT/scripts/infra/packages.sh"
# shellcheck source=scripts/infra/docker.sh
. "$ROOT/scripts/infra/docker.sh"
# shellcheck source=scripts/infra/native.sh
. "$ROOT/scripts/infra/native.sh"

# --- where each server comes from -------------------------------------------------------------------------------

url_variable() {
  case $1 in postgres) echo DATABASE_URL ;; rabbitmq) echo RABBITMQ_URL ;; redis) echo REDIS_URL ;; esac
}

usual_port() {
  case $1 in postgres) echo 5432 ;; rabbitmq) echo 5672 ;; redis) echo 6379 ;; esac
}

# The address of a server that has our user and password on the given port of this machine.
url_on_port() {
  case $1 in
    postgres) echo "postgresql://slipway:$POSTGRES_PASSWORD@127.0.0.1:$2/slipway" ;;
    rabbitmq) echo "amqp://slipway:$RABBITMQ_PASSWORD@127.0.0.1:$2" ;;
    redis) echo "redis://:$REDIS_PASSWORD@127.0.0.1:$2" ;;
  esac
}

# What was started here before stays: its data is there.
remembered() { if [ -f "$STATE/choice" ]; then sed -n "s/^$1 //p" "$STATE/choice"; fi; }

answers_on_usual_port() {
  local port
  port="$(usual_port "$1")"
  port_is_open "$port" && node "$ROOT/scripts/infra/login.mjs" "$1" "$(url_on_port "$1" "$port")"
}

# The decision, in this order. A server on a usual port counts only when it lets us in with our own user and password:
# anything else there belongs to somebody else.
source_of() {
  local variable
  variable="$(url_variable "$1")"
  if [ -n "${!variable:-}" ]; then echo environment
  elif [ -n "$(remembered "$1")" ]; then remembered "$1"
  elif answers_on_usual_port "$1"; then echo usual-port
  elif docker_answers; then echo docker
  else echo native
  fi
}

url_of() {
  local variable
  variable="$(url_variable "$1")"
  case $2 in
    environment) echo "${!variable}" ;;
    usual-port) url_on_port "$1" "$(usual_port "$1")" ;;
    *) url_on_port "$1" "$(own_port "$1")" ;;
  esac
}

ours() { # the servers started here, in the given way
  local server
  for server in $SERVERS; do if [ "$(remembered "$server")" = "$1" ]; then echo "$server"; fi; done
}

# --- who needs them ---------------------------------------------------------------------------------------------
# A process holds the servers while it lives, a name until it releases them; `up` by hand is a name too, until `down`.

hold() { mkdir -p "$STATE/holders"; touch "$STATE/holders/${1:-hand}"; }

still_held() {
  local file held=1
  for file in "$STATE"/holders/*; do
    [ -e "$file" ] || continue
    case ${file##*/} in
      *[!0-9]*) held=0 ;;
      *) if process_lives "${file##*/}"; then held=0; else rm -f "$file"; fi ;;
    esac
  done
  return $held
}

# --- the commands -----------------------------------------------------------------------------------------------

announce() {
  case $1 in
    postgres) users_are_known postgres "$ROLE_COMMAND" || create_service_roles ;;
    rabbitmq) users_are_known rabbitmq "$BROKER_USER_COMMAND" || create_broker_users ;;
    redis) users_are_known redis "$REDIS_USER_COMMAND" || create_redis_users ;;
  esac
  echo "$1 ready"
}

# --- the users of the services ----------------------------------------------------------------------------------
# A user for each service, and the same users for tests under another prefix. Only on servers that have our own administrator:
# users on a server that the environment names are for its administrator to create. Without them, all services use one user.

ROLE_COMMAND="$ROOT/packages/database/dist/roles/command.js"
BROKER_USER_COMMAND="$ROOT/packages/broker/dist/users/command.js"
role_command() { node "$ROLE_COMMAND" "$@"; }
broker_user_command() { node "$BROKER_USER_COMMAND" "$@"; }
REDIS_USER_COMMAND="$ROOT/packages/runtime/dist/redis/users/command.js"
redis_user_command() { node "$REDIS_USER_COMMAND" "$@"; }

# The addresses of the users that were created in a server of this clone. They stay valid until its data, its address, the command that
# makes them or the rights change. Without this file each call starts Node eight times.
addresses_file() { echo "$STATE/addresses-$1"; }

addresses_are_of() { # SERVER: the first line, which names what the addresses depend on
  echo "# ${SLIPWAY_ROLE_PREFIX:-slipway_} ${SLIPWAY_NAMESPACE:-slipway} $(url_of "$1" native)"
}

data_of() {
  case $1 in
    postgres) echo "$(base)/postgres/data/PG_VERSION" ;;
    rabbitmq) echo "$(base)/rabbitmq/mnesia" ;;
    redis) echo "$(base)/redis/users.acl" ;;
  esac
}

users_are_known() { # SERVER COMMAND
  local file
  file="$(addresses_file "$1")"
  [ "$(source_of "$1")" = native ] && [ -e "$file" ] && [ -e "$(data_of "$1")" ] &&
    # The rights stand in files beside the command.
    [ -z "$(find "$(dirname "$2")" -name '*.js' -newer "$file")" ] &&
    [ "$(head -n 1 "$file")" = "$(addresses_are_of "$1")" ]
}

keep_addresses() { # SERVER ADDRESSES
  if [ "$(source_of "$1")" = native ] && [ -n "$2" ]; then
    (umask 077 && printf '%s\n%s\n' "$(addresses_are_of "$1")" "$2" >"$(addresses_file "$1")")
  fi
}

print_addresses() { # SERVER SOURCE URL
  case $1 in
    postgres) if users_are_known postgres "$ROLE_COMMAND"; then kept_addresses postgres; else role_addresses "$2" "$3"; fi ;;
    rabbitmq) if users_are_known rabbitmq "$BROKER_USER_COMMAND"; then kept_addresses rabbitmq; else broker_addresses "$2" "$3"; fi ;;
    redis) if users_are_known redis "$REDIS_USER_COMMAND"; then kept_addresses redis; else redis_addresses "$2" "$3"; fi ;;
  esac
}

kept_addresses() { tail -n +2 "$(addresses_file "$1")"; }

create_service_roles() {
  local source url prefix
  source="$(source_of postgres)"
  if [ "$source" = environment ] || [ ! -f "$ROLE_COMMAND" ]; then return 0; fi
  url="$(url_of postgres "$source")"
  for prefix in slipway_ slipway_tests_; do
    (
      export SLIPWAY_ROLE_PREFIX=$prefix
      eval "$(DATABASE_URL="$url" role_command addresses)"
      DATABASE_URL="${url/slipway:/postgres:}" role_command create
    ) >"$STATE/roles.log" 2>&1 || say "the roles $prefix… of the services could not be created: $(tail -n 1 "$STATE/roles.log")"
  done
  keep_addresses postgres "$(role_addresses "$source" "$url")"
}

# RabbitMQ keeps the users: they are imported again only when they have changed. The users of tests are the same, for the
# namespaces of tests begin with test-.
create_broker_users() {
  local source url definitions="$STATE/broker-users.json" imported="$STATE/broker-users.imported"
  source="$(source_of rabbitmq)"
  case $source in native | docker) ;; *) return 0 ;; esac
  [ -f "$BROKER_USER_COMMAND" ] || return 0
  url="$(url_of rabbitmq "$source")"
  (
    umask 077
    SLIPWAY_NAMESPACE_PATTERN="($(setting SLIPWAY_NAMESPACE slipway)|test-[0-9a-z-]+)"
    export SLIPWAY_NAMESPACE_PATTERN
    eval "$(RABBITMQ_URL="$url" broker_user_command addresses)"
    broker_user_command definitions >"$definitions"
  )
  if ! cmp -s "$definitions" "$imported" || ! broker_user_exists "$url"; then
    "${source}_import_definitions" "$definitions" >"$STATE/broker-users.log" 2>&1 ||
      fail "the users of the services in RabbitMQ could not be created: $(tail -n 1 "$STATE/broker-users.log")"
    mv "$definitions" "$imported"
  fi
  keep_addresses rabbitmq "$(broker_addresses "$source" "$url")"
}

# Redis keeps the users in its ACL file. The users of tests are the same, as in RabbitMQ.
create_redis_users() {
  local source url
  source="$(source_of redis)"
  case $source in native | docker) ;; *) return 0 ;; esac
  [ -f "$REDIS_USER_COMMAND" ] || return 0
  url="$(url_of redis "$source")"
  (
    SLIPWAY_NAMESPACE_GLOBS="$(setting SLIPWAY_NAMESPACE slipway),test-*"
    export SLIPWAY_NAMESPACE_GLOBS
    eval "$(REDIS_URL="$url" redis_user_command addresses)"
    REDIS_URL="$url" redis_user_command create
  ) >"$STATE/redis-users.log" 2>&1 ||
    fail "the users of the services in Redis could not be created: $(tail -n 1 "$STATE/redis-users.log")"
  keep_addresses redis "$(redis_addresses "$source" "$url")"
}

broker_user_exists() ( # URL
  eval "$(RABBITMQ_URL="$1" broker_user_command addresses)"
  node "$ROOT/scripts/infra/login.mjs" rabbitmq "$RABBITMQ_URL_GATEWAY"
)

# Their addresses, where they can log in.
role_addresses() { # SOURCE URL
  local addresses
  if [ "$1" = environment ] || [ ! -f "$ROLE_COMMAND" ]; then return 0; fi
  addresses="$(DATABASE_URL="$2" role_command addresses)"
  if (eval "$addresses" && node "$ROOT/scripts/infra/login.mjs" postgres "$DATABASE_URL_GATEWAY"); then echo "$addresses"; fi
}

# Of our own RabbitMQ also while it starts: services begin meanwhile, and its users are there before it counts as ready.
broker_addresses() { # SOURCE URL
  [ -f "$BROKER_USER_COMMAND" ] || return 0
  case $1 in
    native | docker) ;;
    usual-port) broker_user_exists "$2" || return 0 ;;
    *) return 0 ;;
  esac
  RABBITMQ_URL="$2" broker_user_command addresses
}

redis_user_exists() ( # URL
  eval "$(REDIS_URL="$1" redis_user_command addresses)"
  node "$ROOT/scripts/infra/login.mjs" redis "$REDIS_URL_GATEWAY"
)

# Of our own Redis also while it starts, as for RabbitMQ.
redis_addresses() { # SOURCE URL
  [ -f "$REDIS_USER_COMMAND" ] || return 0
  case $1 in
    native | docker) ;;
    usual-port) redis_user_exists "$2" || return 0 ;;
    *) return 0 ;;
  esac
  REDIS_URL="$2" redis_user_command addresses
}

servers_of() { # SOURCE
  local server
  for server in $SERVERS; do if [ "$(source_of "$server")" = "$1" ]; then printf ' %s' "$server"; fi; done
}

packages() { # [test | test-all]
  native_packages $(servers_of native)
  case "${1:-}" in
    test) test_tools ;;
    test-all) test_tools; release_test_tools ;;
  esac
}

up() {
  local server native docker
  native="$(servers_of native)" docker="$(servers_of docker)"
  if [ -n "$native" ]; then native_prepare $native; fi
  if [ -n "$native$docker" ]; then choose_ports $native $docker; fi
  # Written before anything starts, so that what an interrupted start leaves behind is known as ours.
  remember_choice "$native" "$docker"
  for server in $SERVERS; do
    case " $native $docker " in *" $server "*) ;; *) announce "$server" ;; esac
  done
  if [ -n "$docker" ]; then docker_up $docker; fi
  if [ -n "$native" ]; then native_up $native; fi
  hold "${1:-}"
}

remember_choice() { # NATIVE DOCKER
  local server before
  for server in $SERVERS; do
    before="$(remembered "$server")"
    case " $1 " in *" $server "*) echo "$server native"; continue ;; esac
    case " $2 " in *" $server "*) echo "$server docker"; continue ;; esac
    # A server that the environment replaces for this one call is still ours to stop.
    if [ -n "$before" ]; then echo "$server $before"; fi
  done >"$STATE/choice.new"
  mv "$STATE/choice.new" "$STATE/choice"
}

stop_ours() {
  local native docker
  native="$(ours native)" docker="$(ours docker)"
  if [ -n "$native" ]; then native_down $native; fi
  if [ -n "$docker" ]; then docker_down $docker; fi
  rm -rf "$STATE/holders"
}

release() {
  rm -f "$STATE/holders/$1"
  if ! still_held; then stop_ours; fi
}

restart() {
  case "$(remembered "$1")" in
    native) native_down "$1"; native_up "$1" ;;
    docker) docker_compose restart "$1" ;;
    *) fail "$1 was not started here (known: $SERVERS)" ;;
  esac
}

status() {
  local server source url address failed=0
  for server in $SERVERS; do
    source="$(source_of "$server")"
    url="$(url_of "$server" "$source")"
    address="${url##*@}" address="${address#*://}"
    # Another clone's server may have our port and passwords.
    if { case $source in native | docker) runs_here "$server" ;; esac } &&
      node "$ROOT/scripts/infra/login.mjs" "$server" "$url"; then
      printf '%-10s up    %-12s %s\n' "$server" "$source" "$address"
    else
      printf '%-10s down  %-12s %s\n' "$server" "$source" "$address"; failed=1
    fi
  done
  return $failed
}

print_env() {
  local server source
  for server in $SERVERS; do
    source="$(source_of "$server")"
    echo "export $(url_variable "$server")='$(url_of "$server" "$source")'"
    print_addresses "$server" "$source" "$(url_of "$server" "$source")"
  done
}

test_tools() {
  need_packages sshd=openssh-server redis-server=redis-server python3=python3 curl=curl openssl=openssl \
    chromium-headless-shell=chromium-headless-shell
}

release_test_tools() {
  need_packages zsh=zsh fish=fish
  (need_packages faketime=faketime) || say 'no libfaketime: the clock faults of `make campaign` are passed over'
}

# One at a time on this machine: two clones must not choose the same ports at the same moment.
locked() {
  exec 9>>"${TMPDIR:-/tmp}/slipway-infra.$(id -u).lock"
  flock 9
  mkdir -p "$STATE"
  "$@"
}

case "${1:-}" in
  up) locked up "${2:-}" ;;
  release) locked release "${2:?by whom?}" ;;
  down) locked stop_ours ;;
  restart) locked restart "${2:?which server?}" ;;
  status) if ! status; then exit 1; fi ;;
  env) print_env ;;
  packages) locked packages "${2:-}" ;;
  remove) locked stop_ours; native_remove; docker_remove; rm -rf "$STATE" ;;
  *) sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
