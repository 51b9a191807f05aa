# Ports of the servers that are started here, remembered in .slipway/infra/ports. Sourced by infra.sh.

port_is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# `kill -0` is true for a zombie that nobody has reaped yet, which is what a killed server is in a container.
process_lives() {
  local state
  state="$(ps -o stat= -p "$1" 2>/dev/null)" && [ -n "$state" ] && [ "${state#Z}" = "$state" ]
}

port_variable() {
  case $1 in postgres) echo SLIPWAY_PG_PORT ;; rabbitmq) echo SLIPWAY_MQ_PORT ;; redis) echo SLIPWAY_REDIS_PORT ;; esac
}

# Below those that the system gives to outgoing connections: one of RabbitMQ's own would take the port of Redis.
first_port() {
  case $1 in postgres) echo 15440 ;; rabbitmq) echo 15680 ;; redis) echo 16390 ;; esac
}

own_port() { # from the environment, else as remembered, else the first choice
  local variable remembered=''
  variable="$(port_variable "$1")"
  if [ -n "${!variable:-}" ]; then echo "${!variable}"; return; fi
  if [ -f "$STATE/ports" ]; then remembered="$(sed -n "s/^$1 //p" "$STATE/ports")"; fi
  echo "${remembered:-$(first_port "$1")}"
}

# RabbitMQ listens on three: for clients, for its command line tools, and its port mapper.
ports_of() {
  case $1 in rabbitmq) echo "$2 $(($2 + 1)) $(($2 + 2))" ;; *) echo "$2" ;; esac
}

# True when nothing listens on the server's ports, or what listens there is ours.
may_use() {
  local port
  if runs_here "$1"; then return 0; fi
  for port in $(ports_of "$1" "$2"); do if port_is_open "$port"; then return 1; fi; done
}

# Settles the ports of the given servers. They come in blocks, 50 apart, so that several clones stay recognisable.
choose_ports() {
  local server variable block port fits
  # Ours before: a server that was just killed may need a moment to let its port go, and leaves a port mapper behind.
  if remembered_ports && ! all_may_use "$@"; then
    stop_port_mapper
    for _ in $(seq 50); do if all_may_use "$@"; then break; fi; sleep 0.1; done
  fi
  for server in "$@"; do
    variable="$(port_variable "$server")"
    if [ -n "${!variable:-}" ] && ! may_use "$server" "${!variable}"; then
      fail "$server: port ${!variable} ($variable) is taken by something else; free it or set $variable to another"
    fi
  done
  if all_may_use "$@"; then remember_ports; return; fi
  for block in $(seq 0 14); do
    fits=yes
    for server in "$@"; do
      port=$(($(first_port "$server") + 50 * block))
      may_use "$server" "$port" || fits=no
    done
    if [ $fits = yes ]; then
      for server in $SERVERS; do echo "$server $(($(first_port "$server") + 50 * block))"; done >"$STATE/ports"
      remember_ports
      say "the first choice of ports is taken; using $(tr '\n' ' ' <"$STATE/ports")"
      return
    fi
  done
  fail 'no free block of ports from 15440, 15680, 16390 upwards; set SLIPWAY_PG_PORT, SLIPWAY_MQ_PORT and SLIPWAY_REDIS_PORT'
}

all_may_use() {
  local server
  for server in "$@"; do may_use "$server" "$(own_port "$server")" || return 1; done
}

# True when the ports are those of last time, not other ones that the environment names now.
remembered_ports() {
  local server
  for server in $SERVERS; do grep -qx "$server $(own_port "$server")" "$STATE/ports" 2>/dev/null || return 1; done
}

remember_ports() {
  local server
  for server in $SERVERS; do echo "$server $(own_port "$server")"; done >"$STATE/ports.new"
  mv "$STATE/ports.new" "$STATE/ports"
}
