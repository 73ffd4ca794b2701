# intsink: the targets that people and CI use. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Amd64 level of the binary: v3 (AVX2, BMI2) where this machine has it. For a
# binary to be run elsewhere, say which: make build GOAMD64=v3.
V3 := avx2 bmi1 bmi2 f16c fma abm movbe
GOAMD64 ?= $(if $(filter-out $(shell grep -m1 '^flags' /proc/cpuinfo),$(V3)),v1,v3)
VERSION ?= $(shell scripts/version.sh)
# Finds a Go that go.mod accepts, wherever `make deps` put it.
GO := scripts/go.sh
# Where the packet path spends its time, for the compiler; `make pgo` refreshes it. Not
# default.pgo: tests would be compiled by it, too.
PROFILE := cmd/intsink/intsink.pgo
PGO ?= $(abspath $(PROFILE))
COLLECTORS_PROFILE := cmd/intsink-collect/collect.pgo
COLLECTORS_PGO := $(if $(filter off,$(PGO)),off,$(abspath $(COLLECTORS_PROFILE)))
# Packets stand at any address: bytes are read in words there, by memcpy or as the processor can.
UBSAN := -fsanitize=undefined -fno-sanitize-recover=undefined -fno-sanitize=alignment
THROUGHPUT := PYTHONPATH=bin/bench/python PYTHONDONTWRITEBYTECODE=1 bench/throughput.py

.PHONY: help bench-collect bench-store faults-collect deps deps-engines build deb sbom install demo playground playground-full test check test-engines bench bench-all bench-check bench-latency bench-throughput bench-results bench-tools pgo bce reloads restarts soak hostile property fuzz fuzz-fast lint schema fresh test-trixie test-vm clean demo-collect

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: ## install the Debian packages and the Go toolchain, where they are missing
	scripts/deps.sh

build: ## compile bin/intsink and the static bin/intsink-collect (GOAMD64=v1|v3, VERSION=..., PGO=off)
	GOAMD64=$(GOAMD64) $(GO) build -pgo=$(PGO) -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/intsink ./cmd/intsink
	CGO_ENABLED=0 GOAMD64=$(GOAMD64) $(GO) build -pgo=$(COLLECTORS_PGO) -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/intsink-collect ./cmd/intsink-collect

demo: ## run the appliance in network namespaces and show its reports
	scripts/deps.sh demo
	$(MAKE) build
	GOAMD64=$(GOAMD64) $(GO) build -pgo=$(PGO) -trimpath -o bin/traffic ./deploy/demo/traffic
	deploy/demo/demo.sh

playground: ## a network to play with, until Ctrl-C: something goes wrong in it when you say so, and the page shows what (as root; LISTEN=127.0.0.1:9465, SINKS=3, IFA=1, LINUX=1)
	scripts/deps.sh demo
	$(MAKE) build
	GOAMD64=$(GOAMD64) $(GO) build -trimpath -o bin/traffic ./deploy/demo/traffic
	GOAMD64=$(GOAMD64) $(GO) build -trimpath -o bin/playground ./deploy/playground
	@deploy/playground/playground.sh

playground-full: deps deps-engines ## the same with intsink-collect, Apache Kafka, ClickHouse, and Prometheus with alerts
	$(MAKE) build
	GOAMD64=$(GOAMD64) $(GO) build -trimpath -o bin/traffic ./deploy/demo/traffic
	GOAMD64=$(GOAMD64) $(GO) build -trimpath -o bin/playground ./deploy/playground
	@FULL=1 deploy/playground/playground.sh

demo-collect: deps deps-engines ## the same network into intsink-collect, Apache Kafka and ClickHouse, three questions in SQL, and more of yours until Ctrl-C (STAY=0: none)
	$(MAKE) build
	GOAMD64=$(GOAMD64) $(GO) build -trimpath -o bin/traffic ./deploy/demo/traffic
	GOAMD64=$(GOAMD64) $(GO) build -trimpath -o bin/playground ./deploy/playground
	@deploy/demo/demo-collect.sh

test: deps ## every test once: a quarter of an hour on two cores
	$(MAKE) build
	scripts/test.sh

check: deps ## the longer checks: race detector, fuzzing, portable C, arm64, benchmarks once
	$(MAKE) build
	scripts/check.sh

