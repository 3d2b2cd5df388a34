# SPDX-License-Identifier: Apache-2.0
#
# A thin front for Meson: what to type. Each target says what it does in the
# line after ##; plain `make` prints them.

PREFIX ?= /usr/local
DESTDIR ?=
ONLY ?=
REPEAT ?= 10
FUZZ_SECONDS ?= 60

MESON = meson
RELEASE = build/release
VERSION = $(shell sed -n 's/.*define TARE_VERSION "\(.*\)"/\1/p' \
	include/tare/version.h)
RUN_TESTS = tools/run_tests

# werror is for our own builds: another compiler's new warning must not stop
# a user. Not with sanitizers, whose code leads gcc to wrong conclusions.
OURS = -Dwerror=true
DEBUG = -Db_ndebug=false -Dbench=disabled

OPTIONS_release = $(OURS)
OPTIONS_asan = $(DEBUG) -Db_sanitize=address,undefined
OPTIONS_tsan = $(DEBUG) -Db_sanitize=thread
OPTIONS_clang = $(OURS)
# Fortified, as compilers of other distributions are without being asked:
# libc then wants to know what became of more calls.
OPTIONS_aarch64 = $(OURS) --cross-file cross/aarch64.ini \
	-Dc_args=-D_FORTIFY_SOURCE=2
OPTIONS_fuzz = $(DEBUG) -Dfuzz=true -Db_sanitize=address,undefined \
	-Db_lundef=false
OPTIONS_install = --prefix $(abspath $(PREFIX)) -Dtests=disabled \
	-Dbench=disabled -Dexamples=disabled \
	$(addprefix --libdir ,$(shell tools/libdir))

# No path of this machine in what is given to others.
NO_PATHS = -ffile-prefix-map=$(CURDIR)=.
OPTIONS_package = --prefix /usr --libdir lib/$(shell cc -print-multiarch) \
	-Dtests=disabled -Dbench=disabled -Dexamples=disabled \
	-Dc_args=$(NO_PATHS)

PORTABLE = --prefix /opt/tare --libdir lib -Dtests=disabled \
	-Dbench=disabled -Dexamples=disabled
# libdw would bring five more libraries: names come from the ELF reader.
OPTIONS_glibc = $(PORTABLE) -Dsymbols=disabled -Dprefer_static=true \
	-Dc_args=$(NO_PATHS)
OPTIONS_musl = $(PORTABLE) --cross-file cross/musl.ini \
	'-Dc_args=$(NO_PATHS) -idirafter $(CURDIR)/build/kernel'

COMPILER_clang = CC=clang CXX=clang++
COMPILER_fuzz = CC=clang CXX=clang++

# Ninja runs jobs in parallel; the steps here follow one another.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help setup need-build need-demo need-test need-check need-package \
	need-peers build demo test test-quick check check-python check-spark \
	check-asan \
	check-tsan check-clang check-aarch64 check-fuzz check-packages soak \
	bench bench-json bench-peers bench-programs install deb tarball wheel \
	amalgamation \
	format format-check clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1 ## /p' $(firstword $(MAKEFILE_LIST)) \
		| awk -F ' ## ' '{ printf "  make %-13s %s\n", $$1, $$2 }'

setup: ## install what building and all tests need (Debian)
	@tools/setup build test check

need-build:
	@tools/setup build
need-demo:
	@tools/setup build demo
need-test:
	@tools/setup build test
	@tools/contract build/contract
need-check:
	@tools/setup build test check
	@tools/contract build/contract
need-package:
	@tools/setup build package
need-peers:
	@tools/setup build peers

# A build folder is configured once; Meson follows changes by itself, but for
# packages that were not there: tools/setup marks when it has installed some.
build/packages:
	@mkdir -p build
	@touch $@
build/%/build.ninja: build/packages
	@if [ -f $@ ]; then \
		$(MESON) configure build/$* --clearcache && \
		$(MESON) setup --reconfigure build/$* && touch $@; \
	else \
		$(COMPILER_$*) $(MESON) setup build/$* $(OPTIONS_$*); \
	fi > build/$*.log 2>&1 \
		|| { cat build/$*.log; rm -rf build/$*; false; }

build: need-build $(RELEASE)/build.ninja ## the library, `tare`, examples
	@ninja -C $(RELEASE)
	@sed -n '/./s/^/left out: /p' $(RELEASE)/left_out

# The photo service is there where libjpeg is, ranks where MPI is.
demo: need-demo $(RELEASE)/build.ninja ## measure some examples and show the reports
	@ninja -C $(RELEASE) cli/tare examples/hello $$(grep -oE \
		'^build examples/(photo_pipeline|gcn_sequential|gcn_mpi):' \
		$(RELEASE)/build.ninja | sed 's/^build //; s/://') > build/demo.log \
		|| { cat build/demo.log; false; }
	$(RELEASE)/cli/tare run -- $(RELEASE)/examples/hello
	@tools/demo $(RELEASE)

test: need-test $(RELEASE)/build.ninja ## everything that must pass before a commit
	@$(RUN_TESTS) $(RELEASE)

