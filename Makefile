# Every command that CI runs, runnable at home.
.PHONY: test lint bench fuzz generate

test:
	scripts/test

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo deny check bans licenses sources
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --manifest-path fuzz/Cargo.toml --all-targets --locked -- -D warnings
	cargo deny --manifest-path fuzz/Cargo.toml check bans licenses sources
	scripts/uv run --locked ruff check
	scripts/uv run --locked ruff format --check
	scripts/uv run --locked mypy

bench:
	bench/run

fuzz:
	fuzz/run

generate:
	cargo run --locked --package wirelab-agent -- generate --out schema
	scripts/uv run --locked python -m wirelab.experiment.schema > schema/experiment.json
