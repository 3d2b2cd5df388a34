/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibration file: what a process of this user found a moment ago.
 *
 * Calibrating takes a millisecond, as long as many a program of a test suite
 * runs. The figures depend on the processor, the library and a few options,
 * so programs that start within a minute of each other share them, through a
 * file beside the live ledgers. Not for longer: a process that calibrates on
 * a busy machine may find too much.
 *
 * Runs in signal handlers, too. The file is replaced in one step, and
 * everything in it is checked: figures that cannot be are measured again.
 */
#include "record/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHARED_NS INT64_C(60000000000)
#define TICKS_MOST 1e6 /* of one probe */

/* What the figures depend on; compared as bytes. */
struct calibration_key {
	char version[32];
	uint8_t boot_id[40];
	uint64_t header_bytes;
	uint64_t options; /* one bit each */
};

struct calibration {
	struct calibration_key key;
	int64_t found_ns; /* on the monotonic clock */
	double sec_per_tick, inside, outside, counter, value, counted;
	uint64_t due; /* tr_drain_due */
	struct tr_added scope, untimed, added_value;
	uint64_t end; /* of the file, or what was written of it */
};

#define TR_CALIBRATION_END UINT64_C(0x656e6f642e2e2e21)

static void fill_key(struct calibration_key *key)
{
	const struct tr_header *header = tr_ledger->header;

	memset(key, 0, sizeof(*key));
	memcpy(key->version, TARE_VERSION, sizeof(TARE_VERSION));
	memcpy(key->boot_id, header->boot_id, sizeof(key->boot_id));
	key->header_bytes = sizeof(*header);
	key->options = tr_ledger->counter_clock | tr_ledger->tracing << 1 |
		       tr_ledger->discard << 2 |
		       (tr_ledger->keep_values != 0) << 3 |
		       (uint64_t)tr_ledger->ring_bytes << 8;
}

/* "" if the ledger has no folder. */
static void name_file(char *path, size_t size, const char *suffix)
{
	const char *slash = strrchr(tr_ledger->path, '/');

	path[0] = '\0';
	if (slash && (size_t)snprintf(path, size, "%.*s/.calibration%s",
				      (int)(slash - tr_ledger->path),
				      tr_ledger->path, suffix) >= size)
		path[0] = '\0';
}

static bool can_be(double ticks)
{
	return ticks >= 0 && ticks <= TICKS_MOST;
}

static bool is_sound_added(const struct tr_added *added)
{
	for (unsigned i = 0; i < TR_WORKS; i++)
		if (!can_be(added->ticks[i]) || !can_be(added->between[i]))
			return false;
	return true;
}

static bool is_sound(const struct calibration *is)
{
	int64_t age = tr_monotonic_ns() - is->found_ns;

	return is->end == TR_CALIBRATION_END && age >= 0 && age < SHARED_NS &&
	       is->sec_per_tick > 1e-12 && is->sec_per_tick < 1e-3 &&
	       can_be(is->inside) && can_be(is->outside) &&
	       can_be(is->counter) && can_be(is->value) &&
	       can_be(is->counted) &&
	       (is->due == TR_DUE_BATCH || is->due == TR_DUE_BEHIND) &&
	       is_sound_added(&is->scope) && is_sound_added(&is->untimed) &&
	       is_sound_added(&is->added_value);
}

bool tr_calibration_read(void)
{
	struct tr_header *header = tr_ledger->header;
	struct calibration is;
	struct calibration_key key;
	char path[520];

	name_file(path, sizeof(path), "");
	if (!path[0] ||
	    tr_file_read(path, &is, sizeof(is)) != (int64_t)sizeof(is))
		return false;
	fill_key(&key);
	if (memcmp(&key, &is.key, sizeof(key)) != 0 || !is_sound(&is))
		return false;
	header->sec_per_tick = is.sec_per_tick;
	header->inside_ticks = is.inside;
	header->outside_ticks = is.outside;
	header->counter_ticks = is.counter;
	header->value_ticks = is.value;
	header->counted_ticks = is.counted;
	header->added_scope = is.scope;
	header->added_untimed = is.untimed;
	header->added_value = is.added_value;
	if (!tr_drain_is_chosen)
		TR_STORE(tr_drain_due, (uint32_t)is.due);
	tr_drain_is_chosen = true;
	return true;
}

static void fill_calibration(struct calibration *is)
{
	const struct tr_header *header = tr_ledger->header;

	memset(is, 0, sizeof(*is));
	fill_key(&is->key);
	is->found_ns = tr_monotonic_ns();
	is->sec_per_tick = header->sec_per_tick;
	is->inside = header->inside_ticks;
	is->outside = header->outside_ticks;
	is->counter = header->counter_ticks;
	is->value = header->value_ticks;
	is->counted = header->counted_ticks;
	is->due = TR_LOAD(tr_drain_due);
	is->scope = header->added_scope;
	is->untimed = header->added_untimed;
	is->added_value = header->added_value;
	is->end = TR_CALIBRATION_END;
}

void tr_calibration_write(void)
{
	char path[520], part[520], suffix[24];
	int fd, failed, saved = errno;
	struct calibration is;

	(void)snprintf(suffix, sizeof(suffix), ".%u.part",
		       (unsigned)tr_ledger->pid);
	name_file(path, sizeof(path), "");
	name_file(part, sizeof(part), suffix);
	/* A file of this process, or of one that had its id. */
	fd = part[0] && sizeof(is) <= tr_file_limit() ?
		     tr_file_open(part, O_WRONLY | O_CREAT | O_TRUNC |
					O_NOFOLLOW, 0600) :
		     -1;
	if (fd >= 0) {
		fill_calibration(&is);
		failed = tr_file_write_all(fd, &is, sizeof(is));
		failed |= close(fd);
		if (failed || rename(part, path))
			(void)unlink(part);
	}
	errno = saved;
}
