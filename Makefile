# rung: make help lists the targets.

# go-nvml calls functions that NVIDIA has since deprecated; the warnings are its own.
export CGO_CFLAGS := -O2 -g -Wno-deprecated-declarations

GO       ?= go
BIN      := bin/rung
LINT_VER := $(shell sed -n '1s/^\# //p' .golangci.yml)
LINT     := bin/golangci-lint-$(LINT_VER)
SERVERS  := runner/testdata/servers

.DEFAULT_GOAL := build

.PHONY: help
help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | sort | awk -F'\t' '{printf "%-14s %s\n", $$1, $$2}'

.PHONY: build
build: ## build bin/rung
	$(GO) build -o $(BIN) ./cmd/rung

.PHONY: demo
demo: build ## run the quickstart on the simulated server and report it, in under a minute
	@run=$$($(BIN) run examples/quickstart.hcl) && $(BIN) report "$$run"

.PHONY: test
test: ## run the tests
	$(GO) test -timeout 20m ./...

.PHONY: race
race: ## run the tests with the race detector
	$(GO) test -race -timeout 30m ./...

FUZZTIME ?= 60s
FUZZED := spec:FuzzLoad spec:FuzzPlan runner/target:FuzzRead runner/target:FuzzStream runner/metrics:FuzzParse \
	runner/gpu/smi:FuzzRead runner/gpu:FuzzReadings sinks/parquet:FuzzManifest sinks/parquet:FuzzPart sinks/parquet:FuzzJournal

.PHONY: fuzz
# Before Go 1.27 the end of the time may itself be reported as a failure, without an input: golang.org/issue/75804.
fuzz: ## fuzz what reads files and answers that others made, FUZZTIME (a minute) each
	@for f in $(FUZZED); do \
		$(GO) test ./$${f%:*} -run '^$$' -fuzz "^$${f#*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x >fuzz.out 2>&1 \
			|| { grep -qx ' *context deadline exceeded' fuzz.out && ! grep -q 'Failing input' fuzz.out; } \
			|| { cat fuzz.out; rm -f fuzz.out; exit 1; }; \
		execs=$$(sed -nE 's/.*(execs: [0-9]+).*/\1/p' fuzz.out | tail -1); echo "$$f $${execs:-seeds alone}, no crash"; \
	done; rm -f fuzz.out

.PHONY: crash
crash: ## kill a hundred runs at random times, and see that each loses nothing and is resumed
	RUNG_CRASH=100 $(GO) test ./cmd/rung -count 1 -timeout 30m -v -run TestKilledRunsLoseNothing

.PHONY: soak
soak: ## an hour (RUNG_SOAK) at a steady rate against a failing server: memory, descriptors, every row
	RUNG_SOAK=$(or $(RUNG_SOAK),1h) $(GO) test ./cmd/rung -count 1 -timeout 2h -v -run TestSoak

$(LINT):
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VER)
	mv bin/golangci-lint $@

.PHONY: lint
lint: $(LINT) ## run the linter, and see each fence between the packages refuse a planted import
	$(LINT) run
	LINT=$(LINT) .ci/fences.sh

.PHONY: fmt
fmt: $(LINT) ## format the Go files
	$(LINT) fmt

VEGETA := bin/vegeta

$(VEGETA): # beside which rung's lateness is measured
	GOBIN=$(CURDIR)/bin $(GO) install github.com/tsenart/vegeta/v12@v12.12.0

DUCKDB := bin/duckdb-venv/bin/python

$(DUCKDB): # beside which a report's time and memory are measured
	python3 -m venv bin/duckdb-venv
	$@ -m pip install -q duckdb==2.0.1

.PHONY: bench
bench: $(VEGETA) $(DUCKDB) ## run the benchmarks; the report's is on RUNG_ROWS (10,000,000) rows
	RUNG_DUCKDB=$(CURDIR)/$(DUCKDB) $(GO) test -run '^$$' -bench . -benchmem -timeout 60m ./...

.PHONY: golden
golden: ## write the golden files anew
	$(GO) test ./spec ./sinks/parquet ./results/... -update

.PHONY: examples
examples: build ## check and plan every example
	@for f in examples/*.hcl; do $(BIN) check "$$f" && $(BIN) plan "$$f" >/dev/null || exit 1; done

.PHONY: nocgo
nocgo: ## build without cgo
	CGO_ENABLED=0 $(GO) build ./...

.PHONY: integration
integration: build ## measure a real llama.cpp server, and hold every figure of its report, the demo's and two more against DuckDB
	$(GO) test -tags integration -count 1 -timeout 20m -v -run 'TestIntegration' ./cmd/rung

.PHONY: integration-all
integration-all: build ## start vLLM, Infinity, llama.cpp and a scripted TEI on this CPU and print a table of servers and checks; 6 GB, half an hour
	$(GO) test -tags integration -count 1 -timeout 60m -v -run 'TestIntegration|TestConformance' ./cmd/rung

PAGE_VENV := bin/page-venv

$(PAGE_VENV): # drives the Chromium that the machine has; axe-core comes with it
	python3 -m venv $@
	$@/bin/pip install -q playwright==1.65.2 axe-playwright-python==0.1.8

.PHONY: page
page: build $(PAGE_VENV) ## open the demo's report page in Chromium: no message, charts drawn in both themes, axe-core
	@run=$$($(BIN) run examples/quickstart.hcl) && $(BIN) report "$$run" >/dev/null && \
		$(PAGE_VENV)/bin/python results/render/testdata/page.py "$$run/report/report.html" bin/page

.PHONY: gpu
gpu: ## on a GPU host: read the real cards through NVML and print what they support
	$(GO) test -tags gpu -count 1 -v -run TestRealCard ./runner/gpu

.PHONY: ci
ci: test race nocgo examples lint integration ## everything that must pass
	$(MAKE) fuzz FUZZTIME=2s
	$(MAKE) soak RUNG_SOAK=30s
