# The servers of docker-compose.yml. Sourced by infra.sh.

docker_answers() {
  command -v docker >/dev/null 2>&1 &&
    docker compose version >/dev/null 2>&1 && timeout 10 docker info >/dev/null 2>&1
}

# A project of its own for each clone; published on the ports that were chosen for this clone.
docker_compose() {
  POSTGRES_PASSWORD="$POSTGRES_PASSWORD" RABBITMQ_PASSWORD="$RABBITMQ_PASSWORD" REDIS_PASSWORD="$REDIS_PASSWORD" \
    SLIPWAY_PG_PORT="$(own_port postgres)" SLIPWAY_MQ_PORT="$(own_port rabbitmq)" SLIPWAY_REDIS_PORT="$(own_port redis)" \
    docker compose --project-name "slipway-$(clone_hash)" --file "$ROOT/docker-compose.yml" "$@"
}

docker_runs() { docker_answers && [ -n "$(docker_compose ps --quiet --status running "$1" 2>/dev/null)" ]; }
docker_up() {
  local server
  docker_compose up --detach --wait "$@" >&2
  for server in "$@"; do announce "$server"; done
}
docker_import_definitions() { docker_compose exec --no-TTY rabbitmq rabbitmqctl --quiet import_definitions <"$1"; } # FILE
docker_down() { docker_compose stop "$@" >&2; }
docker_remove() { if [ -n "$(ours docker)" ]; then docker_compose down --volumes >&2; fi; }
