/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that gives up its rights, or the sight of our folders, opens its
 * ledger while it still can: a server's workers do so before their first
 * sample.
 */
#include "preload.h"

#include <unistd.h>

#include "profile/profile.h"

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