deps-engines: ## install ClickHouse, Apache Kafka, kcat, nfdump and pmacct for test-engines, where they are missing, into bin/engines
	scripts/deps-engines.sh

test-engines: deps deps-engines ## run the tests against the engines that records go into
	scripts/test-engines.sh

# The benchmarks' programs. Their worker is compiled as intsink's is, with the same profile.
bench-tools: deps
	$(MAKE) build
	for tool in compare instructions latency trial; do \
		GOAMD64=$(GOAMD64) $(GO) build -pgo=$(PGO) -o bin/bench/$$tool ./bench/cmd/$$tool; done

bench: bench-tools ## compare with dpdk-testpmd on the same input, in turns (ROWS=all|name,..., BENCH="--help" for flags)
	bin/bench/compare --instructions bin/bench/instructions --rows "$(ROWS)" $(if $(ROWS),,--testpmd io) $(BENCH)

bench-all: ## all rows of bench: about 10 minutes
	$(MAKE) bench ROWS=all

bench-check: bench-tools ## fail where instructions per packet grew by 5 % (UPDATE=1: commit the new counts)
	bin/bench/instructions $(if $(UPDATE),--update)

bench-latency: bench-tools ## latency that the sink adds, under load, over net_memif (BENCH="--help" for flags)
	bin/bench/latency $(BENCH)

bench-collect: deps ## CPU time of collect for a record, from a socket to a broker that stores nothing (ROUNDS=1, GOFLOW2=program to compare with)
	$(MAKE) build
	$(GO) build -o bin/bench/collect ./bench/cmd/collect
	bin/bench/collect -rounds $(or $(ROUNDS),1) $(if $(GOFLOW2),-goflow2 $(GOFLOW2)) 2>/dev/null

bench-store: deps deps-engines ## CPU time of ClickHouse for a row: insert, views, merges (ROUNDS=3, STORE="--schemas before.sql,deploy/collect/clickhouse.sql" in turns)
	$(GO) build -o bin/bench/store ./bench/cmd/store
	bin/bench/store --rounds $(or $(ROUNDS),3) $(STORE)

faults-collect: deps deps-engines ## ten million reports into Kafka and ClickHouse while all of it fails: 20 minutes, as root (REPORTS=10000000)
	INTSINK_SUMS=1-20 $(GO) test -count=1 -v -tags engines -timeout 1h -run TestSums ./cmd/internal/collect
	INTSINK_ENGINES=$${INTSINK_ENGINES:-$(CURDIR)/bin/engines} $(GO) test -count=1 -v -timeout 2h -tags engines -run TestFaults ./bench/faults -reports $(or $(REPORTS),10000000) -rate 20000 -away 30s

bench-throughput: bench-tools ## search for the rate without loss and with 0.5 %, over net_memif (BENCH="--help" for flags)
	scripts/deps.sh bench
	$(THROUGHPUT) $(BENCH)

bench-results: bench-tools ## run bench-all, bench-latency, bench-throughput and bench-collect with few rounds and write bench/RESULTS.md: 12 minutes, on a quiet machine (ROUNDS=2, GOFLOW2=program)
	scripts/deps.sh bench ovs
	bin/bench/compare --testpmd io,macswap,5tswap,csum,ovs --rows all --rounds $(or $(ROUNDS),2) --seconds 1s --warmup 300ms --instructions bin/bench/instructions --results bench/RESULTS.md
	bin/bench/instructions --growth --results bench/RESULTS.md
	bin/bench/latency --seconds 2s --results bench/RESULTS.md
	$(THROUGHPUT) --sizes 138 --seconds 0.5 --resolution 0.05 --results bench/RESULTS.md
	$(GO) build -o bin/bench/collect ./bench/cmd/collect
	bin/bench/collect -rounds $(or $(ROUNDS),2) $(if $(GOFLOW2),-goflow2 $(GOFLOW2)) -results bench/RESULTS.md 2>/dev/null
	$(GO) run ./bench/cmd/chart

pgo: bench-tools ## profile both programs on several inputs for the compiler: three minutes, then commit
	$(GO) build -o bin/bench/collect ./bench/cmd/collect
	scripts/pgo.sh $(PROFILE) $(COLLECTORS_PROFILE)

