#!/usr/bin/env bash
# Run by fresh.sh in a new Debian: installs the packages, uses them, starts what their units
# start, upgrades while it runs, removes.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
fail() { echo "packages: $*" >&2; exit 1; }

# start COMMAND...: as intsink.service does, by its user with its capabilities alone, in a
# network of its own; pid is what runs. There is no systemd here to do it.
start() {
	local unit=/usr/lib/systemd/system/intsink.service capabilities
	[[ $(sed -n 's/^User=//p' $unit) == intsink ]] || fail "the unit has another user"
	capabilities=$(sed -n 's/^AmbientCapabilities=//p' $unit | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	install -d -o intsink -g intsink -m 700 /run/intsink
	(RUNTIME_DIRECTORY=/run/intsink exec unshare --net setpriv --reuid=intsink --regid=intsink --clear-groups \
		--no-new-privs --bounding-set="-all,$capabilities" --inh-caps="-all,$capabilities" --ambient-caps="-all,$capabilities" "$@") 2>run.log &
	pid=$!
	for _ in {1..300}; do
		! intsink mode >/dev/null 2>&1 || return 0
		kill -0 $pid 2>/dev/null || break
		sleep 0.2
	done
	cat run.log
	fail "the service does not start"
}

# stop ends what runs, as systemd does.
stop() {
	kill -TERM $pid
	wait $pid || { cat run.log; fail "the service ends with $?"; }
	grep -q "stopped, all mbufs returned" run.log || fail "the service did not drain"
}

# older makes the same package of an earlier version.
older() {
	dpkg-deb -R "$1" older
	sed -i 's/^Version: .*/Version: 0~a/' older/DEBIAN/control
	dpkg-deb --root-owner-group -Zgzip -b older "$2" >/dev/null
}
# typed runs the lines behind a prompt in section $1 of docs/change.md, as they stand there. What doctor
# finds is up to the machine: only that it was run counts.
typed() {
	local line commands=0
	while read -r line; do
		echo "# $line"
		commands=$((commands + 1))
		bash -euc "$line" </dev/null >typed.log 2>&1 || [[ $line == "intsink doctor"* ]] || { cat typed.log; fail "change.md, $1: $line"; }
	done < <(sed -n "/^## $1\$/,/^## /s/^# //p" change.md)
	[[ $commands -ge 5 ]] || fail "change.md has no commands below $1"
}
version() { dpkg-query -W -f '${Version}' intsink; }

apt-get -qq update
new=$(echo ./intsink_*.deb)
older "$new" ./older.deb
apt-get -qq -y install --no-install-recommends ./older.deb ./intsink-collect_*.deb >/dev/null
[[ $(version) == 0~a ]] || fail "$(version) is installed"
getent passwd intsink >/dev/null || fail "no user intsink"
intsink version && intsink-collect version
intsink check --config /etc/intsink/intsink.hcl >/dev/null || fail "the configuration of the package is not valid"
intsink-collect collect --check --config /etc/intsink/collect.hcl >/dev/null || fail "the collector's configuration is not valid"
intsink gen --out in.pcap --count 1000
intsink replay --config fresh-replay.hcl --in in.pcap --out out.pcap --reports reports.pcap | tail -n 1
intsink-collect decode reports.pcap >reports.json
[[ -s reports.json ]] || fail "no report in what replay wrote"
[[ -s /usr/share/man/man1/intsink-run.1.gz || ! -d /usr/share/man/man1 ]] || fail "no manual page"

# A service runs on over an upgrade that nobody restarts it for, and a configuration that was
# changed is kept.
{ cat fresh-replay.hcl; echo 'dpdk { idle_sleep = "1ms" }'; echo 'http { listen = "" }'; echo "# mine"; } >/etc/intsink/intsink.hcl
mapfile -t unit < <(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/intsink.service)
# shellcheck disable=SC2086
start ${unit[0]}
[[ $(stat -c %U /proc/$pid) == intsink ]] || fail "the service runs as $(stat -c %U /proc/$pid)"
sed -i 's/sample = 10 /sample = 20 /' /etc/intsink/intsink.hcl
intsink reload | grep -q 'sample: 10 -> 20' || fail "no reload by the socket"
cp "$new" intsink_NEW_amd64.deb
typed Upgrade
[[ $(version) != 0~a ]] || fail "no upgrade"
grep -q "# mine" /etc/intsink/intsink.hcl || fail "the upgrade replaced the configuration"
intsink mode | grep -q "mode full" || fail "the service did not outlast the upgrade"
typed "Hand over"
for archive in before handover; do
	tar -xzOf $archive.tar.gz --wildcards '*/status.json' | grep -q '"node": 1,' || fail "$archive.tar.gz lacks the state of the sink"
done
stop
# shellcheck disable=SC2086
start ${unit[0]} # what was upgraded
stop
apt-get -qq -y --allow-downgrades install ./older.deb >/dev/null
[[ $(version) == 0~a ]] && grep -q "# mine" /etc/intsink/intsink.hcl || fail "no way back"

# Removal keeps the configuration, purge does not.
apt-get -qq -y remove intsink intsink-collect >/dev/null
[[ ! -e /usr/bin/intsink && -e /etc/intsink/intsink.hcl ]] || fail "removed too much or too little"
apt-get -qq -y purge intsink intsink-collect >/dev/null
[[ ! -e /etc/intsink/intsink.hcl ]] || fail "purge left the configuration"
echo "packages: installed, used, started as the unit does, upgraded, removed"
