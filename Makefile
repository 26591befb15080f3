# Every command that CI runs, runnable at home.
.PHONY: test check lint nightly sampling alarms scale toys bench fuzz generate answers lessons site

test:
	scripts/test

check:
	scripts/check

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	. scripts/environment.sh && cargo deny check bans licenses sources
	scripts/uv run --locked ruff check
	scripts/uv run --locked ruff format --check
	scripts/uv run --locked mypy

# PART=faults runs one part.
nightly:
	scripts/nightly $(PART)

# Bounds of `wirelab exact` next to samples of 20,000 exchanges: hours, outside the nightly. The same command continues.
sampling:
	scripts/uv run --locked python -m tests.sampling $(or $(FOLDER),results/sampling)

# False alarms and misses of `wirelab compare` in real time: 220 runs of 25 s each. The same command continues.
alarms:
	scripts/uv run --locked python -m tests.alarms $(or $(FOLDER),results/alarms)

# Time and memory for campaigns that are larger than a test's, in some 15 minutes. FOLDER must not be there, and gets 4 GB.
scale:
	scripts/uv run --locked python -m tests.scale $(or $(FOLDER),results/scale) $(PARTS)

toys:
	scripts/toys

bench:
	bench/run

fuzz:
	fuzz/run

# The agent is built as `cargo test` builds it: with the features of one package alone, everything is compiled again.
generate: export WIRELAB_AGENT = $(abspath $(or $(CARGO_TARGET_DIR),target))/debug/wirelab-agent
generate:
	cargo build --workspace --bin wirelab-agent --locked
	$(WIRELAB_AGENT) generate --out schema
	scripts/uv run --locked python scripts/border.py
	scripts/uv run --locked python -m wirelab.experiment.schema > schema/experiment.json
	scripts/uv run --locked python -m wirelab.metrics.described > schema/metrics.json
	scripts/uv run --locked python -m wirelab.schema.files schema
	scripts/uv run --locked python -m wirelab.site.drawn > python/wirelab/data/pages.json
	scripts/uv run --locked python -m scripts.reference

# Runs the command of each page of docs/answers/ and writes its table; PAGES=04-tls-bytes does one page.
answers:
	scripts/uv run --locked python -m scripts.answers $(PAGES)

# Runs each lesson, and writes the pages that ship; NAMES=head-of-line does one.
lessons:
	scripts/uv run --locked python -m scripts.lessons $(NAMES)

# The site of the documentation, in FOLDER, which must not be there yet.
site:
	scripts/uv run --locked python -m scripts.site $(or $(FOLDER),results/site)
