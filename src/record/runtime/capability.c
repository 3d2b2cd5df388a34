/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capability: the rows of `tare doctor`.
 *
 * To add one: a function that fills a struct tr_capability, and a line in a
 * table: below, or in the room that it is about (record/system/capability.c).
 */
#include "record/runtime.h"

#include <tare/system.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/system.h"
#include "base/text.h"
#include "record/sampler.h"

/* Weak: works in a program without dynamic loading. */
#pragma weak dlopen
#pragma weak dlclose

#define ROWS_MOST 32u
#define TRIED_BYTES 4096u

static void look_clock(struct tr_capability *found)
{
	if (tr_counter_is_trusted())
		tr_capability_set(found, true, NULL,
				  "the processor's counter");
	else
		tr_capability_set(found, false,
				  "a kernel that keeps its own time by the tsc "
				  "(clocksource=tsc, where it is stable)",
				  "the kernel does not trust the processor's "
				  "counter: clock_gettime is used, and probes "
				  "take longer");
}

static void look_ledger(struct tr_capability *found)
{
	char dir[512];
	uint64_t free_bytes;
	int err;

	tr_load_config();
	err = tr_dir_live(tr_config.dir, dir, sizeof(dir));
	if (!err && access(dir, W_OK | X_OK))
		err = TARE_EPERM;
	if (err) {
		tr_capability_set(found, false,
				  "TARE_DIR, with a folder that can be written",
				  "no folder for ledgers: %s",
				  tare_strerror(err));
		return;
	}
	free_bytes = tr_file_free_bytes(dir);
	/* A ledger takes a quarter of the free space, and 512 KiB at least. */
	tr_capability_set(found, free_bytes >= 2u << 20,
			  free_bytes >= 2u << 20 ?
				  NULL :
				  "space in that folder, or another TARE_DIR",
			  "%.120s, %s free", dir,
			  tr_as_bytes((double)free_bytes).text);
}

/* Path of tare.conf: the first candidate that exists. */
static const char *conf_path(char *path, size_t size)
{
	const char *named = secure_getenv("TARE_CONF");
	const char *folder = secure_getenv("XDG_CONFIG_HOME");
	const char *below = "tare/tare.conf";

	if (named)
		return named[0] ? named : NULL;
	if (access("tare.conf", F_OK) == 0)
		return "tare.conf";
	if (!folder || folder[0] != '/') {
		folder = secure_getenv("HOME");
		below = ".config/tare/tare.conf";
	}
	if (!folder || folder[0] != '/' ||
	    (size_t)snprintf(path, size, "%s/%s", folder, below) >= size ||
	    access(path, F_OK))
		return NULL;
	return path;
}

struct complaint {
	char text[128];
};

static void complain(void *arg, const char *text)
{
	struct complaint *complaint = arg;

	if (!complaint->text[0])
		(void)snprintf(complaint->text, sizeof(complaint->text), "%s",
			       text);
}

static unsigned count_variables(void)
{
	unsigned n = 0;

	for (char **entry = environ; entry && *entry; entry++)
		n += strncmp(*entry, "TARE_", 5) == 0 ||
		     strncmp(*entry, "TARE=", 5) == 0;
	return n;
}

static void look_config(struct tr_capability *found)
{
	static struct tr_config tried; /* too large for a stack */
	struct complaint complaint = { { 0 } };
	const char *mode = secure_getenv("TARE");
	char path[512];
	const char *conf = conf_path(path, sizeof(path));

	tr_config_load(&tried, complain, &complaint);
	if (complaint.text[0])
		tr_capability_set(found, false,
				  "mend what is named; `tare config` shows "
				  "the values that hold", "%s",
				  complaint.text);
	else
		tr_capability_set(found, true, NULL,
				  "TARE is %s; %u variables; file: %.100s",
				  mode ? mode : "not set", count_variables(),
				  conf ? conf : "none");
}

