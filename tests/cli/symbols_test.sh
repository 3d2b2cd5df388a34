#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of functions: whatever a program's file, or its debug file, is like.
writer=${TARE_TEST_BUILD:?}/profile_writer
. "$(dirname "$0")/expect.sh"
needs_names
. "$here/leaf.sh"

whole="hidden_leaf@leaf.c inner@leaf.c! main@leaf.c outer@leaf.c! \
public_leaf@leaf.c"

# ---- with debug information ----------------------------------------------

for how in "-O1 -g -pie -fPIE" "-O2 -g -no-pie -fno-pie" "-O1 -gdwarf-4"; do
	"$CC" $how -o prog leaf.c || exit 1
	profile prog "$PWD/prog" "$(id_of prog)" '^main$' '^public_leaf$' \
		'^hidden_leaf$'
	functions
	expect_is "$out" "$whole" "all functions, inlined ones too: $how"
	expect_is "$err" "" "and nothing is said"
done

if command -v clang >/dev/null; then
	clang -O1 -g -o prog-clang leaf.c
	profile prog-clang "$PWD/prog-clang" "$(id_of prog-clang)" '^main$' \
		'^public_leaf$' '^hidden_leaf$'
	functions
	expect_is "$out" "$whole" "of clang, which lists no addresses of units"
else
	expect_skip "no clang"
fi

"$CC" -O1 -g -pie -fPIE -o prog leaf.c
profile prog "$PWD/prog" "$(id_of prog)" '^public_leaf$'
expect_status 0 "$TARE" report --json
expect_json "$out" "sorted({(f['function'], f['first_line'])
	for f in d['samples']['functions']})" \
	"[('inner', 2), ('outer', 8), ('public_leaf', 12)]" \
	"functions have the lines they begin at"
expect_json "$out" "[f['line'] for f in d['samples']['functions']
	if f['function'] == 'inner'][0] in (4, 5, 6)" "True" \
	"and the line with the most samples"
expect_json "$out" "abs(sum(f['own_share']
	for f in d['samples']['functions']) - 1) < 1e-9,
	[f['total_share'] for f in d['samples']['functions']
	if f['function'] == 'public_leaf'][0] > .999" "(True, True)" \
	"own shares are a whole, and the outer function has all"

# ---- C++ -------------------------------------------------------------------

if command -v g++ >/dev/null; then
	g++ -O1 -g -o shop shop.cc
	profile shop "$PWD/shop" "$(id_of shop)" 'Cart'
	functions
	expect_is "$out" "shop::Cart<long>::sum(long) const@shop.cc" \
		"C++ names are as people write them"
	cat >inlined.cc <<'END'
namespace app {
namespace {
struct Sums {
	volatile int *p;
	static inline __attribute__((always_inline)) int twice(int x)
	{
		return x * 2;
	}
	inline __attribute__((always_inline)) int add() const
	{
		*p += 3;
		return twice(*p);
	}
};
}
namespace detail {
static inline __attribute__((always_inline)) int spin(volatile int *p)
{
	*p += 7;
	return Sums{p}.add() + *p;
}
}
}
extern "C" __attribute__((noinline)) int all(volatile int *p)
{
	return app::detail::spin(p);
}
int main(int argc, char **)
{
	volatile int x = argc;

	return all(&x);
}
END
	g++ -O1 -g -o inlined inlined.cc
	profile inlined "$PWD/inlined" "$(id_of inlined)" '^all$'
	functions
	expect_is "${out/app::Sums::twice@inlined.cc! /}" \
		"all@inlined.cc app::Sums::add@inlined.cc!\
 app::detail::spin@inlined.cc!" \
		"inlined ones have their namespaces and classes"
	strip -g shop
	profile shop "$PWD/shop" "$(id_of shop)" 'Cart'
	functions
	expect_is "$out" "shop::Cart<long>::sum(long) const@" \
		"without debug information too"
else
	expect_skip "no g++"
fi

# ---- stubs -----------------------------------------------------------------

"$CC" -O1 -g -o prog leaf.c -Wl,-z,lazy
case $(uname -m) in
aarch64) skip=32 ;;
*) skip=16 ;;
esac
section=.plt
if readelf -SW prog | grep -q ' \.plt\.sec '; then
	section=.plt.sec
	skip=0
fi
stubs=0x$(readelf -SW prog |
	sed -n "s/.* \\$section *PROGBITS *\([0-9a-f]*\).*/\1/p")