deb: ## Debian packages of both programs, for the Debian that this machine has, into bin/
	scripts/deps.sh build deb
	$(MAKE) build
	scripts/deb.sh

sbom: build ## what both programs are made of, as SPDX 2.3, into bin/
	scripts/sbom.sh bin/intsink > bin/intsink.spdx
	scripts/sbom.sh bin/intsink-collect > bin/intsink-collect.spdx

install: ## what the packages have, below DESTDIR: programs, units with their user, manual pages, completions (DESTDIR=, as root; make build first)
	scripts/install.sh $(DESTDIR)

bce: ## list the bounds checks that the compiler left in the packages of the packet path
	scripts/bce.sh

restarts: deps ## a sink is killed and stopped a hundred times under traffic, and forgets nothing that it promised to keep: an hour (as root; `make test` has a short version)
	INTSINK_RESTARTS=100 $(GO) test -count=1 -v -timeout 3h -run '^TestRestartKeeps$$' ./cmd/intsink/e2e/installed

reloads: deps ## 200 reloads under load, half of them refused: no packet is lost (as root; `make test` has a short version)
	INTSINK_RELOAD_PAIRS=100 $(GO) test -count=1 -v -timeout 10m -run '^TestReloadsUnderLoad$$' ./cmd/intsink/e2e/control

soak: deps ## an hour of traffic of a million flows against the model of all events: recall, false positives, memory; then a running sink with faults at random (as root; LASTS=1h)
	SOAK=1 $(GO) test -count=1 -v -timeout 2h -run '^TestSoak$$' ./bench/truth
	INTSINK_SOAK=$(or $(LASTS),1h) $(GO) test -count=1 -v -timeout 24h -run '^TestSoak$$' ./cmd/intsink/e2e/installed

hostile: deps ## mutated packets through a worker and mutated report packets through a collector, with sanitizers; goes on where it was ended: hours (PACKETS=100000000 REPORTS=10000000)
	mkdir -p bin
	CGO_CFLAGS="$(UBSAN)" CGO_LDFLAGS="$(UBSAN)" HOSTILE_FILE="$(CURDIR)/bin/hostile.json" HOSTILE=$(or $(PACKETS),100000000) $(GO) test -asan -count=1 -v -timeout 24h -run '^TestHostile$$' ./engine
	HOSTILE_FILE="$(CURDIR)/bin/hostile.json" HOSTILE=$(or $(REPORTS),10000000) $(GO) test -p 1 -race -count=1 -v -timeout 24h -run '^TestHostile$$' ./exporters/record ./exporters/collect

property: ## strip(insert(p)) == p over random packets of every marking by the fast path (PACKETS=10000000): half a minute
	PACKETS=$(or $(PACKETS),10000000) $(GO) test -count=1 -v -timeout 1h -run '^TestStripGivesBack$$' ./engine

fuzz: ## fuzz every target for 30 s each (FUZZTIME=30s)
	scripts/fuzz.sh $(or $(FUZZTIME),30s)

fuzz-fast: deps ## fuzz the C of engine/fast with AddressSanitizer and UBSan, 30 s for each of 14 programs (FUZZTIME=30)
	scripts/fuzz_fast.sh $(or $(FUZZTIME),30)

lint: deps ## gofmt, go vet, staticcheck and misspell; the first run builds the last two
	scripts/lint.sh

schema: ## write all that follows from the table of a record's fields: code, intsink.proto, SQL, docs/records.md
	$(GO) run ./exporters/record/generate

fresh: ## as root: try the two commands of the README, the Dockerfile and the packages on a new Debian 12 and a new 13
	scripts/fresh.sh

test-trixie: ## as root: build, demo and tests of what touches DPDK on Debian 13, in a root that is kept in /var/cache/intsink-trixie
	scripts/trixie.sh

test-vm: ## as root: the packages on a booted Debian 12 with NICs: igb, virtio, e1000e, vmxnet3; half an hour (VM=-short-form)
	scripts/deps.sh build deb vm
	$(MAKE) deb
	scripts/test-vm.sh $(VM)

clean: ## remove what the other targets made
	rm -rf bin
