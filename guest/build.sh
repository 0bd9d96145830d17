#!/usr/bin/env bash
# Rebuilds guest/dist from source: the guest module, the bundled SDK and Zod, the checksums.
#
# Two tool chains work: Debian's (rustc-web, clang-22, wasi-libc; see guest/README.md) or rustup's wasm32-wasip1 target
# with a wasi-sdk in $WASI_SDK. Debian's is taken when it is there, because it is the one dist/ was made with.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
out=${1:-$here/dist}
mkdir -p "$out"

(cd sdk && npm ci --silent --no-audit --no-fund && node build.mjs "$out")
mkdir -p "$out/licenses" && mv "$out/zod.LICENSE" "$out/licenses/"

remap="--remap-path-prefix=$here=guest --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
stack="-C link-arg=-zstack-size=1048576 -C link-arg=--stack-first"
reactor="-C link-arg=--entry=_initialize"
export CARGO_TARGET_DIR=${GUEST_TARGET_DIR:-$here/target}
export RQUICKJS_SYS_NO_WASI_SDK=1

if [ -x /usr/lib/llvm-22/bin/wasm-ld ] && [ -d /usr/include/wasm32-wasi ] && [ -d /usr/lib/rustlib/src/rust/library ]; then
  clang="--target=wasm32-wasi -isystem /usr/include/wasm32-wasi"
  export CC_wasm32_wasip1=clang-22 AR_wasm32_wasip1=/usr/bin/llvm-ar-22
  export CFLAGS_wasm32_wasip1="$clang -O3 -msimd128 -mbulk-memory -ffile-prefix-map=$CARGO_TARGET_DIR=target -include $here/src/quickjs_on_wasi.h"
  export BINDGEN_EXTRA_CLANG_ARGS_wasm32_wasip1="$clang -fvisibility=default"
  export LIBCLANG_PATH=/usr/lib/llvm-22/lib
  export CARGO_TARGET_WASM32_WASIP1_LINKER=/usr/lib/llvm-22/bin/wasm-ld
  export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTUP_TOOLCHAIN=1.95.0
  export CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-C link-self-contained=no -C linker-flavor=wasm-ld -L /usr/lib/wasm32-wasi -L /usr/lib/llvm-22/lib/clang/22/lib/wasi -C target-feature=+simd128,+bulk-memory -C link-arg=/usr/lib/wasm32-wasi/crt1-reactor.o $reactor $stack $remap --remap-path-prefix=/usr/lib/rustlib/src/rust=rust"
  cargo build --release --locked --target wasm32-wasip1 -Zbuild-std=std,panic_abort
elif [ -n "${WASI_SDK:-}" ]; then
  clang="--sysroot=$WASI_SDK/share/wasi-sysroot"
  export CC_wasm32_wasip1="$WASI_SDK/bin/clang" AR_wasm32_wasip1="$WASI_SDK/bin/llvm-ar"
  export CFLAGS_wasm32_wasip1="$clang -O3 -msimd128 -mbulk-memory -ffile-prefix-map=$CARGO_TARGET_DIR=target -include $here/src/quickjs_on_wasi.h"
  export BINDGEN_EXTRA_CLANG_ARGS_wasm32_wasip1="$clang -fvisibility=default"
  export CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-C target-feature=+simd128,+bulk-memory -C link-arg=$WASI_SDK/share/wasi-sysroot/lib/wasm32-wasip1/crt1-reactor.o $reactor $stack $remap"
  cargo build --release --locked --target wasm32-wasip1
else
  echo "guest/build.sh: no wasm tool chain. Install the Debian packages named in guest/README.md, or set WASI_SDK." >&2
  exit 2
fi
# One import is left, which Rust's standard library declares itself: seeds for its hash maps. A cell has no secrets from
# its own script, and must repeat exactly, so the answer is zeros.
tools=$here/sdk/node_modules/.bin
built=$CARGO_TARGET_DIR/wasm32-wasip1/release
features="--enable-simd --enable-bulk-memory --enable-bulk-memory-opt --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types --enable-call-indirect-overlong"
"$tools/wasm-merge" $features --rename-export-conflicts "$built/callcell_guest.wasm" guest "$here/src/random_get.wat" wasi_snapshot_preview1 -o "$built/merged.wasm"
"$tools/wasm-opt" $features -O4 --strip-debug --strip-producers "$built/merged.wasm" -o "$out/guest.wasm"

# What dist/ was made from, and what came out. `guest/check.sh` compares.
{
  echo "# clang: $(${CC_wasm32_wasip1} --version | head -n 1)"
  echo "# rustc: $(${RUSTC:-rustc} --version)"
  echo "# binaryen: $("$tools/wasm-opt" --version)"
  "$here/inputs.sh"
} > "$out/inputs.sha256"
(cd "$out" && sha256sum guest.wasm sdk.js automations.js zod.js > outputs.sha256)
