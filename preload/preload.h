/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library that `tare run` loads into a program before all others: the
 * whole of libtare, and wrappers of libc calls.
 *
 * A wrapper does its work, and then calls the next function of its name. Calls
 * that the library itself makes are passed through.
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

/* Defined by the linker: where this library is loaded. */
extern const ElfW(Ehdr) preload_header
	__asm__("__ehdr_start") __attribute__((visibility("hidden")));

/* Is it code of this library? */
bool preload_is_own(const void *code);

/* ---- syscalls.c -------------------------------------------------------- */

/* A seccomp filter is on: make no system call that the program did not make. */
extern bool preload_is_confined;

/* ---- environment.c ----------------------------------------------------- */

/* Whether a program needs another environment. */
struct preload_fit {
	size_t bytes;	/* size of that; 0: this one is suitable */
	bool is_direct; /* with plain paths of our libraries, too; else without
			 * our libraries, which the program cannot load */
};

/*
 * `program` may be NULL: not known. `is_in_place`: it replaces the one of this
 * process. A static program is told to `tare run`: it cannot do so itself.
 */
struct preload_fit preload_environment_fit(const char *program,
					   char *const envp[],
					   bool is_in_place);
/* Builds that environment; `memory` has the size that the call returned. */
char *const *preload_environment(char *const envp[],
				 const struct preload_fit *fit, void *memory);

/* The environment for `program`, on the stack of the calling function. */
#define PRELOAD_ENVIRONMENT(program, envp, is_in_place) \
	({ \
		struct preload_fit fit_ = preload_environment_fit( \
			program, envp, is_in_place); \
\
		fit_.bytes ? preload_environment( \
				     envp, &fit_, \
				     __builtin_alloca(fit_.bytes)) : \
			     (envp); \
	})

/* ---- preload.c --------------------------------------------------------- */

/*
 * The program may be about to be replaced by another: closes its ledger.
 * False: there is none, or it is already closed. Signal-safe.
 */
bool preload_close(void);
/* The program was not replaced: marks a closed ledger as live again. */
void preload_go_on(bool was_closed);

/* ---- signals.c --------------------------------------------------------- */

/* The host's sigprocmask(), as the host sees it; 0 or an error number. */
int preload_set_mask(int how, const sigset_t *set, sigset_t *before);

/* ---- exec.c ------------------------------------------------------------ */

/* State that a program started from here inherits. */
struct preload_exec {
	bool was_closed;
	int blocked; /* sampler signal that the host blocks; 0: none */
	uint64_t ignored;
};

/*
 * Call before an exec, and after one that failed. `is_in_place`: the program
 * in this process ends. Signal-safe.
 */
void preload_before_exec(struct preload_exec *exec, bool is_in_place);
void preload_after_exec(const struct preload_exec *exec, bool is_in_place);

/* ---- waits.c ----------------------------------------------------------- */

/*
 * Was the call that returned `result` interrupted by a sample, since
 * tr_sampler_count() was `before`?
 */
bool preload_waits_on(long result, uint32_t before);
int64_t preload_now_ns(void);
/*
 * Remaining time of a timeout that began at began_ns, in *ret_left; NULL and
 * very long timeouts are returned unchanged.
 */
const struct timespec *preload_left_of(const struct timespec *timeout,
				       int64_t began_ns,
				       struct timespec *ret_left);

/* Up to a tick late, and cheap. */
int64_t preload_tick_ns(void);
/*
 * A sample interrupted a call on a socket: waits until the call can be made
 * again (`events` of poll()), or its time is over. False: errno has the
 * result.
 */
bool preload_socket_waits_on(int fd, short events, int64_t began_ns);

/* The result of `call`, which is repeated if a sample interrupted it. */
#define PRELOAD_WAIT(call) PRELOAD_WAIT_THEN(call, (void)0)
/* The same, with `then` done before a repeated call. */
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
 * The next function of that name, found once. Two threads get the same. dlsym
 * returns an object pointer; a union converts it, as POSIX suggests.
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
