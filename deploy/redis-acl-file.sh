#!/bin/sh
# redis-acl-file.sh FILE: prepares the ACL file of a Redis before it starts. Its administrator is the user `default` with the password
# REDISCLI_AUTH. The other users of the file stay: `ACL SAVE` of packages/runtime/dist/redis/users/command.js has written them.
set -eu
umask 077
file=$1
touch "$file"
{
  # Without this line Redis would ask for no password: `requirepass` does not count beside an ACL file.
  echo "user default on >$REDISCLI_AUTH ~* &* +@all"
  grep -v '^user default ' "$file" || true
} >"$file.new"
mv "$file.new" "$file"
