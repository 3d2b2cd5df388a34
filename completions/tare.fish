# SPDX-License-Identifier: Apache-2.0
# Completion of tare for fish.

function __tare_keys
	tare config --markdown 2>/dev/null |
		string replace -rf '^\| `([a-z_]+)` .*' '$1'
end

function __tare_settings
	for key in (__tare_keys)
		echo $key=
	end
end

# The words of `tare ctl` so far, options left out.
function __tare_ctl_words
	set -l words (commandline -opc)
	string match -v -- '-*' $words[3..-1]
end

# Words for runs.
function __tare_runs
	printf '%s\n' last last~1
	tare ls --names 2>/dev/null
	tare ls --ids 2>/dev/null
end

function __tare_live
	tare ls --live --names 2>/dev/null
	tare ls --live --ids 2>/dev/null
end

function __tare_is
	__fish_seen_subcommand_from $argv
end

complete -c tare -f
complete -c tare -n __fish_use_subcommand -s V -l version -d 'the version'
complete -c tare -n __fish_use_subcommand -a run -d 'run a program, measure it, report at its end'
complete -c tare -n __fish_use_subcommand -a report -d 'show a run: what it took and where, or a part in full'
complete -c tare -n __fish_use_subcommand -a tree -d 'show the call tree of a run: calls, total and own time'
complete -c tare -n __fish_use_subcommand -a flame -d 'draw a flame graph of a run, for a browser'
complete -c tare -n __fish_use_subcommand -a alloc -d 'show allocations: live, leaked, at the peak'
complete -c tare -n __fish_use_subcommand -a top -d 'watch a running program: rates, times, failures'
complete -c tare -n __fish_use_subcommand -a ls -d 'list all runs: live, finished and killed'
complete -c tare -n __fish_use_subcommand -a rm -d 'remove runs that are over'
complete -c tare -n __fish_use_subcommand -a records -d 'list operations, with outcome and attributes'
complete -c tare -n __fish_use_subcommand -a summary -d 'rank operations; show success rates and recent records'
complete -c tare -n __fish_use_subcommand -a stages -d 'show the pipelines of a run and the bottleneck of each'
complete -c tare -n __fish_use_subcommand -a amdahl -d 'rank code by the speedup that optimising it would give'
complete -c tare -n __fish_use_subcommand -a mpi -d 'show the ranks of an MPI program: communication, balance'
complete -c tare -n __fish_use_subcommand -a trend -d 'compare the last minutes of a run with those before'
complete -c tare -n __fish_use_subcommand -a compare -d 'compare two runs or sets of runs, or training runs'
complete -c tare -n __fish_use_subcommand -a bench -d 'time programs in turn: is the new one faster?'
complete -c tare -n __fish_use_subcommand -a check -d 'fail if a program got slower, or is over its budget'
complete -c tare -n __fish_use_subcommand -a history -d 'list earlier runs, and since when their figures change'
complete -c tare -n __fish_use_subcommand -a changes -d 'find since when a series of values has another level'
complete -c tare -n __fish_use_subcommand -a export -d 'write runs as tables, metrics, traces and profiles'
complete -c tare -n __fish_use_subcommand -a merge -d 'add up what many processes or hosts measured'
complete -c tare -n __fish_use_subcommand -a verify -d 'check a ledger for damage; show what was lost'
complete -c tare -n __fish_use_subcommand -a ctl -d 'control a running program: on, off, clear, set, get'
complete -c tare -n __fish_use_subcommand -a config -d 'list all options: value, default, range, variable'
complete -c tare -n __fish_use_subcommand -a doctor -d 'check which measurements this machine supports'
complete -c tare -n __fish_use_subcommand -a serve -d 'serve all runs over HTTP: REST, Prometheus, live stream'
complete -c tare -n __fish_use_subcommand -a url -d 'print the URL of the running server, with its token'
complete -c tare -n __fish_use_subcommand -a alerts -d 'show the alert rules of the running server and their state'
complete -c tare -n __fish_use_subcommand -a flags -d 'what to compile and link a program with'
complete -c tare -n __fish_use_subcommand -a help -d 'help of a command'
complete -c tare -s h -l help -d 'a short help'
complete -c tare -l color -x -a 'auto always never' -d 'colour the output'

