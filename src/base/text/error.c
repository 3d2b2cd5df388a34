/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version, and texts of errors. Both libraries have these calls, so they
 * are weak: a program may link both statically.
 */
#include "base/text.h"

#include <tare/error.h>
#include <tare/version.h>

TARE_API TR_SHARED const char *tare_version(void)
{
	return TARE_VERSION;
}

TARE_API TR_SHARED const char *tare_strerror(int error)
{
	switch (error) {
	case 0:
		return "no error";
#define TR_CASE_(name, value, text) \
	case name: \
		return text;
		TARE_ERROR_LIST(TR_CASE_)
#undef TR_CASE_
	default:
		return "unknown error";
	}
}
