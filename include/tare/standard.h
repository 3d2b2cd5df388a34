/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which C++ the probes need. Included by the headers that have some; those
 * that only read runs are for older ones, too.
 */
#ifndef TARE_STANDARD_H
#define TARE_STANDARD_H

/* One error that says what to do: the rest is read as if compiled out. */
#if defined(__cplusplus) && __cplusplus < 201703L && !defined(TARE_DISABLE)
#error "tare/scope.hpp needs C++17: compile with -std=c++17 or later"
#define TARE_DISABLE
#endif

#endif
