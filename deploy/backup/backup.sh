#!/bin/sh
# Dumps the database of DATABASE_URL into BACKUP_DIR and deletes dumps that are older than BACKUP_KEEP_DAYS. The dump has its name
# only when it is whole.
set -eu

folder=${BACKUP_DIR:-/backups}
file=$folder/slipway-$(date -u +%Y%m%dT%H%M%SZ).dump
# Row-level security would otherwise leave out the rows of tenants.
export PGOPTIONS='-c slipway.tenant=*'
rm -f "$folder"/*.part
pg_dump --format=custom --enable-row-security --file="$file.part" "$DATABASE_URL"
# Reads the whole table of contents: a dump that was cut off has none.
pg_restore --list "$file.part" >/dev/null
mv "$file.part" "$file"
find "$folder" -name 'slipway-*.dump' -mtime "+${BACKUP_KEEP_DAYS:-30}" -delete
echo "backup: wrote $file, $(wc -c <"$file") bytes"
