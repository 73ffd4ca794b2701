#!/usr/bin/env bash
# Prints the Debian version of a build: scripts/debversion.sh VERSION SECONDS, with what the
# program calls itself and the time of its commit. A release keeps its number. The hash of a
# commit has no order: its time comes first, so that a later commit is an upgrade, and the next
# release one over all of them.
set -euo pipefail
version=$1 time=git$(date -ud "@$2" +%Y%m%d%H%M%S)
[[ "$version" =~ ^[0-9]+(\.[0-9]+)+ ]] || version=0+$version
[[ "$version" != *+* ]] || version=${version%%+*}+$time.${version#*+}
tr - . <<<"$version"
