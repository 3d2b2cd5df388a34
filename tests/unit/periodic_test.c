/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../server/periodic.h"

#define S INT64_C(1000000000)
#define DAY (86400 * S)

TEST(the_next_one_is_on_a_multiple)
{
	CHECK_INT(periodic_next_ns(0, 10), 10 * S);
	CHECK_INT(periodic_next_ns(9 * S, 10), 10 * S);
	CHECK_INT(periodic_next_ns(10 * S, 10), 20 * S);
	CHECK_INT(periodic_next_ns(10 * S + 1, 0.5), 10 * S + S / 2);
}

TEST(daily_is_at_midnight_utc)
{
	/* 2026-11-15 12:00:00 UTC. */
	int64_t noon = INT64_C(1794744000) * S;

	CHECK_INT(periodic_next_ns(noon, 86400), noon + DAY / 2);
	CHECK_INT(periodic_next_ns(noon, 86400) % DAY, 0);
}

TEST(never_is_never)
{
	CHECK_INT(periodic_next_ns(5 * S, 0), INT64_MAX);
}

TEST(a_name_tells_table_and_time)
{
	char name[128];

	periodic_name(name, sizeof(name), "stats", "csv",
		      INT64_C(1794744000) * S + 5);
	CHECK_STR(name, "metrics_periodic_stats_20261115_120000.csv");
}

static char folder[64];

static void put(const char *name)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0);
	(void)close(fd);
}

static bool is_there(const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

TEST(only_the_oldest_of_its_own_go)
{
	static const char *const others[] = {
		"metrics_periodic_stats_20200101_000000.json",
		"metrics_periodic_memory_20200101_000000.csv",
		"metrics_periodic_stats_20200101_000000.csv.mine",
		"metrics_periodic_stats_2020_000000.csv",
		"metrics_periodic_stats_20200101x000000.csv",
		"metrics_stats_20200101_000000.csv",
		"notes.csv",
	};
	char name[128], command[128];

	(void)strcpy(folder, "/tmp/tare-periodic-XXXXXX");
	CHECK(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		put(others[i]);
	for (int i = 0; i < 5; i++) {
		periodic_name(name, sizeof(name), "stats", "csv",
			      INT64_C(1794744000) * S + i * DAY);
		put(name);
	}
	CHECK_INT(periodic_retain(folder, "stats", "csv", 2), 3);
	CHECK(!is_there("metrics_periodic_stats_20261117_120000.csv"));
	CHECK(is_there("metrics_periodic_stats_20261118_120000.csv"));
	CHECK(is_there("metrics_periodic_stats_20261119_120000.csv"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CHECK(is_there(others[i]));
	CHECK_INT(periodic_retain(folder, "stats", "csv", 2), 0);
	CHECK_INT(periodic_retain("/nonexistent", "stats", "csv", 2), 0);
	(void)snprintf(command, sizeof(command), "rm -r '%s'", folder);
	CHECK_INT(system(command), 0);
}
