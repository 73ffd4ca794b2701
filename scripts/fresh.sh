#!/usr/bin/env bash
# Proves that a new machine needs nothing that this one happens to have: makes a
# minimal Debian in a temporary folder, runs there, from a git clone of HEAD,
# the two commands of the README, then the steps of the Dockerfile, then the
# image's own entry point, then the Debian packages; all that on Debian 12 and on 13.
#
#   scripts/fresh.sh [bookworm|trixie]... [demo|test|image|package]...     only these
#
# Root, on Debian or a relative. The only things taken from this machine: where
# apt and Go download from, proxies, certificates, name resolution.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/chroot.sh

say() { printf '\nfresh: %s (%d s)\n' "$*" "$SECONDS"; }

# In namespaces of our own mounts and processes cannot outlive this script.
if [[ -z "${INTSINK_FRESH-}" ]]; then
	[[ $EUID -eq 0 ]] || { echo "fresh: run as root: debootstrap and chroot need it" >&2; exit 1; }
	dir=$(mktemp -d /var/tmp/intsink-fresh.XXXXXX)
	trap 'rm -rf --one-file-system "$dir"' EXIT
	INTSINK_FRESH=$dir unshare --mount --pid --fork --kill-child --mount-proc "$PWD/scripts/fresh.sh" "$@"
	exit
fi
suites=() steps=()
for what in "$@"; do
	case $what in
	bookworm | trixie) suites+=("$what") ;;
	demo | test | image | package) steps+=("$what") ;;
	*) echo "usage: fresh.sh [bookworm|trixie]... [demo|test|image|package]..." >&2; exit 2 ;;
	esac
done
[[ ${#suites[@]} -gt 0 ]] || suites=(bookworm trixie)
[[ ${#steps[@]} -gt 0 ]] || steps=(demo test image package)
git clone --quiet --no-local . "$INTSINK_FRESH/src"

# new_machine: a root with make, git and the sources, once.
new_machine() {
	[[ ! -d "$dir/machine" ]] || return 0
	say "new machine: make and git"
	copy_base "$dir/base" "$dir/machine"
	cp -a "$INTSINK_FRESH/src" "$dir/machine/root/intsink"
	in_root "$dir/machine" / "apt-get -qq update && apt-get -qq -y install make git >/dev/null"
}

# try STEP: on the Debian whose base is in dir.
try() {
	case $1 in
	demo | test)
		new_machine
		say "make $1"
		in_root "$dir/machine" /root/intsink "make $1 </dev/null"
		;;
	package)
		new_machine
		say "make deb"
		in_root "$dir/machine" /root/intsink "make deb </dev/null && apt-get -qq -y install lintian >/dev/null && lintian --fail-on error,warning bin/*.deb"
		say "packages: install, run, upgrade, remove"
		copy_base "$dir/base" "$dir/package"
		cp "$dir"/machine/root/intsink/bin/*.deb "$dir/package/tmp/"
		cp scripts/fresh-package.sh scripts/fresh-replay.hcl docs/change.md "$dir/package/tmp/"
		in_root "$dir/package" /tmp "bash fresh-package.sh"
		;;
	image)
		say "steps of the Dockerfile"
		run_dockerfile "$INTSINK_FRESH/src" "$dir/base" "$dir/image"
		say "image: entry point and drivers, as user ${image_user}"
		in_root "$image_root" /tmp "su -s /bin/sh $image_user -c 'intsink --version && intsink run --help >/dev/null'"
		in_root "$image_root" /tmp "! ldd /usr/local/bin/intsink | grep 'not found'"
		cp scripts/fresh-replay.hcl "$image_root/tmp/"
		in_root "$image_root" /tmp "su -s /bin/sh $image_user -c '
			intsink gen --out in.pcap --count 1000 &&
			intsink replay --config fresh-replay.hcl --in in.pcap --out out.pcap --reports reports.pcap'" | tail -n 1
		say "image: it runs and is healthy without rights, on a root that is read only, and stops"
		mount -o remount,bind,ro "$image_root"
		in_root "$image_root" / "exec setpriv --reuid $image_user --regid $image_user --clear-groups --bounding-set=-all --no-new-privs bash -c '
			intsink run --config /tmp/fresh-replay.hcl & for i in {1..600}; do intsink health 2>/dev/null && break; sleep 0.1; done
			intsink health && kill %1 && wait %1'"
		;;
	esac
}

for suite in "${suites[@]}"; do
	dir=$INTSINK_FRESH/$suite
	mkdir "$dir"
	say "debootstrap $suite"
	make_base "$dir/base" "$suite"
	for what in "${steps[@]}"; do
		try "$what"
	done
done
say "all passed"
