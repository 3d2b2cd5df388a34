#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tare changes: files, columns, JSON, what cannot be read; and labelled series
# where they are.
. "$(dirname "$0")/expect.sh"

# series FILE VALUES STEP: 100 values about 100, then so many higher by STEP.
series() {
	"$PYTHON" - "$1" "$2" "$3" <<'PYTHON'
import random, sys
random.seed(4)
with open(sys.argv[1], "w") as file:
    file.write("value\n")
    for i in range(100 + int(sys.argv[2])):
        step = float(sys.argv[3]) if i >= 100 else 0
        file.write(f"{100 + random.gauss(0, 1) + step:.3f}\n")
PYTHON
}

# ---- what is printed -----------------------------------------------------

series step.csv 80 10
series quiet.csv 80 0
series young.csv 12 10
expect_status 0 "$TARE" changes step.csv
expect_has "$out" "step: 180 values, 1 change" "says how many"
expect_match "$out" "100 +99\.[0-9]+|100 +100" "has the index"
expect_has "$out" "+10." "has the change in percent"
expect_status 0 "$TARE" changes step.csv quiet.csv --json
expect_is "$out" '{"step":[100],"quiet":[]}' "JSON has an index for each change"
expect_status 0 "$TARE" changes young.csv
expect_has "$out" "provisional" "few values since: provisional"
expect_status 0 "$TARE" changes step.csv --details
expect_is "$("$PYTHON" -c "
import json, sys
c = json.loads(sys.argv[1])['step'][0]
print(c['index'], abs(c['after'] / c['before'] - 1 - c['change']) < 1e-9,
      c['strength'] > 1, c['gradual'], c['provisional'])" "$out")" \
	"100 True True False False" "details have levels"

# ---- the newest value ----------------------------------------------------

expect_status 1 "$TARE" changes --newest young.csv
expect_status 0 "$TARE" changes --newest step.csv
expect_status 0 "$TARE" changes --newest quiet.csv

# ---- names and columns ---------------------------------------------------

mkdir -p a b
cp step.csv a/x.csv
cp quiet.csv b/x.csv
expect_status 0 "$TARE" changes a/x.csv b/x.csv --json
expect_is "$out" '{"a/x.csv":[100],"b/x.csv":[]}' "same names keep their paths"
paste -d, quiet.csv step.csv | sed '1s/.*/before,after/' >two.csv
expect_status 0 "$TARE" changes two.csv --json
expect_is "$out" '{"two":[100]}' "the last column"
expect_status 0 "$TARE" changes -c before two.csv --json
expect_is "$out" '{"two":[]}' "a column by its name"
expect_status 0 "$TARE" changes -c 2 two.csv --json
expect_is "$out" '{"two":[100]}' "a column by its number"
expect_status 0 "$TARE" changes --least 50 step.csv --json
expect_is "$out" '{"step":[]}' "a change below --least"

# ---- what cannot be read -------------------------------------------------

expect_status 3 "$TARE" changes nosuch.csv step.csv --json
expect_has "$err" "cannot read 'nosuch.csv'" "a file that is not there"
expect_is "$out" '{"step":[100]}' "the others are read"
printf 'value\n1\nmany\n' >words.csv
expect_status 3 "$TARE" changes words.csv
expect_has "$err" "line 3: 'many' is not a number" "names the line"
: >empty.csv
expect_status 3 "$TARE" changes empty.csv
expect_has "$err" "there are no values" "an empty file"
printf 'value\n1\n' >one.csv
expect_status 0 "$TARE" changes one.csv --json
expect_is "$out" '{"one":[]}' "one value has no change"
printf 'value\n\n7\nnan\n' >gaps.csv
expect_status 0 "$TARE" changes gaps.csv
expect_has "$out" "3 values" "gaps are rows"
printf 'a\0b\n' >bytes.csv
expect_status 3 "$TARE" changes bytes.csv
expect_status 3 "$TARE" changes .
expect_status 2 "$TARE" changes
expect_status 2 "$TARE" changes --least much step.csv
expect_status 3 "$TARE" changes -c nosuch step.csv

# ---- labelled series -----------------------------------------------------

labelled=${TARE_CHANGEPOINTS:-$root/../shared/data/changepoints}
if [ -e "$labelled/score.py" ]; then
	expect_status 0 "$TARE" changes "$labelled"/series/*.csv --json
	printf '%s\n' "$out" >found.json
	score=$("$PYTHON" "$labelled/score.py" "$labelled/labels.json" \
		found.json)
	expect_is "$(awk '{
		gsub("%", ""); sub("/.*", "", $10)
		print ($4 >= .88), ($6 >= .93), ($8 <= 9), ($10 <= 1)
	}' <<<"$score")" "1 1 1 1" "as people see them: $score"
else
	echo "# SKIP no labelled series in '$labelled': not scored"
fi
finish
