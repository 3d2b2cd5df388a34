#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of functions in a tare without libdw: by the symbols of programs.
writer=${TARE_TEST_BUILD:?}/profile_writer
TARE_BIN=$TARE_TEST_BUILD/tare-bare
. "$(dirname "$0")/expect.sh"
. "$here/leaf.sh"

three="^main\$ ^public_leaf\$ ^hidden_leaf\$"

for how in "-O1 -g -pie -fPIE" "-O2 -no-pie -fno-pie" \
	"-O1 -Wl,--build-id=none"; do
	"$CC" $how -o prog leaf.c || exit 1
	profile prog "$PWD/prog" "$(id_of prog)" $three
	functions
	expect_is "$out" "hidden_leaf@ main@ public_leaf@" \
		"every function is one row with its name: $how"
	expect_is "$err" "" "and nothing is said"
done

if command -v g++ >/dev/null; then
	g++ -O1 -o shop shop.cc
	profile shop "$PWD/shop" "$(id_of shop)" 'Cart'
	functions
	expect_is "$out" "shop::Cart<long>::sum(long) const@" \
		"C++ names are as people write them"
else
	expect_skip "no g++"
fi

# ---- stripped --------------------------------------------------------------

"$CC" -O1 -pie -fPIE -o full leaf.c
cp full prog
strip prog
profile full "$PWD/prog" "$(id_of full)" '^public_leaf$' '^hidden_leaf$'
functions
starts=$(nm full | awk '$3 ~ /^(public|hidden)_leaf$/ { print $1 }' |
	while read -r at; do printf 'prog+0x%x@\n' "0x$at"; done | sort)
expect_is "$out" "$(echo $starts)" \
	"stripped of all: each function by where it begins"

strip -R .eh_frame_hdr -R .eh_frame -o dumb full
profile full "$PWD/dumb" "$(id_of full)" '^public_leaf$' '^hidden_leaf$'
functions
expect_is "$out" "dumb@" "nothing says where they begin: a row for the module"

"$CC" -shared -fPIC -O1 -o liba-full.so leaf.c
strip -o liba.so liba-full.so
profile liba-full.so "$PWD/liba.so" "$(id_of liba.so)" '^public_leaf$' \
	'^hidden_leaf$'
functions
start=$(nm liba-full.so | awk '$3 == "hidden_leaf" { print $1 }')
expect_is "$out" "$(printf 'liba.so+0x%x@ public_leaf@' "0x$start")" \
	"a stripped library has the names of what it exports"

# ---- another file ----------------------------------------------------------

profile full "$PWD/liba.so" "$(id_of full)" '^public_leaf$'
functions
expect_has "$err" "liba.so' are not known: the file is not the one that ran" \
	"another build is told"
expect_is "$out" "liba.so@" "and its names are not used"
echo "no program" >text
touch -d '-1 hour' text
profile full "$PWD/text" "" '^public_leaf$'
functions
expect_has "$err" "text' are not known: the file cannot be read" \
	"so is one that is no program"

# ---- measured --------------------------------------------------------------

cat >spin.c <<'END'
#include <time.h>
static __attribute__((noinline)) unsigned spin_here(unsigned n)
{
	for (unsigned i = 0; i < 10000; i++)
		__asm__ volatile("" : "+r"(n));
	return n;
}
int main(void)
{
	unsigned n = 1;

	while ((double)clock() / CLOCKS_PER_SEC < 0.5)
		n = spin_here(n);
	return n == 0;
}
END
"$CC" -O1 -o spin spin.c
expect_status 0 "$TARE" run -- ./spin
expect_has "$err" " spin_here" "a measured program's functions have names"
expect_has_not "$err" "spin+0x" "all of them"
expect_has_not "$err" "libdw" "without a word about what could be better"

finish
