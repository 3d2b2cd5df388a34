/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of programs that this one starts.
 *
 * Some cannot load our libraries: below another root, as another user, or for
 * another processor. The loader would report this on their stderr, so
 * LD_PRELOAD is passed on without our libraries. Other entries stay.
 *
 * The others would load them by paths that begin with $ORIGIN, which is for
 * programs of another C library (cli/preload.c). glibc's loader then asks /proc
 * for its own name, a tenth of what a short program costs. If the program's
 * file names glibc's loader, plain paths are added in a second LD_PRELOAD,
 * behind all other variables: the loader takes the last one, getenv() the
 * first one. The library in the new program removes the second one, so that
 * no program sees it or passes it on.
 *
 * Also for signal handlers and children of vfork(): no memory but the
 * caller's.
 */
#include "preload.h"

#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "record/runtime.h"

#define VARIABLE "LD_PRELOAD="
#define BETWEEN " :"

static size_t length_of(const char *list)
{
	return strcspn(list, BETWEEN);
}

/* "$ORIGIN/../../../.", from any folder to the root; see cli/preload.c. */
static const char *skip_origin(const char *path)
{
	if (strncmp(path, "$ORIGIN/", 8) != 0)
		return path;
	path += 8;
	while (strncmp(path, "../", 3) == 0)
		path += 3;
	return *path == '.' ? path + 1 : path;
}

static bool is_ours(const char *library, size_t len)
{
	static const char name[] = "/libtare-";

	for (size_t i = 0; i + sizeof(name) - 1 <= len; i++)
		if (strncmp(library + i, name, sizeof(name) - 1) == 0 &&
		    !memchr(library + i + 1, '/', len - i - 1))
			return true;
	return false;
}

