/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrap: the code made from a row of the table.
 *
 *	int MPI_Send(...) { time it; PMPI_Send(...); }
 *	PMPI_Send: an alias of it
 *
 * Both names, because PMPI is also called directly: OpenMPI's Fortran calls
 * PMPI_Send, and so do tools that are linked into a program. The real function
 * is the next PMPI_Send after this library (find.c), so a call is seen once. If
 * MPI calls itself by these names, the inner call is only passed on.
 *
 * Cost of a call: a read of a thread-local word, a scope, and a value for its
 * bytes. It allocates nothing and takes no lock.
 */
#ifndef MPI_WRAP_H
#define MPI_WRAP_H

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include <tare/probe.h>

#define WRAP_API __attribute__((visibility("default")))

#define SOURCE_SEND "mpi.send"
#define SOURCE_RECEIVE "mpi.receive"
#define SOURCE_WAIT "mpi.wait"
#define SOURCE_START "mpi.start"
#define SOURCE_COLLECTIVE "mpi.collective"
#define SOURCE_ONE_SIDED "mpi.onesided"
#define SOURCE_SETUP "mpi.setup"
#define SOURCE_ARRIVAL "mpi.arrival"
#define SOURCE_SENT "mpi.sent"
#define SOURCE_RECEIVED "mpi.received"
#define SOURCE_JOB "mpi.job"

/* A call's series: duration, and bytes. */
struct wrap {
	const char *name; /* "PMPI_Send" */
	void *real;	  /* NULL until found; the same in all threads */
	tare_site time, sent, received, arrival;
};

#define WRAP_TIME_(site, name, source) \
	TARE_SITE_INIT_(site, TARE_KIND_SCOPE, TARE_TYPE_TIME, 0, name, \
			NULL, source)
#define WRAP_BYTES_(site, name, source) \
	TARE_SITE_INIT_(site, TARE_KIND_VALUE, TARE_TYPE_MEMORY, 0, \
			name ".bytes", "B", source)
