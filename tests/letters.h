/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letters: a program of functions with one letter each, told to the hooks as
 * code built with -finstrument-functions tells them, with addresses and a
 * stack that are made up; and what the ledger has of it, as text.
 */
#ifndef LETTERS_H
#define LETTERS_H

#include "check.h"
#include "scene.h"

#include <tare/read/profile.h>

#include "record/probe/calls.h"
#include "read/view.h"

#include <stdio.h>
#include <string.h>

/* Not every test needs all of it. */
#define OPTIONAL __attribute__((unused)) static

/* ---- a program of numbers ---------------------------------------------- */

#define CODE UINT64_C(0x500000000000)
#define STACK UINT64_C(0x7ff000000000)
#define FRAME 64u /* bytes of stack a function takes */

/* A letter is a function; its hook is called 20 bytes into it. */
OPTIONAL void *code(char f)
{
	return (void *)(uintptr_t)(CODE + (uint64_t)(unsigned char)f * 4096);
}

OPTIONAL void enter_at(char f, uint64_t stack, char caller, unsigned here)
{
	tr_calls_enter(code(f), (char *)code(caller) + 200 + f,
		       (void *)(uintptr_t)stack, (char *)code(f) + here);
}

OPTIONAL void exit_at(char f, uint64_t stack, char caller)
{
	tr_calls_exit(code(f), (char *)code(caller) + 200 + f,
		      (void *)(uintptr_t)stack);
}

static char open_functions[4096] = "_";
static unsigned n_open;

OPTIONAL void begin(char f)
{
	uint64_t stack = STACK - ++n_open * FRAME;

	enter_at(f, stack, open_functions[n_open - 1], 20);
	open_functions[n_open] = f;
}

OPTIONAL void end(void)
{
	uint64_t stack = STACK - n_open * FRAME;
	char f = open_functions[n_open--];

	exit_at(f, stack, open_functions[n_open]);
}

/* Leaves functions without their exits. */
OPTIONAL void jump(unsigned to)
{
	n_open = to;
}

/* "ab(cd(e))": a and b in turn, and so on. Returns what is left. */
OPTIONAL const char *run(const char *program)
{
	while (*program && *program != ')') {
		begin(*program++);
		if (*program == '(')
			program = run(program + 1) + 1;
		end();
	}
	return program;
}

OPTIONAL void start(const char *mode)
{
	const char *const options[] = { "calls", mode, NULL };

	open_functions[0] = '_';
	n_open = 0;
	scene_start(options);
}

/* ---- what is in the ledger --------------------------------------------- */

OPTIONAL char letter_of(uint64_t address)
{
	return address ? (char)((address - CODE) / 4096) : '*';
}

/* The tree as text, "a1(b2)": sorted by letter, so that it repeats. */
OPTIONAL void put_tree(const tare_node *nodes, size_t n, size_t from,
		     uint32_t depth, char *text)
{
	for (int c = 1; c < 256; c++)
		for (size_t i = from; i < n && nodes[i].depth >= depth; i++) {
			char name = nodes[i].is_function ?
					    letter_of(nodes[i].address) :
					    nodes[i].name[0];

			if (nodes[i].depth != depth || name != (char)c)
				continue;
			sprintf(text + strlen(text), "%c%llu", name,
				(unsigned long long)nodes[i].calls);
			if (i + 1 >= n || nodes[i + 1].depth <= depth)
				continue;
			strcat(text, "(");
			put_tree(nodes, n, i + 1, depth + 1, text);
			strcat(text, ")");
		}
}

OPTIONAL bool check_tree(const char *wanted)
{
	static char text[65536];
	tare_view *view = scene_view();
	const tare_node *nodes;
	size_t n;

	text[0] = '\0';
	if (!view || !CHECK_INT(tare_view_tree(view, &nodes, &n), 0))
		return false;
	put_tree(nodes, n, 0, 0, text);
	tare_view_close(view);
	return CHECK_STR(text, wanted);
}

OPTIONAL tare_call call_of_letter(char f)
{
	tare_view *view = scene_view();
	tare_call call = { .calls = 0 };
	const tare_call *calls;
	size_t n;

	if (!view || !CHECK_INT(tare_view_calls(view, &calls, &n), 0))
		return call;
	for (size_t i = 0; i < n; i++)
		if (calls[i].address == (uintptr_t)code(f))
			call = calls[i];
	call.function = call.file = ""; /* gone with the view */
	tare_view_close(view);
	return call;
}

OPTIONAL tare_health health(void)
{
	tare_view *view = scene_view();
	tare_health health = { 0 };

	if (view)
		health = *tare_view_health(view);
	tare_view_close(view);
	return health;
}

#endif
