# SPDX-License-Identifier: Apache-2.0
# For tests of names of functions: a program, and profiles of it, which are
# written, not measured: stacks at addresses of functions that the compiler
# placed, of programs that need not run. Needs `writer`, after expect.sh.

for program in nm readelf objcopy strip; do
	command -v $program >/dev/null ||
		{ expect_skip "no $program"; finish; }
done

cat >leaf.c <<'END'
#include <stdio.h>
static inline __attribute__((always_inline)) int inner(volatile int *p)
{
	*p += 3;
	*p *= 5;
	return *p;
}
static inline __attribute__((always_inline)) int outer(volatile int *p)
{
	return inner(p) + 1;
}
__attribute__((noinline)) int public_leaf(volatile int *p)
{
	return outer(p) * 2;
}
static __attribute__((noinline)) int hidden_leaf(volatile int *p)
{
	*p += 11;
	return *p + public_leaf(p);
}
int main(void)
{
	volatile int x = 1;

	printf("%d\n", hidden_leaf(&x));
	return 0;
}
END

cat >shop.cc <<'END'
namespace shop {
template <class T> struct Cart {
	T item;
	__attribute__((noinline)) T sum(T with) const { return item + with; }
};
}
int main(int argc, char **)
{
	shop::Cart<long> cart{argc};

	return (int)cart.sum(3);
}
END

# base FILE: where a PIE or library is thought to be loaded; else 0.
base() {
	case $(readelf -h "$1" | sed -n 's/.*Type: *\([A-Z]*\).*/\1/p') in
	DYN) echo 0x7f1200000000 ;;
	*) echo 0 ;;
	esac
}

id_of() {
	readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'
}

# profile SYMBOLS PATH ID FUNCTION...: a run with a sample at every byte of
# the functions, as SYMBOLS (a file that has them) says. The module has PATH.
profile() {
	local symbols=$1 path=$2 id=$3 at size bias
	shift 3
	bias=$(base "$symbols")
	{
		echo "module $path $((bias)) $((bias + 0x10000000)) $bias $id"
		for function in "$@"; do
			read -r at size < <(nm -S "$symbols" |
				awk -v f="$function" '$4 ~ f { print $1, $2 }')
			for ((i = 0; i < 0x$size; i++)); do
				printf 'stack 1 0x%x 0 1 1 1000000\n' \
					$((0x$at + i + bias))
			done
		done
	} | "$writer" || echo "Bail out! no profile"
}

# The functions of the newest run, as NAME@FILE:INLINED, sorted.
functions() {
	expect_status 0 "$TARE" report --json
	out=$(printf '%s' "$out" | "$PYTHON" -c "
import json, os, sys
d = json.load(sys.stdin)
print(' '.join(sorted(f['function'] + '@' + os.path.basename(f['file']) +
	('!' if f['inlined'] else '') for f in d['samples']['functions'])))")
}