complete -c tare -n '__tare_is help' -a 'run report tree flame alloc stages amdahl mpi merge top ls rm records summary trend compare bench check changes history export verify ctl config doctor serve url alerts flags'

complete -c tare -n '__tare_is run' -s o -l output -r -F -d 'write the report to a file'
complete -c tare -n '__tare_is run' -l json -r -F -d 'also write the report as JSON'
complete -c tare -n '__tare_is run' -l no-sample -d 'disable stack sampling'
complete -c tare -n '__tare_is run' -l rate -x -d 'samples per second of CPU time'
complete -c tare -n '__tare_is run' -l wall -d 'sample by wall-clock time'
complete -c tare -n '__tare_is run' -l region -d 'sample only between tare_profile_start() and _stop()'
complete -c tare -n '__tare_is run' -l calls -d 'count function calls'
complete -c tare -n '__tare_is run' -l alloc -d 'track allocations'
complete -c tare -n '__tare_is run' -l flame -r -F -d 'write the flame graph to a file'
complete -c tare -n '__tare_is run' -l mpi -x -a 'auto openmpi mpich none' -d 'measure MPI calls'
complete -c tare -n '__tare_is run' -l each-rank -d 'report every rank'
complete -c tare -n '__tare_is run' -l gpu -d 'sample GPU use at intervals; =kernels: record kernels'
complete -c tare -n '__tare_is run' -l monitor -d 'sample system and process at intervals'
complete -c tare -n '__tare_is run' -l trace -d 'record every event, for a timeline'
complete -c tare -n '__tare_is run' -l top -x -d 'rows of each table of the report'
complete -c tare -n '__tare_is run' -l no-report -d 'print no report at the end'
complete -c tare -n '__tare_is run' -s s -l set -x -a '(__tare_settings)' -d 'an option for this run'
complete -c tare -n '__tare_is run' -a '(__fish_complete_subcommand --fcs-skip=2)'

complete -c tare -n '__tare_is report' -x -a 'functions scopes values counters monitor gpu records all' -d part
complete -c tare -n '__tare_is report' -l inline -d 'inlined functions in rows of their own'
complete -c tare -n '__tare_is report' -s s -l sort -x -a 'total cumtime cumulative own tottime time calls ncalls mean max p99 failures name samples' -d order
complete -c tare -n '__tare_is report' -s n -l top -x -d 'only the first rows'
complete -c tare -n '__tare_is report' -s N -l name -x -d 'series whose name matches'
complete -c tare -n '__tare_is report' -s S -l source -x -d 'series whose source matches'
complete -c tare -n '__tare_is report' -s t -l type -x -a 'time throughput memory counter ratio percentage custom' -d 'series of a type'
complete -c tare -n '__tare_is report' -s f -l failed -d 'only series with failures'
complete -c tare -n '__tare_is report' -l ok -d 'only series without failures'
complete -c tare -n '__tare_is report' -s l -l last -x -d 'the last 5m'
complete -c tare -n '__tare_is report' -l from -x -d 'from a moment on'
complete -c tare -n '__tare_is report' -l to -x -d 'up to a moment'
complete -c tare -n '__tare_is report' -l values -x -d 'only the last values'
complete -c tare -n '__tare_is report' -l raw -d 'do not subtract the overhead of measuring'
complete -c tare -n '__tare_is report' -l tree -d 'list the processes of the same tare run'
complete -c tare -n '__tare_is report' -l process -x -d 'only these of its processes'
complete -c tare -n '__tare_is report' -l json -d 'write JSON'

complete -c tare -n '__tare_is tree' -l min -x -d 'leave out smaller branches'
complete -c tare -n '__tare_is tree' -l depth -x -d 'levels'
complete -c tare -n '__tare_is tree' -l focus -x -d 'only below this'
complete -c tare -n '__tare_is tree' -l raw -d 'do not subtract the overhead of measuring'
complete -c tare -n '__tare_is tree' -l json -d 'write JSON'
complete -c tare -n '__tare_is tree' -l process -x -d 'only these processes of a tare run'

