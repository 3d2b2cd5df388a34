/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C++ standard that the probes need. Included by headers with probes;
 * headers that only read runs work with older standards, too.
 */
#ifndef TARE_STANDARD_H
#define TARE_STANDARD_H

/* One clear error: after it, the rest is compiled as with TARE_DISABLE. */
#if defined(__cplusplus) && __cplusplus < 201703L && !defined(TARE_DISABLE)
#error "tare/scope.hpp needs C++17: compile with -std=c++17 or later"
#define TARE_DISABLE
#endif

#endif
