#!/bin/sh
# PostgreSQL of Debian for weft: made in /var/lib/postgresql/data the first time, for the owner `weft_owner` with
# OWNER_PASSWORD. PGPORT (5432) and LISTEN (*) say where it answers.
set -eu
data=/var/lib/postgresql/data
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
if [ ! -e "$data" ]; then
    rm -rf "$data.new"
    initdb -D "$data.new" -U postgres --auth-local=peer --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 >/dev/null
    echo 'host all all all scram-sha-256' >>"$data.new/pg_hba.conf"
    postgres --single -D "$data.new" postgres >/dev/null <<SQL
CREATE ROLE weft_owner LOGIN CREATEROLE PASSWORD '$OWNER_PASSWORD'
CREATE DATABASE weft OWNER weft_owner
SQL
    mv "$data.new" "$data"
fi
exec postgres -D "$data" -p "${PGPORT:-5432}" -c listen_addresses="${LISTEN:-*}" \
    -c unix_socket_directories=/tmp -c jit=off -c random_page_cost=1.1