complete -c tare -n '__tare_is alloc' -l by -x -a 'place path module' -d 'a row for each'
complete -c tare -n '__tare_is alloc' -l sort -x -a 'live bytes count peak temporary' -d order
complete -c tare -n '__tare_is alloc' -s n -l top -x -d rows
complete -c tare -n '__tare_is alloc' -l peak -d 'what was live at the peak'
complete -c tare -n '__tare_is alloc' -l leaks -d 'only what is live at the end'
complete -c tare -n '__tare_is alloc' -l ignore -x -d 'ignore functions or modules'
complete -c tare -n '__tare_is alloc' -l ignore-file -r -d 'ignore by the lines of a file'
complete -c tare -n '__tare_is alloc' -l no-ignore -d 'also what libraries keep'
complete -c tare -n '__tare_is alloc' -l diff -x -a 'end (__tare_runs)' -d 'from this to the operand'
complete -c tare -n '__tare_is alloc' -l json -d 'write JSON'
complete -c tare -n '__tare_is alloc' -l process -x -d 'only these processes of a tare run'
complete -c tare -n '__tare_is flame' -s o -l output -r -F -d 'into a file'
complete -c tare -n '__tare_is flame' -l from -x -a 'samples calls alloc kernels' -d 'draw what'
complete -c tare -n '__tare_is flame' -l diff -x -a '(__tare_runs)' -d 'compare with a run'
complete -c tare -n '__tare_is flame' -l shares -d 'compare shares, not times'
complete -c tare -n '__tare_is flame' -l icicle -d 'draw callers above callees'
complete -c tare -n '__tare_is flame' -l reverse -d 'start at the callees'
complete -c tare -n '__tare_is flame' -l title -x -d title
complete -c tare -n '__tare_is flame' -l colors -x -a 'module warm' -d colours
complete -c tare -n '__tare_is flame' -l width -x -d pixels
complete -c tare -n '__tare_is flame' -l min -x -d 'leave out smaller boxes'
complete -c tare -n '__tare_is flame' -l process -x -d 'only these processes of a tare run'

complete -c tare -n '__tare_is top' -s d -l delay -x -d 'seconds between two updates'
complete -c tare -n '__tare_is top' -s n -l count -x -d 'stop after a number of updates'
complete -c tare -n '__tare_is top' -s s -l sort -x -a 'time own calls mean p99 max failures name' -d order
complete -c tare -n '__tare_is top' -l show -x -a 'all functions scopes' -d 'which tables'
complete -c tare -n '__tare_is top' -l once -d 'print one update'
complete -c tare -n '__tare_is top' -l json -d 'write JSON'

complete -c tare -n '__tare_is ls' -s a -l all -d 'every process of a tare run'
complete -c tare -n '__tare_is ls' -s l -l live -d 'only live ones'
complete -c tare -n '__tare_is ls' -l size -d 'bytes on disk and their sum'
complete -c tare -n '__tare_is ls' -s s -l sort -x -a 'started size duration program state' -d order
complete -c tare -n '__tare_is ls' -s n -l limit -x -d 'only the first runs'
complete -c tare -n '__tare_is ls' -l ids -d 'only the ids'
complete -c tare -n '__tare_is ls' -l names -d 'only the names of programs'
complete -c tare -n '__tare_is ls' -a '(tare ls --names 2>/dev/null)' -d program
complete -c tare -n '__tare_is ls' -l json -d 'write JSON'

complete -c tare -n '__tare_is rm' -l older -x -d 'that ended more than this ago'
complete -c tare -n '__tare_is rm' -l keep -x -d 'all but the newest'
complete -c tare -n '__tare_is rm' -l all -d 'all that are not live'
complete -c tare -n '__tare_is rm' -s y -l yes -d 'do not ask'

