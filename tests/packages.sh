#!/bin/sh
# Installs what the tests need and lack: the mkfs tools, fio, strace, chromium; mounts tracefs. Without root or apt it says so,
# and the tests that need them say that they were skipped.
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
ldconfig -p 2>/dev/null | grep -q libeatmydata || [ -e /usr/lib/x86_64-linux-gnu/libeatmydata.so ] || missing="$missing libeatmydata1"
if [ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing ] && [ ! -d /sys/kernel/tracing/instances ]; then
    mount -t tracefs tracefs /sys/kernel/tracing || echo "tracefs cannot be mounted: tests of --trace are skipped" >&2
fi
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "missing for some tests:$missing (install them, or those tests are skipped)" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq $missing >/dev/null
