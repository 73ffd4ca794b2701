#!/usr/bin/env bash
# Debian 13 on a machine with another Debian: builds there, runs the demo, and the tests of what
# touches DPDK. fresh.sh tries all, on new machines; this has a root that is kept between runs,
# and takes Go and its modules from here.
#
#   scripts/trixie.sh [COMMAND]     another COMMAND there, in the sources, in place of all that
#
# Root. INTSINK_TRIXIE=/var/cache/intsink-trixie: where the root is kept, made where it is missing.
# Exit code 75: this machine cannot make such a root, so nothing was tried there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/chroot.sh
cache=${INTSINK_TRIXIE:-/var/cache/intsink-trixie}
root=$cache/root

say() { printf '\ntrixie: %s (%d s)\n' "$*" "$SECONDS"; }

unable() { echo "trixie: $*" >&2; exit 75; }

# In namespaces of our own mounts and processes cannot outlive this script; nor does anybody else
# use the root meanwhile.
if [[ -z "${INTSINK_TRIXIE_INSIDE-}" ]]; then
	[[ $EUID -eq 0 ]] || unable "run as root: debootstrap and chroot need it"
	mkdir -p "$cache" && unshare --mount --pid --fork true || unable "no folder $cache, or no namespaces"
	INTSINK_TRIXIE_INSIDE=1 exec flock "$cache" \
		nice -n 5 unshare --mount --pid --fork --kill-child --mount-proc "$PWD/scripts/trixie.sh" "$@"
fi

if [[ ! -e "$root" ]]; then
	say "debootstrap"
	rm -rf "$cache/new" # of a run that was ended
	[[ -n "$(mirror)" ]] || apt-get -qq update || true # make_base says what is missing
	timeout --foreground 15m bash -c 'source scripts/chroot.sh && make_base "$1" trixie' - "$cache/new" ||
		unable "debootstrap made no Debian 13: $cache/new.log"
	mv "$cache/new" "$root"
fi
resolve "$root"
enter "$root"

# Go is this machine's, by the places that it has here.
go=$(scripts/go.sh --find)
for from in "$("$go" env GOROOT)" "$("$go" env GOMODCACHE)"; do
	mkdir -p "$from" "$root$from"
	mount --bind "$from" "$root$from"
done
# Programs and tests are compiled alike, so that both take what the other has in the cache.
image_env=("GOFLAGS=-buildvcs=false -trimpath" GOAMD64=v1 PGO=off GOTOOLCHAIN=local "GOMODCACHE=$("$go" env GOMODCACHE)"
	"PATH=$(dirname "$go"):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")

# The sources as they stand here, committed or not.
sources=$root/root/intsink
rm -rf "$sources"
mkdir -p "$sources"
git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read --files-from=- 2>/dev/null | tar -x -C "$sources"

say "packages"
in_root "$root" /root/intsink "dpkg --configure -a && scripts/deps.sh build demo" # a run may have been ended in the middle
# The cache of builds does not know that DPDK's headers have changed: one for each version.
image_env+=("GOCACHE=/root/.cache/go-build-$(in_root "$root" / "pkg-config --modversion libdpdk")")

if [[ $# -gt 0 ]]; then
	in_root "$root" /root/intsink "$*"
	exit
fi
say "make build"
in_root "$root" /root/intsink "make build </dev/null"
say "make demo"
in_root "$root" /root/intsink "make demo </dev/null"
say "tests of what touches DPDK"
in_root "$root" /root/intsink "source scripts/gotest.sh && gotest ./dpdk/... ./engine/fast"
say "all passed"
