/* SPDX-License-Identifier: Apache-2.0 */
#include "presence.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* For MPI libraries whose MPI_Init does not wait for all ranks. */
#define LOOKS 10
#define LOOK_NS 10000000

static int shown = -1; /* the socket */
static bool is_known;  /* there is a launcher, and our rank is known */

/* As in cli/launch.c; -1: not set. */
static long number_of(const char *const *names)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		char *end;
		long n;

		if (!text || !*text)
			continue;
		n = strtol(text, &end, 10);
		if (!*end && n >= 0)
			return n;
	}
	return -1;
}

static long rank_said(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK",
					     "PMI_RANK", "PMIX_RANK",
					     "SLURM_PROCID", NULL };

	return number_of(names);
}

/* Ranks on this host; at least this one if unknown. */
static long ranks_here(int ranks)
{
	static const char *const local[] = { "OMPI_COMM_WORLD_LOCAL_SIZE",
					     "MPI_LOCALNRANKS", NULL };
	static const char *const hosts[] = { "SLURM_STEP_NUM_NODES",
					     "SLURM_NNODES", NULL };
	long n = number_of(local);

	if (n > 0)
		return n < ranks ? n : ranks;
	return number_of(hosts) == 1 ? ranks : 1;
}

static socklen_t name_rank(long rank, struct sockaddr_un *name)
{
	const char *group = getenv("TARE_GROUP");
	int n;

	memset(name, 0, sizeof(*name));
	name->sun_family = AF_UNIX;
	n = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
		     "tare-%ld-%.48s-%ld", (long)getuid(), group, rank);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)n);
}

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

void presence_show(void)
{
	long rank = rank_said();
	struct sockaddr_un name;
	socklen_t size;

	is_known = rank >= 0 && getenv("TARE_GROUP");
	if (!is_known)
		return;
	size = name_rank(rank, &name);
	shown = open_socket();
	if (shown >= 0 && bind(shown, (const struct sockaddr *)&name, size))
		presence_end();
}

static bool is_there(int rank)
{
	struct sockaddr_un name;
	socklen_t size = name_rank(rank, &name);
	int fd = open_socket();
	bool is = fd >= 0 &&
		  connect(fd, (const struct sockaddr *)&name, size) == 0;

	if (fd >= 0)
		(void)close(fd);
	return is;
}

static long count(int ranks)
{
	long n = 0;

	for (int i = 0; i < ranks; i++)
		n += is_there(i);
	return n;
}

enum presence presence_of(int ranks)
{
	static const struct timespec moment = { 0, LOOK_NS };
	long here = ranks_here(ranks);

	/* Without a known launcher, ranks cannot be told apart. */
	if (ranks == 1 || !is_known)
		return PRESENCE_ALL;
	for (int i = 0; shown >= 0 && i < LOOKS; i++) {
		if (count(ranks) >= here)
			return PRESENCE_ALL;
		(void)nanosleep(&moment, NULL);
	}
	return here == ranks ? PRESENCE_HERE : PRESENCE_SOME;
}

void presence_end(void)
{
	if (shown >= 0)
		(void)close(shown);
	shown = -1;
}
