/* SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/runs.h"

#define SHOWN_MOST 16384u /* the library writes a few lines; bounds others */

int notes_open(void)
{
	char place[96];
	int fd = memfd_create("tare-notes", MFD_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) ||
	    snprintf(place, sizeof(place), "%ld:%d:%lu", (long)getpid(), fd,
		     (unsigned long)st.st_ino) >= (int)sizeof(place) ||
	    setenv("TARE_NOTES", place, 1)) {
		(void)unsetenv("TARE_NOTES");
		return -1;
	}
	return fd;
}

void notes_each(int notes,
		void (*take)(void *arg, const char *line, size_t len),
		void *arg)
{
	struct stat st;
	char *text;
	ssize_t got;
	size_t n;

	/* A copy: processes that still run may write, or truncate it. */
	if (notes < 0 || fstat(notes, &st) || st.st_size <= 0)
		return;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return;
	got = pread(notes, text, (size_t)st.st_size, 0);
	n = got > 0 ? (size_t)got : 0;
	text[n] = '\0';
	for (size_t i = 0, len; i < n; i += len + 1) {
		const char *end = memchr(text + i, '\n', n - i);

		len = end ? (size_t)(end - text) - i : n - i;
		text[i + len] = '\0';
		if (len)
			take(arg, text + i, len);
	}
	free(text);
}

struct printing {
	FILE *text;
	size_t shown;
};

/* Bytes that control a terminal are shown as a question mark. */
static void print_line(void *arg, const char *line, size_t len)
{
	struct printing *p = arg;

	if (line[0] >= TR_PROCESS_PROGRAM && line[0] <= TR_PROCESS_FORK)
		return; /* of a process: starts.h */
	p->shown += len;
	if (p->shown > SHOWN_MOST)
		return;
	(void)fputs("warning    ", p->text);
	for (size_t i = 0; i < len; i++)
		(void)fputc((unsigned char)line[i] < ' ' || line[i] == 0x7f ?
				    '?' :
				    line[i],
			    p->text);
	(void)fputc('\n', p->text);
}

void notes_print(int notes, FILE *text)
{
	struct printing p = { text, 0 };

	notes_each(notes, print_line, &p);
}
