# Sourced by scripts that run tests: step and gotest.

go=scripts/go.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
exec </dev/null

step() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

# gotest ARGS...: go test, shown as one line per package unless something fails. A skipped test
# is a failure: what a test needs, deps.sh installs. Beside other load, some packages take longer
# than the 10 minutes that go test allows.
gotest() {
	if ! "$go" test -count=1 -timeout 30m -v "$@" >"$log" 2>&1; then
		grep -v -E '^(=== (RUN|PAUSE|CONT|NAME)|\s*--- PASS)' "$log" || true
		echo "failed: go test $*" >&2
		return 1
	fi
	if grep -E '^\s*--- SKIP' "$log"; then
		echo "skipped tests count as failures: go test $*" >&2
		return 1
	fi
	grep -E '^(ok|\?|Benchmark[^ ]*\s+[0-9])|no test files' "$log" || true
}
