#!/usr/bin/env bash
# Run by fresh.sh in a new Debian: installs the packages, uses them, upgrades, removes.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
fail() { echo "packages: $*" >&2; exit 1; }

apt-get -qq update
apt-get -qq -y install --no-install-recommends ./intsink_*.deb ./intsink-collect_*.deb >/dev/null
getent passwd intsink >/dev/null || fail "no user intsink"
intsink version && intsink-collect version
intsink check --config /etc/intsink/intsink.hcl >/dev/null || fail "the configuration of the package is not valid"
intsink gen --out in.pcap --count 1000
intsink replay --config fresh-replay.hcl --in in.pcap --out out.pcap --reports reports.pcap | tail -n 1
intsink-collect decode reports.pcap >reports.json
[[ -s reports.json ]] || fail "no report in what replay wrote"
[[ -s /usr/share/man/man1/intsink-run.1.gz || ! -d /usr/share/man/man1 ]] || fail "no manual page"

# An upgrade keeps a configuration that was changed; removal keeps it, purge does not.
echo "# mine" >>/etc/intsink/intsink.hcl
apt-get -qq -y install --reinstall ./intsink_*.deb >/dev/null
grep -q "# mine" /etc/intsink/intsink.hcl || fail "the upgrade replaced the configuration"
apt-get -qq -y remove intsink intsink-collect >/dev/null
[[ ! -e /usr/bin/intsink && -e /etc/intsink/intsink.hcl ]] || fail "removed too much or too little"
apt-get -qq -y purge intsink intsink-collect >/dev/null
[[ ! -e /etc/intsink/intsink.hcl ]] || fail "purge left the configuration"
echo "packages: installed, used, upgraded, removed"