static void look_wipe(struct tr_capability *found)
{
	bool is_wiped = false;
	void *memory = tr_memory_map_wiped(TRIED_BYTES, &is_wiped);

	tr_memory_unmap(memory, TRIED_BYTES);
	if (is_wiped)
		tr_capability_set(found, true, NULL, "MADV_WIPEONFORK");
	else
		tr_capability_set(found, false, "a kernel of 4.14 or later",
				  "no MADV_WIPEONFORK: children made by fork() "
				  "are measured, those by clone() are not");
}

/* In this process; a program under `tare run` may have taken it. */
static void look_signal(struct tr_capability *found)
{
	int number = tr_sampler_free();

	if (number)
		tr_capability_set(found, true, NULL,
				  "%d (SIGRTMIN+%d); SIGURG in a program that "
				  "samples itself",
				  number, number - SIGRTMIN);
	else
		tr_capability_set(found, false,
				  "a parent that ignores fewer signals",
				  "no real-time signal is free: 'tare run' "
				  "takes no samples");
}

static void look_populate(struct tr_capability *found)
{
	void *memory = tr_memory_map(TRIED_BYTES);
	bool can = memory && tr_memory_reserve(memory, TRIED_BYTES) == 0;

	tr_memory_unmap(memory, TRIED_BYTES);
	if (can)
		tr_capability_set(found, true, NULL, "MADV_POPULATE_WRITE");
	else
		tr_capability_set(found, false, "a kernel of 5.14 or later",
				  "no MADV_POPULATE_WRITE: pages of the ledger "
				  "are made real by writing");
}

/*
 * The only place that describes GPUs: asks the thread that reads them; before
 * it exists, checks what it would read.
 */
static void look_gpu(struct tr_capability *found)
{
	static const char *const names[] = { "libnvidia-ml.so.1",
					     "libnvidia-ml.so" };
	char path[300];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *library = dlopen ? dlopen(names[i], RTLD_LAZY) : NULL;

		if (!library)
			continue;
		if (dlclose)
			(void)dlclose(library);
		tr_capability_set(found, true, NULL, "NVIDIA, by %s",
				  names[i]);
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/sys/module/amdgpu", tr_root);
	if (access(path, F_OK) == 0)
		tr_capability_set(found, true, NULL, "AMD, by amdgpu in /sys");
	else
		tr_capability_set(found, false,
				  "a GPU and its driver: libnvidia-ml.so.1 of "
				  "NVIDIA, or the kernel module amdgpu",
				  "neither NVIDIA's library nor amdgpu is "
				  "there");
}

static const struct tr_capability_row first[] = {
	{ "clock", look_clock },
	{ "ledger", look_ledger },
	{ "configuration", look_config },
	{ NULL, NULL },
};

static const struct tr_capability_row last[] = {
	{ "gpu", look_gpu },
	{ "sampling_signal", look_signal },
	{ "wipe_on_fork", look_wipe },
	{ "populate_write", look_populate },
	{ NULL, NULL },
};

/* Guarded by the caller, see its comment. */
static struct tr_capability found_rows[ROWS_MOST];
static tare_capability public_rows[ROWS_MOST];

static size_t look_all(const struct tr_capability_row *rows, size_t n)
{
	for (; rows->name && n < ROWS_MOST; rows++, n++) {
		struct tr_capability *found = &found_rows[n];

		memset(found, 0, sizeof(*found));
		rows->look(found);
		public_rows[n] = (tare_capability){
			.name = rows->name,
			.is_available = found->is_available,
			.detail = found->detail,
			.help = found->help,
		};
	}
	return n;
}

TARE_API int tare_capabilities(const tare_capability **ret_rows,
			       size_t *ret_n)
{
	size_t n = 0;

	if (!ret_rows || !ret_n)
		return TARE_EINVAL;
	n = look_all(first, n);
	n = look_all(tr_system_capabilities, n);
	n = look_all(last, n);
	*ret_rows = public_rows;
	*ret_n = n;
	return 0;
}