complete -c tare -n '__tare_is records' -s N -l name -x -d 'operations whose name matches'
complete -c tare -n '__tare_is records' -s S -l source -x -d 'operations whose source matches'
complete -c tare -n '__tare_is records' -s t -l type -x -a 'time throughput memory counter ratio percentage custom' -d 'records of a type'
complete -c tare -n '__tare_is records' -s f -l failed -d 'only failed operations'
complete -c tare -n '__tare_is records' -l ok -d 'only operations that did not fail'
complete -c tare -n '__tare_is records' -s l -l last -x -d 'the last 5m'
complete -c tare -n '__tare_is records' -l from -x -d 'from a moment on'
complete -c tare -n '__tare_is records' -l to -x -d 'up to a moment'
complete -c tare -n '__tare_is records' -s n -l limit -x -d 'only the newest'
complete -c tare -n '__tare_is records' -l json -d 'write JSON'
complete -c tare -n '__tare_is records' -l process -x -d 'only these processes of a tare run'
complete -c tare -n '__tare_is stages' -s f -l factor -x -d 'so many times as fast'
complete -c tare -n '__tare_is stages' -l json -d 'write JSON'
complete -c tare -n '__tare_is stages' -l process -x -d 'only these processes of a tare run'
complete -c tare -n '__tare_is amdahl' -s f -l factor -x -d 'so many times as fast'
complete -c tare -n '__tare_is amdahl' -l of -x -a 'stages scopes functions samples' -d 'parts'
complete -c tare -n '__tare_is amdahl' -l total -d 'with what they call'
complete -c tare -n '__tare_is amdahl' -s n -l top -x -d 'only so many'
complete -c tare -n '__tare_is amdahl' -s w -l worth -x -d 'limits in percent'
complete -c tare -n '__tare_is amdahl' -l json -d 'write JSON'
complete -c tare -n '__tare_is amdahl' -l process -x -d 'only these processes of a tare run'
complete -c tare -n '__tare_is mpi' -l json -d 'write JSON'
complete -c tare -n '__tare_is compare' -F
complete -c tare -n '__tare_is compare' -l markdown -r -F -d 'of two sides: write Markdown'
complete -c tare -n '__tare_is compare' -l html -r -F -d 'write a page with plots'
complete -c tare -n '__tare_is compare' -l csv -d 'write CSV'
complete -c tare -n '__tare_is compare' -l json -d 'write JSON'
complete -c tare -n '__tare_is compare' -l baseline -x -d 'speedups are against this'
complete -c tare -n '__tare_is compare' -l by -x -a 'total epoch phase' -d 'speedup of'
complete -c tare -n '__tare_is compare' -l target-loss -x -d 'time until this loss'
complete -c tare -n '__tare_is compare' -l target-f1 -x -d 'time until this F1'
complete -c tare -n '__tare_is compare' -l title -x -d 'of the page'
complete -c tare -n '__tare_is bench' -s n -l runs -x -d 'runs of each program'
complete -c tare -n '__tare_is bench' -l time -x -d 'begin no round after this time'
complete -c tare -n '__tare_is bench' -s w -l warmup -x -d 'runs that do not count'
complete -c tare -n '__tare_is bench' -l prepare -x -d 'shell command before each run'
complete -c tare -n '__tare_is bench' -s p -l parameter -x -d 'values of {NAME}'
complete -c tare -n '__tare_is bench' -l name -x -d 'name of a program'
complete -c tare -n '__tare_is bench' -l limit -x -d 'smaller differences are equal'
complete -c tare -n '__tare_is bench' -l instructions -d 'count instructions'
complete -c tare -n '__tare_is bench' -s i -l ignore-failure -d 'leave out runs that fail'
complete -c tare -n '__tare_is bench' -l show-output -d 'show what the programs print'
complete -c tare -n '__tare_is bench' -l input -r -F -d 'standard input'
complete -c tare -n '__tare_is bench' -l seed -x -d 'begin of the random order'
complete -c tare -n '__tare_is bench' -l separator -x -d 'word between programs'
complete -c tare -n '__tare_is bench' -l json -r -F -d 'write JSON'
complete -c tare -n '__tare_is bench' -l csv -r -F -d 'write CSV'
complete -c tare -n '__tare_is bench' -l markdown -r -F -d 'write Markdown'
complete -c tare -n '__tare_is bench' -l profile -x -d 'profiled runs, to explain a difference'
complete -c tare -n '__tare_is check' -l against -x -d 'old program, or recorded runs'
complete -c tare -n '__tare_is check' -l limit -x -d 'how much slower is a problem'
complete -c tare -n '__tare_is check' -s n -l runs -x -d 'runs of each program'
complete -c tare -n '__tare_is check' -l time -x -d 'begin no round after this time'
complete -c tare -n '__tare_is check' -l budget -r -F -d 'limits of figures'
complete -c tare -n '__tare_is check' -l junit -r -F -d 'write JUnit XML'
complete -c tare -n '__tare_is check' -l github -d 'annotations for GitHub'
complete -c tare -n '__tare_is check' -l seed -x -d 'begin of the random order'
complete -c tare -n '__tare_is check' -l json -d 'write JSON'
complete -c tare -n '__tare_is history' -F
complete -c tare -n '__tare_is history' -a 'import prune'
complete -c tare -n '__tare_is history' -s f -l figure -x -a 'wall cpu peak' -d 'what to show'
complete -c tare -n '__tare_is history' -l figures -d 'list the names of figures'
complete -c tare -n '__tare_is history' -l project -x -d 'only runs in this work tree'
complete -c tare -n '__tare_is history' -l machine -x -d 'only runs of this machine'
complete -c tare -n '__tare_is history' -l source -x -a 'run csv hyperfine google pytest' -d 'only of this source'
complete -c tare -n '__tare_is history' -l from -x -d 'only runs from then on'
complete -c tare -n '__tare_is history' -l to -x -d 'only runs before'
complete -c tare -n '__tare_is history' -s n -l limit -x -d 'only the newest'
complete -c tare -n '__tare_is history' -l json -d 'write JSON'
complete -c tare -n '__tare_is history' -l svg -r -F -d 'write a plot'
complete -c tare -n '__tare_is history' -s c -l column -x -d 'import: column with the values'
complete -c tare -n '__tare_is history' -l name -x -d 'import: name of the series'
complete -c tare -n '__tare_is history' -l keep -x -d 'prune: keep the newest of each series'
complete -c tare -n '__tare_is history' -l older -x -d 'prune: remove runs before that'
complete -c tare -n '__tare_is changes' -F
complete -c tare -n '__tare_is changes' -s c -l column -x -d 'column of the file'
complete -c tare -n '__tare_is changes' -l least -x -d 'smaller changes do not count'
complete -c tare -n '__tare_is changes' -l newest -d 'only a change that the newest values show'
complete -c tare -n '__tare_is changes' -l json -d 'write JSON'
complete -c tare -n '__tare_is changes' -l details -d 'write JSON with levels'
complete -c tare -n '__tare_is trend' -s w -l window -x -d 'length of each window'
complete -c tare -n '__tare_is trend' -s N -l name -x -d 'series whose name matches'
complete -c tare -n '__tare_is trend' -s S -l source -x -d 'series whose source matches'
complete -c tare -n '__tare_is trend' -s t -l type -x -a 'time throughput memory counter ratio percentage custom' -d 'series of a type'
complete -c tare -n '__tare_is trend' -s f -l failed -d 'only what failed'
complete -c tare -n '__tare_is trend' -l ok -d 'only what did not fail'
complete -c tare -n '__tare_is trend' -l json -d 'write JSON'
complete -c tare -n '__tare_is trend' -l process -x -d 'only these processes of a tare run'
complete -c tare -n '__tare_is summary' -s s -l sort -x -a 'failures total slowest calls' -d rank
complete -c tare -n '__tare_is summary' -s n -l top -x -d 'only the first'
complete -c tare -n '__tare_is summary' -s N -l name -x -d 'series whose name matches'
complete -c tare -n '__tare_is summary' -s S -l source -x -d 'series whose source matches'
complete -c tare -n '__tare_is summary' -s t -l type -x -a 'time throughput memory counter ratio percentage custom' -d 'series of a type'
complete -c tare -n '__tare_is summary' -s f -l failed -d 'only what failed'
complete -c tare -n '__tare_is summary' -l ok -d 'only what did not fail'
complete -c tare -n '__tare_is summary' -s l -l last -x -d 'the last 5m'
complete -c tare -n '__tare_is summary' -l from -x -d 'from a moment on'
complete -c tare -n '__tare_is summary' -l to -x -d 'up to a moment'
complete -c tare -n '__tare_is summary' -l values -x -d 'only the last values'
complete -c tare -n '__tare_is summary' -l json -d 'write JSON'
complete -c tare -n '__tare_is summary' -l process -x -d 'only these processes of a tare run'
complete -c tare -n '__tare_is export' -s F -l format -x -a 'json csv prometheus openmetrics chrome speedscope pprof callgrind collapsed folded sqlite' -d format
complete -c tare -n '__tare_is export' -s T -l table -x -a 'processing memory gpu metrics stats samples calls alloc kernels' -d 'table of a CSV, kind of a profile'
complete -c tare -n '__tare_is export' -s u -l unit -x -a 'us ns count' -d 'unit of collapsed stacks'
complete -c tare -n '__tare_is export' -s g -l group -d 'all ranks of a job'
complete -c tare -n '__tare_is export' -l split-size -x -d 'files of this size'
complete -c tare -n '__tare_is export' -l split-seconds -x -d 'files of so many seconds'
complete -c tare -n '__tare_is export' -l keep -x -d 'of such files only the newest'
complete -c tare -n '__tare_is export' -s o -l output -r -F -d 'into a file or folder'
complete -c tare -n '__tare_is export' -s N -l name -x -d 'series whose name matches'
complete -c tare -n '__tare_is export' -s S -l source -x -d 'series whose source matches'
complete -c tare -n '__tare_is export' -s t -l type -x -a 'time throughput memory counter ratio percentage custom' -d 'series of a type'
complete -c tare -n '__tare_is export' -s f -l failed -d 'only what failed'
complete -c tare -n '__tare_is export' -l ok -d 'only what did not fail'
complete -c tare -n '__tare_is export' -s l -l last -x -d 'the last 5m'
complete -c tare -n '__tare_is export' -l from -x -d 'from a moment on'
complete -c tare -n '__tare_is export' -l to -x -d 'up to a moment'
complete -c tare -n '__tare_is export' -l values -x -d 'only the last values'
complete -c tare -n '__tare_is export' -s n -l limit -x -d 'only the newest records'

