/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare flags: prints the flags to compile and link a program with tare.
 *
 * The folders are relative to this program: a prefix that was moved, or
 * installed by DESTDIR, works without changes, while pkg-config files would
 * have to be edited. -rpath lets the library be found at run time.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "message.h"
#include "program.h"

/* Relative to the prefix, or absolute. */
#ifndef TARE_INCLUDEDIR
#define TARE_INCLUDEDIR "include"
#endif
#ifndef TARE_CFLAGS
#define TARE_CFLAGS ""
#endif

static struct {
	bool cflags;
	bool libs;
	bool read;
	bool is_static;
} opts;

static const struct option_spec options[] = {
	OPTION_FLAG('c', "cflags", &opts.cflags, "only what compiling needs"),
	OPTION_FLAG('l', "libs", &opts.libs, "only what linking needs"),
	OPTION_FLAG('r', "read", &opts.read,
		    "with libtare-read, for programs that open runs"),
	OPTION_FLAG('s', "static", &opts.is_static,
		    "with the archives, not the shared libraries"),
	OPTION_END
};

struct folders {
	char include[PATH_MAX];
	char lib[PATH_MAX];
	bool is_known; /* default for compiler and loader: no option needed */
};

/* False if the path is too long. */
static bool join(char ret_path[PATH_MAX], const char *folder, const char *name)
{
	int n = name[0] == '/' ?
			snprintf(ret_path, PATH_MAX, "%s", name) :
			snprintf(ret_path, PATH_MAX, "%s/%s", folder, name);

	return n >= 0 && n < PATH_MAX;
}

/*
 * In a build folder, the build writes a file beside the program that names the
 * folder of the headers, which is in the source tree.
 */
static bool read_built(const char *self, const char *above,
		       struct folders *folders)
{
	char path[PATH_MAX];
	FILE *file;
	bool is_read;

	if (!join(path, self, "include_folder") ||
	    !join(folders->lib, above, "src"))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(folders->include, PATH_MAX, file) != NULL;
	(void)fclose(file);
	folders->include[strcspn(folders->include, "\n")] = '\0';
	return is_read;
}

static bool find_folders(struct folders *folders)
{
	char self[PATH_MAX], above[PATH_MAX];
	char *end;

	if (!program_folder(self))
		return false;
	memcpy(above, self, sizeof(above));
	end = strrchr(above, '/');
	if (end)
		*end = '\0';
	if (read_built(self, above, folders))
		return true;
	folders->is_known = strcmp(above, "/usr") == 0;
	return join(folders->include, above, TARE_INCLUDEDIR) &&
	       join(folders->lib, above, TARE_LIBDIR);
}

static int check_there(const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (join(path, folder, name) && access(path, R_OK) == 0)
		return CODE_OK;
	message("cannot find '%s/%s': the library is not installed beside "
		"this program", folder, name);
	return CODE_IO;
}

/* One word, after a space unless it is the first. Escaped as in pkg-config,
 * since a shell splits the output of $(tare flags) at spaces. */
static void print_word(bool *is_first, const char *before, const char *path)
{
	(void)printf("%s%s", *is_first ? "" : " ", before);
	*is_first = false;
	for (; *path; path++) {
		if (!isalnum((unsigned char)*path) &&
		    !strchr("/._-+=:,@%~", *path) &&
		    (unsigned char)*path < 0x80)
			(void)putchar('\\');
		(void)putchar(*path);
	}
}

static void print_cflags(const struct folders *folders, bool *is_first)
{
	if (TARE_CFLAGS[0])
		print_word(is_first, TARE_CFLAGS, "");
	if (!folders->is_known)
		print_word(is_first, "-I", folders->include);
}

static void print_shared(const struct folders *folders, bool *is_first)
{
	if (!folders->is_known)
		print_word(is_first, "-L", folders->lib);
	if (opts.read)
		print_word(is_first, "-ltare-read", "");
	print_word(is_first, "-ltare", "");
	if (!folders->is_known)
		print_word(is_first, "-Wl,-rpath,", folders->lib);
}

static void print_static(const struct folders *folders, bool *is_first)
{
	char path[PATH_MAX];

	if (opts.read && join(path, folders->lib, "libtare-read.a"))
		print_word(is_first, "", path);
	if (join(path, folders->lib, "libtare.a"))
		print_word(is_first, "", path);
	print_word(is_first, "-pthread -ldl", "");
}

static int check_libraries(const struct folders *folders)
{
	const char *end = opts.is_static ? ".a" : ".so";
	char name[32];
	int code;

	(void)snprintf(name, sizeof(name), "libtare%s", end);
	code = check_there(folders->lib, name);
	if (code || !opts.read)
		return code;
	(void)snprintf(name, sizeof(name), "libtare-read%s", end);
	return check_there(folders->lib, name);
}

static int print_flags(const struct folders *folders)
{
	bool is_first = true;
	int code = check_there(folders->include, "tare/tare.h");

	if (!code)
		code = check_libraries(folders);
	if (code)
		return code;
	if (opts.cflags || !opts.libs)
		print_cflags(folders, &is_first);
	if (opts.libs || !opts.cflags)
		(opts.is_static ? print_static : print_shared)(
			folders, &is_first);
	(void)putchar('\n');
	return CODE_OK;
}

static int flags(struct args *args)
{
	struct folders folders = { .is_known = false };

	(void)args;
	if (!find_folders(&folders))
		return message_error("find", "the folder of this program",
				     ENOENT);
	return print_flags(&folders);
}

const struct command cmd_flags = {
	.name = "flags",
	.usage = "[--cflags] [--libs] [--read] [--static]",
	.summary = "what to compile and link a program with",
	.examples = "  cc prog.c $(tare flags) -o prog\n"
		    "  cc prog.c $(tare flags --static) -o prog\n"
		    "  c++ -std=c++17 -c prog.cpp $(tare flags --cflags)\n",
	.options = options,
	.run = flags,
};
