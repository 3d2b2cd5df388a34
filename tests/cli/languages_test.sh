#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs in other languages: names of their functions, in every output.
. "$(dirname "$0")/expect.sh"
needs_names

# every_output NAME MANGLED WHAT: NAME is in all outputs of the newest run, and
# MANGLED in none.
every_output() {
	local how text all="" bad=""
	for how in "report" "report --json" "tree" "flame" \
		"export -F collapsed" "export -F speedscope" \
		"export -F callgrind" "export -F pprof" \
		"alloc --by path" "flame --from alloc"; do
		# Compressed where it is for pprof; markup is no difference.
		text=$("$TARE" $how 2>&1 | { gzip -dcf || cat; } |
			tr -d '\0' | sed 's/&lt;/</g; s/&gt;/>/g')
		case $text in
		*"$1"*) ;;
		*) bad="$bad; none in $how" ;;
		esac
		case $text in
		*"$2"*) bad="$bad; mangled in $how" ;;
		esac
	done
	expect_is "$bad" "" "$3"
}

# ---- Rust ------------------------------------------------------------------

cat >rock.rs <<'END'
use std::time::{Duration, Instant};
mod shop {
    pub trait Price {
        fn price(&self, n: u64) -> u64;
    }
    pub struct Cart<T> {
        pub item: T,
    }
    impl<T: Copy + Into<u64>> Price for Cart<T> {
        #[inline(never)]
        fn price(&self, n: u64) -> u64 {
            let mut x: u64 = self.item.into();
            let mut seen: Vec<u64> = Vec::with_capacity(100);
            for i in 0..n {
                x = std::hint::black_box(x ^ (x << 7) ^ i);
            }
            seen.push(x);
            std::hint::black_box(&seen)[0]
        }
    }
}
use shop::Price;
fn main() {
    let cart = shop::Cart { item: 3u32 };
    let start = Instant::now();
    let mut sum = 0;
    while start.elapsed() < Duration::from_millis(500) {
        sum ^= cart.price(10000);
    }
    println!("{}", sum);
}
END
# rustup finds its compilers in the user's own home.
real_home=$(getent passwd "$(id -u)" | cut -d: -f6)
export RUSTUP_HOME=${RUSTUP_HOME:-$real_home/.rustup}
if ! command -v rustc >/dev/null; then
	expect_skip "no rustc"
elif [ "$HAS_RUST_NAMES" != yes ]; then
	expect_skip "this tare was built without libiberty"
elif ! rustc -O -g -C symbol-mangling-version=v0 -o rock rock.rs \
	>rustc.txt 2>&1; then
	expect_skip "rustc does not work: $(head -1 rustc.txt)"
else
	expect_status 0 "$TARE" run --alloc --no-report -- ./rock
	every_output "Price>::price" "_RN" \
		"Rust's newer names are readable everywhere"
	expect_status 0 "$TARE" report --json
	expect_has "$out" \
		"<rock::shop::Cart<u32> as rock::shop::Price>::price" \
		"whole where there is room"
	expect_status 0 "$TARE" tree
	expect_has "$out" "<Cart<> as Price>::price" "and shortened where not"
fi

finish
