/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPTS_MOST 4 /* depth of scripts that run scripts */
#define PARTS_MOST 64
#define DYNAMIC_MOST 256

/* The first bytes of a file, which the kernel also reads. */
struct head {
	int fd;
	ssize_t n;
	union {
		char text[256];
		ElfW(Ehdr) elf;
	};
};

static bool find_in_path(const char *name, char *path, size_t size)
{
	const char *folders = getenv("PATH");

	if (strchr(name, '/'))
		return (size_t)snprintf(path, size, "%s", name) < size;
	if (!folders)
		folders = "/bin:/usr/bin";
	for (const char *at = folders;; at++) {
		size_t n = strcspn(at, ":");

		if ((size_t)snprintf(path, size, "%.*s%s%s", (int)n, at,
				     n ? "/" : "", name) < size &&
		    access(path, X_OK) == 0)
			return true;
		at += n;
		if (!*at)
			return false;
	}
}

static bool read_head(const char *path, struct head *head)
{
	head->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (head->fd < 0)
		return false;
	head->n = pread(head->fd, head->text, sizeof(head->text) - 1, 0);
	if (head->n < 0)
		head->n = 0;
	head->text[head->n] = '\0';
	return true;
}

/* The next segment of this type from `*at` on; 0: none, -1: unreadable. */
static int next_part(const struct head *head, unsigned *at, uint32_t type,
		     ElfW(Phdr) *part)
{
	while (*at < head->elf.e_phnum && *at < PARTS_MOST) {
		off_t from = (off_t)(head->elf.e_phoff +
				     (*at)++ * sizeof(*part));

		if (pread(head->fd, part, sizeof(*part), from) !=
		    (ssize_t)sizeof(*part))
			return -1;
		if (part->p_type == type)
			return 1;
	}
	return 0;
}

/* File name of the dynamic linker; "": none. False: unreadable. */
static bool find_linker(const struct head *head, char *name, size_t size)
{
	ElfW(Phdr) part;
	char path[256];
	const char *slash;
	unsigned at = 0;
	ssize_t n;
	int found;

	name[0] = '\0';
	while ((found = next_part(head, &at, PT_INTERP, &part)) > 0) {
		n = pread(head->fd, path,
			  part.p_filesz < sizeof(path) ? part.p_filesz :
							 sizeof(path) - 1,
			  (off_t)part.p_offset);
		if (n <= 0)
			return false;
		path[n] = '\0';
		slash = strrchr(path, '/');
		(void)snprintf(name, size, "%s", slash ? slash + 1 : path);
	}
	return found == 0;
}

/* File offset of an address of the program; -1: none. */
static off_t place_of(const struct head *head, uint64_t address)
{
	ElfW(Phdr) part;
	unsigned at = 0;

	while (next_part(head, &at, PT_LOAD, &part) > 0)
		if (address - part.p_vaddr < part.p_filesz)
			return (off_t)(part.p_offset + address - part.p_vaddr);
	return -1;
}

/* Reads its dynamic section; returns the number of entries. */
static size_t read_dynamic(const struct head *head, ElfW(Dyn) *to, size_t most)
{
	ElfW(Phdr) part;
	unsigned at = 0;
	ssize_t n = 0;

	while (next_part(head, &at, PT_DYNAMIC, &part) > 0)
		n = pread(head->fd, to, most * sizeof(*to),
			  (off_t)part.p_offset);
	return n > 0 ? (size_t)n / sizeof(*to) : 0;
}

/* Calls `look` for each needed library until it returns true. */
static bool any_needed(const struct head *head,
		       bool (*look)(const char *name, void *arg), void *arg)
{
	ElfW(Dyn) entry[DYNAMIC_MOST];
	size_t n = read_dynamic(head, entry, DYNAMIC_MOST);
	off_t texts = -1;

	for (size_t i = 0; i < n; i++)
		if (entry[i].d_tag == DT_STRTAB)
			texts = place_of(head, entry[i].d_un.d_ptr);
	for (size_t i = 0; texts >= 0 && i < n; i++) {
		char name[32] = "";

		if (entry[i].d_tag == DT_NEEDED &&
		    pread(head->fd, name, sizeof(name) - 1,
			  texts + (off_t)entry[i].d_un.d_val) > 0 &&
		    look(name, arg))
			return true;
	}
	return false;
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* A program with a sanitizer's library ends if another is loaded first. */
static bool is_guard(const char *name, void *arg)
{
	static const char *const guards[] = { "libasan.so", "libtsan.so",
					      "liblsan.so", "libhwasan.so" };

	(void)arg;
	for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++)
		if (begins_with(name, guards[i]))
			return true;
	return false;
}

/*
 * libmpi.so.12 is the common name of MPICH, Intel MPI and MVAPICH. libopen-rte
 * and libprrte belong to OpenMPI's launchers.
 */
static bool is_mpi(const char *name, void *arg)
{
	static const struct {
		const char *name;
		enum mpi_kind kind;
	} known[] = {
		{ "libmpi.so.12", MPI_MPICH },
		{ "libmpifort.so.12", MPI_MPICH },
		{ "libmpich", MPI_MPICH },
		{ "libmpi.so", MPI_OPENMPI },
		{ "libmpi_mpifh.so", MPI_OPENMPI },
		{ "libmpi_usempi", MPI_OPENMPI },
		{ "libopen-rte.so", MPI_OPENMPI },
		{ "libprrte.so", MPI_OPENMPI },
	};
	enum mpi_kind *kind = arg;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (begins_with(name, known[i].name)) {
			*kind = known[i].kind;
			return true;
		}
	return false;
}

