/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: functions that code built with -finstrument-functions calls at the
 * beginning and at the end of every function. Their work is in
 * record/probe/calls.h.
 */
#include "record/probe/calls.h"

TARE_API void __cyg_profile_func_enter(void *function, void *site);
TARE_API void __cyg_profile_func_exit(void *function, void *site);

/* The caller's stack pointer, without a frame pointer. */
#define CALLER_STACK() __builtin_dwarf_cfa()
#if defined(__x86_64__)
#define CALLER() NULL /* derived from the stack pointer */
#else
#define CALLER() __builtin_return_address(0)
#endif

TARE_API void __cyg_profile_func_enter(void *function, void *site)
{
	tr_calls_enter(function, site, CALLER_STACK(), CALLER());
}

TARE_API void __cyg_profile_func_exit(void *function, void *site)
{
	tr_calls_exit(function, site, CALLER_STACK());
}
