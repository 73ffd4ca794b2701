#!/usr/bin/env bash
# Prints what a build is called: the newest version of CHANGELOG.md, and the commit where there is one,
# 0.1.0+1a2b3c4d or 0.1.0+1a2b3c4d.dirty. The commit of the version's tag is the version itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
number=$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -1)
[[ -n "$number" ]] || { echo "CHANGELOG.md has no heading with a version, as ## 0.1.0" >&2; exit 1; }
commit=$(git rev-parse --short=8 HEAD 2>/dev/null) || { echo "$number"; exit; }
[[ -z "$(git status --porcelain --untracked-files=no)" ]] || commit+=.dirty
[[ "$(git describe --tags --exact-match 2>/dev/null)" == "v$number" && "$commit" != *.dirty ]] && { echo "$number"; exit; }
echo "$number+$commit"
