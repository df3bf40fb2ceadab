# The targets people use: make up, build, test, quick, bench, peers, attack, crash, soak, fmt, help.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
OUT := .cache/test
REPORT := .cache/testreport
GO_FOLDERS := $(wildcard bench cmd internal tools)

# The flags of what is shipped: checks that take them find all packages compiled.
SHIPPED := CGO_ENABLED=0 GOFLAGS="$$(go env GOFLAGS) -trimpath"

# Both user interfaces, each built into internal/webui/dist. What they share is in
# ui/base, which has no packages of its own.
UIS := shell desktop
# The browser tests are a package of their own, or a script of the shell's; run
# by vitest or by node --test.
E2E := $(if $(wildcard ui/e2e/package.json),ui/e2e,$(if $(shell grep -s '"e2e":' ui/shell/package.json),ui/shell))
E2E_SCRIPT := $(if $(filter ui/e2e,$(E2E)),test,e2e)
E2E_READER := $(if $(and $(E2E),$(shell grep -s '"$(E2E_SCRIPT)":.*vitest' $(E2E)/package.json)),vitest,tap)
# The packages that biome formats and checks.
LINTED := $(patsubst %/biome.json,%,$(wildcard ui/*/biome.json))
BIOME := $(CURDIR)/ui/desktop/node_modules/.bin/biome
PACKED := internal/webui/dist/desktop-source.tar
sources = $(shell find ui/$(1) ui/base -path '*/node_modules' -prune -o -type f -print)

.PHONY: help up build test quick bench peers attack crash crash-short soak fmt clean prereqs fresh guest ui libraries choir lint lint-go lint-ui runsc unit race beside both whole ui-test e2e shots pictures browsers budget generate

help: ## show this
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

up: build ## build what changed and start the computer
	@bin/choir up

# npm waits for the network and Vite has one thread, so Go compiles beside them.
build: prereqs ## build bin/choir with all that it carries
	@$(MAKE) --no-print-directory -j2 choir

test: ## everything: build, checks, tests with the race detector, browser
	@tools/prereqs.sh qemu podman poppler firefox headless-shell || tools/prereqs.sh qemu poppler firefox || tools/prereqs.sh
	@rm -rf $(OUT) && mkdir -p $(OUT)
	@$(SHIPPED) go build -o $(REPORT) ./tools/testreport
	@$(REPORT) check $(OUT) build -- $(MAKE) build
	@tools/scratch.sh $(MAKE) -k beside both ui-test e2e REPORTED=yes || \
		$(REPORT) check $(OUT) parts -- sh -c 'echo "a part could not run at all, see above"; exit 1'
	@$(REPORT) sum $(OUT)

quick: ## the checks of what changed since BASE (default: the last commit), within 90 seconds
	@rm -rf $(OUT)-quick && mkdir -p $(OUT)-quick
	@$(SHIPPED) go build -o $(REPORT) ./tools/testreport
	@$(MAKE) guest $(UIS:%=ui/%/node_modules)
	@tools/quick.sh $(CURDIR)/$(REPORT) $(CURDIR)/$(OUT)-quick
	@$(REPORT) sum $(OUT)-quick

peers: ## install the other programs that benchmarks compare with
	npm install --prefix bench/peers/restate --no-audit --no-fund --no-package-lock --ignore-scripts

bench: build ## measure beside the peers, see bin/choir bench --help
	@bin/choir bench tti append replay task snapshot checkpoint toolcall rewind desk pty deliver desktop

attack: build ## the red team's programs of test/attacks against a choir of its own (NAMES=... for some, RUNGS="local gvisor container microvm")
	@$(SHIPPED) go build -o .cache/attack ./tools/attack
	@PATH="$(CURDIR)/.cache/runsc:$$PATH" .cache/attack $(if $(RUNGS),-rungs "$(RUNGS)") $(NAMES)

crash: build ## kill, cut the power of and damage a choir in every known way
	@tools/crash.sh

soak: build ## fuzz every decoder and repeat all tests (FUZZTIME=30s ROUNDS=5 CRASH_ROWS=5000 PART="fuzz race ...")
	@tools/soak.sh

fmt: ## format Go and the UI
	@gofmt -w $(GO_FOLDERS)
	@$(MAKE) ui/desktop/node_modules
	@for folder in $(LINTED); do (cd $$folder && $(BIOME) check --write .); done

clean: ## remove what was built
	@rm -rf bin .cache $(UIS:%=internal/webui/dist/%) internal/webui/dist/desktop-*
	@find internal/guestbin/bin -type f ! -name .keep -delete

# ---- internal ----

# With REPORTED a part is counted and a failure lets the others run.
check = $(if $(REPORTED),$(REPORT) check $(OUT) $(1) --)

prereqs:
	@tools/prereqs.sh

# What is generated from the Go types must follow from them.
fresh:
	@$(SHIPPED) go run ./tools/contracts -check

# Go itself knows what changed, so these always ask it; one after the other, or
# two would compile the same.
guest: fresh
	@for name in choir-init choir-director choir-associate; do \
		$(SHIPPED) go build -ldflags "-s -w" -o internal/guestbin/bin/$$name ./cmd/$$name; \
	done

# What choir is made of besides itself, and does not need the rest for.
libraries: guest
	@$(SHIPPED) go build $$(go list -deps ./cmd/choir | grep '\.')

choir: libraries ui
	@$(SHIPPED) go build -ldflags "-s -w -X main.version=$(VERSION)" -o bin/choir ./cmd/choir

ui: $(UIS:%=internal/webui/dist/%/index.html) $(PACKED)

# The desktop's source for new workspaces, and the packages that serve it.
$(PACKED): $(call sources,desktop) $(wildcard internal/desktop/dev/*.mjs) tools/packdesktop/main.go | ui/desktop/node_modules
	@$(SHIPPED) go run ./tools/packdesktop

define build-ui
internal/webui/dist/$(1)/index.html: $(call sources,$(1)) | ui/$(1)/node_modules
	@cd ui/$(1) && npm run --silent build -- --outDir $(CURDIR)/internal/webui/dist/$(1) --emptyOutDir --logLevel warn
	@touch $$@
endef
$(foreach name,$(UIS),$(eval $(call build-ui,$(name))))

# npm ci empties the folder first, so the stamp is written last.
%/node_modules: %/package-lock.json
	@cd $* && npm ci --silent --no-audit --no-fund
	@touch $@

lint: lint-go lint-ui

lint-go:
	@$(call check,gofmt) tools/gofmt.sh $(GO_FOLDERS)
	@$(SHIPPED) $(call check,lint) go run ./tools/lint ./...
	@$(SHIPPED) $(call check,imports) go run ./tools/imports
	@$(SHIPPED) $(call check,openapi) go run ./tools/openapi -check
	@$(if $(REPORTED),$(SHIPPED) go run ./tools/sizes || true)
	@$(SHIPPED) $(call check,sizes) go run ./tools/sizes

lint-ui: ui/desktop/node_modules
	@failed=; for folder in $(LINTED); do \
		(cd $$folder && $(if $(REPORTED),$(CURDIR)/$(REPORT) check $(CURDIR)/$(OUT) biome-$$(basename $$folder) --) $(BIOME) ci .) || failed=yes; \
	done; test -z "$$failed"

runsc:
	@tools/runsc.sh

unit: runsc tools/sdk/node_modules tools/sprites/node_modules ## Go tests without the race detector: the quick look
	@go test ./...

# What vet finds it finds in its own part; nobody debugs these binaries.
QUICK := -vet=off -ldflags=-w

# In these packages the race detector looks at no reads and writes of memory, which saves
# a quarter of all time and loses no race of ours: they compute alone and share nothing.
# modernc.org is SQLite, translated from C. Packages with locks or atomic values must stay
# in, or what they order looks like a race. Pointer checks are for our own packages, the
# others use unsafe as they always did. In short a test that kills or cuts at every place
# takes some of the places. The soak takes all places, and all of the detector.
ALONE := modernc.org/... golang.org/x/crypto/... crypto/internal/fips140/... hash/... encoding/hex encoding/base64 strconv unicode/... path internal/filepathlite

# Compiling takes most of the time on a machine that has nothing compiled yet, and nobody
# debugs these binaries, so the compiler writes nothing for debuggers.
RACE := -race -short -p 3 -gcflags='all=-d=checkptr=0 -dwarf=false' \
	$(ALONE:%=-gcflags='%=-race=false -d=checkptr=0 -dwarf=false') -gcflags=choiros/...=-dwarf=false

# What takes longest begins first, or the others would be done long before it.
LONGEST := $(addprefix ./internal/,associate/taskrunner control/supervisor director desktop computer sandbox/microvm sandbox/local bus/cluster associate/proctree sandbox/sprites)

# A program with the race detector sleeps for a second before it exits, as do all that
# the tests start of themselves.
race: runsc tools/sdk/node_modules tools/sprites/node_modules
	@GORACE=atexit_sleep_ms=50 $(if $(REPORTED),$(REPORT) go $(OUT) race --) go test $(RACE) $(QUICK) -timeout 50m $(if $(REPORTED),-json) $(LONGEST) $$(go list ./... | grep -v -e '/cmd/choir$$' -e '/bench$$' -e '/tools')

# Whole computers, started some hundred times, the benchmarks and the tools: with
# the race detector they take most of the time that all checks may take, so that
# is left to the soak.
whole: runsc
	@$(SHIPPED) $(if $(REPORTED),$(REPORT) go $(OUT) whole --) go test $(QUICK) -p 1 -parallel 4 -timeout 50m $(if $(REPORTED),-json) ./cmd/choir ./bench ./tools/...

# Each waits a quarter of its time, for processes and clocks.
both: runsc tools/sdk/node_modules tools/sprites/node_modules
	@$(MAKE) -k -j2 race whole

# The crash matrix waits for disks and kills, holds beside any load, and leaves room for
# the linters.
beside:
	@$(MAKE) -k -j2 lint crash-short

crash-short:
	@$(call check,crash) tools/crash.sh -short -workers 4

ui-test: $(UIS:%=ui/%/node_modules)
	@failed=; for name in $(UIS); do \
		(cd ui/$$name && $(if $(REPORTED),VITEST_OUTPUT=$(CURDIR)/$(OUT)/vitest-$$name.out $(CURDIR)/$(REPORT) vitest $(CURDIR)/$(OUT) ui-$$name --) \
			npm test $(if $(REPORTED),-- --reporter=json --outputFile=$(CURDIR)/$(OUT)/vitest-$$name.out)) || failed=yes; \
	done; test -z "$$failed"

E2E_FLAGS := $(if $(filter vitest,$(E2E_READER)),-- --reporter=json --outputFile=$(CURDIR)/$(OUT)/e2e.out)
E2E_ENV := $(if $(filter tap,$(E2E_READER)),NODE_OPTIONS=--test-reporter=tap,VITEST_OUTPUT=$(CURDIR)/$(OUT)/e2e.out)

e2e: $(if $(E2E),$(E2E)/node_modules)
	@$(if $(E2E),cd $(E2E) && $(if $(REPORTED),$(E2E_ENV) $(CURDIR)/$(REPORT) $(E2E_READER) $(CURDIR)/$(OUT) e2e --) npm run --silent $(E2E_SCRIPT) $(if $(REPORTED),$(E2E_FLAGS)))

# All look at what make build left.
shots: ui/e2e/node_modules ui/desktop/node_modules ## pictures of every app, at three sizes, in light and dark, into .cache/shots
	@node ui/e2e/shots.js $(CURDIR)/.cache/shots

pictures: ui/e2e/node_modules ui/desktop/node_modules ## draw anew what the browser tests compare screens with, into ui/e2e/pictures
	@node ui/e2e/pictures.js

browsers: build ui/e2e/node_modules ## the desktop in a stock Firefox and WebKitGTK, both of which this installs
	@tools/prereqs.sh firefox webkit
	@cd ui/e2e && node --test --test-timeout=400000 tests/browsers.test.js

budget: ui/e2e/node_modules ## the script the desktop needs until its prompt accepts keys, in bytes of gzip
	@node ui/e2e/budget.js

generate: tools/openapi/node_modules ## write what follows from the Go types
	@go run ./tools/contracts
	@go run ./tools/openapi
