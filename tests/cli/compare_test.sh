#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare compare: files, folders and runs; what cannot be read; the page, also in
# a real browser. tests/train/comparison_test.py computes the figures again.
examples=${TARE_EXAMPLES:?}
. "$(dirname "$0")/expect.sh"

header=epoch,total_time,forward_time,backward_time,comm_time,update_time
header=$header,loss,train_acc,val_f1,test_f1,peak_memory_mb

# run FILE CONFIG WORKERS SECONDS EPOCHS: equal epochs.
run() {
	awk -v t="$4" -v n="$5" -v p="$3" -v config="$2" -v header="$header" '
	BEGIN {
		print "# config: " config
		print "# processes: " p
		print header
		for (e = 1; e <= n; e++)
			printf "%d,%g,%g,%g,%g,%g,%g,0.9,%g,0.8,%d\n", e, t,
			       t / 2, t / 4, (p > 1 ? t / 8 : 0), t / 16,
			       1 / e, e / 20, 40 + e
	}' >"$1"
}

mkdir results
run results/sequential_metrics.csv sequential 1 1.00 10
run results/sequential_metrics_2.csv sequential 1 1.02 10
run results/mpi_2_metrics.csv mpi_2 2 0.60 10
run results/mpi_2_metrics_2.csv mpi_2 2 0.61 10
run results/mpi_4_metrics.csv mpi_4 4 0.40 10
run results/mpi_4_metrics_2.csv mpi_4 4 0.39 10

# ---- the table -------------------------------------------------------------

expect_status 0 "$TARE" compare results/
expect_is "$err" "" "nothing is wrong"
expect_has "$out" "mpi_4 (4 workers) is 2.56 x as fast as sequential" \
	"a sentence says what it means"
expect_has "$out" "64 % efficiency; communication takes 12 % of its time" \
	"efficiency and communication are in it"
expect_is "$(awk '$1 == "mpi_2" { print $2, $3, $4; exit }' <<<"$out")" \
	"2 2 10" "workers, runs and epochs of a configuration"
expect_has "$out" "Amdahl's law for mpi: serial fraction 0.19" "the fit"
expect_has "$out" "EPOCH BY PHASE" "phases"
expect_has "$out" "0.8000 +-0.0000" "scores at the end"
folder=$out
expect_status 0 "$TARE" compare results/*.csv
expect_is "$(head -1 <<<"$out")" "$(head -1 <<<"$folder")" \
	"files of a folder are the same as the folder"
expect_status 0 "$TARE" compare results/ --by phase --target-loss 0.2 \
	--target-f1 0.25
expect_has "$out" "SPEEDUP BY PHASE" "--by phase"
expect_has "$out" "TO LOSS" "targets"
expect_has "$out" "5.05 s" "five epochs until the loss is a fifth"
expect_status 0 "$TARE" compare results/ --baseline mpi_2
expect_has "$out" "mpi_4 (4 workers) is 1.53 x as fast as mpi_2" "--baseline"
expect_status 0 "$TARE" compare results/sequential_metrics.csv
expect_has "$out" "nothing to compare it with" "one run is a table, too"

# Two repeats that differ much: Student's t reaches below 0, a time does not.
mkdir wide
run wide/sequential_metrics.csv sequential 1 1.00 10
run wide/mpi_2_metrics.csv mpi_2 2 0.10 10
run wide/mpi_2_metrics_2.csv mpi_2 2 0.90 10
expect_status 0 "$TARE" compare wide/ --html wide.html
expect_has "$out" "500 ms (up to 5.58 s)" "a time has no negative end"
expect_has_not "$out" "+-1016" "and no percents that lead to one"
expect_has "$(cat wide.html)" "<td>500 ms<small>0 s" "nor has it on the page"
expect_has_not "$(grep -o '<small>-[^<]*s' wide.html)" "<small>-" "anywhere"
expect_status 0 "$TARE" compare wide/ --json
expect_json "$out" "[round(c['epoch_time']['low'], 2) for c in d['configs']
	if c['name'] == 'mpi_2']" "[-4.58]" "JSON has the interval as it is"
sed '1,3!s/^\([0-9]*,\)[0-9.]*/\10.01/' wide/mpi_2_metrics.csv >wide/over.csv
expect_status 0 "$TARE" compare wide/sequential_metrics.csv wide/over.csv
expect_has "$out" "communicates for longer than it takes" \
	"a share above 100 % is explained"

