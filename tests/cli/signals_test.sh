#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare run on a program that uses every signal: masks, actions, waits,
# descriptors, threads and children are as without it, and samples come.
. "$(dirname "$0")/expect.sh"

"$CC" -std=c11 -D_GNU_SOURCE -g -O2 -Wall -Wextra -Werror \
	"$here/signalled.c" -lpthread -o signalled ||
	{ echo "Bail out! cannot build signalled.c"; exit 1; }

./signalled >alone 2>&1
for options in "--rate 250" "--rate 1000" "--wall --rate 1000"; do
	"$TARE" run $options -o report -- ./signalled >with 2>err
	expect_is "$?" 0 "$options: the exit status"
	cmp -s alone with
	verdict $? "$options: every signal as without tare" \
		"$(diff alone with | head -10)"
	expect_has "$(cat report)" "samples of" "$options: and samples"
done

# ---- a shell that traps, ignores and resets all of them ---------------------

cat >traps.sh <<'END'
usable=
for i in $(seq 1 64); do
	case $i in 7|9|11|17|18|19|20|21|22|32|33) continue ;; esac
	usable="$usable $i"
	trap "echo got $i" $i
done
for i in $usable; do kill -$i $$; done
for i in $(seq 20000); do :; done
trap '' $usable
env -i grep SigIgn /proc/self/status
trap - $usable
env -i grep SigIgn /proc/self/status
kill -53 $$
echo not here
END
bash traps.sh >alone 2>/dev/null
status=$?
for options in "--rate 250" "--rate 1000"; do
	"$TARE" run --no-report $options -- bash traps.sh >with 2>/dev/null
	expect_is "$?" "$status" "$options: a shell's exit status"
	cmp -s alone with
	verdict $? "$options: a shell that traps all signals" \
		"$(diff alone with | head -10)"
done

# ---- exec, again and again: no sample ends the next program -----------------

cat >again.c <<'END'
#include <stdlib.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *next[] = { argv[0], NULL, NULL };
	int left = argc > 1 ? atoi(argv[1]) : 100;
	volatile unsigned x = 1;
	clock_t until = clock() + CLOCKS_PER_SEC / 400;
	char text[16];

	while (clock() < until)
		x = x * 3 + 1;
	snprintf(text, sizeof(text), "%d", left - 1);
	next[1] = text;
	if (left % 3 == 1)
		execl("/proc/self/exe", argv[0], text, NULL);
	if (left % 3 == 2)
		syscall(SYS_execve, "/proc/self/exe", next, environ);
	if (left)
		execveat(-1, "/proc/self/exe", next, environ, 0);
	return 5;
}
END
"$CC" -D_GNU_SOURCE -O2 again.c -o again
for options in "--rate 250" "--rate 1000" "--rate 10000" \
	"--wall --rate 1000"; do
	expect_status 5 "$TARE" run --no-report $options -- ./again
done

# ---- Go, which takes all signals and makes system calls by itself -----------

cat >main.go <<'END'
package main

// static void turn(int n) { for (volatile int i = 0; i < n; i++); }
import "C"
import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	left := 60
	if len(os.Args) > 1 {
		fmt.Sscan(os.Args[1], &left)
	}
	for begun := time.Now(); time.Since(begun) < 3*time.Millisecond; {
		C.turn(1000)
	}
	if left > 0 {
		next := []string{os.Args[0], fmt.Sprint(left - 1)}
		syscall.Exec("/proc/self/exe", next, os.Environ())
	}
	for i := 35; i < 64; i++ {
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.Signal(i))
		syscall.Kill(os.Getpid(), syscall.Signal(i))
		fmt.Println(i, <-got)
		signal.Stop(got)
	}
}
END
if command -v go >/dev/null &&
	GOCACHE=$work/cache GO111MODULE=off CGO_ENABLED=1 CC=$CC \
		go build -o in_go main.go 2>/dev/null; then
	./in_go >alone
	for options in "--rate 250" "--rate 1000" "--wall --rate 1000"; do
		expect_status 0 "$TARE" run --no-report $options -- ./in_go
		expect_is "$out" "$(cat alone)" "$options: Go's signals"
	done
else
	expect_skip "no go, or no cgo"
fi

finish