first=$(readelf -rW prog | sed -n '/\.rela\.plt/,$p' |
	sed -n 's/.*JUMP_SLOT\? *[0-9a-f]* *\([a-z]*\).*/\1/p' | head -1)
bias=$(base prog)
{
	echo "module $PWD/prog $((bias)) $((bias + 0x10000000)) $bias" \
		"$(id_of prog)"
	printf 'stack 1 0x%x 0 1 1 1000000\n' $((bias + stubs + skip + 4))
} | "$writer"
functions
expect_is "$out" "$first@plt@" "a stub is called by what it calls: $first"
"$CC" -O1 -g -pie -fPIE -o prog leaf.c

# ---- stripped --------------------------------------------------------------

cp prog full
id=$(id_of full)
strip -g prog
profile full "$PWD/prog" "$id" '^public_leaf$' '^hidden_leaf$'
functions
expect_is "$out" "hidden_leaf@ public_leaf@" \
	"without debug information: symbols"

strip prog
profile full "$PWD/prog" "$id" '^public_leaf$' '^hidden_leaf$'
functions
start=$(nm full | awk '$3 == "public_leaf" { print $1 }')
start2=$(nm full | awk '$3 == "hidden_leaf" { print $1 }')
expect_is "$out" "$(printf 'prog+0x%x@ prog+0x%x@' 0x$start 0x$start2 |
	tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//')" \
	"stripped of all: each function by where it begins"

"$CC" -shared -fPIC -O1 -o liba.so leaf.c
cp liba.so liba-full.so
strip liba.so
profile liba-full.so "$PWD/liba.so" "$(id_of liba.so)" '^public_leaf$'
functions
expect_is "$out" "public_leaf@" "a stripped library has what it exports"

# libdwfl would load libdebuginfod, and 28 libraries with it.
unset DEBUGINFOD_URLS
LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/loaded functions
expect_has "$(cat loaded.*)" libdw.so "the test sees what is loaded"
expect_has_not "$(cat loaded.*)" debuginfod \
	"no server is named: the library that asks servers is not loaded"
rm -f loaded.*

# ---- debug files -----------------------------------------------------------

mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug full "debug/.build-id/${id:0:2}/${id:2}.debug"
profile full "$PWD/prog" "$id" '^main$' '^public_leaf$' '^hidden_leaf$'
export TARE_DEBUG_PATH=$PWD/debug
functions
expect_is "$out" "$whole" "by the debug file of the build id"

profile full "$PWD/gone/prog" "$id" '^main$' '^public_leaf$' '^hidden_leaf$'
functions
expect_is "$out" "$whole" "also where the program itself is gone"
profile full "$PWD/prog|(deleted)" "$id" '^main$' '^public_leaf$' \
	'^hidden_leaf$'
mv prog prog-kept
functions
expect_is "$out" "$whole" "or deleted while it ran"
unset TARE_DEBUG_PATH
functions
expect_has "$err" "prog (deleted)' are not known: the file is gone" \
	"without it, that it is gone is said"
expect_has_not "$err" "
" "once"
expect_is "$out" "prog (deleted)@" "and all of it is one row, its module"
mv prog-kept prog

mkdir linked && cp prog linked/
objcopy --only-keep-debug full linked/prog.debug
(cd linked && objcopy --add-gnu-debuglink=prog.debug prog)
profile full "$PWD/linked/prog" "$id" '^main$' '^public_leaf$' '^hidden_leaf$'
functions
expect_is "$out" "$whole" "by a debug link"

# Another program's debug file under that name.
sed 's/\*p += 3/*p += 4/; s/x = 1/x = 7/' leaf.c >other.c
"$CC" -O2 -g -pie -fPIE -o other other.c
objcopy --only-keep-debug other linked/prog.debug
functions
expect_has "$err" "prog.debug' of 'prog' is of another build, and not used" \
	"a wrong debug file is told"
expect_has_not "$out" "leaf" "and not used"
mkdir -p "wrong/.build-id/${id:0:2}"
cp linked/prog.debug "wrong/.build-id/${id:0:2}/${id:2}.debug"
profile full "$PWD/prog" "$id" '^public_leaf$'
TARE_DEBUG_PATH=$PWD/wrong functions
expect_has "$err" "is of another build" "also one by its build id"

# ---- a program that was built again ---------------------------------------

cp other rebuilt
profile full "$PWD/rebuilt" "$id" '^public_leaf$' '^hidden_leaf$'
functions
expect_has "$err" "rebuilt' are not known: the file is not the one that ran" \
	"another build is told"
