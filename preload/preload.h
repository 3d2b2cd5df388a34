/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library that `tare run` loads into a program before all others: the
 * whole of libtare, and calls of libc that it stands before.
 *
 * Such a call does what it must, and then calls the next one of its name. It
 * keeps out of the way of calls that the library itself makes.
 */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "record/sampler.h"

#define PRELOAD_API __attribute__((visibility("default")))

/* By the linker: where this library lies. */
extern const ElfW(Ehdr) preload_header
	__asm__("__ehdr_start") __attribute__((visibility("hidden")));

/* Code of this library? */
bool preload_is_own(const void *code);

/* ---- syscalls.c -------------------------------------------------------- */

/* A filter of system calls is on: no call that the program did not make. */
extern bool preload_is_confined;

/* ---- environment.c ----------------------------------------------------- */

/*
 * Bytes that another environment for `program` takes, one without our
 * libraries, as it cannot load them; 0: this one will do. `program` may be
 * NULL: not known.
 */
size_t preload_environment_bytes(const char *program, char *const envp[]);
/* That environment; `memory` has as many bytes as the call above says. */
char *const *preload_environment(char *const envp[], void *memory);

/* The one for `program`, on the stack of the function that asks. */
#define PRELOAD_ENVIRONMENT(program, envp) \
	({ \
		size_t bytes_ = preload_environment_bytes(program, envp); \
\
		bytes_ ? preload_environment(envp, \
					     __builtin_alloca(bytes_)) : \
			 (envp); \
	})

/* ---- preload.c --------------------------------------------------------- */

/*
 * The program may be about to be replaced by another: its ledger is closed.
 * False: there is none, or it is closed. Signal-safe.
 */
bool preload_close(void);
/* It was not replaced: a ledger that was closed goes on. */
void preload_go_on(bool was_closed);

/* ---- signals.c --------------------------------------------------------- */

/* sigprocmask() of the host's, as it sees it; 0 or an error number. */
int preload_set_mask(int how, const sigset_t *set, sigset_t *before);

/* ---- exec.c ------------------------------------------------------------ */

/* What a program that is started from here inherits. */
struct preload_exec {
	bool was_closed;
	int blocked; /* signal of ours that the host blocks; 0: none */
	uint64_t ignored;
};

/*
 * Before, and after one that failed. `is_in_place`: the program in this
 * process ends. Signal-safe.
 */
void preload_before_exec(struct preload_exec *exec, bool is_in_place);
void preload_after_exec(const struct preload_exec *exec, bool is_in_place);

/* ---- waits.c ----------------------------------------------------------- */

/*
 * Was the call that gave `result` ended by a sample, since
 * tr_sampler_count() was `before`?
 */
bool preload_waits_on(long result, uint32_t before);
int64_t preload_now_ns(void);
/* Of a timeout that began then, in *ret_left; NULL, and ages, stay that. */
const struct timespec *preload_left_of(const struct timespec *timeout,
				       int64_t began_ns,
				       struct timespec *ret_left);

/* Up to a tick behind, and cheap. */
int64_t preload_tick_ns(void);
/*
 * A call on a socket was ended by a sample: waits until it can be made again
 * (`events` of poll()), or its time is over. False: errno says how it ended.
 */
bool preload_socket_waits_on(int fd, short events, int64_t began_ns);

/* The result of `call`, which is made again when a sample ended it. */
#define PRELOAD_WAIT(call) PRELOAD_WAIT_THEN(call, (void)0)
/* The same, with `then` done before. */
#define PRELOAD_WAIT_THEN(call, then) \
	({ \
		uint32_t before_ = tr_sampler_count(); \
		long result_; \
\
		while (preload_waits_on(result_ = (call), before_)) { \
			then; \
			before_ = tr_sampler_count(); \
		} \
		result_; \
	})

#define PRELOAD_CALLER() __builtin_return_address(0)

/*
 * The next one of that name, found once. Two threads find the same. dlsym
 * gives an object pointer; a union is how POSIX has it turned.
 */
#define PRELOAD_NEXT(name) \
	({ \
		static __typeof__(&name) next_; \
		union { \
			void *object; \
			__typeof__(&name) call; \
		} found_ = { .call = __atomic_load_n(&next_, \
						     __ATOMIC_RELAXED) }; \
		if (__builtin_expect(!found_.object, 0)) { \
			found_.object = dlsym(RTLD_NEXT, #name); \
			__atomic_store_n(&next_, found_.call, \
					 __ATOMIC_RELAXED); \
		} \
		found_.call; \
	})

#endif
