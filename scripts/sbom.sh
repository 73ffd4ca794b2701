#!/usr/bin/env bash
# Prints what a program is made of, as SPDX 2.3 in tag:value form: its Go modules with
# versions, as the linker wrote them into it, and the Debian packages of its libraries.
#
#   scripts/sbom.sh bin/intsink > intsink.spdx
set -euo pipefail
program=$1 name=$(basename "$1")
hash=$(sha256sum "$program" | cut -d' ' -f1)
created=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%FT%TZ)

# package ID NAME VERSION PURL: one package, and that the program has it in it.
package() {
	printf '\nPackageName: %s\nSPDXID: SPDXRef-%s\nPackageVersion: %s\nPackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\n' "$2" "$1" "$3"
	printf 'ExternalRef: PACKAGE-MANAGER purl %s\nRelationship: SPDXRef-program %s SPDXRef-%s\n' "$4" "$5" "$1"
}

cat <<HEAD
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: $name
DocumentNamespace: urn:sha256:$hash
Creator: Tool: scripts/sbom.sh
Created: $created

PackageName: $name
SPDXID: SPDXRef-program
PackageVersion: $("$program" version | cut -d' ' -f2)
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageChecksum: SHA256: $hash
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-program
HEAD
gocmd=$(dirname "$0")/go.sh
go=$("$gocmd" version "$program")
package go stdlib "${go##* go}" "pkg:golang/stdlib@${go##* go}" CONTAINS
"$gocmd" version -m "$program" | awk '$1 == "dep" || $1 == "=>" { print $2, $3 }' | while read -r module version; do
	package "go-${module//[^a-zA-Z0-9.-]/-}" "$module" "$version" "pkg:golang/$module@$version" CONTAINS
done
# Libraries that the loader finds; EAL's drivers are plugins, which the package depends on.
{ ldd "$program" 2>/dev/null || true; } | awk '$3 ~ /^\// { print $3 }' | xargs -r -n1 readlink -f | while read -r library; do
	dpkg -S "$library" 2>/dev/null || dpkg -S "${library#/usr}" 2>/dev/null || true
done | cut -d: -f1 | sort -u | while read -r deb; do
	version=$(dpkg-query -W -f '${Version}' "$deb")
	package "deb-${deb//[^a-zA-Z0-9.-]/-}" "$deb" "$version" "pkg:deb/debian/$deb@$version" DEPENDS_ON
done
