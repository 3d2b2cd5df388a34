# SPDX-License-Identifier: Apache-2.0
# Completion of tare for bash; needs no bash-completion package.

_tare_options() {
	case $1 in
	run) echo "-o --output --json --no-sample --rate --wall --region --calls
		--alloc --flame --mpi --each-rank --gpu --monitor --trace --no-report
		--top -s --set" ;;
	report) echo "-s --sort -n --top -N --name -S --source -t --type
		-f --failed --ok -l --last --from --to --values --inline --raw
		--tree --process --json" ;;
	tree) echo "--min --depth --focus --raw --process --json" ;;
	flame) echo "-o --output --from --diff --shares --icicle --reverse --title
		--colors --width --min --process" ;;
	alloc) echo "--by --sort -n --top --peak --leaks --ignore --ignore-file
		--no-ignore --diff --process --json" ;;
	stages) echo "-f --factor --process --json" ;;
	amdahl) echo "-f --factor --of --total -n --top -w --worth --process --json" ;;
	mpi) echo "--json" ;;
	check) echo "--against --limit -n --runs --time --budget --junit --github
		--seed --json" ;;
	compare) echo "--html --markdown --csv --json --baseline --by --target-loss
		--target-f1 --title" ;;
	bench) echo "-n --runs --time -w --warmup --prepare -p --parameter --name
		--limit --instructions -i --ignore-failure --show-output --input --profile
		--seed --separator --json --csv --markdown" ;;
	history) echo "-f --figure --figures --project --machine --source --from
		--to -n --limit --json --svg -c --column --name --keep --older" ;;
	changes) echo "-c --column --least --newest --json --details" ;;
	top) echo "-d --delay -n --count -s --sort --show --once --json" ;;
	merge) echo "-o --output -n --top --json" ;;
	ls) echo "-a --all -l --live --size -s --sort -n --limit --ids --names --json" ;;
	rm) echo "--older --keep --all -y --yes" ;;
	records) echo "-N --name -S --source -t --type -f --failed --ok
		-l --last --from --to -n --limit --process --json" ;;
	trend) echo "-w --window -N --name -S --source -t --type
		-f --failed --ok --process --json" ;;
	summary) echo "-s --sort -n --top -N --name -S --source -t --type
		-f --failed --ok -l --last --from --to --values --process --json" ;;
	export) echo "-F --format -T --table -o --output -u --unit
		--split-size --split-seconds --keep -g --group -N --name
		-S --source -t --type -f --failed --ok -l --last --from --to
		--values -n --limit" ;;
	verify) echo "--json" ;;
	ctl) echo "--json" ;;
	config) echo "--conf --markdown --json" ;;
	doctor) echo "--json" ;;
	serve) echo "-p --port -b --bind --allow-host --export-root" ;;
	url) echo "-s --steer -t --token --json" ;;
	alerts) echo "--json" ;;
	flags) echo "-c --cflags -l --libs -r --read -s --static" ;;
	esac
	echo "--color -h --help"
}

# Words for runs.
_tare_runs() {
	echo "last last~1 $(tare ls --names 2>/dev/null) $(tare ls --ids 2>/dev/null)"
}

# Keys of options, with the given end, as "max_depth=".
_tare_keys() {
	tare config --markdown 2>/dev/null |
		sed -n "s/^| \`\([a-z_]*\)\` .*/\1$1/p"
}

_tare_values() {
	case $1:$2 in
	*:--color) echo "auto always never" ;;
	report:-s | report:--sort)
		echo "total cumtime cumulative own tottime time calls ncalls mean max p99 failures name samples" ;;
	run:--mpi) echo "auto openmpi mpich none" ;;
	flame:--from) echo "samples calls alloc kernels" ;;
	flame:--colors) echo "module warm" ;;
	alloc:--by) echo "place path module" ;;
	alloc:--sort) echo "live bytes count peak temporary" ;;
	alloc:--diff) echo "end $(_tare_runs)" ;;
	flame:--diff) _tare_runs ;;
	top:-s | top:--sort)
		echo "time own calls mean p99 max failures name" ;;
	top:--show) echo "all functions scopes" ;;
	ls:-s | ls:--sort) echo "started size duration program state" ;;
	summary:-s | summary:--sort) echo "failures total slowest calls" ;;
	export:-F | export:--format)
		echo "json csv prometheus openmetrics chrome speedscope pprof
			callgrind collapsed folded sqlite" ;;
	history:--source) echo "run csv hyperfine google pytest" ;;
	export:-T | export:--table)
		echo "processing memory gpu metrics stats samples calls alloc kernels" ;;
	export:-u | export:--unit) echo "us ns count" ;;
	compare:--by) echo "total epoch phase" ;;
	amdahl:--of) echo "stages scopes functions samples" ;;
	report:-t | report:--type | records:-t | records:--type | \
	summary:-t | summary:--type | trend:-t | trend:--type | export:-t | export:--type)
		echo "time throughput memory counter ratio percentage custom" ;;
	run:-s | run:--set) _tare_keys = ;;
	esac
}

