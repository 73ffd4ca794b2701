#!/usr/bin/env bash
# Installs what the Debian packages have, for machines without dpkg: programs, units with their
# user, manual pages and completions below /usr/local, configurations where there are none.
#
#   scripts/install.sh [DESTDIR]     PROGRAMS=bin: where both programs are
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=${1:-} programs=${PROGRAMS:-bin} share=${1:-}/usr/local/share
umask 022

# put MODE FROM... TO: files into a folder.
put() { install -D -m "$1" -t "$root${*: -1}" "${@:2:$#-2}"; }

# configuration FROM TO [MODE]: unless somebody has one.
configuration() { [[ -e "$root$2" ]] || install -D -m "${3:-644}" "$1" "$root$2"; }

put 755 "$programs/intsink" "$programs/intsink-collect" /usr/local/bin
put 644 deploy/systemd/intsink.service deploy/systemd/intsink-collect.service /usr/local/lib/systemd/system
install -D -m 644 deploy/package/sysusers.conf "$root/usr/local/lib/sysusers.d/intsink.conf"
install -D -m 644 deploy/package/udev.rules "$root/etc/udev/rules.d/60-intsink.rules"
configuration deploy/package/sysctl.conf /etc/sysctl.d/60-intsink.conf
configuration deploy/package/needrestart.conf /etc/needrestart/conf.d/intsink.conf
configuration conf/examples/minimal.hcl /etc/intsink/intsink.hcl 640 # for hashes of tokens
configuration deploy/collect/collect.hcl /etc/intsink/collect.hcl

mkdir -p "$share"/man/man1 "$share"/bash-completion/completions "$share"/zsh/site-functions "$share"/fish/vendor_completions.d
for name in intsink intsink-collect; do
	"$programs/$name" man "$share/man/man1"
	"$programs/$name" completion bash >"$share/bash-completion/completions/$name"
	"$programs/$name" completion zsh >"$share/zsh/site-functions/_$name"
	"$programs/$name" completion fish >"$share/fish/vendor_completions.d/$name.fish"
done
put 644 conf/examples/*.hcl /usr/local/share/doc/intsink/examples
put 644 cmd/intsink/internal/openapi/openapi.json /usr/local/share/doc/intsink
put 644 deploy/wireshark/intsink.lua /usr/local/share/intsink/wireshark
put 644 deploy/prometheus/rules.yml /usr/local/share/intsink/prometheus
put 644 deploy/grafana/*.json /usr/local/share/intsink/grafana
put 644 deploy/collect/*.sql deploy/collect/intsink.proto /usr/local/share/intsink-collect
install -D -m 644 deploy/tmpfiles/intsink-collect.conf "$root/usr/local/share/intsink-collect/tmpfiles.conf"
# udevd leaves a rule out whose group it does not know, and reads it again only where the file is newer.
[[ -n $root ]] || echo "then: systemd-sysusers && chgrp -h intsink /etc/intsink/intsink.hcl && touch /etc/udev/rules.d/60-intsink.rules && udevadm control --reload && udevadm trigger --subsystem-match=vfio && systemctl daemon-reload"
