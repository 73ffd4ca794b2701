#!/usr/bin/env bash
# Prints what a program is made of, as SPDX 2.3 in tag:value form: its Go modules with
# versions, as the linker wrote them into it, what its page is made of, and the Debian packages of
# its libraries and of the drivers that EAL loads.
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
# The page of the sink has JavaScript of others in it, named after their versions (ui_test.go has their hashes).
# htm's file brings Preact, whose version it does not say.
libraries=$({ ldd "$program" 2>/dev/null || true; } | awk '$3 ~ /^\// { print $3 }')
if [[ $libraries == *librte_eal* ]]; then
	for file in "$(dirname "$0")"/../cmd/internal/ui/static/vendor/*.js; do
		file=$(basename "$file" .js)
		version=${file##*-}
		for part in $(tr - ' ' <<<"${file%-*}"); do
			[[ $part == preact ]] && purl=pkg:npm/preact || purl=pkg:npm/$part@$version
			[[ $part == preact ]] && of=in-htm-$version || of=$version
			package "npm-$part" "$part" "$of" "$purl" CONTAINS
		done
	done
fi
# Libraries that the loader finds, and the plugins that EAL loads: all in its folder.
plugins=$([[ $libraries != *librte_eal* ]] || find /usr/lib -path '*/dpdk/pmds-*/*.so*' 2>/dev/null | sort)
mapfile -t files < <(printf '%s\n' "$libraries" "$plugins" | sed '/^$/d' | xargs -r readlink -f | sort -u)
if [[ ${#files[@]} -gt 0 ]]; then # dpkg knows some by their names without /usr
	{ dpkg -S "${files[@]}" "${files[@]#/usr}" 2>/dev/null || true; } | cut -d: -f1 | sort -u | while read -r deb; do
		version=$(dpkg-query -W -f '${Version}' "$deb")
		package "deb-${deb//[^a-zA-Z0-9.-]/-}" "$deb" "$version" "pkg:deb/debian/$deb@$version" DEPENDS_ON
	done
fi
