#!/usr/bin/env bash
# Installs what building and testing need, where it is missing: Debian packages,
# and a Go toolchain as new as go.mod asks. Does nothing, and needs no root,
# where all is there. Debian 12 and 13.
#
#   scripts/deps.sh [build|demo|deb|test|bench|ovs|vm]...   for what; test, the default, is all but bench, ovs and vm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The compiler, and DPDK with its drivers.
packages=(gcc libc6-dev make git ca-certificates pkg-config libdpdk-dev)

# What `make demo` and tests of packets run: namespaces, interfaces, captures.
demo=(iproute2 iputils-ping ethtool tcpdump procps curl)

# deb.sh reads from it which libraries a package depends on.
deb=(dpkg-dev)

# tshark is for the dissector in deploy/wireshark, protoc for deploy/collect/intsink.proto,
# chromium for the page of a running sink, Prometheus and promtool for deploy/prometheus.
test=(
	"${demo[@]}" "${deb[@]}" dpdk dpdk-dev
	clang libclang-rt-dev # of fuzz_fast.sh
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross # of check.sh
	tshark protobuf-compiler prometheus chromium
	systemd # systemd-analyze and systemd-tmpfiles, for the units
)

# The virtual machine of deploy/vm.
vm=(qemu-system-x86 debootstrap openssh-client iproute2)

# The search of bench/throughput.py: one package of PyPI, into bin/bench/python.
bench=(python3-pip)
search=mlrsearch==1.2.1

# The switch beside which `make bench-results` measures; its service starts when it is installed.
ovs=(openvswitch-switch-dpdk)

[[ $# -gt 0 ]] || set -- test
for what in "$@"; do
	case $what in
	build) ;;
	demo) packages+=("${demo[@]}") ;;
	deb) packages+=("${deb[@]}") ;;
	test) packages+=("${test[@]}") ;;
	bench) packages+=("${bench[@]}") ;;
	ovs) packages+=("${ovs[@]}") ;;
	vm) packages+=("${vm[@]}") ;;
	*) echo "usage: deps.sh [build|demo|deb|test|bench|ovs|vm]..." >&2; exit 2 ;;
	esac
done

say() { echo "deps: $*"; }

as_root() {
	if [[ $EUID -eq 0 ]]; then
		"$@"
	elif type -P sudo >/dev/null; then
		sudo "$@"
	else
		say "must be root, or have sudo, to run: $*" >&2
		exit 1
	fi
}

missing() {
	local p
	for p in "$@"; do
		[[ "$(dpkg-query -W -f '${Status}' "$p" 2>/dev/null)" == "install ok installed" ]] || echo "$p"
	done
}

install() {
	say "installing: $*"
	as_root apt-get -qq update
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "$@" >/dev/null
}

# fetch_toolchain GO: lets GO, any version from 1.19 on, download the toolchain
# that go.mod names as the Go module it is published as, checksum verified.
fetch_toolchain() {
	local go=$1 version dir
	version=v0.0.1-go$(awk '$1 == "go" {print $2; exit}' go.mod).linux-$("$go" env GOHOSTARCH)
	say "fetching module golang.org/toolchain $version"
	dir=$(cd / && "$go" mod download -json "golang.org/toolchain@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	[[ -d "$dir" ]] || { say "no such toolchain: install Go by hand and put it first in PATH" >&2; exit 1; }
	# Module files have no mode bits; the module cache is read-only.
	chmod a+x "$dir"/bin/* "$dir"/pkg/tool/*/*
}

if ! type -P apt-get >/dev/null; then
	say "this is not Debian: install by hand what gives ${packages[*]}, and Go" >&2
	exit 1
fi
mapfile -t todo < <(missing "${packages[@]}")
if [[ ${#todo[@]} -gt 0 ]]; then
	install "${todo[@]}"
fi
if [[ " $* " == *" bench "* && ! -d bin/bench/python/MLRsearch ]]; then
	say "installing: $search"
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target bin/bench/python "$search"
fi
if ! scripts/go.sh --find >/dev/null; then
	# Debian's own Go is too old to build with, but can fetch a newer one.
	type -P go >/dev/null || install golang-go
	fetch_toolchain "$(type -P go)"
fi
# axe-core looks for what a screen reader, or a keyboard, cannot use. Nothing of what is fetched is run meanwhile.
if [[ " $* " == *" test "* && ! -e bin/axe/node_modules/axe-core/axe.min.js ]]; then
	type -P npm >/dev/null || install npm
	say "fetching axe-core"
	mkdir -p bin/axe
	npm install --prefix bin/axe --ignore-scripts --no-audit --no-fund --no-save --loglevel=error axe-core@4.10.3 >/dev/null
fi
say "all there: DPDK $(pkg-config --modversion libdpdk), $(scripts/go.sh env GOVERSION)"
