/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks this copy of libtare as the first of all copies in the process; and
 * the end of a process that does not call exit().
 */
#include "preload.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "ledger/write.h"
#include "record/kernels.h"
#include "record/probe.h"
#include "record/sampler.h"
#include "record/runtime.h"

/* Found by name; see record/runtime/start.c. */
extern const struct tr_probe_table *const tare_preload_;
PRELOAD_API const struct tr_probe_table *const tare_preload_ = &tr_probe_own;

/* The same for the recorder of GPU activities: gpu/inject.c. */
extern struct tr_kernels_host *const tare_kernels_;
PRELOAD_API struct tr_kernels_host *const tare_kernels_ = &tr_kernels_host;

bool preload_is_own(const void *code)
{
	const char *from = (const char *)&preload_header;
	const ElfW(Phdr) *part = (const void *)(from + preload_header.e_phoff);
	static uint64_t bytes; /* all threads compute the same */

	if (!__atomic_load_n(&bytes, __ATOMIC_RELAXED)) {
		uint64_t end = 0;

		for (unsigned i = 0; i < preload_header.e_phnum; i++)
			if (part[i].p_type == PT_LOAD &&
			    part[i].p_vaddr + part[i].p_memsz > end)
				end = part[i].p_vaddr + part[i].p_memsz;
		__atomic_store_n(&bytes, end, __ATOMIC_RELAXED);
	}
	return (uint64_t)((const char *)code - from) <
	       __atomic_load_n(&bytes, __ATOMIC_RELAXED);
}

/*
 * A vfork child sees its parent's ledger. No system call if it is closed: a
 * process that confines itself may not permit one.
 */
static bool has_ledger(uint32_t state)
{
	return tr_ledger && TR_ACQUIRE(tr_ledger->ready) && tr_ledger->base &&
	       TR_LOAD(tr_ledger->header->state) == state &&
	       tr_ledger->pid == (uint32_t)getpid();
}

bool preload_close(void)
{
	int saved = errno;

	if (!has_ledger(TR_STATE_LIVE))
		return false;
	tr_sampler_flush();
	tr_ledger_seal();
	errno = saved;
	return true;
}

void preload_go_on(bool was_closed)
{
	if (was_closed && has_ledger(TR_STATE_FINISHED))
		TR_PUBLISH(tr_ledger->header->state, TR_STATE_LIVE);
}

/*
 * Adds the rest of the threads' time, and the time of the end. May run in a
 * signal handler. The file stays in place: `tare run` moves it.
 */
static void leave(int status)
{
	if (!has_ledger(TR_STATE_LIVE))
		return;
	TR_STORE(tr_ledger->header->exit_status, (uint32_t)(status & 255) + 1);
	tr_kernels_stop();
	tr_sampler_stop();
	tr_ledger_seal();
}

/*
 * The end by exit(), which has a status for such handlers alone. One that is
 * set while libraries are loaded runs after their destructors.
 */
#if defined(__GLIBC__)
static void at_exit(int status, void *arg)
{
	(void)arg;
	tr_end(status);
}

__attribute__((constructor)) static void ask_for_status(void)
{
	tr_end_is_known = on_exit(at_exit, NULL) == 0;
}
#endif

PRELOAD_API void _exit(int status)
{
	leave(status);
	PRELOAD_NEXT(_exit)(status);
	__builtin_unreachable();
}

PRELOAD_API void _Exit(int status)
{
	leave(status);
	PRELOAD_NEXT(_Exit)(status);
	__builtin_unreachable();
}
