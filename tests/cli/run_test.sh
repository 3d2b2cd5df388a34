#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare run: the program behaves as without it, and a report follows.
. "$(dirname "$0")/expect.sh"
build_worker
others=

# Streams and status pass through.
expect_status 7 "$TARE" run -- sh -c 'echo to out; echo to err >&2; exit 7'
expect_is "$out" "to out" "stdout is the program's alone"
expect_has "$err" "to err" "stderr is passed through"
expect_has "$err" "'sh' has no tare probes" "a program without probes"
expect_has "$err" "exit status is passed through" "and what it means"
expect_has "$err" "wall " "wall time in any case"
expect_has "$err" "user " "user time in any case"
expect_has "$err" "system " "system time in any case"
expect_has "$err" "peak memory " "peak memory in any case"
expect_has "$err" "exit status 7" "the exit status"
expect_is "$(echo through | "$TARE" run --no-report -- cat 2>&1)" "through" \
	"stdin is passed through, and --no-report is quiet"
expect_status 0 "$TARE" run sh -c 'echo "$@"' - --json -o --set
expect_is "$out" "--json -o --set" "options after the program are its own"

# A program that cannot be run.
expect_status 127 "$TARE" run -- ./missing
expect_is "$err" "tare: cannot run './missing': no such file or directory" \
	"a missing program"
echo text >text
expect_status 126 "$TARE" run -- ./text
expect_is "$err" "tare: cannot run './text': permission denied" \
	"a file that is no program"
expect_status 3 "$TARE" run -o ./missing/report -- touch ran
expect_is "$(ls ran 2>&1 | grep -c cannot)" 1 \
	"a wrong output file is told before the program runs"
expect_status 3 "$TARE" run --flame ./missing/x.svg -- touch ran
expect_has "$err" "cannot write './missing/x.svg'" "a wrong flame graph"
expect_is "$(ls ran 2>&1 | grep -c cannot)" 1 \
	"a wrong flame graph is told before the program runs"

# A measured program.
expect_status 0 "$TARE" run -- ./worker 20
expect_is "$out" "" "nothing of tare on stdout"
for name in work step load db.store; do
	expect_has "$err" "$name" "the report has $name"
done
expect_has_not "$err" "$(printf '\033')" "no colours without a terminal"
expect_status 0 "$TARE" run --color always -- ./worker 20
expect_has "$err" "$(printf '\033')" "--color always colours the report"
expect_status 5 "$TARE" run -- ./worker 20 exit 5
expect_has "$err" "step" "a report also if the program failed"

expect_status 0 "$TARE" run --no-report -- ./worker 20
expect_is "$err" "" "--no-report prints nothing"
expect_status 0 "$TARE" report
expect_has "$out" "step" "and the report can be had later"

expect_status 4 "$TARE" run -o report.txt --json run.json -- ./worker 20 exit 4
expect_is "$err" "" "-o leaves stderr to the program"
expect_has "$(cat report.txt)" "db.store" "-o has the report"
expect_has "$(cat report.txt)" "peak memory" "-o has the resources"
expect_json "$(cat run.json)" "d['exit_status'], d['signal']" "(4, 0)" \
	"--json has the status"
expect_json "$(cat run.json)" \
	"d['wall_ns'] > 0 and d['peak_memory_bytes'] > 100000" True \
	"--json has the resources"
expect_json "$(cat run.json)" "d['command'][1:], len(d['processes'])" \
	"(['20', 'exit', '4'], 1)" "--json has command and process"
expect_json "$(cat run.json)" "'step' in json.dumps(d['report'])" True \
	"--json has the report"
expect_status 0 "$TARE" run --no-report --json - -- true
expect_json "$out" "d['report'], d['processes']" "(None, [])" \
	"--json of a program without probes"

# Options.
expect_status 0 "$TARE" run --set max_depth=64 --set exclude='db.*' --trace \
	-- sh -c 'env | grep ^TARE | sort |
		sed "s/\(GROUP\|NOTES\|COST\)=.*/\1=x/"'
