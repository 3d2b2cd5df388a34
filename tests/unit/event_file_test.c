/* SPDX-License-Identifier: Apache-2.0 */
#include <tare/event_file.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "base/platform.h"

/* tests/train/event_file_test.py has TensorBoard's own reader; here records
 * are taken apart by hand, and things go wrong. */

static char folder[64];
static unsigned char bytes[1 << 20];
static size_t n_bytes;

static const char *make_folder(void)
{
	(void)strcpy(folder, "/tmp/tare-test-events-XXXXXX");
	return mkdtemp(folder);
}

static void drop_folder(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	CHECK_INT(system(command), 0);
}

static void read_bytes(const char *path)
{
	FILE *file = fopen(path, "r");

	n_bytes = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (file)
		(void)fclose(file);
}

/* Bit by bit, as the polynomial says. */
static uint32_t plain_crc(const unsigned char *data, size_t n)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < n; i++) {
		crc ^= data[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static uint32_t masked(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static uint32_t u32_at(size_t at)
{
	return bytes[at] | (uint32_t)bytes[at + 1] << 8 |
	       (uint32_t)bytes[at + 2] << 16 | (uint32_t)bytes[at + 3] << 24;
}

/* How many whole records there are; -1: something is behind the last. */
static int count_records(void)
{
	size_t at = 0;
	int n = 0;

	while (at < n_bytes) {
		uint32_t len = u32_at(at);

		if (at + 16 + len > n_bytes || u32_at(at + 4) != 0 ||
		    u32_at(at + 8) != masked(plain_crc(bytes + at, 8)) ||
		    u32_at(at + 12 + len) !=
			    masked(plain_crc(bytes + at + 12, len)))
			return -1;
		at += 16 + len;
		n++;
	}
	return n;
}

TEST(the_checksum_is_that_of_the_standard)
{
	/* RFC 3720, B.4 */
	static const unsigned char zeros[32];

	CHECK_INT(plain_crc(zeros, 32), 0x8a9136aa);
	CHECK_INT(plain_crc((const unsigned char *)"123456789", 9),
		  0xe3069283);
}

TEST(a_file_begins_with_its_version)
{
	static const char version[] = "\x1a\x0d" "brain.Event:2";
	tare_event_file *file = NULL;

	CHECK(make_folder() != NULL);
	CHECK_INT(tare_event_file_open(folder, &file), 0);
	CHECK(strstr(tare_event_file_path(file), "/events.out.tfevents."));
	read_bytes(tare_event_file_path(file));
	CHECK_INT(count_records(), 1);
	/* wall_time: key and 8 bytes; file_version: key 26, 13 bytes */
	CHECK_INT(bytes[12], 9);
	CHECK(memcmp(bytes + 12 + 9, version, sizeof(version) - 1) == 0);
	CHECK_INT(tare_event_file_close(file), 0);
	drop_folder();
}

TEST(records_are_whole_after_each_flush)
{
	tare_event_file *file = NULL;
	float values[] = { 1, 2, NAN, INFINITY, 3 };

	CHECK(make_folder() != NULL);
	CHECK_INT(tare_event_file_open(folder, &file), 0);
	for (int i = 0; i < 200; i++) {
		CHECK_INT(tare_event_file_scalar(file, "loss", i, i / 3.), 0);
		CHECK_INT(tare_event_file_text(file, "t", i, "some *text*"),
			  0);
		CHECK_INT(tare_event_file_values(file, "h", i, values, 5), 0);
		CHECK_INT(tare_event_file_flush(file), 0);
		read_bytes(tare_event_file_path(file));
		CHECK_INT(count_records(), 4 + 3 * i);
	}
	CHECK_INT(tare_event_file_close(file), 0);
	drop_folder();
}

TEST(a_killed_run_leaves_whole_records)
{
	char path[256];
	pid_t child;
	int status, pipes[2];
	ssize_t n;

	CHECK(make_folder() != NULL);
	CHECK_INT(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		tare_event_file *file;

		if (tare_event_file_open(folder, &file))
			_exit(1);
		(void)!write(pipes[1], tare_event_file_path(file),
			     strlen(tare_event_file_path(file)));
		for (int i = 0; i < 100; i++)
			if (tare_event_file_scalar(file, "a", i, i))
				_exit(1);
		(void)tare_event_file_flush(file);
		(void)tare_event_file_scalar(file, "lost", 0, 0);
		(void)raise(SIGKILL);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status));
	n = read(pipes[0], path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	read_bytes(path);
	CHECK_INT(count_records(), 101);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	drop_folder();
}

/* A limit of file sizes stands for a full disk. */
TEST(a_full_disk_leaves_whole_records_and_loses_none)
{
	struct rlimit before, tight;
	tare_event_file *file = NULL;
	int failed = 0;

	CHECK(make_folder() != NULL);
	CHECK_INT(tare_event_file_open(folder, &file), 0);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	tight.rlim_cur = 1000;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &tight), 0);
	for (int i = 0; i < 100; i++) {
		(void)tare_event_file_scalar(file, "a", i, i);
		failed += tare_event_file_flush(file) != 0;
	}
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
	CHECK(failed > 50);
	read_bytes(tare_event_file_path(file));
	CHECK_INT(count_records(), 101 - failed);
	CHECK_INT(tare_event_file_flush(file), 0);
	read_bytes(tare_event_file_path(file));
	CHECK_INT(count_records(), 101);
	CHECK_INT(tare_event_file_close(file), 0);
	drop_folder();
}

TEST(misuse_of_event_files_is_told)
{
	tare_event_histogram h = { .n_buckets = 1 };
	tare_event_file *file = NULL;

	CHECK_INT(tare_event_file_open(NULL, &file), TARE_EINVAL);
	CHECK_INT(tare_event_file_open("", &file), TARE_EINVAL);
	CHECK(tare_event_file_open("/proc/none", &file) < 0);
	CHECK(!file && make_folder() != NULL);
	CHECK_INT(tare_event_file_open(folder, &file), 0);
	CHECK_INT(tare_event_file_scalar(file, NULL, 0, 0), TARE_EINVAL);
	CHECK_INT(tare_event_file_scalars(file, 0, NULL, NULL, 1),
		  TARE_EINVAL);
	CHECK_INT(tare_event_file_text(file, "a", 0, NULL), TARE_EINVAL);
	CHECK_INT(tare_event_file_histogram(file, "a", 0, &h), TARE_EINVAL);
	CHECK_INT(tare_event_file_values(file, "a", 0, NULL, 1), TARE_EINVAL);
	CHECK_INT(tare_event_file_values(file, "a", 0, NULL, 0), 0);
	CHECK_INT(tare_event_file_flush(NULL), TARE_EINVAL);
	CHECK_INT(tare_event_file_close(file), 0);
	CHECK_INT(tare_event_file_close(NULL), 0);
	drop_folder();
}

TEST(both_ways_to_a_checksum_agree)
{
	static struct tr_crc crc;
	unsigned char data[300];

	tr_crc_init(&crc);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 167 + i / 7);
	for (size_t n = 0; n <= sizeof(data) - 8; n++) {
		CHECK_INT(tr_crc(&crc, data + n % 8, n),
			  plain_crc(data + n % 8, n));
		CHECK_INT(tr_crc_by_table(&crc, data + n % 8, n),
			  plain_crc(data + n % 8, n));
	}
}
