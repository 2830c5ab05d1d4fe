# One command for the whole loop, the same here and in CI.
.DEFAULT_GOAL := test
CARGO ?= cargo

.PHONY: test tools packages peers checked fmt lint fences compiled unit fix bench fuzz torture

# What the tests are held against is downloaded while everything is compiled: on a new machine both take minutes.
test: packages ## everything that must pass
	@$(MAKE) --no-print-directory --jobs=2 peers checked
	@$(MAKE) --no-print-directory unit
	@echo "all checks passed"

tools: packages peers ## install what the tests need and is missing

packages:
	@.ci/packages

peers:
	@.ci/peers

# One after the other, for they share a build directory; so this one is told nothing of the jobs beside it.
checked:
	@MAKEFLAGS= $(MAKE) --no-print-directory fmt lint fences compiled

fmt:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings

# What must not be there: checked, not hoped for.
fences:
	@.ci/fences

compiled:
	$(CARGO) test --workspace --locked --no-run

unit:
	@.ci/tests

fix: ## what may be changed by a machine
	$(CARGO) fmt --all
	$(CARGO) clippy --workspace --all-targets --all-features --fix --allow-dirty --allow-staged

bench: ## the figures of docs/performance.md
	$(CARGO) bench -p claims --bench engine
	$(CARGO) bench -p registry --bench embedded
	$(CARGO) bench -p registry --bench embedded -- --held
	$(CARGO) bench -p registry --bench embedded -- --releases
	$(CARGO) bench -p registry --bench sql -- 5
	$(CARGO) bench -p update-if

TARGET ?= all
RUNS ?= 10000000
fuzz: ## libFuzzer on one TARGET or all, so many RUNS each: docs/proof.md
	@.ci/fuzz $(TARGET) $(RUNS)

torture: tools ## real processes under real faults, for about an hour; with SOAK=1 an hour of one server instead
	@.ci/torture $(if $(SOAK),soak,all)
