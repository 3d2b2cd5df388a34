/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in the order of a tree. */
#include <stdio.h>
#include <string.h>

#include "../check.h"
#include "read/profile.h"

/* "2 0,0 1" for row 2 at depth 0, then row 0 at depth 1. */
static const char *tree_of(struct tr_relative *rows, uint32_t n)
{
	static char text[512];
	uint32_t order[64];
	size_t len = 0;

	text[0] = '\0';
	if (tr_family_order(rows, n, order))
		return "no memory";
	for (uint32_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s%u %u", i ? "," : "", order[i],
					rows[order[i]].depth);
	return text;
}

#define TREE(...) \
	tree_of((struct tr_relative[]){ __VA_ARGS__ }, \
		sizeof((struct tr_relative[]){ __VA_ARGS__ }) / \
			sizeof(struct tr_relative))

TEST(children_follow_their_parent_oldest_first)
{
	CHECK_STR(TREE({ 13, 10, 400, 0 }, { 12, 11, 300, 0 },
		       { 11, 10, 200, 0 }, { 10, 1, 100, 0 }),
		  "3 0,2 1,1 2,0 1");
}

TEST(unknown_parents_are_no_parents)
{
	CHECK_STR(TREE({ 10, 0, 200, 0 }, { 11, 99, 100, 0 },
		       { 0, 0, 300, 0 }),
		  "1 0,0 0,2 0");
	CHECK_STR(tree_of(NULL, 0), "");
}

/* The second process with id 10 started the last one. */
TEST(of_processes_with_one_id_the_last_before_is_the_parent)
{
	CHECK_STR(TREE({ 10, 1, 100, 0 }, { 11, 10, 150, 0 },
		       { 10, 1, 200, 0 }, { 12, 10, 250, 0 },
		       { 10, 1, 300, 0 }),
		  "0 0,1 1,2 0,3 1,4 0");
}

TEST(circles_in_damaged_data_are_cut)
{
	CHECK_STR(TREE({ 10, 11, 100, 0 }, { 11, 10, 100, 0 }), "0 0,1 1");
	CHECK_STR(TREE({ 10, 10, 100, 0 }), "0 0");
	CHECK_STR(TREE({ -1, -1, INT64_MIN, 0 }, { -1, -1, INT64_MAX, 0 }),
		  "0 0,1 0");
}

TEST(a_long_line_of_processes_is_in_order)
{
	struct tr_relative rows[60];

	for (int i = 0; i < 60; i++)
		rows[i] = (struct tr_relative){ 100 + i, 99 + i, i, 0 };
	CHECK(strstr(tree_of(rows, 60), "58 58,59 59") != NULL);
}