#define WRAP_INIT(wrap, class, call) \
	{ \
		.name = "P" call, \
		.time = WRAP_TIME_(wrap.time, call, SOURCE_##class), \
		.sent = WRAP_BYTES_(wrap.sent, call, SOURCE_SENT), \
		.received = WRAP_BYTES_(wrap.received, call, \
					SOURCE_RECEIVED), \
		.arrival = WRAP_TIME_(wrap.arrival, call, SOURCE_ARRIVAL), \
	}

/* The function of that name after this library; see find.c. */
void *wrap_find(const char *name);

/* A variable: the linker may have placed its only copy in the program. */
void *wrap_find_handle(const char *name);

/* dlsym returns an object pointer; POSIX converts it by a union. */
#define WRAP_CALL_(type, pointer) \
	((union { \
		void *object; \
		__typeof__(type) *call; \
	}){ .object = (pointer) }.call)

/* The real function of a wrapper. */
#define WRAP_REAL(wrap, type) WRAP_CALL_(type, wrap_real(&(wrap)))

/*
 * Handles that are constants. In OpenMPI they are addresses of variables in its
 * library, which are looked up too: otherwise this library could not be loaded
 * without OpenMPI.
 */
#ifdef OPEN_MPI
#define WRAP_HANDLE(type, symbol, constant) \
	({ \
		static void *found_; \
		void *at_ = __atomic_load_n(&found_, __ATOMIC_RELAXED); \
		if (__builtin_expect(!at_, 0)) { \
			at_ = wrap_find_handle(symbol); \
			__atomic_store_n(&found_, at_, __ATOMIC_RELAXED); \
		} \
		(type)at_; \
	})
#else
#define WRAP_HANDLE(type, symbol, constant) ((type)(constant))
#endif
#define WRAP_WORLD \
	WRAP_HANDLE(MPI_Comm, "ompi_mpi_comm_world", MPI_COMM_WORLD)
#define WRAP_BYTE WRAP_HANDLE(MPI_Datatype, "ompi_mpi_byte", MPI_BYTE)

/* Any other PMPI function. */
#define WRAP_PMPI(name) \
	({ \
		static void *found_; \
		void *at_ = __atomic_load_n(&found_, __ATOMIC_RELAXED); \
		if (__builtin_expect(!at_, 0)) { \
			at_ = wrap_find("PMPI_" #name); \
			__atomic_store_n(&found_, at_, __ATOMIC_RELAXED); \
		} \
		WRAP_CALL_(PMPI_##name, at_); \
	})

TARE_INLINE void *wrap_real(struct wrap *wrap)
{
	void *real = __atomic_load_n(&wrap->real, __ATOMIC_RELAXED);

	if (__builtin_expect(!real, 0)) {
		real = wrap_find(wrap->name);
		__atomic_store_n(&wrap->real, real, __ATOMIC_RELAXED);
	}
	return real;
}

/*
 * The stack position at which this thread entered MPI; NULL: outside. A call
 * from further up the stack means that MPI was left by longjmp or by an
 * exception of an error handler.
 */
extern __thread const char *wrap_inside
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * From libtare-preload.so, before this library in LD_PRELOAD. Weak: without it
 * all calls are only passed on.
 */
#pragma weak tare_scope_begin_
#pragma weak tare_scope_end_
#pragma weak tare_scope_fail
#pragma weak tare_value_observe_
#pragma weak tare_gauge_set_
#pragma weak tare_site_get
#pragma weak tare_site_labels
#pragma weak tare_self_

TARE_INLINE bool wrap_is_on(const struct wrap *wrap)
{
	const char *here = __builtin_frame_address(0);

	return tare_scope_begin_ && tare_gate_(&wrap->time) &&
	       !(wrap_inside && here < wrap_inside);
}

TARE_INLINE tare_scope wrap_enter(tare_site *site)
{
	wrap_inside = __builtin_frame_address(0);
	return tare_scope_begin(site);
}

/* Records the error as the scope's outcome; see find.c. */
void wrap_failed(tare_scope scope, int error);

TARE_INLINE void wrap_leave(tare_scope scope, int result)
{
	if (__builtin_expect(result != MPI_SUCCESS, 0))
		wrap_failed(scope, result);
	tare_scope_end(scope);
	wrap_inside = NULL;
}

TARE_INLINE void wrap_count(tare_site *site, uint64_t bytes)
{
	if (bytes)
		tare_value_observe(site, (double)bytes);
}

/* The second name of a call. */
#define WRAP_ALIAS(name, parameters) \
	WRAP_API int PMPI_##name parameters \
		__attribute__((alias("MPI_" #name)));

#define WRAP(class, name, parameters, arguments, bytes) \
	WRAP_AFTER((void)0, class, name, parameters, arguments, bytes)

/* Executes `first` before the call, if it is measured. */
#define WRAP_AFTER(first, class, name, parameters, arguments, bytes) \
	WRAP_API int MPI_##name parameters \
	{ \
		static struct wrap wrap = WRAP_INIT(wrap, class, \
						    "MPI_" #name); \
		tare_scope scope; \
		uint64_t given; \
		int result; \
\
		if (!wrap_is_on(&wrap)) \
			return WRAP_REAL(wrap, MPI_##name) arguments; \
		given = (bytes); \
		first; \
		scope = wrap_enter(&wrap.time); \
		result = WRAP_REAL(wrap, MPI_##name) arguments; \
		wrap_leave(scope, result); \
		wrap_count(&wrap.sent, given); \
		return result; \
	} \
	WRAP_ALIAS(name, parameters)

/* The names with large counts. */
#define WRAP_LARGE(class, name, parameters, arguments, bytes) \
	WRAP(class, name##_c, parameters, arguments, bytes)

#if MPI_VERSION >= 4
#define WRAP_HAS_LARGE 1
#else
#define WRAP_HAS_LARGE 0
#endif

#endif
