#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A user without a usable home: runs are kept in another folder, one line says
# so, and the readers find them there, also when the home is usable again.
. "$(dirname "$0")/expect.sh"

cat >busy.c <<'END'
#include <time.h>
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 10)
		;
	return 0;
}
END
"$CC" -O1 -o busy busy.c || exit 1
unset TARE_DIR XDG_STATE_HOME
home=$HOME
export XDG_RUNTIME_DIR=$work/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
ledgers() {
	ls "$XDG_RUNTIME_DIR/tare/runs" 2>/dev/null | grep -c '\.tare$'
}

# kept HOME SENTENCE: the run is in the spare folder, and found.
kept() {
	local n
	n=$(ledgers)
	expect_status 0 env HOME="$1" "$TARE" run -- ./busy
	expect_has "$err" "they are kept in '$XDG_RUNTIME_DIR/tare/runs'" \
		"$2: a line says where runs are kept"
	expect_is "$(ledgers)" $((n + 1)) "$2: the run is there"
	expect_status 0 env HOME="$1" "$TARE" report last
	expect_has "$out" busy "$2: and is found"
}
kept "" "no home"
kept /dev/null "a home that is no folder"
kept /proc "a home where nothing can be made"

expect_status 0 env HOME="$home" "$TARE" ls
expect_has "$out" busy "a reader with a home finds them, too"
expect_status 0 env HOME="$home" "$TARE" run -- ./busy
expect_has_not "$err" "are kept in" "with a home, nothing is said"
expect_is "$(ledgers)" 3 "and the run is not in the spare folder"

# A folder that others can write is not used.
chmod 777 "$XDG_RUNTIME_DIR/tare"
expect_status 0 env HOME="$home" "$TARE" ls
expect_is "$(printf '%s\n' "$out" | grep -c busy)" 1 \
	"a spare folder that is open to others is not read"

finish
