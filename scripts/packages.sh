# Package lists, to be sourced: which packages are free of DPDK's C code.

# The only packages with cgo (internal/repotest checks that).
cgo_packages='/dpdk/(eal|ethdev|mempool)( |$)'

# pure_packages: those that build without cgo.
pure_packages() {
	scripts/go.sh list -f '{{.ImportPath}} {{join .Deps " "}}' ./... |
		grep -v -E "$cgo_packages" | cut -d ' ' -f 1
}

# pure_test_packages: those whose tests, too, build without DPDK. go list -test
# lists a test binary as PACKAGE.test with all that it links.
pure_test_packages() {
	scripts/go.sh list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... |
		grep -E '^[^ ]+\.test ' | grep -v -E "$cgo_packages" | cut -d ' ' -f 1 | sed 's/\.test$//'
}