test-quick: need-test $(RELEASE)/build.ninja ## the suites that take under a minute
	@$(RUN_TESTS) $(RELEASE) --suite unit --suite cli --suite compile \
		--suite house

check: need-check test check-python check-spark check-asan check-tsan check-clang check-aarch64 check-fuzz check-packages ## test, then other Pythons, Spark, sanitizers, clang, aarch64, fuzzing, packages
	@echo "check: all passed"

check-python: need-check
	@echo "== CPython 3.10 to 3.14"
	@tools/check_pythons build/pythons

check-spark: need-check $(RELEASE)/build.ninja
	@echo "== Spark"
	@ninja -C $(RELEASE) > build/check-spark.log \
		|| { cat build/check-spark.log; false; }
	@tools/check_spark

check-asan: need-check build/asan/build.ninja
	@echo "== address and undefined-behaviour sanitizers"
	@$(RUN_TESTS) build/asan --suite unit --suite stress --suite fuzz \
		--timeout-multiplier 5

# With address randomisation on, some kernels place libraries where the
# thread sanitizer keeps its shadow.
check-tsan: need-check build/tsan/build.ninja
	@echo "== thread sanitizer"
	@setarch -R true 2> /dev/null && wrapper="--wrapper=setarch -R"; \
	$(RUN_TESTS) build/tsan --suite unit --suite stress \
		--timeout-multiplier 10 $${wrapper:+"$$wrapper"}

check-clang: need-check build/clang/build.ninja
	@echo "== clang"
	@$(RUN_TESTS) build/clang --suite unit --suite stress

check-aarch64: need-check build/aarch64/build.ninja
	@echo "== aarch64 under qemu"
	@$(RUN_TESTS) build/aarch64 --suite unit --timeout-multiplier 10

check-fuzz: need-check build/fuzz/build.ninja
	@echo "== fuzzing: $(FUZZ_SECONDS) s ledgers, as many the rest"
	@tools/fuzz build/fuzz $(FUZZ_SECONDS)

check-packages: deb tarball
	@echo "== packages"
	@packaging/check_deb build/deb
	@packaging/check_tarball build/tarball

soak: need-test $(RELEASE)/build.ninja ## the stress suite REPEAT=10 times, longer
	@TARE_SOAK=1 $(RUN_TESTS) $(RELEASE) --suite stress \
		--repeat $(REPEAT) --timeout-multiplier 10

# Output of building goes to stderr: stdout is for the results.
bench-programs: need-build $(RELEASE)/build.ninja
	@ninja -C $(RELEASE) >&2

bench: bench-programs ## benchmarks as tables; ONLY=<name> for one
	@bench/run $(ONLY)

bench-json: bench-programs ## the same, one JSON object a line
	@bench/run --json $(ONLY)

bench-peers: need-peers bench-programs ## the same loop with LTTng-UST and uftrace
	@bench/peers/run $(RELEASE)

install: need-build build/install/build.ninja ## PREFIX=/usr/local DESTDIR=
	@$(MESON) configure build/install --prefix $(abspath $(PREFIX))
	@ninja -C build/install
	@$(MESON) install -C build/install --no-rebuild \
		$(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

deb: need-package build/package/build.ninja ## Debian packages in build/deb
	@ninja -C build/package > build/package-build.log \
		|| { cat build/package-build.log; false; }
	@rm -rf build/deb
	@packaging/deb build/package build/deb $(VERSION)

# musl-gcc has no headers of the kernel, which are the same for any C library.
build/kernel:
	@mkdir -p $@
	@ln -s /usr/include/linux /usr/include/asm-generic \
		/usr/include/$(shell cc -print-multiarch)/asm $@

tarball: need-package build/kernel build/glibc/build.ninja build/musl/build.ninja ## `tare` for other machines in build/tarball
	@for libc in glibc musl; do \
		ninja -C build/$$libc > build/$$libc-build.log \
			|| { cat build/$$libc-build.log; exit 1; }; \
	done
	@rm -rf build/tarball
	@packaging/tarball build/glibc build/tarball $(VERSION) glibc
	@packaging/tarball build/musl build/tarball $(VERSION) musl

amalgamation: need-build $(RELEASE)/build.ninja ## tare.[ch] and tare_read.[ch] in build/amalgamation
	@ninja -C $(RELEASE) src/tare.c src/tare_read.c \
		> build/amalgamation.log \
		|| { cat build/amalgamation.log; false; }
	@mkdir -p build/amalgamation
	@cd $(RELEASE)/src && cp tare.c tare.h tare_read.c tare_read.h \
		../../amalgamation/
	@wc -l build/amalgamation/*.[ch]

wheel: need-build ## the Python package in build/wheel
	@rm -rf build/wheel
	@bindings/python/build_tare.py build/wheel

format: ## mend what can be mended without judgement
	@tools/check_format.py --fix

format-check: ## tabs, widths, names, sizes
	@tools/check_format.py

clean: ## remove build/
	rm -rf build
