# One command for the whole loop, the same here and in CI.
.DEFAULT_GOAL := test
CARGO ?= cargo

.PHONY: test tools fmt lint fences unit fix bench

test: tools fmt lint fences unit ## everything that must pass
	@echo "all checks passed"

tools: ## install what the tests need and is missing
	@.ci/install

fmt:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings

# What must not be there: checked, not hoped for.
fences:
	@.ci/fences

unit:
	$(CARGO) test --workspace --locked --no-fail-fast

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
