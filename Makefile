# A recipe is a script or a few short commands. ARGS is passed to the last command: make test ARGS=forged
.DEFAULT_GOAL := help
.PHONY: help setup run ui bundle test screenshots lint bench bench-relay bench-inbox bench-year bench-explain bench-ui fuzz fmt clean

ENV := . "$${TOOLS_DIR:-.tools}/env.sh" &&

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

run: ## Set up what is missing, then open the window; without a display, serve: capture on 4400, UI and API on 4401
	@scripts/run.sh $(ARGS)

ui: ## Build the web UI, which the next build of a binary takes in
	@scripts/setup.sh --for run
	@$(ENV) npm --prefix ui run build

bundle: ## Make a .deb of the window
	@scripts/bundle.sh $(ARGS)

test: ## Set up what is missing, then build and run every test
	@scripts/test.sh $(ARGS)

screenshots: ## Render the screens from seeded data
	@scripts/setup.sh --for test
	@$(ENV) npm --prefix ui run build && cargo build -p hookmitt-cli && npm --prefix tests/ui run screenshots -- $(ARGS)

lint: ## Check formatting, types, clippy, documentation, dependencies and scripts
	@scripts/lint.sh

bench: ## Measure capture, start-up and signatures; JSON in target/bench
	@scripts/setup.sh --for core
	@$(ENV) cargo build --release -p hookmitt-cli && cargo bench -p hookmitt-stories --bench speed $(ARGS)

bench-relay: ## Measure a relay and its tunnels; ARGS=catch-up for a part; JSON in target/bench
	@scripts/setup.sh --for core
	@$(ENV) cargo build --release -p hookmitt-cli && cargo bench -p hookmitt-stories --bench speed -- --relay $(ARGS)

bench-inbox: ## Measure inboxes of up to 1,000,000 events; ARGS="10000 lists" for a size or part; JSON in target/bench
	@scripts/setup.sh --for core
	@$(ENV) cargo build --release -p hookmitt-cli && cargo bench -p hookmitt-stories --bench speed -- --inbox $(ARGS)

bench-year: ## Use an inbox for a year in ten minutes; ARGS=2000 for that many events a week
	@scripts/setup.sh --for core
	@$(ENV) cargo build --release -p hookmitt-cli && cargo bench -p hookmitt-stories --bench speed -- --year $(ARGS)

bench-explain: ## Spoil signed requests with real software; print which causes were found, JSON in target/bench
	@scripts/setup.sh --for test
	@$(ENV) cargo test -p hookmitt-verify --test faults $(ARGS)

bench-ui: ## Measure the page under load, and the window
	@scripts/setup.sh --for test
	@$(ENV) npm --prefix ui run build && cargo build --release -p hookmitt-cli && \
		cargo build --release -p hookmitt-desktop --features tauri/custom-protocol && \
		npm --prefix tests/ui run bench -- $(ARGS)

fuzz: ## Fuzz each target for FUZZ_SECONDS (60)
	@scripts/fuzz.sh $(ARGS)

fmt: ## Format the code
	@scripts/setup.sh --for lint
	@$(ENV) cargo fmt --all && cargo fmt --manifest-path fuzz/Cargo.toml && npm --prefix ui run format

setup: ## Install whatever is missing for all of the above
	@scripts/setup.sh

clean: ## Remove what was built; tools under .tools stay
	rm -rf target ui/dist
