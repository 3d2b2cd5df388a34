#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ledgers of all earlier majors say what they said to the readers of their
# time: ../ledgers has one finished and one killed of each, with the facts.
. "$(dirname "$0")/expect.sh"

remarks=
while read -r line; do
	case $line in
	'ok '*) verdict 0 "${line#*- }" ;;
	'not ok '*) verdict 1 "${line#*- }" "$remarks" ;;
	'# '*) remarks+=$line$'\n' && continue ;;
	esac
	remarks=
done < <("$PYTHON" "$root/tests/ledgers/facts.py" "$TARE" \
	"$root/tests/ledgers")
[ $n_checks -ge 13 ]
verdict $? "there are ledgers of each version" "$n_checks"
finish
