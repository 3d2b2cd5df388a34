/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that gives up its rights, or access to our folders, opens its
 * ledger while it still can: a server's workers do so before their first
 * sample.
 */
#include "preload.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/write.h"
#include "record/sampler.h"

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

/*
 * system() and popen() start programs by libc's internal calls, with
 * `environ`: libraries that cannot be loaded below the new root are removed
 * from it in place.
 */
static void leave_environment(void)
{
	char *const *fit = PRELOAD_ENVIRONMENT(NULL, environ, false);

	/* A vfork child's environment is its parent's. */
	if (fit == environ || !tr_ledger ||
	    tr_ledger->pid != (uint32_t)getpid())
		return;
	for (size_t i = 0; fit[i]; i++)
		if (strncmp(fit[i], "LD_PRELOAD=", 11) == 0) {
			(void)setenv("LD_PRELOAD", fit[i] + 11, 1);
			return;
		}
	(void)unsetenv("LD_PRELOAD");
}

PRELOAD_API int chroot(const char *path)
{
	int result;

	tr_sampler_settle();
	result = PRELOAD_NEXT(chroot)(path);
	if (result == 0)
		leave_environment();
	return result;
}
