# One line each; whatever CI does, `make ci` does.
PATH_TO_MEASURE ?= .
CASES ?=
PEERS_ARGS ?=

.PHONY: run test ci build lint format-check unit integration bench-smoke figures peers soak packages clean

run:
	cargo run --release --locked -- check "$(PATH_TO_MEASURE)"

build:
	cargo build --release --locked

test: packages unit integration

packages:
	tests/packages.sh

unit:
	SYNCTAIL_CASES=$(CASES) cargo test --workspace --locked --lib --bins --all-features

integration:
	SYNCTAIL_CASES=$(CASES) cargo test --workspace --locked --test '*' --all-features

format-check:
	cargo fmt --all -- --check

lint:
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings

bench-smoke:
	cargo bench --workspace --locked --profile dev -- --test

ci: packages format-check lint unit integration bench-smoke

figures:
	cargo bench -p synctail-sys --bench cost

peers:
	tests/peers/packages.sh
	cargo bench --locked --bench peers -- tools $(PEERS_ARGS)

soak: figures
	SYNCTAIL_SOAK=1 cargo test --locked --release -p synctail-bench --lib interval::simulated -- --nocapture
	SYNCTAIL_SOAK=1 cargo test --locked --test integration -- durability::bar --test-threads 1 --nocapture
	tests/peers/packages.sh
	cargo bench --locked --bench peers -- all $(PEERS_ARGS)

clean:
	cargo clean
