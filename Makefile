# lnk: a sandbox whose only way out is a proxy. "make" lists what there is.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@latest
FUZZTIME   ?= 10s

# Tests that make namespaces run as root. Go itself builds as whoever called make.
ifneq ($(shell id -u),0)
SUDO     = sudo -E env PATH="$(PATH)"
AS_ROOT  = -exec 'sudo -E env PATH=$(PATH)'
endif

UNITS = $$($(GO) list ./... | grep -v /integration)

.PHONY: help build demo test check fuzz bench vm clean install-tests

help: ## this list
	@grep -hE '^[a-z]+: .*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

build: ## bin/lnk
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-X main.release=$(VERSION)" -o bin/lnk ./cmd/lnk

demo: ## a program in a sandbox on a small internet of its own, step by step (needs no network)
	@integration/install demo
	@mkdir -p bin
	@$(GO) build -o bin/demo ./integration/demo
	@$(SUDO) bin/demo

test: install-tests ## all tests, as root (by sudo); installs what they need by apt
	$(GO) vet ./...
	@status=0; set -x; \
	CGO_ENABLED=1 $(GO) test -race -count=1 -timeout 10m $(AS_ROOT) $(UNITS) || status=1; \
	CGO_ENABLED=0 $(GO) test -count=1 -timeout 10m $(AS_ROOT) ./netns ./nft || status=1; \
	$(GO) test -count=1 -p 1 -timeout 20m $(AS_ROOT) ./integration/... || status=1; \
	exit $$status

check: ## format, vet, staticcheck, govulncheck, and the tests that need no root
	@status=0; \
	unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; status=1; fi; \
	set -x; \
	$(GO) vet ./... || status=1; \
	integration/tool "$(GO)" $(STATICCHECK) ./... || status=1; \
	integration/tool "$(GO)" $(GOVULNCHECK) ./... || status=1; \
	$(GO) test -count=1 . ./policy ./spec ./settings ./wirelog ./control ./dnsproxy ./proxy || status=1; \
	exit $$status

fuzz: ## each fuzz target, FUZZTIME (10s) long
	@integration/fuzz "$(GO)" $(FUZZTIME)

bench: ## the costs, as ratios to a direct connection and to other tools (BENCH=-quick: a minute's run)
	@integration/install bench
	@mkdir -p bin
	@$(GO) build -o bin/bench ./integration/bench
	@$(SUDO) bin/bench $(BENCH)

vm: ## all tests in a Debian virtual machine (needs Vagrant)
	vagrant up --provision

clean: ## what was built
	rm -rf bin

install-tests:
	@integration/install test
