#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --alloc=sampled: the mean of its estimates over many runs is what an exact run
# counts, within 5 standard errors: fewer than one of a million fails by chance.
. "$(dirname "$0")/expect.sh"

PRELOAD=$(dirname "$TARE")/../preload/libtare-alloc.so
if [ ! -e "$PRELOAD" ] || [ -n "$(nm -D "$PRELOAD" | grep __asan_init)" ]; then
	echo "1..0 # SKIP no libtare-alloc.so, or with a sanitizer in it"
	exit 0
fi

# Of each size: blocks that are freed at once, pairs that are not, blocks that
# stay, and blocks that grow. Sizes from none to many times a sample.
cat >mixed.c <<'EOF'
#include <stdlib.h>

static void *volatile kept[4096];

int main(void)
{
	static const size_t sizes[] = { 0, 1, 24, 100, 1000, 9000, 100000 };
	unsigned n = 0;

	for (unsigned i = 0; i < 7 * 300; i++) {
		size_t size = sizes[i % 7];
		void *volatile a = malloc(size), *volatile b;

		free(a);
		a = malloc(size);
		b = malloc(size / 2 + 8);
		free(a);
		free(b);
		a = malloc(size + 16);
		a = realloc(a, size * 2 + 16);
		if (i % 5 == 0)
			kept[n++] = a;
		else
			free(a);
	}
	return 0;
}
EOF
"$CC" -O1 -fno-builtin -o mixed mixed.c || exit 1

cat >many.py <<'EOF'
import json, math, os, subprocess, sys
tare, preload = sys.argv[1:3]
FIGURES = ("allocs", "bytes", "frees", "freed_bytes", "live", "live_bytes",
           "temporary")
def run(mode):
    env = dict(os.environ, LD_PRELOAD=preload, TARE="on", TARE_REPORT="none",
               TARE_ALLOC=mode, TARE_ALLOC_SAMPLE="2048", TARE_SAMPLE="false")
    subprocess.run(["./mixed"], env=env, check=True)
    text = subprocess.run([tare, "alloc", "--json"], check=True,
                          stdout=subprocess.PIPE).stdout
    return json.loads(text)["totals"]
exact = run("exact")
runs = [run("sampled") for _ in range(120)]
bad = []
for name in FIGURES:
    values = [r[name] for r in runs]
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
    error = math.sqrt(variance / len(values))
    print("# %-11s exact %d, mean %.1f +- %.1f" %
          (name, exact[name], mean, error))
    # Figures are whole numbers.
    if abs(mean - exact[name]) > 5 * error + 1:
        bad.append(name)
print("wrong:", *bad)
EOF
out=$("$PYTHON" many.py "$TARE" "$PRELOAD")
printf '%s\n' "$out" | grep '^#'
expect_is "$(printf '%s\n' "$out" | tail -1)" "wrong:" \
	"the mean of 120 sampled runs is what is"

finish