# ---- runs ------------------------------------------------------------------

expect_status 0 "$TARE" run --no-report -- "$examples/gcn_sequential" \
	--nodes 300 --epochs 12 --seeds 2 --results measured
expect_status 0 "$TARE" compare last
expect_is "$(awk 'NR == 4 { print $1, $2, $3, $4 }' <<<"$out")" \
	"sequential 1 2 12" "trainings of a run are in its ledger"
ledger=$(sed -n 3,4p <<<"$out")
expect_status 0 "$TARE" compare measured/
expect_is "$(sed -n 3,4p <<<"$out")" "$ledger" "the same as in its files"
expect_status 0 "$TARE" compare last measured/ measured/*.csv
expect_is "$(sed -n 3,4p <<<"$out")" "$ledger" "a run and its file are one"
expect_status 0 "$TARE" compare last results/mpi_4_metrics.csv
expect_is "$(awk '$1 == "mpi_4" { print $4; exit }' <<<"$out")" 10 \
	"runs and files mix"
expect_status 0 "$TARE" run --no-report -- "$examples/hello"
expect_status 0 "$TARE" compare last results/
expect_has "$out" "hello has no epochs: its time is that of the whole run" \
	"a run without a training is a row with its duration"

# ---- for programs ----------------------------------------------------------

expect_status 0 "$TARE" compare results/ --json
expect_json "$out" "[c['name'] for c in d['configs']]" \
	"['sequential', 'mpi_2', 'mpi_4']" "JSON: configurations"
expect_json "$out" "round(d['configs'][2]['speedup']['mean'], 6)" 2.556962 \
	"and figures"
expect_json "$out" "d['fits'][0]['points'], len(d['runs'])" "(2, 6)" \
	"fits and runs"
expect_status 0 "$TARE" compare results/ --csv
expect_is "$(wc -l <<<"$out")" 4 "CSV: a header and a row a configuration"
expect_is "$(cut -d, -f 1-4 <<<"$out" | tail -1)" "mpi_4,mpi,4,2" \
	"with its name"

# ---- what is odd -----------------------------------------------------------

run long_metrics.csv sequential 1 1 50
expect_status 0 "$TARE" compare long_metrics.csv results/mpi_4_metrics.csv
expect_has "$out" "numbers of epochs differ, from 10 to 50: times are" \
	"other numbers of epochs are told"
expect_has "$out" "2.50 x as fast" "and compared per epoch"
printf 'epoch,total_time\n1,3\n2,3\n' >spark_8_metrics.csv
printf 'epoch,total_time\n1,0\n' >zero_metrics.csv
expect_status 0 "$TARE" compare long_metrics.csv spark_8_metrics.csv
expect_has "$out" "spark_8" "a name and its workers from the file's name"
expect_is "$(awk '$1 == "spark_8" { print $2; exit }' <<<"$out")" 8 \
	"which ends with them"
expect_is "$(grep -A9 'AT THE END' <<<"$out" |
	awk '$1 == "spark_8" { print $2, $4, $6 }')" "- - -" \
	"missing columns are -"
expect_status 1 "$TARE" compare zero_metrics.csv spark_8_metrics.csv
expect_has "$err" "nothing in common" "runs without a time to compare by"
expect_has "$out" "zero has no time" "whose it is"
sed 's/^10,.*/10,1,1,1,0,1,nan,,,,/' results/sequential_metrics.csv \
	>nan_metrics.csv
