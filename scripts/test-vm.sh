#!/usr/bin/env bash
# Tests the Debian packages in a virtual machine with NICs (deploy/vm). In bin/ must lie what
# `make deb` makes.
#
#   scripts/test-vm.sh [-short-form] [-go-on] [-test.run 'TestMachine/...']
#
# Root, on Debian 12. INTSINK_VM=/var/cache/intsink-vm: where QEMU and the Debian of the machine are kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
vm=${INTSINK_VM:-/var/cache/intsink-vm}
[[ $EUID -eq 0 ]] || { echo "test-vm: run as root: debootstrap, chroot and taps need it" >&2; exit 1; }
newest() { printf '%s\n' "$@" | xargs ls -t | head -n 1; }
deploy/vm/build.sh "$vm" "$(newest bin/intsink_*.deb)" "$(newest bin/intsink-collect_*.deb)"
scripts/go.sh test -tags vm -c -o bin/vm.test ./deploy/vm
cd deploy/vm
exec unshare --net ../../bin/vm.test -test.v -test.timeout 90m -folder "$vm" "$@" </dev/null