# Whether the option takes a value, which is then no operand.
_tare_takes_value() {
	case $1:$2 in
	alloc:--by | alloc:--sort | alloc:-n | alloc:--top | alloc:--diff | \
	alloc:--ignore | alloc:--ignore-file | \
	flame:-o | flame:--output | flame:--from | flame:--diff | \
	flame:--title | flame:--colors | flame:--width | flame:--min | \
	*:--color | serve:-[pb] | serve:--port | serve:--bind | \
	serve:--allow-host | serve:--export-root | run:-o | run:--output | run:--json | run:--flame | run:-s | run:--set | \
	report:-[snNStl] | report:--sort | report:--top | report:--name | \
	report:--source | report:--type | report:--last | report:--from | \
	report:--to | report:--values | *:--process | top:-[dns] | top:--delay | \
	tree:--min | tree:--depth | tree:--focus | run:--top | top:--show | \
	merge:-[on] | merge:--output | merge:--top | ls:-[sn] | ls:--sort | ls:--limit | rm:--older | rm:--keep | \
	top:--count | top:--sort | records:-[NSln] | records:--name | \
	records:--source | records:--last | records:--from | records:--to | \
	stages:-f | stages:--factor | amdahl:-[fnw] | amdahl:--factor | \
	amdahl:--of | amdahl:--top | amdahl:--worth | trend:-[wNSt] | trend:--window | trend:--name | trend:--source | \
	trend:--type | compare:--html | compare:--baseline | compare:--by | \
	compare:--target-loss | compare:--target-f1 | compare:--title | \
	history:-[fnc] | history:--figure | history:--project | \
	history:--machine | history:--source | history:--from | \
	history:--to | history:--limit | history:--svg | \
	history:--column | history:--name | history:--keep | \
	history:--older | \
	changes:-c | changes:--column | changes:--least | \
	records:--limit | summary:-[snNStl] | summary:--sort | \
	summary:--top | summary:--name | summary:--source | summary:--type | \
	summary:--last | summary:--from | summary:--to | summary:--values | \
	export:-[FTouNStln] | export:--format | export:--table | \
	export:--unit | export:--split-size | export:--split-seconds | \
	export:--keep | \
	export:--output | export:--name | export:--source | export:--type | \
	export:--last | export:--from | export:--to | export:--values | \
	bench:--profile | check:--against | check:--limit | check:-n | \
	check:--runs | check:--time | check:--budget | check:--junit | \
	check:--seed | compare:--markdown | bench:-[nwp] | bench:--runs | bench:--time | bench:--warmup | \
	bench:--prepare | bench:--parameter | bench:--name | bench:--limit | \
	bench:--input | bench:--seed | bench:--separator | bench:--json | \
	bench:--csv | bench:--markdown | \
	export:--limit) return 0 ;;
	esac
	return 1
}

# Place of the n-th operand of the command, or nothing.
_tare_operand_at() {
	local wanted=$1 command=$2 i seen=0
	for ((i = 2; i < COMP_CWORD; i++)); do
		if _tare_takes_value "$command" "${COMP_WORDS[i]}"; then
			((i++))
		elif [[ ${COMP_WORDS[i]} != -* ]]; then
			((++seen == wanted)) && echo "$i" && return
		fi
	done
}

_tare_fill() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_tare() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	local commands="run report tree flame alloc stages amdahl mpi merge top ls rm records summary trend compare bench check changes history export verify ctl config doctor serve url alerts flags help"
	local command=${COMP_WORDS[1]} at

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_tare_fill "$commands --version --help" "$word"
		return
	fi
	if [[ $command == help ]]; then
		_tare_fill "$commands" "$word"
		return
	fi
	at=$(_tare_operand_at 1 "$command")
	if [[ $command =~ ^(run|bench|check)$ && -n $at ]]; then
		# From here on the words belong to the program.
		if declare -F _command_offset >/dev/null; then
			_command_offset "$at"
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		return
	fi
	if _tare_takes_value "$command" "$before"; then
		_tare_fill "$(_tare_values "$command" "$before")" "$word"
		[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
		((${#COMPREPLY[@]})) ||
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
	fi
	if [[ $word == -* ]]; then
		_tare_fill "$(_tare_options "$command")" "$word"
		return
	fi
	case $command in
	run | bench | check) mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word") ;;
	report) _tare_fill "functions scopes values counters monitor gpu records all
		$(_tare_runs)" "$word" ;;
	tree | flame | alloc | records | summary | stages | amdahl | mpi | trend | export | rm)
		_tare_fill "$(_tare_runs)" "$word" ;;
	history) _tare_fill "import prune $(tare ls --names 2>/dev/null)" "$word" ;;
	changes) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	compare | verify | merge)
		_tare_fill "$(_tare_runs)" "$word"
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
			< <(compgen -f -- "$word") ;;
	top) _tare_fill "$(tare ls --live --names 2>/dev/null) $(tare ls --live --ids 2>/dev/null)" "$word" ;;
	ls) _tare_fill "$(tare ls --names 2>/dev/null)" "$word" ;;
	config) _tare_fill "$(_tare_keys '')" "$word" ;;
	doctor) mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word") ;;
	ctl) _tare_ctl "$word" ;;
	esac
}

_tare_ctl() {
	local at

	if [[ -z $(_tare_operand_at 1 ctl) ]]; then
		_tare_fill "$(tare ls --live --names 2>/dev/null) $(tare ls --live --ids 2>/dev/null)" "$1"
		return
	fi
	at=$(_tare_operand_at 2 ctl)
	if [[ -z $at ]]; then
		_tare_fill "on off clear set get" "$1"
	elif [[ ${COMP_WORDS[at]} == set ]]; then
		_tare_fill "$(_tare_keys =)" "$1"
		compopt -o nospace
	elif [[ ${COMP_WORDS[at]} == get ]]; then
		_tare_fill "$(_tare_keys '')" "$1"
	fi
}

complete -F _tare tare
