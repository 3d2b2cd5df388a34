/* SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES_MOST 16384u /* the library writes a few lines; bounds others */

int notes_open(void)
{
	char place[64];
	int fd = memfd_create("tare-notes", MFD_CLOEXEC);

	(void)snprintf(place, sizeof(place), "%ld:%d", (long)getpid(), fd);
	if (fd < 0 || setenv("TARE_NOTES", place, 1)) {
		(void)unsetenv("TARE_NOTES");
		return -1;
	}
	return fd;
}

/* Bytes that control a terminal are shown as a question mark. */
static char printable(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
}

void notes_print(int notes, FILE *text)
{
	char bytes[BYTES_MOST];
	ssize_t n = notes < 0 ? 0 : pread(notes, bytes, sizeof(bytes), 0);
	bool is_first = true; /* at the beginning of a line */

	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] == '\n') {
			if (!is_first)
				(void)fputc('\n', text);
			is_first = true;
			continue;
		}
		if (is_first)
			(void)fputs("warning    ", text);
		(void)fputc(printable(bytes[i]), text);
		is_first = false;
	}
	if (!is_first)
		(void)fputc('\n', text);
}
