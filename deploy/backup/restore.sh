#!/bin/sh
# Replaces what the database of DATABASE_URL holds with a dump: the newest of BACKUP_DIR, or the one that RESTORE_FILE names. It
# stops if a service is still connected. The migrations come after it: they give the roles of the services their rights.
set -eu

folder=${BACKUP_DIR:-/backups}
file=${RESTORE_FILE:-$(ls "$folder"/slipway-*.dump | tail -n 1)}
pg_restore --list "$file" >/dev/null
export PGOPTIONS='-c slipway.tenant=*'
others=$(psql "$DATABASE_URL" --no-psqlrc --tuples-only --no-align --command \
  "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'")
if [ "$others" != 0 ]; then
  echo "restore: $others connections are open: stop the services and the instances first" >&2
  exit 1
fi
psql "$DATABASE_URL" --no-psqlrc --quiet --set ON_ERROR_STOP=1 --command 'SET client_min_messages = warning' \
  --command 'DROP SCHEMA public CASCADE' --command 'CREATE SCHEMA public'
pg_restore --exit-on-error --no-owner --no-acl --enable-row-security --dbname="$DATABASE_URL" "$file"
echo "restore: the database holds $file; run the migrations, then start the services"
