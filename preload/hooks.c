/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: what code built with -finstrument-functions calls at the beginning
 * and at the end of every function. probe/calls.h has what they do.
 */
#include "record/probe/calls.h"

TARE_API void __cyg_profile_func_enter(void *function, void *site);
TARE_API void __cyg_profile_func_exit(void *function, void *site);

/* The stack pointer of who called the hook, without a frame pointer. */
#define CALLER_STACK() __builtin_dwarf_cfa()
#if defined(__x86_64__)
#define CALLER() NULL /* found from that */
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
