/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checksums of a run that was put away: no bit of it changes a figure without
 * being noticed.
 */
#include "../fuzz/reading.h"

#include "check.h"
#include "scene.h"

#include "base/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[600];
static char *whole;
static size_t bytes;

/* ---- the sums ---------------------------------------------------------- */

TEST(a_sum_goes_on_where_it_ended)
{
	static const char text[] = "123456789";
	struct tr_crc crc;
	uint32_t part;

	tr_crc_init(&crc);
	CHECK_INT(tr_crc(&crc, text, 9), 0xe3069283); /* of the standard */
	part = tr_crc(&crc, text, 4);
	CHECK_INT(tr_crc_more(&crc, part, text + 4, 5), 0xe3069283);
	CHECK_INT(tr_crc_by_table(&crc, text, 9), 0xe3069283);
}

TEST(zeros_count_as_if_they_were_read)
{
	static const char zeros[5000];
	struct tr_crc crc;

	tr_crc_init(&crc);
	for (size_t n = 0; n < sizeof(zeros); n = n * 3 + 1) {
		uint32_t sum = tr_crc(&crc, "text", 4);

		CHECK_INT(tr_crc_zeros(sum, n),
			  tr_crc_more(&crc, sum, zeros, n));
	}
	CHECK_INT(tr_crc_zeros(tr_crc_zeros(7, UINT64_C(1) << 33), 5),
		  tr_crc_zeros(7, (UINT64_C(1) << 33) + 5));
}

/* ---- a finished run ---------------------------------------------------- */

static bool load(void)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		return false;
	bytes = (size_t)st.st_size;
	whole = malloc(bytes);
	if (read(fd, whole, bytes) != (ssize_t)bytes)
		return false;
	return close(fd) == 0;
}

/* Ends measuring; the run is then in the folder of runs. */
static bool finish_run(void)
{
	tare_run_entry *runs;
	size_t n;

	reading_fill_some(scene_dir, 20);
	if (!CHECK_INT(tare_stop(), 0) ||
	    !CHECK_INT(tare_runs_list(&runs, &n), 0))
		return false;
	if (CHECK_INT(n, 1))
		(void)snprintf(path, sizeof(path), "%s", runs[0].path);
	tare_runs_free(runs);
	return CHECK(strstr(path, "/runs/")) && CHECK(load());
}

static void store(void)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	CHECK(fd >= 0 && write(fd, whole, bytes) == (ssize_t)bytes);
	(void)close(fd);
}

static int append(void *arg, const char *text, size_t len)
{
	tr_buf_add(arg, text, len);
	return 0;
}

/* All that is said of it; false: it cannot be opened, or is damaged. */
static bool read_run(struct tr_buf *said, char *damage, size_t size)
{
	tare_view *view;
	bool is_right;

	damage[0] = '\0';
	said->len = 0;
	if (tare_view_open(path, &view))
		return false;
	(void)snprintf(damage, size, "%s", tare_view_run(view)->damage);
	is_right = damage[0] == '\0';
	if (is_right) {
		CHECK_INT(tare_view_json(view, NULL, append, said), 0);
		CHECK_INT(tare_view_report(view, NULL, append, said), 0);
	}
	tare_view_close(view);
	return is_right;
}

static bool is_same(const struct tr_buf *a, const struct tr_buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static void flip(uint64_t bit)
{
	whole[bit / 8] = (char)(whole[bit / 8] ^ 1 << bit % 8);
	store();
}

#define FLIPS 400

static void play_flips(void)
{
	struct tr_buf before = TR_BUF_INIT, now = TR_BUF_INIT;
	struct dice dice = { 20261116 };
	unsigned found = 0, silent = 0;
	char damage[200];

	if (!finish_run() ||
	    !CHECK(read_run(&before, damage, sizeof(damage))))
		return;
	for (unsigned i = 0; i < FLIPS; i++) {
		uint64_t bit = dice_next(&dice) % (bytes * 8);

		/* Half of them where something is. */
		while (i % 2 && !whole[bit / 8])
			bit = dice_next(&dice) % (bytes * 8);
		flip(bit);
		if (!read_run(&now, damage, sizeof(damage)))
			found++;
		else if (!is_same(&before, &now))
			silent++;
		flip(bit);
	}
	printf("# %u of %u flips noticed\n", found, FLIPS);
	CHECK_INT(silent, 0);
	CHECK(found >= FLIPS / 2);
	CHECK(read_run(&now, damage, sizeof(damage)) && is_same(&before, &now));
	tr_buf_release(&before);
	tr_buf_release(&now);
}

TEST(every_flipped_bit_is_noticed_or_changes_nothing)
{
	scene_play(play_flips);
}

/* ---- names ------------------------------------------------------------- */

static char problem[400];

static void keep_problem(void *arg, const char *text)
{
	(void)arg;
	if (!problem[0])
		(void)snprintf(problem, sizeof(problem), "%s", text);
}

/* A bit of this part: who says what. */
static void damage_part(uint64_t off, const char *name)
{
	struct tr_buf said = TR_BUF_INIT;
	char damage[200], wanted[80];
	tare_view *view;

	flip(off * 8 + 1);
	CHECK(!read_run(&said, damage, sizeof(damage)));
	CHECK_STR(damage, name);
	problem[0] = '\0';
	CHECK(tare_verify(path, keep_problem, NULL) > 0);
	(void)snprintf(wanted, sizeof(wanted),
		       "other bytes than were written: %s", name);
	CHECK_STR(problem, wanted);
	if (CHECK_INT(tare_view_open(path, &view), 0)) {
		CHECK_INT(tare_view_report(view, NULL, append, &said), 0);
		tr_buf_addc(&said, '\0');
		CHECK(strstr(said.data, "damaged: other bytes than were"));
		tare_view_close(view);
	}
	flip(off * 8 + 1);
	tr_buf_release(&said);
}

static void play_names(void)
{
	const struct tr_header *header;

	if (!finish_run())
		return;
	header = (const void *)whole;
	CHECK_INT(tare_verify(path, NULL, NULL), 0);
	damage_part(offsetof(struct tr_header, rss_peak), "header");
	damage_part(TR_META_AT + 3, "metadata");
	damage_part(TR_SUMS_AT + 40, "checksums");
	damage_part(header->region[TR_REGION_STRINGS].off + 9, "strings");
	damage_part(header->region[TR_REGION_BLOCKS].off + 40, "records");
	damage_part(header->region[TR_REGION_ARENA].off + 8, "arena");
	free(whole);
}

TEST(the_damaged_part_is_named)
{
	scene_play(play_names);
}

/* ---- one that was killed ----------------------------------------------- */

static void play_kill(void)
{
	reading_fill_some(scene_dir, 20);
	(void)fflush(stdout);
	_exit(0); /* nothing is closed */
}

static void play_swept(void)
{
	tare_run_entry *runs;
	struct tr_image image;
	size_t n;

	CHECK_INT(tare_runs_sweep(), 1);
	if (!CHECK_INT(tare_runs_list(&runs, &n), 0))
		return;
	if (CHECK_INT(n, 1) &&
	    CHECK_INT(tr_image_open(runs[0].path, &image), 0)) {
		CHECK(image.is_summed);
		CHECK_INT(image.damaged, 0);
		tr_image_close(&image);
	}
	tare_runs_free(runs);
}

static void play_killed(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		play_kill();
	(void)waitpid(child, &status, 0);
	play_swept();
}

TEST(a_killed_run_that_is_swept_has_checksums)
{
	scene_play(play_killed);
}