complete -c tare -n '__tare_is merge' -s o -l output -r -F -d 'write a summary, for another tare merge'
complete -c tare -n '__tare_is merge' -s n -l top -x -d 'show only the first N series of a table'
complete -c tare -n '__tare_is merge' -l json -d 'write JSON'
complete -c tare -n '__tare_is merge' -F
complete -c tare -n '__tare_is verify' -l json -d 'write JSON'
complete -c tare -n '__tare_is verify' -F
complete -c tare -n '__tare_is ctl' -l json -d 'write JSON'
complete -c tare -n '__tare_is config' -l conf -d 'write a tare.conf'
complete -c tare -n '__tare_is config' -l markdown -d 'write the documentation'
complete -c tare -n '__tare_is config' -l json -d 'write JSON'
complete -c tare -n '__tare_is config' -a '(__tare_keys)' -d option
complete -c tare -n '__tare_is doctor' -F
complete -c tare -n '__tare_is doctor' -l json -d 'write JSON'
complete -c tare -n '__tare_is serve' -s p -l port -x -d 'port to listen on'
complete -c tare -n '__tare_is serve' -s b -l bind -x -d 'address to listen on'
complete -c tare -n '__tare_is serve' -l allow-host -x -d 'another name it is reached by'
complete -c tare -n '__tare_is serve' -l export-root -r -d 'folder below which requests name paths'
complete -c tare -n '__tare_is url' -s s -l steer -d 'with the token that changes things, too'
complete -c tare -n '__tare_is url' -s t -l token -d 'only the token'
complete -c tare -n '__tare_is url' -l json -d 'write JSON'
complete -c tare -n '__tare_is alerts' -l json -d 'write JSON'
complete -c tare -n '__tare_is flags' -s c -l cflags -d 'only what compiling needs'
complete -c tare -n '__tare_is flags' -s l -l libs -d 'only what linking needs'
complete -c tare -n '__tare_is flags' -s r -l read -d 'with libtare-read'
complete -c tare -n '__tare_is flags' -s s -l static -d 'with the archives'

complete -c tare -n '__tare_is report tree flame alloc records summary stages amdahl mpi trend export verify merge rm' -k -a '(__tare_runs)' -d run
complete -c tare -n '__tare_is report tree flame alloc records summary stages amdahl mpi trend export verify merge' -a last -d 'the newest run'
complete -c tare -n '__tare_is top' -a '(__tare_live)' -d run
complete -c tare -n '__tare_is ctl; and test (count (__tare_ctl_words)) -eq 0' -a '(__tare_live)' -d run
complete -c tare -n '__tare_is ctl; and test (count (__tare_ctl_words)) -eq 1' -a 'on off clear set get'
complete -c tare -n '__tare_is ctl; and test (count (__tare_ctl_words)) -ge 2; and contains set (__tare_ctl_words)' -a '(__tare_settings)'
complete -c tare -n '__tare_is ctl; and test (count (__tare_ctl_words)) -ge 2; and contains get (__tare_ctl_words)' -a '(__tare_keys)'
