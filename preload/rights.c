/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that gives up its rights, or the sight of our folders, opens its
 * ledger while it still can: a server's workers do so before their first
 * sample. One that confines itself is left alone from then on: a call of ours
 * that its filter does not know would end it.
 */
#include "preload.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profile/profile.h"
#include "runtime/runtime.h"

PRELOAD_API int setuid(uid_t user)
{
	tr_sampler_settle();
	return PRELOAD_NEXT(setuid)(user);
}

PRELOAD_API int seteuid(uid_t user)
{
	tr_sampler_settle();
	return PRELOAD_NEXT(seteuid)(user);
}

PRELOAD_API int setreuid(uid_t real, uid_t effective)
{
	tr_sampler_settle();
	return PRELOAD_NEXT(setreuid)(real, effective);
}

PRELOAD_API int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	tr_sampler_settle();
	return PRELOAD_NEXT(setresuid)(real, effective, saved);
}

PRELOAD_API int chroot(const char *path)
{
	tr_sampler_settle();
	return PRELOAD_NEXT(chroot)(path);
}

/* ---- seccomp ----------------------------------------------------------- */

/* Arguments beyond those that are given are whatever is there. */
struct args {
	unsigned long at[6];
};

#define TAKE_ARGS(last, args) \
	do { \
		va_list list_; \
\
		va_start(list_, last); \
		for (int i_ = 0; i_ < 6; i_++) \
			(args).at[i_] = va_arg(list_, unsigned long); \
		va_end(list_); \
	} while (0)

/* No filter: the host asks whether there could be one. */
PRELOAD_API int prctl(int what, ...)
{
	struct args args;

	TAKE_ARGS(what, args);
	if (what == PR_SET_SECCOMP && !preload_is_own(PRELOAD_CALLER()) &&
	    (args.at[0] == SECCOMP_MODE_STRICT || args.at[1]))
		tr_confine();
	return PRELOAD_NEXT(prctl)(what, args.at[0], args.at[1], args.at[2],
				   args.at[3]);
}

PRELOAD_API long syscall(long what, ...)
{
	struct args args;

	TAKE_ARGS(what, args);
	if (what == SYS_seccomp && !preload_is_own(PRELOAD_CALLER()) &&
	    (args.at[0] == SECCOMP_SET_MODE_STRICT ||
	     (args.at[0] == SECCOMP_SET_MODE_FILTER && args.at[2])))
		tr_confine();
	return PRELOAD_NEXT(syscall)(what, args.at[0], args.at[1], args.at[2],
				     args.at[3], args.at[4], args.at[5]);
}