expect_is "$(echo $out | sed "s|DIR=[^ ]*|DIR=x|")" \
	"TARE=on TARE_DIR=x TARE_EXCLUDE=db.* TARE_GROUP=x TARE_MAX_DEPTH=64 \
TARE_NOTES=x TARE_REPORT=none TARE_SAMPLE=true TARE_SIGNAL_COST=x \
TARE_TRACE=1" \
	"options are variables of the program"
expect_status 0 "$TARE" run --set exclude='db.*' -- ./worker 20
expect_has_not "$err" "db.store" "an excluded scope is not measured"

# A program that computes on a busy processor did not wait.
cat >spin.c <<'EOF'
#include <time.h>
int main(void) { while (clock() < CLOCKS_PER_SEC / 2) ; return 0; }
EOF
"$CC" -O1 spin.c -o spin || exit 1
cat >pair.c <<'EOF'
#include <pthread.h>
#include <time.h>
static void *spin(void *arg)
{
	while (clock() < CLOCKS_PER_SEC)
		;
	return arg;
}
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, spin, NULL);
	spin(NULL);
	return pthread_join(thread, NULL);
}
EOF
"$CC" -O1 pair.c -o pair -lpthread || exit 1
one=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
if [ -r /proc/self/schedstat ] && [ -n "$one" ]; then
	for i in 1 2; do
		taskset -c "$one" sh -c 'while :; do :; done' &
		others+=" $!"
	done
	expect_status 0 taskset -c "$one" "$TARE" run -- ./pair
	text=$(tr -s ' \n' '  ' <<<"$err")
	expect_has "$text" "first thread: ran " \
		"of several threads, the first one is known"
	expect_has "$text" " %, waited " "in three parts"
	expect_has_not "$text" "or had no processor" "that are distinct"
	parts=$(sed -E 's/.*first thread: ran ([0-9]+) %, waited ([0-9]+) %,'\
' no processor ([0-9]+) %.*/\1 + \2 + \3/' <<<"$text")
	expect_is "$((parts))" 100 "and all its time"
	expect_status 0 taskset -c "$one" "$TARE" run --monitor -- ./spin
	text=$(tr -s ' \n' '  ' <<<"$err")
	expect_has "$text" "had no processor for " "also beside the monitor"
	expect_has_not "$text" ", waited" "whose thread hides nothing"
	expect_status 0 taskset -c "$one" "$TARE" run -- ./spin
	kill $others
	wait $others 2>/dev/null
	text=$(tr -s ' \n' '  ' <<<"$err")
	expect_has "$text" "had no processor for " "other programs ran: said so"
	expect_has_not "$text" "waited" "and not that it waited"
	expect_status 0 "$TARE" report
	text=$(tr -s ' \n' '  ' <<<"$out")
	expect_has "$text" "had no processor for " "a later report, too"
	expect_has_not "$text" "waited" "knows that it did not wait"
	expect_status 0 "$TARE" run -- sleep 0.5
	expect_has_not "$err" "had no processor" "a program that sleeps"
else
	expect_skip "no /proc/self/schedstat"
fi

# A flame graph without samples.
expect_status 2 "$TARE" run --flame x.svg --no-sample -- touch ran
expect_has "$err" "tare: a flame graph needs samples: '--flame' and \
'--no-sample' exclude each other" "--flame without samples is refused"
expect_status 2 "$TARE" run --flame x.svg --set sample=false -- touch ran
expect_has "$err" "'--flame' and 'sample=false' exclude" "also by an option"
expect_is "$(ls ran x.svg 2>/dev/null)" "" "before the program runs"

# A relative folder is meant from where `tare run` is started.
mkdir -p there
for given in reldir ./reldir; do
	TARE_DIR=$given expect_status 0 "$TARE" run -- \
		sh -c 'cd there && ../worker 20'
	expect_has "$err" "db.store" "TARE_DIR=$given is found after cd"
	expect_is "$(ls there)" "" "and none is made elsewhere"
	rm -rf reldir
done
expect_status 0 "$TARE" run --set dir=reldir -- sh -c 'cd there && ../worker 20'
expect_has "$err" "db.store" "the same with --set dir"
expect_is "$(ls there)" "" "none is made elsewhere"
rm -rf reldir
long=$(printf '%0180d' 0)
TARE_DIR=$long expect_status 2 "$TARE" run -- true
expect_has "$err" "tare: the folder of ledgers '$long' is too long as an \
absolute path: 191 bytes at most" "a folder that is too long is refused"
expect_status 0 "$TARE" run --set dir="$work/elsewhere" -- ./worker 20
expect_has "$err" "step" "the report is found in another folder"