expect_status 0 "$TARE" compare nan_metrics.csv
expect_has "$out" "the loss is no number at the end of 1 of 1 runs" "NaN"
printf '# config: mpi_4\n# nodes: 5\n%s\n1,1,,,,,,,,,\n2,1,,,,,,' \
	"$header" >cut_metrics.csv
sed 's/^# proc/# nodes: 9\n&/' results/sequential_metrics.csv >nodes_metrics.csv
expect_status 0 "$TARE" compare cut_metrics.csv nodes_metrics.csv
expect_has "$out" "1 of 1 runs were killed, or go on" "a killed run is told"
expect_has "$out" "runs differ in nodes: 5, 9" "and other data"
printf '# config: seq\n# finished: no \n%s\n1,1,,,,,,,,,\n' "$header" \
	>open_metrics.csv
expect_status 0 "$TARE" compare open_metrics.csv
expect_has "$out" "1 of 1 runs were killed, or go on" "one of whole lines, too"
expect_status 0 "$TARE" compare results/
expect_has_not "$out" "killed, or go" "and none that is whole"

# ---- names, copies, fits ---------------------------------------------------

mkdir odd
run odd/old_metrics_metrics_2.csv old_metrics 1 1.00 10
run odd/new_metrics.csv new 2 0.60 10
expect_status 0 "$TARE" compare odd/
expect_has "$out" "old_metrics" "a name with _metrics in it"

mkdir copies
for i in 1 2; do
	run copies/mpi_2_metrics_$i.csv mpi_2 2 0.60 10
	sed -i "1a # date: 2026-01-0${i}T00:00:00Z" copies/mpi_2_metrics_$i.csv
done
sed 's/$/\r/' copies/mpi_2_metrics_1.csv >copies/mpi_2_metrics_3.csv
expect_status 0 "$TARE" compare copies/ --json
expect_json "$out" "[c['runs'] for c in d['configs']]" "[2]" \
	"a copy of a file is no repeat"

mkdir apart
run apart/sequential_metrics.csv sequential 1 1 10
run apart/mpi_2_metrics.csv mpi_2 2 20 10
run apart/mpi_4_metrics.csv mpi_4 4 0.5 10
expect_status 0 "$TARE" compare apart/
expect_has "$out" "Amdahl's law does not describe mpi" \
	"a fit that the speedups contradict"

# ---- what is wrong ---------------------------------------------------------

sed 's/^3,[^,]*,/3,soon,/' results/mpi_2_metrics.csv >results/bad_metrics.csv
expect_status 3 "$TARE" compare results/
expect_has "$err" "'results/bad_metrics.csv': line 6, column 2:" \
	"a file that cannot be read: line and column"
expect_has "$out" "2.56 x as fast" "the others are compared"
rm results/bad_metrics.csv
expect_status 3 "$TARE" compare nosuch.csv
expect_has "$err" "cannot read 'nosuch.csv'" "no such file"
expect_status 3 "$TARE" compare nosuchrun
expect_has "$err" "cannot open 'nosuchrun'" "no such run"
mkdir empty
expect_status 3 "$TARE" compare empty/
expect_has "$err" "no *_metrics.csv in 'empty/'" "an empty folder"
printf '\377\376e\0p\0' >wide_metrics.csv
expect_status 3 "$TARE" compare wide_metrics.csv
expect_has "$err" "this is UTF-16" "a spreadsheet's Unicode text"
expect_status 2 "$TARE" compare
expect_has "$err" "nothing to compare" "no operand"
expect_status 2 "$TARE" compare results/ --baseline missing
expect_has "$err" "no configuration is called 'missing'" "no such baseline"
expect_has "$err" "  mpi_4" "which there are"
expect_status 2 "$TARE" compare results/ --target-f1 much
expect_status 2 "$TARE" compare results/ --csv --json
expect_status 2 "$TARE" compare results/ --by hand
expect_status 3 "$TARE" compare results/ --html no/such/folder.html
expect_has "$err" "cannot write 'no/such/folder.html'" "a bad place"
echo old >full.html
(
	ulimit -f 2
	"$TARE" compare results/ --html full.html >/dev/null 2>refused
	echo "$?" >>refused
)
expect_has "$(cat refused)" "cannot write 'full.html'" "a limit is an error"
expect_is "$(tail -n 1 refused):$(cat full.html)" "3:old" \
	"the old file is as it was"
