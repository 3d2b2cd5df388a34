/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ and Rust, with libiberty: readable, and bounded. */
#include "check.h"

#include "symbols/parts.h"

#include <stdio.h>
#include <string.h>

static struct texts texts;

TEST(cpp_names_are_as_people_write_them)
{
	CHECK_STR(demangle(&texts, "_ZN3app5guardEi"), "app::guard(int)");
	CHECK_STR(demangle(&texts, "_ZN3app5guardEi.part.0.cold"),
		  "app::guard(int)");
	CHECK_STR(demangle(&texts, "_ZNK4shop4CartIlE3sumEl"),
		  "shop::Cart<long>::sum(long) const");
}

TEST(rust_names_of_the_older_form_lose_hash_and_escapes)
{
	CHECK_STR(demangle(&texts, "_ZN4core3fmt5Write9write_fmt"
				   "17h0123456789abcdefE"),
		  "core::fmt::Write::write_fmt");
	CHECK_STR(demangle(&texts,
			   "_ZN46_$LT$rock..W$u20$as$u20$core..fmt..Display"
			   "$GT$3fmt17h5b1f8e2d6c3a4b79E"),
		  "<rock::W as core::fmt::Display>::fmt");
	CHECK_STR(demangle(&texts, "_ZN9hashbrown3raw21RawTable$LT$T$C$A$GT$14"
				   "reserve_rehash17h6ad537af0e5600c0E"
				   ".llvm.17929452933697390623"),
		  "hashbrown::raw::RawTable<T,A>::reserve_rehash");
}

TEST(rust_names_of_the_newer_form_are_readable)
{
	CHECK_STR(demangle(&texts, "_RNvCsbxQjNsTKZZh_4shop4main"),
		  "shop::main");
	CHECK_STR(demangle(&texts, "_RINvCsbxQjNsTKZZh_4shop4each"
				   "NCNvB2_4main0EB2_"),
		  "shop::each::<shop::main::{closure#0}>");
	CHECK_STR(demangle(&texts, "_RNvXNtCsbxQjNsTKZZh_4shop4shopINtB2_4"
				   "CartmENtB2_5Price5priceB4_.llvm.7"),
		  "<shop::shop::Cart<u32> as shop::shop::Price>::price");
}

TEST(other_names_are_unchanged)
{
	CHECK_STR(demangle(&texts, "main"), "main");
	CHECK_STR(demangle(&texts, "memcpy@@GLIBC_2.14"), "memcpy");
	CHECK_STR(demangle(&texts, "runtime.mallocgc"), "runtime.mallocgc");
	CHECK_STR(demangle(&texts, "_Reset"), "_Reset");
	CHECK_STR(demangle(&texts, "_RESET_ALL"), "_RESET_ALL");
	CHECK_STR(demangle(&texts, "_Z"), "_Z");
	CHECK_STR(demangle(&texts, ""), "");
}

/* Each type is a pair of the one before: 2^35 words from 350 letters. */
TEST(a_name_that_doubles_itself_is_cut)
{
	static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1fSt4pairIiiE", more[16];
	const char *readable;

	for (int i = 0; digit[i]; i++) {
		(void)snprintf(more, sizeof(more), "S_IS%c_S%c_E", digit[i],
			       digit[i]);
		(void)strcat(name, more);
	}
	readable = demangle(&texts, name);
	CHECK_INT(strlen(readable), 16383);
	CHECK_STR(readable + strlen(readable) - 3, "...");
}

static void repeat(char *to, const char *text, size_t n)
{
	to += strlen(to);
	for (size_t i = 0; i < n; i++, to += strlen(text))
		(void)strcpy(to, text);
}

TEST(deep_and_wide_names_do_not_exhaust_the_stack)
{
	static char name[9000];

	(void)strcpy(name, "_Z1f");
	repeat(name, "P", 8000);
	repeat(name, "i", 1);
	CHECK_STR(demangle(&texts, name), name);
	(void)strcpy(name, "_Z1f");
	repeat(name, "1aI", 1300);
	repeat(name, "RT_", 1300);
	CHECK_STR(demangle(&texts, name), name);
	(void)strcpy(name, "_RNvC");
	repeat(name, "IC", 4000);
	CHECK_STR(demangle(&texts, name), name);
}

TEST(of_a_name_of_any_length_a_part_is_kept)
{
	static char name[20000];

	(void)strcpy(name, "_Z9000");
	repeat(name, "x", 9000);
	CHECK_INT(strlen(demangle(&texts, name)), 8191);
}
