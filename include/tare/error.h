/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results. Probes return nothing; every other call returns 0 (or a count)
 * or one of these negative numbers.
 */
#ifndef TARE_ERROR_H
#define TARE_ERROR_H

#include <tare/api.h>

#define TARE_ERROR_LIST(X) \
	X(TARE_EINVAL, -1, "invalid argument") \
	X(TARE_ENOMEM, -2, "out of memory") \
	X(TARE_EIO, -3, "input or output error") \
	X(TARE_ENOENT, -4, "not found") \
	X(TARE_EFORMAT, -5, "not a ledger, or damaged") \
	X(TARE_EVERSION, -6, "ledger of a newer version") \
	X(TARE_EOFF, -7, "measuring is off in this process") \
	X(TARE_EDEAD, -8, "the process has ended") \
	X(TARE_EPERM, -9, "permission denied") \
	X(TARE_ERANGE, -10, "value out of range") \
	X(TARE_EFULL, -11, "no space left") \
	X(TARE_EBUSY, -12, "another process holds its lock") \
	X(TARE_EAMBIGUOUS, -13, "more than one run is meant")

enum tare_error {
	TARE_OK = 0,
#define TARE_ERROR_ENUM_(name, value, text) name = (value),
	TARE_ERROR_LIST(TARE_ERROR_ENUM_)
#undef TARE_ERROR_ENUM_
};

TARE_BEGIN

/* A short English text for a result. Never NULL; do not free it. */
TARE_API const char *tare_strerror(int error);

TARE_END
#endif