/* With the present rights and root of this process. */
static bool can_open(const char *library, size_t len)
{
	char path[4096];
	int fd;

	if (len >= sizeof(path))
		return true; /* none of ours is that long */
	memcpy(path, library, len);
	path[len] = '\0';
	fd = open(skip_origin(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	(void)close(fd);
	return true;
}

static const char *const *find_variable(char *const envp[])
{
	for (; envp && *envp; envp++)
		if (strncmp(*envp, VARIABLE, sizeof(VARIABLE) - 1) == 0)
			return (const char *const *)envp;
	return NULL;
}

/* The start of a program's file; no bytes: it cannot be read. */
struct head {
	size_t bytes;
	union {
		ElfW(Ehdr) elf;
		char text[1024];
	} as;
};

static void read_head(const char *program, struct head *ret)
{
	int fd = program ? open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK) :
			   -1;
	ssize_t n = fd >= 0 ? read(fd, &ret->as, sizeof(ret->as)) : 0;

	if (fd >= 0)
		(void)close(fd);
	ret->bytes = n > 0 ? (size_t)n : 0;
}

static bool is_program(const struct head *head)
{
	return head->bytes >= sizeof(Elf32_Ehdr) &&
	       memcmp(head->as.elf.e_ident, ELFMAG, SELFMAG) == 0;
}

static bool is_native(const struct head *head)
{
	return is_program(head) && head->bytes >= sizeof(head->as.elf) &&
	       head->as.elf.e_ident[EI_CLASS] ==
		       preload_header.e_ident[EI_CLASS] &&
	       head->as.elf.e_machine == preload_header.e_machine;
}

/* Programs of another word size or processor; a script's are its shell's. */
static bool is_foreign(const struct head *head)
{
	return is_program(head) && !is_native(head);
}

/* Is this glibc's loader, by its name? */
static bool is_glibc(const char *linker, size_t len)
{
	static const char name[] = "/ld-linux";

	for (size_t i = len; i-- > 0;)
		if (linker[i] == '/')
			return len - i > sizeof(name) - 1 &&
			       memcmp(linker + i, name, sizeof(name) - 1) == 0;
	return false;
}

enum linker {
	LINKER_UNKNOWN, /* not in the first bytes of the file, as usual */
	LINKER_NONE,	/* a static program */
	LINKER_GLIBC,
	LINKER_OTHER
};

static enum linker linker_of(const struct head *head)
{
	const ElfW(Ehdr) *elf = &head->as.elf;
	ElfW(Phdr) part;

	if (!is_native(head) || elf->e_phentsize != sizeof(part))
		return LINKER_UNKNOWN;
	for (size_t i = 0; i < elf->e_phnum; i++) {
		size_t at = i * sizeof(part);

		if (elf->e_phoff > head->bytes ||
		    head->bytes - elf->e_phoff < at + sizeof(part))
			return LINKER_UNKNOWN;
		memcpy(&part, head->as.text + elf->e_phoff + at, sizeof(part));
		if (part.p_type != PT_INTERP)
			continue;
		if (part.p_offset > head->bytes ||
		    part.p_filesz > head->bytes - part.p_offset)
			return LINKER_UNKNOWN;
		return is_glibc(head->as.text + part.p_offset,
				part.p_filesz) ? LINKER_GLIBC : LINKER_OTHER;
	}
	return LINKER_NONE;
}

/* Must one of our libraries be removed from the list? */
static bool is_in_the_way(const char *list, bool all)
{
	for (size_t n; *list; list += n + (list[n] != '\0')) {
		n = length_of(list);
		if (is_ours(list, n) && (all || !can_open(list, n)))
			return true;
	}
	return false;
}

/* Is one of our libraries in the list by another path than its plain one? */
static bool has_detour(const char *list)
{
	for (size_t n; *list; list += n + (list[n] != '\0')) {
		n = length_of(list);
		if (is_ours(list, n) && *skip_origin(list) == '/' &&
		    skip_origin(list) != list)
			return true;
	}
	return false;
}

static void choose(const struct head *head, enum linker linker,
		   char *const envp[], struct preload_fit *ret)
{
	const char *const *variable = find_variable(envp);
	const char *list = *variable + sizeof(VARIABLE) - 1;
	size_t n = 0;

	if (!is_in_the_way(list, is_foreign(head))) {
		ret->is_direct = linker == LINKER_GLIBC && has_detour(list) &&
				 !find_variable((char *const *)variable + 1);
		if (!ret->is_direct)
			return;
	}
	while (envp[n])
		n++;
	ret->bytes = (n + 2) * sizeof(*envp) + strlen(*variable) + 1;
}

static void tell_static(const char *program, bool is_in_place)
{
	const char *slash = strrchr(program, '/');

	tr_log_process(TR_PROCESS_STATIC, is_in_place ? getpid() : 0,
		       slash ? slash + 1 : program);
}

struct preload_fit preload_environment_fit(const char *program,
					   char *const envp[],
					   bool is_in_place)
{
	struct preload_fit fit = { 0, false };
	int saved = errno;
	struct head head;

	if (find_variable(envp) && !preload_is_confined) {
		enum linker linker;

		read_head(program, &head);
		linker = linker_of(&head);
		choose(&head, linker, envp, &fit);
		if (linker == LINKER_NONE)
			tell_static(program, is_in_place);
	}
	errno = saved;
	return fit;
}

/*
 * Writes VARIABLE and the libraries of the list: all, ours by their plain
 * paths, or those that are not ours. False: none.
 */
static bool copy_list(const char *list, bool all, char *text)
{
	char *at = text + sizeof(VARIABLE) - 1;

	memcpy(text, VARIABLE, sizeof(VARIABLE) - 1);
	for (size_t n; *list; list += n + (list[n] != '\0')) {
		bool ours;
		size_t from;

		n = length_of(list);
		ours = is_ours(list, n);
		if (!n || (ours && !all))
			continue;
		from = ours ? (size_t)(skip_origin(list) - list) : 0;
		if (at[-1] != '=')
			*at++ = ':';
		memcpy(at, list + from, n - from);
		at += n - from;
	}
	*at = '\0';
	return at[-1] != '=';
}

char *const *preload_environment(char *const envp[],
				 const struct preload_fit *fit, void *memory)
{
	const char *const *variable = find_variable(envp);
	const char *list = *variable + sizeof(VARIABLE) - 1;
	char **copy = memory;
	size_t n = 0, all = 0;
	bool has_list;
	char *text;

	while (envp[all])
		all++;
	text = (char *)(copy + all + 2);
	has_list = copy_list(list, fit->is_direct, text);
	for (size_t i = 0; i < all; i++) {
		if ((const char *const *)&envp[i] != variable ||
		    fit->is_direct)
			copy[n++] = envp[i];
		else if (has_list)
			copy[n++] = text;
	}
	if (fit->is_direct)
		copy[n++] = text;
	copy[n] = NULL;
	return copy;
}

/* In the new program, before its own code: removes the second variable. */
__attribute__((constructor(101))) static void remove_direct(void)
{
	const char *const *first = find_variable(environ);
	char **second = first ? (char **)(uintptr_t)find_variable(
					(char *const *)first + 1) :
				NULL;

	if (!second || !has_detour(*first + sizeof(VARIABLE) - 1))
		return;
	do
		second[0] = second[1];
	while (*second++);
}
