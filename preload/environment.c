/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of programs that cannot load our libraries: below another
 * root, as another user, or for another processor. The loader would report
 * this on their stderr, so LD_PRELOAD is passed on without our libraries.
 * Other entries stay.
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

/* Programs of another word size or processor; a script's are its shell's. */
static bool is_foreign(const char *program)
{
	ElfW(Ehdr) head;
	int fd = program ? open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK) :
			   -1;
	ssize_t n = fd >= 0 ? read(fd, &head, sizeof(head)) : 0;

	if (fd >= 0)
		(void)close(fd);
	return n >= (ssize_t)sizeof(Elf32_Ehdr) &&
	       memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
	       (head.e_ident[EI_CLASS] != preload_header.e_ident[EI_CLASS] ||
		head.e_machine != preload_header.e_machine);
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

size_t preload_environment_bytes(const char *program, char *const envp[])
{
	const char *const *variable = find_variable(envp);
	int saved = errno;
	size_t n = 0, bytes;

	if (!variable || preload_is_confined)
		return 0;
	if (!is_in_the_way(*variable + sizeof(VARIABLE) - 1,
			   is_foreign(program)))
		bytes = 0;
	else {
		while (envp[n])
			n++;
		bytes = (n + 1) * sizeof(*envp) + strlen(*variable) + 1;
	}
	errno = saved;
	return bytes;
}

/* Writes VARIABLE and the libraries that are not ours; false: none. */
static bool copy_others(const char *list, char *text)
{
	char *at = text + sizeof(VARIABLE) - 1;

	memcpy(text, VARIABLE, sizeof(VARIABLE) - 1);
	for (size_t n; *list; list += n + (list[n] != '\0')) {
		n = length_of(list);
		if (!n || is_ours(list, n))
			continue;
		if (at[-1] != '=')
			*at++ = ':';
		memcpy(at, list, n);
		at += n;
	}
	*at = '\0';
	return at[-1] != '=';
}

char *const *preload_environment(char *const envp[], void *memory)
{
	const char *const *variable = find_variable(envp);
	char **copy = memory;
	size_t n = 0, all = 0;
	char *text;

	while (envp[all])
		all++;
	text = (char *)(copy + all + 1);
	for (size_t i = 0; i < all; i++) {
		if ((const char *const *)&envp[i] != variable)
			copy[n++] = envp[i];
		else if (copy_others(envp[i] + sizeof(VARIABLE) - 1, text))
			copy[n++] = text;
	}
	copy[n] = NULL;
	return copy;
}
