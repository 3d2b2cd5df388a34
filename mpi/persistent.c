/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Persistent requests: created once, started often. The bytes of a start are
 * known when the request is created, and are kept until it is freed, in a fixed
 * table: requests that do not fit are timed without bytes.
 *
 * A thread claims a slot by its key alone. The program must not create, start
 * and free one request in two threads at the same time.
 */
#include "bytes.h"
#include "table.h"

#include <string.h>

#define PLACES 4096u /* a power of two */
#define TRIES 16u

static struct place {
	uint64_t key; /* 0: never used; FREED: reusable */
	uint64_t bytes;
} places[PLACES];

#define FREED UINT64_MAX

/* Handles are pointers or numbers. Flips a bit that none uses: never 0. */
static uint64_t key_of(MPI_Request request)
{
	uint64_t key = 0;

	memcpy(&key, &request, sizeof(request));
	return key ^ (UINT64_C(1) << 63);
}

static struct place *place_at(uint64_t key, unsigned i)
{
	return &places[((key * UINT64_C(0x9e3779b97f4a7c15) >> 40) + i) %
		       PLACES];
}

static struct place *find(MPI_Request request)
{
	uint64_t key = key_of(request), there;

	for (unsigned i = 0; i < TRIES; i++) {
		struct place *place = place_at(key, i);

		there = __atomic_load_n(&place->key, __ATOMIC_ACQUIRE);
		if (there == key)
			return place;
		if (!there)
			break;
	}
	return NULL;
}

static void remember(MPI_Request request, uint64_t bytes)
{
	uint64_t key = key_of(request), there;

	for (unsigned i = 0; i < TRIES; i++) {
		struct place *place = place_at(key, i);

		there = __atomic_load_n(&place->key, __ATOMIC_RELAXED);
		if (there && there != FREED && there != key)
			continue;
		/* Only the thread that claims the slot writes its content. */
		if (!__atomic_compare_exchange_n(&place->key, &there, key,
						 false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&place->bytes, bytes, __ATOMIC_RELAXED);
		return;
	}
}

static uint64_t bytes_at_start(MPI_Request request)
{
	struct place *place = find(request);

	return place ? __atomic_load_n(&place->bytes, __ATOMIC_RELAXED) : 0;
}

static uint64_t bytes_at_starts(int n, const MPI_Request requests[])
{
	uint64_t bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += bytes_at_start(requests[i]);
	return bytes;
}

#define WRAP_PERSISTENT(class, name, parameters, arguments, bytes) \
	WRAP_API int MPI_##name parameters \
	{ \
		static struct wrap wrap = WRAP_INIT(wrap, class, \
						    "MPI_" #name); \
		tare_scope scope; \
		int result; \
\
		if (!wrap_is_on(&wrap)) \
			return WRAP_REAL(wrap, MPI_##name) arguments; \
		scope = wrap_enter(&wrap.time); \
		result = WRAP_REAL(wrap, MPI_##name) arguments; \
		wrap_leave(scope, result); \
		if (result == MPI_SUCCESS) \
			remember(*request, (bytes)); \
		return result; \
	} \
	WRAP_ALIAS(name, parameters)
#define WRAP_PERSISTENT_LARGE(class, name, parameters, arguments, bytes) \
	WRAP_PERSISTENT(class, name##_c, parameters, arguments, bytes)

PERSISTENT_ROWS(WRAP_PERSISTENT, int, int)
#if WRAP_HAS_LARGE
PERSISTENT_ROWS(WRAP_PERSISTENT_LARGE, MPI_Count, MPI_Aint)
#endif

WRAP(START, Start, (MPI_Request * request), (request),
     bytes_at_start(*request))
WRAP(START, Startall, (int n, MPI_Request requests[]), (n, requests),
     bytes_at_starts(n, requests))

static uint64_t forget(MPI_Request request)
{
	struct place *place = find(request);

	if (place)
		__atomic_store_n(&place->key, FREED, __ATOMIC_RELEASE);
	return 0;
}

WRAP(SETUP, Request_free, (MPI_Request * request), (request),
     forget(*request))
