# Sourced by the scripts that build and test: where things are kept. It installs nothing.
#
# What is built once is kept outside the checkout if the user has a cache folder, so that the next clone finds it.
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/wirelab
mkdir -p "$cache" 2>/dev/null || cache=$PWD/target/cache
export WIRELAB_TOOLS="${WIRELAB_TOOLS:-$cache/tools}"
export PATH="$WIRELAB_TOOLS/bin:$PATH:/usr/sbin:/sbin"
uv=scripts/uv
# Tests run the agent that `cargo test` builds, without optimization: a release build takes as long as all the rest.
target=${CARGO_TARGET_DIR:-$PWD/target}
agent=${WIRELAB_AGENT:-$target/debug/wirelab-agent}