mkfifo pipe.html
"$TARE" compare results/ --html pipe.html >/dev/null &
expect_has "$(timeout 60 cat pipe.html)" "</html>" "a pipe is written to"
wait $!
[ -p pipe.html ]
verdict $? "and stays a pipe"
ln -s full.html link.html
expect_status 0 "$TARE" compare results/ --html link.html
[ -L link.html ] && grep -q "</html>" full.html
verdict $? "a link is followed"
[ -z "$(ls ./*.part 2>/dev/null)" ]
verdict $? "no half files are left"

# ---- memory of each worker ---------------------------------------------------

# worker RUN NUMBER MB...: a row each.
worker() {
	local file=$1_workers/worker_$2_metrics.csv row=1
	mkdir -p "$1_workers"
	echo "$header" >"$file"
	shift 2
	for mb; do
		echo "$((row++)),1,.5,.2,.1,.1,1,,,,$mb" >>"$file"
	done
}

mkdir each
run each/mpi_2_metrics.csv mpi_2 2 1 3
expect_status 0 "$TARE" compare each/
expect_has_not "$out" "WORKER MB" "no files of workers: no column"
worker each/mpi_2 0 10 30 20
expect_status 0 "$TARE" compare each/ --json
expect_json "$out" "d['configs'][0]['worker_memory_mb']['mean']" None \
	"a worker is missing: nothing is said"
worker each/mpi_2 1 70 10 10
expect_status 0 "$TARE" compare each/ --json
expect_json "$out" "d['configs'][0]['worker_memory_mb']['mean'], \
	d['runs'][0]['worker_memory_mb'], len(d['runs'])" "(50, 50, 1)" \
	"the mean of the workers' peaks"
run odd_metrics_2_metrics.csv odd_metrics_2 2 1 3
worker odd_metrics_2 0 10
worker odd_metrics_2 1 20
expect_status 0 "$TARE" compare odd_metrics_2_metrics.csv --json
expect_json "$out" "d['runs'][0]['worker_memory_mb']" 15 \
	"also of a configuration whose name has the mark in it"
expect_status 0 "$TARE" compare each/
expect_has "$out" "WORKER MB" "it is in the table"
expect_status 0 "$TARE" compare each/ --csv
expect_has "$out" "worker_memory_mb" "and in CSV"
expect_status 0 "$TARE" compare each/ --html -
expect_has "$out" "of a worker, mean" "and on the page"

# ---- the page --------------------------------------------------------------

expect_status 0 "$TARE" compare results/ --target-f1 0.25 --html r.html \
	--title 'a <b> & "c"'
expect_is "$(grep -o '<svg ' r.html | wc -l)" 10 "all plots are in it"
expect_has "$(cat r.html)" 'a &lt;b&gt; &amp; &quot;c&quot;' "a title"
expect_status 0 "$TARE" compare results/ --html -
expect_has "$out" "</html>" "--html -: to standard output"
expect_has_not "$out" "EFFICIENCY" "and no table"

# Names that try to get out of where they are.
run odd_metrics.csv '<script>alert(1)</script>"&' 1 1 3
printf '# config: ]]>\033[31m\302\nepoch,total_time,loss\n1,1,1e308\n' \
	>odder_metrics.csv
run oddest_metrics.csv '=cmd()' 4 0.3 3
expect_status 0 "$TARE" compare odd*_metrics.csv --html odd.html
expect_has_not "$out" $'\033[31m' "no name reaches the terminal as it is"
expect_status 2 "$TARE" compare odd*_metrics.csv --baseline $'\033[31m'
expect_has "$err" "]]>?[31m" "names to choose from"
expect_has_not "$err" $'\033[31m' "nor where one is wrong"
expect_has_not "$(cat odd.html)" "<script" "nor the page"
expect_status 0 "$TARE" compare odd*_metrics.csv --csv
expect_has "$out" "'=cmd()" "nor a spreadsheet as a formula"
expect_status 0 "$TARE" compare odd*_metrics.csv --json
expect_json "$out" "d['configs'][0]['name']" '<script>alert(1)</script>"&' \
	"JSON keeps it"
