#!/usr/bin/env bash
# Prints the Debian version of a build: scripts/debversion.sh VERSION SECONDS, with what the
# program calls itself and the time of its commit. A release keeps its number. A commit
# without a tag is called by its hash, which has no order: its time comes first, so that a
# later commit is an upgrade, and a release one over all of them.
set -euo pipefail
version=$(sed 's/^v//; s/-/+/g' <<<"$1")
[[ "$version" =~ ^[0-9]+(\.[0-9]+)+ ]] || version=0~git$(date -ud "@$2" +%Y%m%d%H%M%S)+$version
echo "$version"