/* The kernel runs it with more rights than its caller has. */
static bool is_secure(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	       (st.st_mode & S_ISGID && st.st_mode & S_IXGRP &&
		st.st_gid != getegid()) ||
	       (geteuid() != 0 &&
		fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

static bool is_elf(const struct head *head)
{
	return head->n >= (ssize_t)sizeof(head->elf) &&
	       memcmp(head->elf.e_ident, ELFMAG, SELFMAG) == 0;
}

/* Compares with this program, for whose libc the library was built. */
static enum program_kind look_at_elf(const struct head *head)
{
	char linker[256], own_linker[256];
	enum program_kind kind = PROGRAM_UNKNOWN;
	struct head own;

	if (!read_head("/proc/self/exe", &own))
		return PROGRAM_UNKNOWN;
	if (!is_elf(&own) || !find_linker(&own, own_linker,
					  sizeof(own_linker)))
		kind = PROGRAM_UNKNOWN;
	else if (head->elf.e_ident[EI_CLASS] != own.elf.e_ident[EI_CLASS] ||
		 head->elf.e_machine != own.elf.e_machine)
		kind = PROGRAM_STRANGE;
	else if (!find_linker(head, linker, sizeof(linker)))
		kind = PROGRAM_UNKNOWN;
	else if (!linker[0])
		kind = PROGRAM_STATIC;
	else if (own_linker[0] && strcmp(linker, own_linker) != 0)
		kind = PROGRAM_STRANGE;
	else if (is_secure(head->fd))
		kind = PROGRAM_SECURE;
	else
		kind = any_needed(head, is_guard, NULL) ? PROGRAM_GUARDED :
							  PROGRAM_OPEN;
	(void)close(own.fd);
	return kind;
}

/* "#! /bin/sh -e" */
static bool is_script(const struct head *head, char *interpreter, size_t size)
{
	const char *at = head->text + 2;
	size_t n;

	if (head->n < 3 || memcmp(head->text, "#!", 2) != 0)
		return false;
	at += strspn(at, " \t");
	n = strcspn(at, " \t\r\n");
	return n && (size_t)snprintf(interpreter, size, "%.*s", (int)n, at) <
			    size;
}

/* Opens what the kernel finally executes, not a script. The caller closes. */
static bool open_program(const char *name, struct head *head)
{
	char path[PATH_MAX], next[PATH_MAX];

	if (!find_in_path(name, path, sizeof(path)))
		return false;
	for (int i = 0; i < SCRIPTS_MOST && read_head(path, head); i++) {
		if (!is_script(head, next, sizeof(next)))
			return true;
		(void)close(head->fd);
		memcpy(path, next, sizeof(path));
	}
	return false;
}

int program_open(const char *name)
{
	struct head head;

	return open_program(name, &head) ? head.fd : -1;
}

static bool is_called(const char *name, void *arg)
{
	return begins_with(name, arg);
}

bool program_needs(const char *name, const char *library)
{
	bool is_needed = false;
	char beginning[64];
	struct head head;

	if (!open_program(name, &head))
		return false;
	(void)snprintf(beginning, sizeof(beginning), "%s", library);
	if (is_elf(&head))
		is_needed = any_needed(&head, is_called, beginning);
	(void)close(head.fd);
	return is_needed;
}

enum program_kind program_look(const char *name)
{
	enum program_kind kind = PROGRAM_UNKNOWN;
	struct head head;

	if (!open_program(name, &head))
		return PROGRAM_UNKNOWN;
	if (is_elf(&head))
		kind = look_at_elf(&head);
	(void)close(head.fd);
	return kind;
}

/* MPICH's launcher is known by its name: it needs no library of MPICH. */
static bool is_hydra(const char *name)
{
	char path[PATH_MAX], real[PATH_MAX];

	return find_in_path(name, path, sizeof(path)) &&
	       realpath(path, real) && strstr(strrchr(real, '/'), "hydra");
}

enum mpi_kind program_mpi(const char *name)
{
	enum mpi_kind kind = MPI_NONE;
	struct head head;

	if (!open_program(name, &head))
		return MPI_NONE;
	if (is_elf(&head))
		(void)any_needed(&head, is_mpi, &kind);
	(void)close(head.fd);
	return kind == MPI_NONE && is_hydra(name) ? MPI_MPICH : kind;
}

bool program_folder(char ret_folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", ret_folder, PATH_MAX - 1);

	if (n <= 0)
		return false;
	ret_folder[n] = '\0';
	*strrchr(ret_folder, '/') = '\0';
	return true;
}

const char *program_obstacle(enum program_kind kind)
{
	switch (kind) {
	case PROGRAM_STATIC:
		return "is a static program, which loads no library: it is "
		       "timed, not sampled";
	case PROGRAM_STRANGE:
		return "is for another machine or C library";
	case PROGRAM_SECURE:
		return "runs with rights of its own (setuid), and so loads no "
		       "library";
	case PROGRAM_GUARDED:
		return "has a sanitizer, which must be loaded before all";
	case PROGRAM_OPEN:
	case PROGRAM_UNKNOWN:
		break;
	}
	return NULL;
}
