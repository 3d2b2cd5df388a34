#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that ends without libc's knowledge has finished all the same; one
# that a signal ended was killed.
. "$(dirname "$0")/expect.sh"

cat >ends.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argc;
	while (clock() < CLOCKS_PER_SEC / 10) /* long enough for samples */
		;
	if (strcmp(argv[1], "direct") == 0)
		__asm__ volatile("" ::"r"(syscall(SYS_exit_group, 3)));
	if (strcmp(argv[1], "_exit") == 0)
		_exit(3);
	if (strcmp(argv[1], "kill") == 0)
		(void)kill(getpid(), SIGKILL);
	return 3;
}
END
"$CC" -O1 -w -o ends ends.c || exit 1

# ends HOW STATUS STATE
ends() {
	expect_status "$2" "$TARE" run -- ./ends "$1"
	expect_has "$("$TARE" report all)" ", $3, " \
		"the run of a program that ends by $1 is $3"
	expect_has "$("$TARE" ls)" " $3 " "tare ls says so, too"
	rm -rf "$TARE_DIR"
}
ends return 3 finished
ends _exit 3 finished
ends direct 3 finished
ends kill 137 killed

if go version >/dev/null 2>&1 && [ "$(go env CGO_ENABLED)" = 1 ]; then
	mkdir -p gohost && cd gohost || exit 1
	cat >main.go <<'END'
package main

// static int twice(int x) { return 2 * x; }
import "C"
import (
	"os"
	"time"
)

func main() {
	x := 1
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
		x = int(C.twice(C.int(x))) | 1
	}
	if x == 0 {
		os.Exit(1)
	}
}
END
	printf 'module gohost\n\ngo 1.19\n' >go.mod
	if GOFLAGS=-mod=mod GOCACHE=$work/gocache GOTOOLCHAIN=local \
		go build -o gohost . >../go.log 2>&1; then
		expect_status 0 "$TARE" run -- ./gohost
		expect_has "$("$TARE" report all)" ", finished, " \
			"a Go program is finished"
	else
		expect_skip "no Go program was built: $(head -n 1 ../go.log)"
	fi
	cd "$work" || exit 1
else
	expect_skip "no go with cgo here"
fi

finish
