/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of base/platform/: clocks, memory, files and processes of Linux.
 *
 * Comes in: paths, descriptors, addresses, process ids. Goes out: times,
 * bytes, states, and errors as TARE_E*. Called by: all areas, cli and server.
 *
 * Everything that asks the kernel for something is behind this header, so that
 * tests can make each call fail and a port to another system is a second set
 * of files.
 */
#ifndef TR_BASE_PLATFORM_H
#define TR_BASE_PLATFORM_H

#include <tare/api.h>

#define TR_LIKELY(x) TARE_LIKELY(x)
#define TR_UNLIKELY(x) TARE_UNLIKELY(x)
#define TR_COLD __attribute__((noinline, cold))
#define TR_NOINLINE __attribute__((noinline))
#define TR_INLINE static inline __attribute__((always_inline))

/* ---- counter of the processor ------------------------------------------ */

#if defined(__x86_64__)
#define TR_HAS_COUNTER 1
TR_INLINE uint64_t tr_counter(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Waits until everything before it has been executed. */
TR_INLINE uint64_t tr_counter_exact(void)
{
	uint32_t low, high, cpu;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu)::"memory");
	return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
#define TR_HAS_COUNTER 1
TR_INLINE uint64_t tr_counter(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

TR_INLINE uint64_t tr_counter_exact(void)
{
	__asm__ volatile("isb" ::: "memory");
	return tr_counter();
}
#else
#define TR_HAS_COUNTER 0
TR_INLINE uint64_t tr_counter(void)
{
	return 0;
}
TR_INLINE uint64_t tr_counter_exact(void)
{
	return 0;
}
#endif

/*
 * Puts `value` where there is *seen. False: there is another, which is in *seen
 * then. Acquire and release: what was written before a swap that succeeds is
 * seen after one that finds it, which is enough for all who take or hand over
 * something by it.
 */
#define TR_SWAP(x, seen, value) \
	__atomic_compare_exchange_n(&(x), (seen), (value), false, \
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/*
 * Structs that callers have of a later version are larger than ours. One
 * beyond this was never filled in.
 */
#define TR_READING_MOST 4096u

/* ---- clock.c ----------------------------------------------------------- */

/* A clock of the kernel's (clockid_t), also where a test has its own; 0: it
 * cannot be read. */
int64_t tr_clock_ns(int clock);
/* The clock of a thread's CPU time, by the number of the thread. */
TR_INLINE int tr_thread_clock(uint32_t thread)
{
	return (int)(~thread << 3 | 4u | 2u);
}
int64_t tr_monotonic_ns(void);
int64_t tr_realtime_ns(void);
/* As monotonic, and goes on while the machine sleeps. */
int64_t tr_boottime_ns(void);

/* True where the kernel itself keeps time by the processor's counter. */
bool tr_counter_is_trusted(void);

/*
 * Is this one of the processors that are known to go on with other work while
 * they read the counter? Their maker says it (Zen: AMD, Hygon).
 */
bool tr_counter_overlaps(void);
/* Counter frequency where the processor tells it exactly, else 0. */
double tr_counter_hz(void);

/*
 * Replaces monotonic and realtime by a function, for tests. NULL restores.
 * The second result is realtime.
 */
typedef int64_t (*tr_clock_fake)(int64_t *ret_real_ns);
void tr_clock_replace(tr_clock_fake fake);
bool tr_clock_is_fake(void);
/* Tests only: how long the machine slept, while the clock is replaced. */
extern int64_t tr_clock_slept_ns;

/* ---- memory.c ---------------------------------------------------------- */

/* Anonymous zeroed memory, or NULL. Signal-safe. */
void *tr_memory_map(size_t bytes);
/*
 * The same for a variable that is NULL until it is needed: of several threads,
 * the first counts. False: there is no memory. Signal-safe.
 */
bool tr_memory_map_once(void **memory, size_t bytes);
void tr_memory_unmap(void *memory, size_t bytes);

/* A child never uses it: spare its page tables. */
void tr_memory_not_in_children(void *memory, size_t bytes);

/*
 * The same, zeroed again in a forked child by the kernel. *ret_wiped is
 * false where the kernel cannot; then pthread_atfork must serve.
 */
void *tr_memory_map_wiped(size_t bytes, bool *ret_wiped);

/*
 * A page of this mapping of a file, when it is made real, does not bring its
 * neighbours with it. Signal-safe.
 */
void tr_memory_no_readahead(void *at, size_t bytes);

/*
 * Makes the pages of [at, at + bytes) of a shared mapping real, so that no
 * later store can fault. 0, or TARE_EFULL. Signal-safe.
 */
int tr_memory_reserve(void *at, size_t bytes);

/* Bytes of address space this process may use (RLIMIT_AS). */
uint64_t tr_memory_space(void);
/* Bytes this process may use: the least of cgroup limits and memory. */
uint64_t tr_memory_limit(void);

/* ---- usage.c ----------------------------------------------------------- */

/* What a thread and its process used so far; UINT64_MAX: it is not known. */
struct tr_usage {
	uint64_t cpu_ns;	  /* of the calling thread */
	uint64_t process_cpu_ns;
	uint64_t rss, peak_rss;	  /* bytes, of the process */
	uint64_t minor_faults, major_faults;
	uint64_t switches, preemptions; /* it waited, it had to wait */
	uint64_t io_read, io_written;	/* by system calls, bytes */
	uint64_t storage_read, storage_written;
};

/*
 * What tare itself reads of files here is not counted as io_read, in any
 * thread. `is_end`: cheap things first, so that the reading is not measured
 * along; else last. A few microseconds; errno stays.
 */
void tr_usage_read(struct tr_usage *ret_usage, bool is_end);
/* Resident memory of the process, bytes; UINT64_MAX: not known. */
uint64_t tr_usage_rss(void);

/* ---- file.c ------------------------------------------------------------ */

/* Above /proc and /sys for those who read the system: "", or a tree that a
 * test has made up. */
extern const char *tr_root;

/*
 * All calls retry on EINTR and give 0 or an error of tare/error.h. A pipe
 * without a reader is an error too, and no signal.
 */
int tr_file_write_all(int fd, const void *data, size_t len);
/* The same at an offset of a file, whose position stays. */
int tr_file_write_at(int fd, const void *data, size_t len, uint64_t off);
/* The same for who knows tr_file_limit(): a system call less. */
int tr_file_write_below(int fd, const void *data, size_t len, uint64_t off,
			uint64_t limit);
/* The error of tare/error.h that an errno stands for. */
int tr_error_of(int error);
/* As open() with O_CLOEXEC: a descriptor, or -1 and errno. */
int tr_file_open(const char *path, int flags, unsigned permissions);
/*
 * The same for a file that another user may have put there: follows no link,
 * waits for nothing, and opens no pipe and no device.
 */
int tr_file_open_regular(const char *path, int flags);
/*
 * Up to `size` bytes from `off` on, or where the file is; how many there were,
 * or an error.
 */
#define TR_FILE_POSITION UINT64_MAX
int64_t tr_file_read_some(int fd, void *data, size_t size, uint64_t off);
/* All of the n bytes at `off`; false if they are not there. */
bool tr_file_read_at(int fd, void *data, size_t n, uint64_t off);
int tr_file_resize(int fd, uint64_t bytes);
/* Size of a file beyond which the kernel sends a signal (RLIMIT_FSIZE). */
uint64_t tr_file_limit(void);
/* Reads up to size bytes; returns how many, or an error. */
int64_t tr_file_read(const char *path, void *data, size_t size);
/* The same as a text, of at most size - 1 bytes; false, and "": none. */
bool tr_file_text(const char *path, char *text, size_t size);
/* Free bytes of the file system that holds dir. */
uint64_t tr_file_free_bytes(const char *dir);
/* Creates dir (0700) if needed and checks that it is ours alone: TARE_EPERM
 * for one that is a link, another user's, or open to others. */
int tr_dir_prepare(const char *dir);
/* mkdir -p below an existing part of the path, 0700 each. */
int tr_dir_make(const char *dir);
/* The same for what users share: as their umask has it. */
int tr_dir_make_shared(const char *dir);
/* The last part alone; one that is there is no error. */
int tr_dir_new(const char *dir, bool *ret_is_new);
/*
 * Copies the data (not the holes) of the first `bytes` bytes of `from` to
 * the new file `to` (0600), by way of a temporary name beside it. `finish`
 * (or NULL) completes the copy before it gets its name: a process that is
 * killed leaves no half of it. The kernel writes it to the disk later.
 */
int tr_file_copy_sparse(const char *from, const char *to, uint64_t bytes,
			int (*finish)(int fd));
/* Waits until what was written is on the disk. */
int tr_file_sync(int fd);
/* The same for a file and its name in its folder. */
int tr_file_settle(const char *path);

/* Folder for ledgers of live processes; `chosen` from the configuration. */
int tr_dir_live(const char *chosen, char *out, size_t size);
/*
 * Folder for finished runs. If no folder is chosen, and the user's cannot be
 * used (no home, a read-only file system), one of the spare ones:
 * $XDG_RUNTIME_DIR/tare, /var/tmp/tare-UID.
 */
int tr_dir_runs(const char *chosen, char *out, size_t size);
/* The i-th spare folder of runs, if it exists and is this user's alone. */
#define TR_DIR_SPARES 2u
bool tr_dir_spare(unsigned i, char *out, size_t size);

/* ---- wait.c ------------------------------------------------------------ */

#define TR_WAIT_FOREVER INT64_MIN

/* The moment in `ns` from now, for tr_wait(). */
int64_t tr_wait_end(int64_t ns);
/*
 * Sleeps while *word is `value`; false: until `end`, in vain. May return
 * early: look again. A word that is 0 has nobody who waits on it, so it may
 * lie in memory that a fork wipes.
 */
bool tr_wait(const uint32_t *word, uint32_t value, int64_t end);
/* Wakes all who wait on it; store the new value first. Signal-safe. */
void tr_wake(const uint32_t *word);

/*
 * The same on a word of a shared mapping, which another process may change.
 * False only where the kernel cannot: the page is gone.
 */
bool tr_wait_shared(const uint32_t *word, uint32_t value, int64_t end);
void tr_wake_shared(const uint32_t *word);

/* A lock that is 0 while free: one in memory that a fork wipes is free in the
 * child. Not for signal handlers, not recursive. */
void tr_wait_lock(uint32_t *lock);
void tr_wait_unlock(uint32_t *lock);

/*
 * A lock for memory that a fork does not wipe: one that a thread of the parent
 * held is free in the child. For rare calls: a thread that waits yields.
 */
void tr_process_lock(uint32_t *lock);
/* False: another thread holds it. */
bool tr_process_try_lock(uint32_t *lock);
void tr_process_unlock(uint32_t *lock);

/* ---- publish.c --------------------------------------------------------- */

/*
 * A file that appears whole or not at all: written under a name of its own
 * beside the last one, brought to the disk, then named. The folder is made if
 * needed. End in every case; without a name there is then no file.
 */
struct tr_publish {
	int folder, fd;
	char temporary[48];
	bool is_hasty; /* a power failure may take it; a kill leaves nothing */
};

int tr_publish_begin(struct tr_publish *publish, const char *folder);
int tr_publish_write(struct tr_publish *publish, const void *data, size_t len);
/* 0, an error, or 1: without `replace`, there is a file of this name. */
int tr_publish_name(struct tr_publish *publish, const char *name,
		    bool replace);
void tr_publish_end(struct tr_publish *publish);

/* ---- crc.c ------------------------------------------------------------- */

/* A part of its user, so that threads share nothing that has to be made. */
struct tr_crc {
	bool is_built_in;
	uint32_t table[4][256]; /* [k][i]: of byte i and k zeros */
};

void tr_crc_init(struct tr_crc *crc);
uint32_t tr_crc(const struct tr_crc *crc, const void *data, size_t len);
/* Of what `sum` is of, and of this behind it; 0 is of nothing. */
uint32_t tr_crc_more(const struct tr_crc *crc, uint32_t sum, const void *data,
		     size_t len);
/* The same for `n` zeros, in a time that hardly depends on `n`. */
uint32_t tr_crc_zeros(uint32_t sum, uint64_t n);
/* Without the instruction of the processor. */
uint32_t tr_crc_by_table(const struct tr_crc *crc, const void *data,
			 size_t len);

/* ---- process.c --------------------------------------------------------- */

struct tr_identity {
	uint32_t pid;
	uint64_t start_time;
	uint64_t pid_ns;
	char boot_id[40];
};

void tr_identity_self(struct tr_identity *identity);
/* Name of the calling thread, ended by NUL. Signal-safe; errno stays. */
void tr_thread_name(char name[16]);
/* Is that very process, of this namespace, still there? */
bool tr_identity_alive(const struct tr_identity *identity);

/* What the kernel knows of the process that wrote a file. */
enum tr_writer { TR_WRITER_GONE, TR_WRITER_LIVES, TR_WRITER_UNKNOWN };

/* The process `identity` wrote the ledger at `path`: does it live? */
enum tr_writer tr_writer_state(const struct tr_identity *identity,
			       const char *path);
/*
 * Does a process have the file open for writing, or mapped that way? Right
 * across namespaces. A forked child of the writer counts, too.
 */
enum tr_writer tr_writer_of_file(const char *path);
/* False: the process is of another boot, or of another machine. */
bool tr_identity_is_of_boot(const struct tr_identity *identity);

uint32_t tr_thread_id(void);
/* Signal-safe; true for a thread of process `pid`. */
bool tr_thread_alive(uint32_t pid, uint32_t thread);

/*
 * Command, group and parent as they are now, for later descriptions: a server
 * may write its title over both before it has anything to describe, and its
 * parent may end.
 */
void tr_process_remember(char *const argv[]); /* NULL: not known here */
/* The parent alone: in a forked child. */
void tr_process_remember_parent(void);
/* "key=value\n" lines: command, program, parent, host, cpu, git, folder. */
size_t tr_process_describe(char *out, size_t size);

/* ---- git.c ------------------------------------------------------------- */

/* The commit that is checked out in a folder; false: it is not the top of a
 * repository or a worktree of git. */
bool tr_git_revision(const char *folder, char *out, size_t size);

/* Address of this process's mapping of the named file, or NULL. */
void *tr_mapping_find(const char *name);
/*
 * Calls `look` for each line of /proc/self/maps until it says true. `text`:
 * memory for it, with TR_MAPPING_TEXT bytes.
 */
#define TR_MAPPING_TEXT 4608u /* a path of 4095 bytes fits */
bool tr_mapping_each(char *text, bool (*look)(char *line, void *arg),
		     void *arg);

#endif
