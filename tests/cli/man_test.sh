#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Manual pages and shell completions: they are well-formed and complete.
. "$(dirname "$0")/expect.sh"
man=$root/docs/man
commands=$("$TARE" help | sed '1,/^commands:/d' |
	sed -n 's/^  \([a-z]*\) .*/\1/p')

for page in "$man"/*.[1-9]; do
	name=$(basename "$page")
	if command -v mandoc >/dev/null; then
		expect_is "$(mandoc -T lint -W warning "$page" 2>&1)" "" \
			"$name: no complaint of mandoc"
	elif command -v man >/dev/null; then
		expect_is "$(man -l --warnings "$page" 2>&1 >/dev/null)" "" \
			"$name: no complaint of man"
	else
		expect_skip "$name: neither mandoc nor man is installed"
	fi
done
for command in $commands; do
	[ -f "$man/tare-$command.1" ]
	verdict $? "tare $command has a page" "no tare-$command.1"
	expect_has "$(cat "$man/tare.1")" "tare-$command 1" "tare.1 names it"
done

# The options of tare.conf.5 are the library's, with their defaults.
"$TARE" config --json | "$PYTHON" -c "
import json, re, sys
page = open('$man/tare.conf.5').read()
items = dict(re.findall(r'^\.It Cm (\w+)\n(.*?)(?=^\.It Cm|^\.El)', page,
                        re.M | re.S))
for option in json.load(sys.stdin):
    text = items.pop(option['name'], None)
    if text is None:
        print('missing', option['name'])
    elif 'Default: %s.' % (option['default'] or 'empty') not in text:
        print('default of', option['name'])
    elif ('May change while' in text) != option['live']:
        print('live', option['name'])
    elif ('no effect yet' in text) == option['effective']:
        print('effect of', option['name'])
print(*['unknown ' + name for name in items])" >options 2>&1
expect_is "$(cat options)" "" "tare.conf.5 is the library's table"

# The example of tare.3 compiles and runs.
sed -n '/^\.Bd -literal$/,/^\.Ed/p' "$man/tare.3" |
	sed '1d; $d; s/\\e/\\/g' >example.c
build_worker
sed 's/^/#   /' example.c | head -3
expect_status 0 "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror \
	-I"$root/include" example.c "$(ls "$LIB"/libtare.so "$LIB"/libtare.a \
	2>/dev/null | head -1)" -Wl,-rpath,"$LIB" -lpthread -o example
expect_status 0 "$TARE" run -- ./example
expect_is "$out" "10 failed" "the example of tare.3 runs"
expect_has "$err" "photo" "and is measured"
expect_status 0 "$CC" -std=c11 -Wall -Wextra -Werror -DTARE_DISABLE \
	-I"$root/include" example.c -o disabled

# Completions. They call `tare`.
mkdir -p bin
ln -sf "$TARE" bin/tare
PATH=$work/bin:$PATH
export TARE_DIR=$work/one
TARE=on ./worker 5

# Each option of each command is known to all three shells.
for command in $commands; do
	for option in $("$TARE" $command --help | sed '1,/^options:/d' |
		sed -n 's/^  \(-.,\)* *--\([a-z-]*\).*/\2/p'); do
		expect_has "$(bash -c ". '$root/completions/tare.bash'
			_tare_options $command")" "--$option" \
			"bash: $command --$option"
		expect_has "$(sed -n \
			"/^	$command)/,/;;/p; /common=(/,/^	)/p" \
			"$root/completions/_tare")" "--$option" \
			"zsh: $command --$option"
		expect_has "$(grep -e "__tare_is.* $command'" \
			-e "^complete -c tare -[sl]" \
			"$root/completions/tare.fish")" "-l $option" \
			"fish: $command --$option"
	done
done

# complete_bash WORD...: what bash offers for the last one.
complete_bash() {
	bash -c '. "$0"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_tare 2>/dev/null
		echo "${COMPREPLY[*]}"' "$root/completions/tare.bash" "$@"
}
id=$("$TARE" ls --ids)
expect_is "$(complete_bash tare re)" "report records" "bash: commands"
expect_is "$(complete_bash tare tree "")" "last last~1 worker $id" \
	"bash: runs"
parts="functions scopes values counters monitor gpu records all"
expect_is "$(complete_bash tare report "")" "$parts last last~1 worker $id" \
	"bash: parts of a report, and runs"
expect_is "$(complete_bash tare report --so)" "--sort --source" "bash: options"
expect_is "$(complete_bash tare report --sort m)" "mean max" "bash: values"
expect_is "$(complete_bash tare rm wo)" "worker" "bash: programs"
expect_is "$(complete_bash tare config max_d)" "max_depth" "bash: option names"
expect_is "$(complete_bash tare ctl 5 c)" "clear" "bash: actions"
expect_is "$(complete_bash tare ctl 5 set max_d)" "max_depth=" "bash: keys"
expect_is "$(complete_bash tare run -o example.)" "example.c" "bash: files"

if command -v fish >/dev/null; then
	complete_fish() {
		fish --no-config -c "source '$root/completions/tare.fish'
			complete -C '$1'" | cut -f 1 | sort | xargs
	}
	expect_is "$(complete_fish 'tare re')" "records report" "fish: commands"
	expect_is "$(complete_fish 'tare tree ')" "$id last last~1 worker" \
		"fish: runs"
	expect_has "$(complete_fish 'tare report ')" "functions" \
		"fish: parts of a report"
	expect_is "$(complete_fish 'tare report --so')" "--sort --source" \
		"fish: options"
	expect_is "$(complete_fish 'tare ctl 5 c')" "clear" "fish: actions"
	expect_is "$(complete_fish 'tare ctl 5 set max_d')" "max_depth=" \
		"fish: keys"
else
	expect_skip "fish is not installed"
fi
if command -v zsh >/dev/null; then
	expect_status 0 zsh -n "$root/completions/_tare"
else
	expect_skip "zsh is not installed"
fi
finish
