#!/usr/bin/env bash
# Installs the engines that records go into, for `make test-engines`: into bin/engines,
# from package registries, where they are missing. Each engine is a function of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

engines=${INTSINK_ENGINES:-bin/engines}
mkdir -p "$engines"

say() { echo "deps-engines: $*"; }

# debian PACKAGE...: installs Debian packages that are missing.
debian() {
	local missing=() p
	for p in "$@"; do
		[[ "$(dpkg-query -W -f '${Status}' "$p" 2>/dev/null)" == "install ok installed" ]] || missing+=("$p")
	done
	[[ ${#missing[@]} -gt 0 ]] || return 0
	say "installing: ${missing[*]}"
	local root=()
	[[ $EUID -eq 0 ]] || root=(sudo)
	"${root[@]}" apt-get -qq update
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "${missing[@]}" >/dev/null
}

# ClickHouse 26.7 as a library for Node: 180 MB to fetch, 560 MB on disk. Nothing of what
# is fetched is run while it is installed.
clickhouse() {
	local version=3.4.0
	type -P node >/dev/null && type -P npm >/dev/null || debian nodejs npm
	if [[ -e "$engines/chdb/node_modules/chdb/package.json" ]] && grep -q "\"version\": \"$version\"" "$engines/chdb/node_modules/chdb/package.json"; then
		return 0
	fi
	say "fetching chdb $version"
	rm -rf "$engines/chdb"
	mkdir -p "$engines/chdb"
	npm install --prefix "$engines/chdb" --ignore-scripts --no-audit --no-fund --no-save --loglevel=error "chdb@$version" >/dev/null
}

# Versions of ClickHouse as libraries for Python, of which nothing is run while they are installed: the least that the tables
# take, the two newest with long support that there are packages of, and the newest. Each 100 to 200 MB to fetch, up to 830 MB on disk.
clickhouse_versions() {
	local of version package
	/usr/bin/python3 -m pip --version >/dev/null 2>&1 || debian python3 python3-pip
	for of in 24.8:chdb==2.1.1 25.8:chdb==3.7.2 26.3:chdb-core==26.3.0 26.9:chdb-core==26.9.0; do
		version=${of%%:*} package=${of#*:}
		[[ ! -d "$engines/clickhouse-$version" ]] || continue
		say "fetching ClickHouse $version ($package)"
		rm -rf "$engines/new"
		/usr/bin/python3 -m pip install --quiet --no-deps --only-binary :all: --root-user-action ignore --target "$engines/new" "$package"
		mv "$engines/new" "$engines/clickhouse-$version"
	done
}

# Apache Kafka in KRaft mode, from Maven Central, for Java 17: 43 MB.
kafka() {
	local version=4.1.1
	debian kcat
	java -version 2>&1 | grep -qE 'version "(1[7-9]|[2-9][0-9])' || debian openjdk-17-jre-headless
	type -P mvn >/dev/null || debian maven
	[[ ! -e "$engines/kafka/lib/kafka_2.13-$version.jar" ]] || return 0
	say "fetching Apache Kafka $version"
	rm -rf "$engines/kafka"
	mkdir -p "$engines/kafka"
	cat >"$engines/kafka/pom.xml" <<-POM
		<project xmlns="http://maven.apache.org/POM/4.0.0">
		  <modelVersion>4.0.0</modelVersion>
		  <groupId>intsink</groupId><artifactId>kafka-engine</artifactId><version>1</version>
		  <dependencies>
		    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
		    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
		  </dependencies>
		</project>
	POM
	(cd "$engines/kafka" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib.new -DincludeScope=runtime && mv lib.new lib)
}

# A server of ClickHouse for the mechanics of HTTP: Debian's, of 2018. The tests start one of
# their own; that of the package is stopped.
clickhouse_server() {
	[[ ! -x /usr/sbin/clickhouse-server ]] || return 0
	debian clickhouse-server
	[[ -d /run/systemd/system ]] || return 0
	local root=()
	[[ $EUID -eq 0 ]] || root=(sudo)
	"${root[@]}" systemctl disable --now clickhouse-server
}

# Collectors of IPFIX. The tests start their own; the service of the package is stopped.
ipfix() {
	type -P nfcapd nfacctd >/dev/null && return 0
	debian nfdump pmacct
	[[ -d /run/systemd/system ]] || return 0
	local root=()
	[[ $EUID -eq 0 ]] || root=(sudo)
	"${root[@]}" systemctl disable --now nfdump
}

clickhouse
clickhouse_versions
clickhouse_server
kafka
ipfix
say "all there: $engines"
