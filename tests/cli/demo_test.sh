#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The demo on a machine where optional packages are missing: each is named in a
# line with its package, and there is something to look at in the end.
bare=${TARE_TEST_BUILD:?}/tare-bare
examples=${TARE_EXAMPLES:?}
. "$(dirname "$0")/expect.sh"

# A build as it is there: no libjpeg, no MPI, no libdw.
mkdir -p built/cli built/examples
ln -s "$bare" built/cli/tare
ln -s "$examples/gcn_sequential" built/examples/
ln -s "$(dirname "$bare")/../preload" built/preload
photos="no examples/photo_pipeline: no libjpeg (apt install libjpeg-dev)"
serve="no server (tare serve): no libevent (apt install libevent-dev)"
printf '%s\n' "$photos" "$serve" >built/left_out
expect_status 0 "$root/tools/demo" built
expect_has "$out" "left out: $photos" "the demo says what is missing"
expect_has "$out" "left out: $serve" "in a line each"
expect_has "$out" " samples " "a profile is shown"
picture=$(printf '%s' "$out" | sed -n 's/^  flame graph  //p')
expect_is "$(head -c 5 "$picture" 2>&1)" "<?xml" "and a picture to look at"
expect_has "$(cat "$picture")" "sparse" "with names of functions in it"

# The reports of the examples fit a terminal.
for example in hello "photo_pipeline --seconds 2"; do
	[ -x "$examples/${example%% *}" ] || continue
	"$TARE" run -o report -- "$examples/"$example >/dev/null 2>&1
	expect_has "$(cat report)" "call tree" "$example: its scopes"
	expect_has "$(cat report)" "more       tare report " "and other parts"
	[ "$(wc -l <report)" -le 45 ] && [ "$(wc -L <report)" -le 110 ]
	verdict $? "$example: at most 45 lines of 110 columns" \
		"$(wc -l <report) lines, $(wc -L <report) columns"
done

# What a build says: the file that the demo and `make build` print.
mkdir empty
printf '#!/bin/sh\nexit 1\n' >empty/pkg-config
chmod +x empty/pkg-config
cp empty/pkg-config empty/mpicc
expect_status 0 env PATH="$PWD/empty:$PATH" meson setup lean "$root" \
	-Dtests=disabled -Dbench=disabled
lines=$(cat lean/left_out)
expect_has "$lines" "no libevent (apt install libevent-dev)" \
	"a build without libevent says so"
expect_has "$lines" "no libdw (apt install libdw-dev)" "and without libdw"
expect_is "$(printf '%s\n' "$lines" | grep -vc 'apt install')" 0 \
	"each line has a package"

finish