expect_is "$out" "rebuilt@" "and none of its names is used"
"$CC" -O1 -g -Wl,--build-id=none -o noid leaf.c
profile noid "$PWD/noid" "" '^public_leaf$'
functions
expect_has "$out" "public_leaf@leaf.c" "without build ids: by its date"
touch -d '+1 hour' noid
functions
expect_has "$err" "noid' are not known: the file was changed after" \
	"and a newer file is told"

# ---- no file at all --------------------------------------------------------

printf '%s\n' "module [vdso] 0x7ffc00000000 0x7ffc00002000 0x7ffc00000000" \
	"module [heap] 0x1000 0x2000 0" \
	"stack 1 0x7ffc00000a00 0 1 1 1000" "stack 1 0x1234 1 1 1 1000" \
	"stack 1 0x1567 1 1 1 1000" \
	"stack 1 0x99 -1 1 1 1000" "stack 1 0x100 -1 1 1 1000" | "$writer"
functions
expect_has "$out" "[heap]@ [unknown]@" \
	"no file: a row for the module, no module: one for all that is in none"
expect_is "$err" "" "which is nothing to tell"

# ---- damaged files ---------------------------------------------------------

# Bytes anywhere in a copy are changed; what is read must not end the reader.
cat >damage.py <<'END'
import random
for seed in range(100):
    random.seed(seed)
    data = bytearray(open("full", "rb").read())
    for _ in range(random.choice((1, 8, 64, 512))):
        at = random.randrange(64, len(data))
        data[at] = random.choice((0, 0xff, 0x80, random.randrange(256)))
    if random.random() < .2:
        del data[random.randrange(len(data)):]
    open("damaged-%d" % seed, "wb").write(data)
END
profile full "$PWD/damaged" "" '^main$' '^public_leaf$' '^hidden_leaf$'
bad=0
"$PYTHON" damage.py
touch -d '-1 hour' damaged-*
for ((i = 0; i < 100; i++)); do
	mv "damaged-$i" damaged
	timeout 120 "$TARE" report >report.txt 2>err.txt
	code=$?
	if [ $code != 0 ] || ! grep -q functions report.txt; then
		echo "# seed $i: exit status $code"
		bad=$((bad + 1))
	fi
done
expect_is "$bad" 0 "100 damaged files are read, or passed over"

# ---- runtime code ----------------------------------------------------------

"$CC" -shared -fPIC -O1 -g -o libgomp.so.1 leaf.c
profile libgomp.so.1 "$PWD/libgomp.so.1" "$(id_of libgomp.so.1)" \
	'^public_leaf$'
expect_status 0 "$TARE" report
expect_has "$out" "public_leaf" "functions of the runtime have names"
expect_has_not "$out" "leaf.c:" \
	"and no lines, which take long to read, in a short report"
expect_status 0 "$TARE" report functions
expect_has "$out" "leaf.c:" "and lines in the full table"
"$CC" -shared -fPIC -O1 -g -o libown.so.1 leaf.c
profile libown.so.1 "$PWD/libown.so.1" "$(id_of libown.so.1)" '^public_leaf$'
expect_status 0 "$TARE" report
expect_has "$out" "leaf.c:" "other libraries have lines in both"

# ---- files of other users --------------------------------------------------

"$CC" -O1 -g -pie -fPIE -o prog leaf.c
mkdir open_to_all && chmod 777 open_to_all
objcopy --only-keep-debug prog open_to_all/prog.debug
cp prog open_to_all/prog
(cd open_to_all && strip prog && objcopy --add-gnu-debuglink=prog.debug prog &&
	rm prog.debug && mkfifo prog.debug)
profile prog "$PWD/open_to_all/prog" "$(id_of prog)" '^public_leaf$'
expect_status 0 timeout 60 "$TARE" report --json
expect_json "$out" "'samples' in d" "True" \
	"a pipe beside a program, named as its debug file, is not waited for"

if [ "$(id -u)" = 0 ]; then
	chown 65534 prog
	profile prog "$PWD/prog" "$(id_of prog)" '^public_leaf$'
	functions
	expect_is "$out" "public_leaf@" \
		"a file of another user has names, and libdw does not read it"
	expect_has "$err" "belongs to another user" "and the report says so"
	SUDO_UID=65534 functions
	expect_is "$out" "inner@leaf.c! outer@leaf.c! public_leaf@leaf.c" \
		"under sudo the files of the caller are read"
	chown 0 prog
	chmod o+w prog
	functions
	expect_is "$out" "public_leaf@" "nor a file that all users may change"
else
	expect_skip "only root can give files away"
fi

finish
