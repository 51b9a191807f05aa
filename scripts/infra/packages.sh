# Debian packages that are missing. Sourced by infra.sh.

has_command() {
  command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || { [ "$1" = initdb ] && postgres_programs >/dev/null; }
}

# need_packages COMMAND=PACKAGE ...: installs the packages whose command is missing.
need_packages() {
  local pair missing=''
  for pair in "$@"; do has_command "${pair%%=*}" || missing="$missing ${pair#*=}"; done
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null 2>&1 ||
    fail "missing:$missing. Install them, or start Docker, or set DATABASE_URL, RABBITMQ_URL and REDIS_URL."
  [ "$(id -u)" = 0 ] ||
    fail "missing Debian packages. Run: sudo apt-get update && sudo apt-get install --no-install-recommends$missing" \
      '(or start Docker, or set DATABASE_URL, RABBITMQ_URL and REDIS_URL)'
  install_quietly $missing
}

# The packages would start system-wide servers on their usual ports: policy-rc.d forbids that for this one call.
install_quietly() (
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
  fi
  export DEBIAN_FRONTEND=noninteractive
  "$ROOT/scripts/phase.sh" "installing $*" bash -c \
    'apt-get update && apt-get install -y --no-install-recommends "$@"' - "$@" >&2 ||
    fail "apt-get could not install: $*"
)
