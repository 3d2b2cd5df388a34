/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failer: preloaded into a program, lets its calls into the C library fail.
 *
 *	FAIL_KIND  alloc: malloc and its kin, mmap
 *	           call: everything that asks the kernel
 *	FAIL_AT    the number of the call, from 1
 *	FAIL_MODE  once: that call fails
 *	           always: that one and all after it
 *	           eintr: that one is interrupted, its repetition is not
 *	           short: that one reads or writes half of it
 *	FAIL_FD    a page for the number of calls, shared with whoever asks
 *
 * Only calls from the program's own code count, not those that the C library
 * makes for itself. Real calls are made by syscall(), so that nothing here
 * depends on what it replaces.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dirent.h>

enum kind { NONE, ALLOC, CALL };
enum mode { ONCE, ALWAYS, INTERRUPTED, SHORT };

static enum kind kind;
static enum mode mode;
static uint64_t fail_at;
static _Atomic uint64_t *counter;

static uintptr_t code, code_end; /* of the program */

static FILE *(*real_fopen)(const char *, const char *);
static DIR *(*real_opendir)(const char *);
static int (*real_statvfs)(const char *, struct statvfs *);

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static void find(const char *name, void *real)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	memcpy(real, &symbol, sizeof(symbol));
}

/* The program's own part of the address space, from its headers. */
static void find_code(void)
{
	const ElfW(Phdr) *header = (const void *)getauxval(AT_PHDR);
	unsigned long n = getauxval(AT_PHNUM);
	uintptr_t base = 0;

	for (unsigned long i = 0; i < n; i++)
		if (header[i].p_type == PT_PHDR)
			base = (uintptr_t)header - header[i].p_vaddr;
	for (unsigned long i = 0; i < n; i++) {
		uintptr_t from = base + header[i].p_vaddr;

		if (header[i].p_type != PT_LOAD ||
		    !(header[i].p_flags & PF_X))
			continue;
		code = from;
		code_end = from + header[i].p_memsz;
	}
}

__attribute__((constructor)) static void start(void)
{
	const char *text = getenv("FAIL_KIND"), *fd = getenv("FAIL_FD");
	const char *how = getenv("FAIL_MODE"), *at = getenv("FAIL_AT");
	void *page;

	find("fopen64", &real_fopen);
	find("opendir", &real_opendir);
	find("statvfs64", &real_statvfs);
	find_code();
	if (!text || !fd || !how || !at)
		return;
	page = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_SHARED, atoi(fd), 0L);
	(void)syscall(SYS_close, atoi(fd));
	fail_at = strtoull(at, NULL, 10);
	mode = how[0] == 'o' ? ONCE :
	       how[0] == 'a' ? ALWAYS :
	       how[0] == 'e' ? INTERRUPTED :
			       SHORT;
	counter = page;
	kind = text[0] == 'a' ? ALLOC : CALL;
}

/* Is it this call's turn? Counts it. */
static int is_due(enum kind of, const void *caller)
{
	uint64_t n;

	if (!kind || kind != of || (uintptr_t)caller < code ||
	    (uintptr_t)caller >= code_end)
		return 0;
	n = atomic_fetch_add(counter, 1) + 1;
	return mode == ALWAYS ? n >= fail_at : n == fail_at;
}

static int due_errno(void)
{
	static const int errors[] = { EIO, ENOSPC, EACCES, EMFILE, ENOMEM };

	return errors[fail_at % 5];
}

/* A call that fails as `mode` says; `waits`: it may be interrupted. */
static int fails_for(enum kind of, int waits, const void *caller)
{
	if (!is_due(of, caller) || mode == SHORT ||
	    (mode == INTERRUPTED && !waits))
		return 0;
	errno = mode == INTERRUPTED ? EINTR : of == ALLOC ? ENOMEM :
							    due_errno();
	return 1;
}

/* Bytes that a read or write is allowed; 0: it fails. */
static size_t allowed_for(size_t n, const void *caller)
{
	if (!is_due(CALL, caller))
		return n ? n : 1;
	if (mode == SHORT)
		return n > 1 ? n / 2 : 1;
	errno = mode == INTERRUPTED ? EINTR : due_errno();
	return 0;
}

#define fails(of, waits) fails_for(of, waits, __builtin_return_address(0))
#define allowed(n) allowed_for(n, __builtin_return_address(0))

/* ---- memory ------------------------------------------------------------ */

