/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions where there is no room for all of them. */
#include "check.h"

#include <string.h>

#include "render/output.h"

static const char *brief(const char *name)
{
	static char text[TR_BRIEF_BYTES];

	return tr_name_brief(name, text);
}

TEST(cpp_names_lose_their_arguments)
{
	CHECK_STR(brief("std::map<int, long>::find(int const&)"),
		  "std::map<>::find()");
	CHECK_STR(brief("bool operator< <int>(A<int>, A<int>)"),
		  "bool operator< <int>()");
	CHECK_STR(brief("F<int>::operator()(int) const"),
		  "F<>::operator()() const");
	CHECK_STR(brief("P<T>::operator->(int)"), "P<>::operator->()");
	CHECK_STR(brief("(anonymous namespace)::spin(int)"),
		  "(anonymous namespace)::spin()");
}

TEST(rust_names_keep_type_and_trait)
{
	CHECK_STR(brief("<rock::shop::Cart<u32> as rock::shop::Price>::price"),
		  "<Cart<> as Price>::price");
	CHECK_STR(brief("<alloc::boxed::Box<dyn core::ops::Fn(u8) -> u8>>"
			"::clone"),
		  "<Box<>>::clone");
	CHECK_STR(brief("<<a::B as c::D>::E as f::G>::h"),
		  "<<B as D>::E as G>::h");
	CHECK_STR(brief("<&mut a::B<c::D> as e::F>::g"), "<&mut B<> as F>::g");
	CHECK_STR(brief("shop::each::<shop::main::{closure#0}>"),
		  "shop::each::<>");
}

TEST(any_text_is_bounded_and_read_to_its_end)
{
	static const char letter[] = "<>(): -&a";
	char name[600];
	unsigned seed = 1;

	for (int i = 0; i < 20000; i++) {
		size_t n = (seed >> 8) % sizeof(name);

		for (size_t k = 0; k < n; k++) {
			seed = seed * 1664525u + 1013904223u;
			name[k] = letter[(seed >> 16) % 9];
		}
		name[n ? n - 1 : 0] = '\0';
		CHECK(strlen(brief(name)) < TR_BRIEF_BYTES);
		seed++;
	}
}
