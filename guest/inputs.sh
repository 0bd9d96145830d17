#!/usr/bin/env bash
# Lists the SHA-256 of every file guest/dist is built from: sources, lock files, and the build script with its flags.
set -euo pipefail
cd "$(dirname "$0")/.."
{
  git ls-files guest/src guest/sdk/src guest/Cargo.toml guest/Cargo.lock guest/build.sh
  printf '%s\n' guest/sdk/build.mjs guest/sdk/package.json guest/sdk/package-lock.json runtime/src/abi.rs
} | LC_ALL=C sort | xargs sha256sum