# Other processes of the group: they are one of the runs that are kept.
expect_status 0 "$TARE" run --set dir="$work/kept" -- ./worker 1
expect_status 0 "$TARE" run --set dir="$work/kept" --set keep_runs=2 -- \
	sh -c 'for i in 1 2 3 4; do ./worker 1; done'
expect_is "$(ls "$work/kept/runs" | grep -c 'tare$')" 5 \
	"a run of many processes deletes no other"
expect_has_not "$err" "deleted" "and says nothing"
expect_status 0 "$TARE" run --set dir="$work/kept" --set keep_runs=2 -- \
	./worker 1
expect_is "$(ls "$work/kept/runs" | grep -c 'tare$')" 5 "the oldest goes"
expect_has "$err" "1 older run deleted: keep_runs is 2" "which is said"
expect_status 0 "$TARE" run --set dir="$work/kept" --set keep_runs=1 -- \
	./worker 1
expect_has "$err" "2 older runs deleted: keep_runs is 1" \
	"a run of many processes counts as one there, too"
expect_status 0 "$TARE" run -- ./worker 20 fork
expect_has "$err" "2 processes of 1 program" "a forked child is counted"
expect_status 0 "$TARE" run -- sh -c './worker 20; true'
expect_has "$err" "'sh' itself has no tare probes" "a shell stands aside"
expect_has "$err" "db.store" "for the program that it started"
expect_status 0 "$TARE" run --json two.json -- sh -c './worker 5; ./worker 9'
expect_json "$(cat two.json)" \
	"len(d['processes']), sum(p['reported'] for p in d['processes'])" \
	"(2, 1)" "one of two is reported"
expect_status 0 "$TARE" run --json two.json -- \
	sh -c './worker 500; ./worker 1'
