#!/bin/sh
# Finds the tools of `make firmware` and `make gauntlet`; installs missing ones where it may (root and apt-get).
set -eu
[ "$#" -gt 0 ] || { echo "usage: install.sh PROGRAM=PACKAGES ..."; exit 2; }
packages=
for pair in "$@"; do
    command -v "${pair%%=*}" > /dev/null || packages="$packages $(echo "${pair#*=}" | tr ',' ' ')"
done
[ -n "$packages" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "installing$packages"
    # shellcheck disable=SC2086
    { apt-get update && apt-get install -y --no-install-recommends $packages; } > /tmp/symgen-install.log 2>&1 ||
        echo "could not install; see /tmp/symgen-install.log"
else
    echo "not installed:$packages"
fi
