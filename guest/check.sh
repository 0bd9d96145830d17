#!/usr/bin/env bash
# Fails when guest/dist is not what its sources give: an input changed without a rebuild, an output was edited by hand, or
# (where the wasm tool chain is installed) a rebuild gives other bytes.
set -euo pipefail
cd "$(dirname "$0")"

if ! diff <(grep -v '^#' dist/inputs.sha256) <(./inputs.sh); then
  echo "guest/dist is older than its sources: run guest/build.sh and commit the result" >&2
  exit 1
fi
(cd dist && sha256sum --quiet -c outputs.sha256)

if [ -x /usr/lib/llvm-22/bin/wasm-ld ] && [ -d /usr/lib/rustlib/src/rust/library ]; then
  fresh=$(mktemp -d)
  trap 'rm -rf "$fresh"' EXIT
  GUEST_TARGET_DIR=$fresh/target ./build.sh "$fresh/dist" > "$fresh/log" 2>&1 || { tail -n 40 "$fresh/log" >&2; exit 1; }
  (cd "$fresh/dist" && sha256sum --quiet -c "$OLDPWD/dist/outputs.sha256")
  echo "guest/dist: rebuilt, the same bytes"
else
  echo "guest/dist: checksums match (no wasm tool chain here, so it was not rebuilt)"
fi
