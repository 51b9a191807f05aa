#!/bin/sh
# Run by the Postgres image when it makes its data folder. Slipway's role is no superuser: superusers pass by row-level
# security, the second check of tenants.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres --set "password=$POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE slipway LOGIN CREATEDB PASSWORD :'password';
CREATE DATABASE slipway OWNER slipway;
SQL