void *malloc(size_t bytes)
{
	return fails(ALLOC, 0) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	return fails(ALLOC, 0) ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return fails(ALLOC, 0) ? NULL : __libc_realloc(old, bytes);
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd,
	     off_t off)
{
	if (fails(kind, 0)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd,
			       off);
}

int madvise(void *at, size_t bytes, int advice)
{
	return fails(CALL, 1) ?
		       -1 :
		       (int)syscall(SYS_madvise, at, bytes, advice);
}

int mincore(void *at, size_t bytes, unsigned char *there)
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_mincore, at, bytes, there);
}

int memfd_create(const char *name, unsigned flags)
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_memfd_create, name, flags);
}

/* ---- files ------------------------------------------------------------- */

int open64(const char *path, int flags, ...)
{
	va_list args;
	int permissions;

	va_start(args, flags);
	permissions = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (fails(CALL, 1))
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, permissions);
}

int openat64(int folder, const char *path, int flags, ...)
{
	va_list args;
	int permissions;

	va_start(args, flags);
	permissions = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (fails(CALL, 1))
		return -1;
	return (int)syscall(SYS_openat, folder, path, flags, permissions);
}

/* Closed all the same, as the kernel does. */
int close(int fd)
{
	long result = syscall(SYS_close, fd);

	return fails(CALL, 1) ? -1 : (int)result;
}

int ftruncate64(int fd, off_t bytes)
{
	return fails(CALL, 1) ? -1 : (int)syscall(SYS_ftruncate, fd, bytes);
}

int posix_fallocate64(int fd, off_t off, off_t bytes)
{
	int saved = errno, error = 0;

	if (fails(CALL, 1))
		error = errno;
	else if (syscall(SYS_fallocate, fd, 0, off, bytes))
		error = errno;
	errno = saved;
	return error;
}

ssize_t read(int fd, void *data, size_t n)
{
	size_t most = allowed(n);

	return most ? syscall(SYS_read, fd, data, most < n ? most : n) : -1;
}

ssize_t pread64(int fd, void *data, size_t n, off_t off)
{
	size_t most = allowed(n);

	return most ? syscall(SYS_pread64, fd, data, most < n ? most : n,
			      off) :
		      -1;
}

ssize_t write(int fd, const void *data, size_t n)
{
	size_t most = allowed(n);

	return most ? syscall(SYS_write, fd, data, most < n ? most : n) : -1;
}

ssize_t pwrite64(int fd, const void *data, size_t n, off_t off)
{
	size_t most = allowed(n);

	return most ? syscall(SYS_pwrite64, fd, data, most < n ? most : n,
			      off) :
		      -1;
}

off_t lseek64(int fd, off_t off, int from)
{
	return fails(CALL, 0) ? -1 : syscall(SYS_lseek, fd, off, from);
}

int rename(const char *from, const char *to)
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_renameat2, AT_FDCWD, from,
					     AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t permissions)
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_mkdirat, AT_FDCWD, path,
					     permissions);
}

int access(const char *path, int how)
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_faccessat, AT_FDCWD, path,
					     how);
}

int fstat64(int fd, struct stat64 *st)
{
	return fails(CALL, 0) ? -1 : (int)syscall(SYS_fstat, fd, st);
}

int stat64(const char *path, struct stat64 *st)
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_newfstatat, AT_FDCWD, path,
					     st, 0);
}

int lstat64(const char *path, struct stat64 *st)
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_newfstatat, AT_FDCWD, path,
					     st, AT_SYMLINK_NOFOLLOW);
}

int flock(int fd, int how)
{
	return fails(CALL, 1) ? -1 : (int)syscall(SYS_flock, fd, how);
}

ssize_t readlink(const char *path, char *out, size_t size)
{
	return fails(CALL, 0) ? -1 :
				syscall(SYS_readlinkat, AT_FDCWD, path, out,
					size);
}

char *getcwd(char *out, size_t size)
{
	if (fails(CALL, 0) || !out)
		return NULL;
	return syscall(SYS_getcwd, out, size) < 0 ? NULL : out;
}

int futimens(int fd, const struct timespec times[2])
{
	return fails(CALL, 0) ? -1 :
				(int)syscall(SYS_utimensat, fd, NULL, times,
					     0);
}

int statvfs64(const char *path, struct statvfs64 *fs)
{
	return fails(CALL, 0) ? -1 :
				real_statvfs(path, (struct statvfs *)fs);
}

FILE *fopen64(const char *path, const char *how)
{
	return fails(CALL, 0) ? NULL : real_fopen(path, how);
}

DIR *opendir(const char *path)
{
	return fails(CALL, 0) ? NULL : real_opendir(path);
}