expect_status 1 "$TARE" compare zero_metrics.csv nan_metrics.csv --html z.html
expect_status 0 "$TARE" compare spark_8_metrics.csv --html one.html
if command -v xmllint >/dev/null; then
	for file in r odd z one; do
		expect_status 0 xmllint --noout $file.html
	done
else
	expect_skip "no xmllint"
fi
expect_is "$(grep -o -E '(https?:)?//[a-z][^"<) ]*' r.html | sort -u)" \
	"http://www.w3.org/2000/svg" "nothing is loaded from elsewhere"
expect_is "$(grep -c -E '<script|@import|url\(' r.html)" 0 \
	"and nothing is scripted"

# Many epochs: thinned, and the one peak is still there.
awk -v h="$header" 'BEGIN { print h; for (e = 1; e <= 10000; e++)
	print e ",0.001,,,0,," (e == 5000 ? 99 : 1 + e % 7 / 100) ",,,,1" }' \
	>many_metrics.csv
expect_status 0 "$TARE" compare many_metrics.csv --html many.html
[ "$(wc -c <many.html)" -lt 200000 ]
verdict $? "10,000 epochs are a small page" "$(wc -c <many.html) bytes"
expect_is "$(grep -c '>loss</text>' many.html)" 2 "with its curves"
# At the upper edge, which is 30 pixels down.
expect_is "$(grep -o 'L[0-9.]* 30\.0' many.html | wc -l)" 2 \
	"and their peaks"

# ---- in a browser ----------------------------------------------------------

browser=$(command -v chromium || command -v google-chrome)
if [ -z "$browser" ]; then
	expect_skip "no chromium"
	finish
fi

# dom FILE OPTIONS...: the document as the browser has it; $log has messages.
dom() {
	local file=$1
	shift
	timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
		--user-data-dir="$work/browser" --enable-logging=stderr \
		--log-net-log="$work/net.json" "$@" \
		--dump-dom "file://$PWD/$file" 2>"$work/log"
}

page=$(dom r.html --window-size=1200,900)
if [ -z "$page" ]; then
	expect_skip "chromium does not start here"
	finish
fi
expect_is "$(grep -o '<svg ' <<<"$page" | wc -l)" 10 "a browser has all plots"
expect_has "$page" "2.56" "and figures"
expect_is "$(grep CONSOLE "$work/log")" "" "it has nothing to complain about"

# What the page itself asked for: addresses whose initiator is a file.
expect_is "$("$PYTHON" - "$work/net.json" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8", errors="replace").read()
asked = {u for u in re.findall(r'"url":"([^"]*)"', text)
         if not u.startswith(("data:", "file:", "chrome"))}
initiated = [l for l in text.split("\n") if '"initiator":"file' in l]
print(len(initiated))
END
)" 0 "it asks for nothing"
page=$(dom odd.html --window-size=390,844)
expect_has "$page" "&lt;script&gt;alert(1)&lt;/script&gt;" \
	"names stay names in a browser"
expect_is "$(grep CONSOLE "$work/log")" "" "on a phone, too"

# Wider than the window it may not be: only tables scroll.
cat >measure.html <<'END'
<body><iframe id="f" src="r.html" style="width:360px;height:700px"></iframe>
<script>
document.getElementById('f').onload = function () {
	var page = this.contentDocument.documentElement;
	document.title = 'fits ' + (page.scrollWidth <= page.clientWidth);
};
</script></body>
END
page=$(dom measure.html --allow-file-access-from-files --window-size=500,900)
expect_is "$(grep -o '<title>[^<]*' <<<"$page")" "<title>fits true" \
	"no wider than a phone"
finish
