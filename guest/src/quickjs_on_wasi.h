/* Force-included in front of every QuickJS source (see build.sh).
 *
 * QuickJS compiles its stack limit out when `__wasi__` is defined, because an engine on wasi usually has no idea how
 * large its stack is. Ours does. So pull in every libc header QuickJS uses while the macro still stands, then take it away. */
#include <alloca.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#undef __wasi__
