#!/bin/sh
# Installs the peers that this machine lacks: fio, ioping, sysbench, and pg_test_fsync of PostgreSQL.
# A peer that cannot be installed has dashes in the table; nothing here fails.
set -eu
missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need fio fio
need ioping ioping
need sysbench sysbench
need taskset util-linux
postgres=""
pg_test_fsync() {
    command -v pg_test_fsync || ls /usr/lib/postgresql/*/bin/pg_test_fsync
}
pg_test_fsync >/dev/null 2>&1 || postgres="postgresql"
[ -z "$missing$postgres" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "missing peers:$missing $postgres (install them, or their rows are dashes)" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
install() {
    apt-get install -y -qq --no-install-recommends "$1" >/dev/null ||
        echo "$1 could not be installed: its row will be dashes" >&2
}
apt-get update -qq || echo "apt-get update failed: what is known already is tried" >&2
# One at a time: a package that is nowhere to be had must not keep out the others.
for package in $missing; do
    install "$package"
done
[ -z "$postgres" ] && exit 0
# The server package would make a cluster and start it. Only the program is wanted, so that is
# forbidden beforehand, and a setting that was there before is put back.
settings=/etc/postgresql-common/createcluster.conf
kept=""
if [ -e "$settings" ]; then
    kept=$(mktemp)
    cp -p "$settings" "$kept"
fi
restore() {
    [ -z "$kept" ] || mv "$kept" "$settings"
}
trap restore EXIT
mkdir -p "${settings%/*}"
echo "create_main_cluster = false" >>"$settings"
install "$postgres"
