# `make help` says what there is. Each target can be called again at any time and starts from a clean clone.

.NOTPARALLEL:
.DEFAULT_GOAL := help
BROWSER_SECONDS ?= 8
SIMULATION_SEEDS ?= 60
# Seeds of the clock's judge the code at its full figures, `make accept`; a gate's verdict depends on the commit alone.
SIMULATION_NEW ?= 0
# Meetings of thirty.
SIMULATION_MEETINGS ?= 1
FUZZ_SECONDS ?= 60
# No product that is built from here has planted mistakes, whatever the shell exports; `scripts/mutants` builds its own.
unexport ROOST_DEFECTS ROOST_DEFECT
PYTHON := /usr/bin/python3

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

.PHONY: run
run: build ## install what is missing, build, start a server for trying out; ARGS="…" goes to it
	exec .build/release/roost serve --dev $(ARGS)

.PHONY: build
build: ## install what is missing, build the server in release
	@scripts/install build
	swift build -c release --product roost

.PHONY: test
test: ## every property once but those of browsers that take long, and what each part took
	@MAKE="$(MAKE)" BROWSER_TEST="$(or $(BROWSER_TEST),--short)" scripts/stages install-test check build-tests release-beside run-swift release test-simulation test-server test-docs test-browsers

.PHONY: quick
quick: check ## what shows most mistakes in a minute and a half, once built
	swift build --build-tests
	scripts/test-swift --skip "HTTPServerTests|WebSocketClientTests|PollingTests|EngineTests.SocketTests|PushTests.APNsServiceTests|AttackTests[.]|DTLSMemoryTests|SectionMemoryTests|RoomsTests|GatewayTests|CongestionTests|FuzzTests|DescribedLayersTests"
	scripts/test-swift --filter "RoomsTests|GatewayTests" --skip "GatewayTests.ReasonTests"
	swift build -c release --product roost-simulate
	.build/release/roost-simulate --seeds 5

.PHONY: install-test
install-test:
	@scripts/install test

.PHONY: check
check: ## formatting, imports, sizes, names, words and contrasts, and the tests of the scripts
	@scripts/check-format
	@scripts/check-imports
	@scripts/check-house
	@scripts/check-words
	@scripts/check-contrast
	@$(PYTHON) -m unittest discover --start-directory Tests/Scripts --pattern '*_test.py'

.PHONY: test-swift
test-swift: build-tests run-swift ## the Swift tests

# Builds nothing: a build of the release beside it holds the build's database, and a second build would fail on that.
.PHONY: run-swift
run-swift:
	# One after the other: a test that lies behind a thousand others runs into its time limit for their sake.
	scripts/test-swift --skip "HTTPServerTests|WebSocketClientTests|PollingTests|EngineTests.SocketTests|PushTests.APNsServiceTests|AttackTests[.]|DTLSMemoryTests|SectionMemoryTests|RoomsTests|GatewayTests|CongestionTests|FuzzTests|DescribedLayersTests" --no-parallel
	# Apart: they compute for long, and those above have a time limit. So have these: one after the other.
	scripts/test-swift --filter "CongestionTests|FuzzTests|DescribedLayersTests" --no-parallel
	# Apart and one after the other: they have a media engine with a clock of its own, which doesn't wait while others compute.
	scripts/test-swift --filter "RoomsTests|GatewayTests" --no-parallel
	# Apart and one after the other: they measure times of real sockets, beside nothing else.
	scripts/test-swift --filter "HTTPServerTests|WebSocketClientTests|PollingTests|EngineTests.SocketTests|PushTests.APNsServiceTests" --no-parallel
	# Likewise: they measure memory, which is the whole process's.
	ROOST_ATTACKS_APART=1 scripts/test-swift --filter "AttackTests[.]|DTLSMemoryTests|SectionMemoryTests" --no-parallel

.PHONY: build-tests
build-tests:
	swift build --build-tests

# The Swift tests leave a core to others: the release is built there meanwhile, at idle priority, so that no test waits for it.
.PHONY: release-beside
release-beside:
	@scripts/build-beside begin

# All at once, which keeps both cores busy; those below find it built.
.PHONY: release
release:
	@scripts/build-beside await
	swift build -c release

.PHONY: test-simulation
test-simulation: ## conferences on a virtual clock, SIMULATION_SEEDS of them, SIMULATION_NEW of new seeds and SIMULATION_MEETINGS of thirty people
	scripts/accept.d/simulation $(SIMULATION_SEEDS) $(SIMULATION_NEW) $(SIMULATION_MEETINGS)

.PHONY: test-server
test-server: ## the server as a process: metrics, health, its end
	swift build -c release --product roost && swift build -c release --product roost-load
	swift build -c release --product roost-bench
	@Tests/Server/run

.PHONY: test-docs
test-docs: ## the clients, commands and messages of the documentation
	swift build -c release
	@$(PYTHON) -m unittest discover --start-directory Tests/Clients --pattern '*_test.py'
	@$(PYTHON) -m unittest discover --start-directory Tests/Docs --pattern '*_test.py'

.PHONY: test-browsers
test-browsers: ## Chromium and Firefox, directly and through the server; BROWSER_TEST="…" picks some
	swift build -c release --product roost && swift build -c release --product roost-link && swift build -c release --product roost-load
	Tests/Browsers/run --seconds $(BROWSER_SECONDS) $(BROWSER_TEST)

.PHONY: pictures
pictures: ## pictures of the pages: those that the documentation has in docs/images, all of them in out/pictures
	@scripts/install test
	swift build -c release --product roost && swift build -c release --product roost-load
	Tests/Browsers/run call_picture pictures

.PHONY: roost-js
roost-js: ## roost.js as a package of npm, in out
	@scripts/pack-roost-js

.PHONY: accept
accept: ## every promise at its full figures, as one table: what hasn't held at this commit, all with AGAIN=1; CHECK="…" picks some
	@scripts/install accept
	@scripts/accept $(if $(AGAIN),--again) $(if $(CHECK),build $(CHECK))

.PHONY: mutants
mutants: ## one planted mistake at a time, which the tests have to find; NAME="…" picks some
	@scripts/install test
	@scripts/mutants $(NAME)

.PHONY: tsan
tsan: ## the Swift tests under the thread sanitizer; FILTER="…" picks some
	@scripts/install build
	@scripts/sanitize-threads $(FILTER)

.PHONY: bench
bench: ## the benchmarks; ARGS="…" goes to them, ARGS=--help teaches them
	@scripts/install build
	swift build -c release --product roost
	swift build -c release --product roost-bench
	.build/release/roost-bench $(ARGS)

.PHONY: load
load: ## synthetic participants against a running server; ARGS="…" goes to roost-load, ARGS=--help teaches it
	@scripts/install build
	@swift build -c release --product roost-load
	@.build/release/roost-load $(ARGS)

.PHONY: fuzz
fuzz: ## every parser, a whole peer and the workers for FUZZ_SECONDS, beginning with the corpus; TARGET=… picks one
	@scripts/install build
	@scripts/fuzz "$(TARGET)" $(FUZZ_SECONDS)

.PHONY: format
format: ## format the sources in place
	swift format format --in-place --recursive --parallel $(wildcard Package.swift Sources Tests Bench Fuzz)

.PHONY: clean
clean: ## remove what was built
	rm -rf .build .build-defects .build-mutants .build-costs .build-python .build-go out