reported=$("$PYTHON" -c "import json
print(*(p['id'] for p in json.load(open('two.json'))['processes']
	if p['reported']))")
expect_status 0 "$TARE" report --json
expect_json "$out" "d['run']['id']" "$reported" "and is the last run after it"
cat >newest.c <<'END'
#include <stdio.h>
#include <tare/read/view.h>
int main(void)
{
	tare_view *view;

	if (tare_view_open("last", &view) != 0)
		return 1;
	return puts(tare_view_run(view)->id) < 0;
}
END
"$CC" -I"$root/include" newest.c "$LIB/libtare-read.a" -lpthread \
	-o newest ||
	exit 1
expect_is "$(./newest)" "$reported" "the library means the same by last"
programs="sum(e['name'] == 'process_name' for e in d['traceEvents'])"
expect_json "$("$TARE" export -F chrome)" "$programs" 1 "a timeline of it"
expect_json "$("$TARE" export -g -F chrome)" "$programs" 2 "or of both"
cp "$TARE_DIR/runs/$reported.tare" ./brought.tare
expect_json "$("$TARE" export -g -F chrome ./brought.tare)" "$programs" 2 \
	"also from a copy"
brought=$(TARE_DIR=$work/none "$TARE" export -g -F chrome ./brought.tare)
expect_json "$brought" \
	"$programs" 1 "which may be alone"
TARE=on ./worker 1 >/dev/null
expect_status 0 "$TARE" report --json
expect_json "$out" "d['run']['id'] != '$reported'" True "until another comes"

# Signals.
"$PYTHON" - "$TARE" <<'END' >signals 2>&1
import os, signal, subprocess, sys

tare = sys.argv[1]
trap = 'trap "echo got; exit 5" %d; echo ready; while :; do sleep 0.02; done'

def run(*argv, **more):
    return subprocess.Popen([tare, "run", *more.pop("options", []), "--",
                             *argv], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
               signal.SIGUSR1):
    p = run("bash", "-c", trap % number)
    p.stdout.readline()
    p.send_signal(number)
    out, err = p.communicate(timeout=20)
    print(number.name, p.returncode, out.strip(), "exit status 5" in err)

# Ctrl-C: the terminal sends it to the whole group, so it comes once.
count = ("import signal, sys, time\n"
         "n = 0\n"
         "def hit(*_):\n"
         "    global n\n"
         "    n += 1\n"
         "signal.signal(signal.SIGINT, hit)\n"
         "print('ready', flush=True)\n"
         "end = time.monotonic() + 0.7\n"
         "while time.monotonic() < end: time.sleep(0.05)\n"
         "print(n)")
pid, terminal = os.forkpty()
if pid == 0:
    os.execv(tare, [tare, "run", "--no-report", "--", sys.executable, "-c",
                    count])
seen = b""
while b"ready" not in seen:
    seen += os.read(terminal, 100)
os.write(terminal, b"\x03")
try:
    while True:
        seen += os.read(terminal, 100)
except OSError:
    pass
# The terminal echoes ^C before the count.
print("terminal", seen.split()[-1].decode()[-1], os.waitpid(pid, 0)[1])

for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
    p = run("./worker", "20", "signal", str(int(number)))
    out, err = p.communicate(timeout=20)
    print("died", number.name, -p.returncode == number, "step" in err,
          "ended by signal %d" % number in err)

# A signal that was ignored before stays so: nohup.
p = run("sh", "-c", "kill -HUP $$; echo survived", options=["--no-report"],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
print(p.communicate(timeout=20)[0].strip(), p.returncode)

# A closed stderr changes nothing.
read, write = os.pipe()
os.close(read)
p = subprocess.Popen([tare, "run", "--", "./worker", "20", "exit", "9"],
                     stderr=write)
print("no reader", p.wait(timeout=20))
END
expect_is "$(cat signals)" "SIGINT 5 got True
SIGTERM 5 got True
SIGHUP 5 got True
SIGQUIT 5 got True
SIGUSR1 5 got True
terminal 1 0
died SIGKILL True True True
died SIGTERM True True True
died SIGSEGV True True True
survived 0
no reader 9" "signals reach the program once, and its death is ours"
# ---- why nothing was measured ----------------------------------------------

cat >silent.c <<'END'
#include <stdlib.h>
#include <tare/control.h>
#include <tare/probe.h>
int main(int argc, char **argv)
{
	(void)argv;
	if (argc == 1)
		exit(0);
	if (argc == 2)
		(void)tare_enable(false);
	TARE_SCOPE("row");
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -I"$root/include" silent.c "$LIB/libtare.a" \
	-lpthread -ldl -lm -o silent || exit 1
strip -o stripped silent
for program in ./silent ./stripped; do
	expect_status 0 "$TARE" run --no-sample -- $program
	expect_has "$err" "'$program' is linked to libtare; it reached no" \
		"$program: no probe was reached"
	expect_has_not "$err" "has no tare probes" "nothing else is said"
done
expect_status 0 "$TARE" run --no-sample -- ./silent 1
expect_has "$err" "or switched them off (tare_enable)" "switched off"
expect_status 0 "$TARE" run --no-sample -s 'exclude=r*' -- ./silent 1 2
expect_has "$err" "no probe that the options include and exclude leave on" \
	"off by an option"
expect_status 0 "$TARE" run --no-sample -- ./silent 1 2
expect_has_not "$err" "is linked to libtare" "a probe was reached"
cat >apart.c <<'END'
extern void tare_scope_begin_(void) __attribute__((weak));
int main(void)
{
	return tare_scope_begin_ != 0;
}
END
"$CC" -fPIE -pie apart.c -o apart || exit 1
expect_status 0 "$TARE" run --no-sample -- ./apart
expect_has "$err" "has tare probes, but is not linked to libtare" \
	"probes without the library"

# ---- the ledger opens at a sample, the run begins with the process ----
spin='sleep 0.3; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
for code in "$spin" "($spin) & wait"; do
	expect_status 0 "$TARE" run --no-report -- sh -c "$code"
	expect_status 0 "$TARE" report --json last
	expect_json "$out" \
		"d['run']['end_ns'] - d['run']['start_ns'] >= 3e8" True \
		"a run includes the time before its first sample: $code"
done
finish
