#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare run on a program that waits: a sample ends no wait early, no deadline
# moves, no count is short; a signal of the program's own ends a wait as
# without tare.
. "$(dirname "$0")/expect.sh"

"$CC" -std=c11 -D_GNU_SOURCE -g -O2 -Wall -Wextra -Werror \
	"$here/waiting.c" -lpthread -o waiting ||
	{ echo "Bail out! cannot build waiting.c"; exit 1; }

expect_status 0 ./waiting
expect_is "$out" "" "alone: nothing is wrong"
for options in "--wall --rate 1000" "--rate 1000" "--wall --rate 250"; do
	expect_status 0 "$TARE" run --no-report $options -- ./waiting
	expect_is "$out" "" "$options: every wait as long as without"
	expect_status 0 "$TARE" run --no-report $options -- ./waiting alarm
	expect_is "$out" "" "$options: the program's own signal ends it"
done

finish
