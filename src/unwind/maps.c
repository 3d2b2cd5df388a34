/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps: the modules as the kernel lists them, for libcs that cannot say what
 * module an address is in without taking a lock (find.c).
 *
 * What was mapped is in /proc/self/maps, and each module begins with its own
 * headers. They are copied by a call that can say no: another thread may
 * unload a module at any moment.
 *
 * One at a time, who looks (module.c): the buffers are there once.
 */
#include "unwind/list.h"

#include "unwind/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define TR_MAPS_LINE 4096u
#define TR_MAPS_PARTS 32u

struct maps_line {
	uint64_t from, to, off;
	bool is_readable;
	char *path;
};

static uint64_t maps_number(char **at)
{
	uint64_t value = 0;

	for (;; (*at)++) {
		char c = **at;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* "from-to rwxp offset dev inode     path" */
static bool maps_parse(char *text, struct maps_line *line)
{
	static const char deleted[] = " (deleted)";
	size_t n, cut = sizeof(deleted) - 1;

	line->from = maps_number(&text);
	if (*text++ != '-')
		return false;
	line->to = maps_number(&text);
	line->is_readable = text[0] == ' ' && text[1] == 'r';
	if (strlen(text) < 6)
		return false;
	text += 6;
	line->off = maps_number(&text);
	text = strpbrk(text, "/[");
	if (!text)
		return false;
	line->path = text;
	n = strlen(text);
	if (n > cut && strcmp(text + n - cut, deleted) == 0)
		text[n - cut] = '\0';
	return text[0] == '/' || strcmp(text, "[vdso]") == 0;
}

/* Its headers, as the dynamic linker would show them. */
static bool maps_module(const struct maps_line *line,
			struct dl_phdr_info *info)
{
	static ElfW(Phdr) segment[TR_MAPS_PARTS];
	uint64_t entry = getauxval(AT_ENTRY), end = 0;
	ElfW(Ehdr) head;

	if (line->off || !line->is_readable ||
	    line->to - line->from < sizeof(head) ||
	    !tr_reach_copy(line->from, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_phentsize != sizeof(segment[0]) ||
	    head.e_phnum > TR_MAPS_PARTS ||
	    head.e_phoff > line->to - line->from ||
	    !tr_reach_copy(line->from + head.e_phoff, segment,
			   (uint32_t)(head.e_phnum * sizeof(segment[0]))))
		return false;
	memset(info, 0, sizeof(*info));
	info->dlpi_phdr = segment;
	info->dlpi_phnum = head.e_phnum;
	info->dlpi_name = line->path;
	for (unsigned i = head.e_phnum; i-- > 0;)
		if (segment[i].p_type == PT_LOAD) {
			info->dlpi_addr = line->from -
					  (segment[i].p_vaddr &
					   ~(segment[i].p_align ?
						     segment[i].p_align - 1 :
						     0));
			if (segment[i].p_vaddr + segment[i].p_memsz > end)
				end = segment[i].p_vaddr + segment[i].p_memsz;
		}
	/* The program itself has no name there. */
	if (entry - info->dlpi_addr < end)
		info->dlpi_name = "";
	return end > 0;
}

/* The whole lines of `text`; bytes that they take. */
static size_t maps_lines(char *text,
			 int (*see)(struct dl_phdr_info *, size_t, void *),
			 void *arg)
{
	char *line = text, *end;

	while ((end = strchr(line, '\n'))) {
		struct dl_phdr_info info;
		struct maps_line what;

		*end = '\0';
		if (maps_parse(line, &what) && maps_module(&what, &info))
			(void)see(&info, sizeof(info), arg);
		line = end + 1;
	}
	return (size_t)(line - text);
}

void tr_maps_iterate(int (*see)(struct dl_phdr_info *, size_t, void *),
		     void *arg)
{
	static char text[TR_MAPS_LINE + 1];
	int saved = errno, fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t have = 0, used;
	ssize_t n;

	while (fd >= 0) {
		n = read(fd, text + have, TR_MAPS_LINE - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
		text[have] = '\0';
		used = maps_lines(text, see, arg);
		have -= used;
		memmove(text, text + used, have);
		if (have == TR_MAPS_LINE)
			have = 0; /* a line longer than any path */
	}
	if (fd >= 0)
		(void)close(fd);
	errno = saved;
}
