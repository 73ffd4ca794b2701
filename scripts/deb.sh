#!/usr/bin/env bash
# Makes Debian packages out of the programs in bin/: intsink, and intsink-collect, which
# needs no DPDK. Unit, manual pages, completions, sysctl, udev and sysusers files, the
# Wireshark plugin, rules and dashboards are in them. Nothing is installed here.
#
#   scripts/deb.sh [DIRECTORY]     where the packages go; bin by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath "${1:-bin}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

arch=$(dpkg --print-architecture)
stamp=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
version=$(scripts/debversion.sh "$(bin/intsink version | cut -d' ' -f2)" "$stamp")
maintainer="intsink maintainers <maintainers@intsink.example>"

# put MODE FROM TO: a file into the package at hand.
put() { install -D -m "$1" "$2" "$root$3"; }

# begin NAME OVERRIDE: an empty package, in which lintian finds one thing that is meant.
begin() {
	name=$1 root=$work/$1
	mkdir -p "$root/DEBIAN" "$root/usr/share/man/man1" "$root/usr/share/doc/$name"
	put 755 "bin/$name" "/usr/bin/$name"
	strip --remove-section=.comment --remove-section=.note "$root/usr/bin/$name"
	mkdir -p "$root/usr/share/lintian/overrides"
	# Go links statically, and a position independent program would be slower.
	printf '%s: statically-linked-binary [usr/bin/%s]\n%s: hardening-no-pie [usr/bin/%s]\n' "$name" "$name" "$name" "$name" |
		grep "$2" >"$root/usr/share/lintian/overrides/$name"
	"bin/$name" man "$root/usr/share/man/man1"
	gzip -9n "$root"/usr/share/man/man1/*
	put 644 deploy/package/copyright "/usr/share/doc/$name/copyright"
	printf '%s (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' "$name" "$version" "$maintainer" "$(date -Rd "@$stamp")" |
		gzip -9n >"$root/usr/share/doc/$name/changelog.gz"
	gzip -9nc CHANGELOG.md >"$root/usr/share/doc/$name/CHANGELOG.md.gz"
	SOURCE_DATE_EPOCH=$stamp scripts/sbom.sh "bin/$name" | gzip -9n >"$root/usr/share/doc/$name/$name.spdx.gz"
	local shell
	for shell in bash:bash-completion/completions/$name zsh:zsh/vendor-completions/_$name fish:fish/vendor_completions.d/$name.fish; do
		mkdir -p "$(dirname "$root/usr/share/${shell#*:}")"
		"bin/$name" completion "${shell%%:*}" >"$root/usr/share/${shell#*:}"
	done
	# Units of a source tree name /usr/local/bin, where `make install` puts the programs.
	mkdir -p "$root/usr/lib/systemd/system"
	sed 's|/usr/local/bin/|/usr/bin/|g; /^# Install as /d' "deploy/systemd/$name.service" >"$root/usr/lib/systemd/system/$name.service"
	put 644 deploy/package/sysusers.conf "/usr/lib/sysusers.d/$name.conf"
}

# libraries PROGRAM: the packages of its libraries, with the versions that it needs at least, as
# the Debian that this machine has calls them: librte-eal23 in 12, librte-eal25 in 13.
libraries() {
	mkdir -p "$work/shlibs/debian"
	printf 'Source: intsink\n\nPackage: intsink\nArchitecture: any\n' >"$work/shlibs/debian/control"
	(program=$PWD/$1 && cd "$work/shlibs" && dpkg-shlibdeps -O "$program" | sed -n 's/^shlibs:Depends=//p')
}

# finish DEPENDS SUMMARY DESCRIPTION: control files, and the package.
finish() {
	(cd "$root" && find etc -type f 2>/dev/null | sed 's|^|/|') >"$root/DEBIAN/conffiles"
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$name" "$version" "$arch" "$maintainer"
		printf 'Installed-Size: %s\nDepends: %s\nSection: net\nPriority: optional\n' "$(du -sk --exclude=DEBIAN "$root" | cut -f1)" "$1"
		printf 'Description: %s\n%s\n' "$2" "$3"
	} >"$root/DEBIAN/control"
	(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
	install -m 755 deploy/package/preinst deploy/package/postinst deploy/package/prerm deploy/package/postrm "$root/DEBIAN/"
	sed -i "s/@NAME@/$name/g" "$root"/DEBIAN/p*
	find "$root" -newermt "@$stamp" -exec touch -hd "@$stamp" {} +
	SOURCE_DATE_EPOCH=$stamp dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >/dev/null
	echo "$out/${name}_${version}_$arch.deb"
}
rm -f "$out"/intsink*_"$arch".deb

begin intsink hardening-no-pie
rm "$root/usr/share/man/man1/intsink-collect.1.gz" # the other package has it
put 640 conf/examples/minimal.hcl /etc/intsink/intsink.hcl # of group intsink: postinst
mkdir -p "$root/usr/share/doc/intsink/examples"
cp conf/examples/*.hcl "$root/usr/share/doc/intsink/examples/"
put 644 cmd/intsink/internal/openapi/openapi.json /usr/share/doc/intsink/openapi.json
put 644 deploy/package/sysctl.conf /etc/sysctl.d/60-intsink.conf
put 644 deploy/package/udev.rules /usr/lib/udev/rules.d/60-intsink.rules
put 644 deploy/package/needrestart.conf /etc/needrestart/conf.d/intsink.conf
put 644 deploy/wireshark/intsink.lua "/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)/wireshark/plugins/intsink.lua"
put 644 deploy/prometheus/rules.yml /usr/share/intsink/prometheus/rules.yml
put 644 deploy/grafana/sink.json /usr/share/intsink/grafana/sink.json
put 644 deploy/grafana/network.json /usr/share/intsink/grafana/network.json
put 644 deploy/grafana/collect.json /usr/share/intsink/grafana/collect.json
finish "$(libraries bin/intsink), systemd | systemd-standalone-sysusers, $(scripts/dpdk-packages.sh mempool-ring bus-pci bus-vdev | paste -sd, | sed 's/,/, /g'), librte-meta-net" \
	"In-band Network Telemetry (INT) sink appliance" \
	" Stands inline at the edge of an INT domain, takes packets from NICs with DPDK,
 removes the INT headers so that hosts receive exactly what was sent, watches
 paths, latencies, queues and losses of every flow, and sends coalesced
 Telemetry Reports to collectors when something happened."

begin intsink-collect statically-linked
put 644 deploy/collect/collect.hcl /etc/intsink/collect.hcl
mkdir -p "$root/usr/share/intsink-collect"
cp deploy/collect/*.sql deploy/collect/intsink.proto "$root/usr/share/intsink-collect/"
put 644 deploy/tmpfiles/intsink-collect.conf /usr/share/intsink-collect/tmpfiles.conf
finish "systemd | systemd-standalone-sysusers" \
	"collector of INT Telemetry Reports" \
	" Receives the Telemetry Reports of INT sinks and switches, turns each into a
 flat, versioned record, and delivers it to Kafka, ClickHouse, JSON Lines files
 and Prometheus, with a spool on disk while these are away. Needs no DPDK."
