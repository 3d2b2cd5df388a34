/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads values from tare.conf and from the environment, at the start.
 *
 * The first of these is read: $TARE_CONF (empty: no file at all), tare.conf in
 * the working folder, tare/tare.conf in the user's folder of settings. A file
 * that was not named is read only if it belongs to the user or to root, and
 * neither its group nor others can write it: it may come with a folder of
 * another user, and it says where files are written. A program that runs with
 * the rights of another user (AT_SECURE) reads no file and no variable.
 *
 * Errors never stop the host: each is reported in one line, and the value stays
 * as it was.
 */
#include "base/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/platform.h"
#include "base/text.h"

#define FILE_BYTES 16384 /* every option with its comment takes 5 KiB */
#define MAX_WARNINGS 20	 /* of a file or of the environment */
#define SHOWN_BYTES 52	 /* of the user's text, in a message */
#define SHOWN_PATH 256
#define WARNING_BYTES 768
#define VARIABLE_BYTES 96 /* longer than every name: a cut one matches none */

/* Static: a thread's stack may be small. Guard: the caller's start lock. */
static char file_text[FILE_BYTES + 1];
static char file_path[PATH_MAX];

struct load {
	struct tr_config *config;
	tr_config_warn warn;
	void *arg;
	const char *path; /* file being read, or NULL */
	unsigned line;	  /* 0: the whole file */
	unsigned n_warnings; /* of this source */
	const tare_option *wanted; /* its line in the file is asked for */
	unsigned wanted_line;	   /* 0: it has none */
	char *wanted_path;	   /* of PATH_MAX bytes */
};

/* Text of the user, made fit for one line of a terminal. */
static const char *shown(const char *text, char *room, size_t size)
{
	size_t len = strlen(text);
	size_t kept = tr_utf8_clip(text, len, size - sizeof("..."));

	for (size_t i = 0; i < kept; i++) {
		unsigned char c = (unsigned char)text[i];

		room[i] = c < 0x20 || c == 0x7f ? '?' : text[i];
	}
	memcpy(room + kept, kept < len ? "..." : "", kept < len ? 4 : 1);

	return room;
}

/* "path:line: ", "path: " or nothing. */
static size_t put_place(const struct load *load, char *out, size_t size)
{
	char room[SHOWN_PATH];
	int len;

	if (!load->path)
		return 0;

	(void)shown(load->path, room, sizeof(room));
	if (load->line)
		len = snprintf(out, size, "%s:%u: ", room, load->line);
	else
		len = snprintf(out, size, "%s: ", room);
	return (size_t)len;
}

static void TARE_PRINTF(2, 3)
tell(struct load *load, const char *format, ...)
{
	char text[WARNING_BYTES];
	size_t len;
	va_list args;

	if (!load->warn || load->n_warnings > MAX_WARNINGS)
		return;
	if (load->n_warnings++ == MAX_WARNINGS)
		format = "more that is wrong here is not shown";

	len = put_place(load, text, sizeof(text));
	va_start(args, format);
	(void)vsnprintf(text + len, sizeof(text) - len, format, args);
	va_end(args);

	load->warn(load->arg, text);
}

static void tell_wrong_value(struct load *load, const char *subject,
			     const tare_option *option, const char *value)
{
	char room[SHOWN_BYTES];
	char used[TR_CONFIG_STRING];
	const char *quote = option->type == TARE_OPTION_STRING ? "'" : "";

	if (tr_config_get(load->config, option->name, used, sizeof(used)) < 0)
		return;

	tell(load, "%s: '%s' is not %s, using %s%s%s", subject,
	     shown(value, room, sizeof(room)), option->range, quote, used,
	     quote);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Removes spaces at both ends of text[0..len), in place. */
static char *trim(char *text, size_t len)
{
	while (len > 0 && is_space(text[len - 1]))
		len--;
	text[len] = '\0';
	while (is_space(*text))
		text++;

	return text;
}

/*
 * The value after the '=': up to a comment, or the text between quotes, which
 * may contain spaces and '#'. NULL: the quotes do not match.
 */
static char *cut_value(char *text)
{
	char *end;

	text = trim(text, strlen(text));
	if (*text == '"') {
		end = strchr(++text, '"');
		if (!end)
			return NULL;
		*end = '\0';
		end = trim(end + 1, strlen(end + 1));
		return *end == '\0' || *end == '#' ? text : NULL;
	}

	/* Only after a space: a path may contain a '#'. */
	for (end = text; *end; end++) {
		if (*end == '#' && (end == text || is_space(end[-1])))
			break;
	}
	return trim(text, (size_t)(end - text));
}

static void set_from_file(struct load *load, const char *key,
			  const char *value)
{
	const tare_option *option = tr_option_find(key);
	char room[SHOWN_BYTES];

	if (option) {
		if (tr_config_set(load->config, key, value) != 0) {
			tell_wrong_value(load, key, option, value);
		} else if (option == load->wanted) {
			load->wanted_line = load->line;
			(void)snprintf(load->wanted_path, PATH_MAX, "%s",
				       load->path);
		}
		return;
	}

	option = tr_option_closest(key);
	if (option)
		tell(load, "unknown option '%s', did you mean '%s'?",
		     shown(key, room, sizeof(room)), option->name);
	else
		tell(load, "unknown option '%s'",
		     shown(key, room, sizeof(room)));
}

static void read_line(struct load *load, char *line, size_t len)
{
	char room[SHOWN_BYTES];
	char *equals, *value;

	if (memchr(line, '\0', len)) {
		tell(load, "has a NUL byte, the line is ignored");
		return;
	}
	line = trim(line, len);
	if (*line == '\0' || *line == '#')
		return;

	equals = strchr(line, '=');
	if (!equals) {
		tell(load, "'%s' is not 'option = value'",
		     shown(line, room, sizeof(room)));
		return;
	}
	value = cut_value(equals + 1);
	line = trim(line, (size_t)(equals - line));
	if (value)
		set_from_file(load, line, value);
	else
		tell(load, "%s: the quotes do not match",
		     shown(line, room, sizeof(room)));
}

static void read_lines(struct load *load, char *text, size_t len)
{
	char *end = text + len;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3; /* byte order mark of some editors */

	while (text < end) {
		char *stop = memchr(text, '\n', (size_t)(end - text));

		if (!stop)
			stop = end;
		load->line++;
		read_line(load, text, (size_t)(stop - text));
		text = stop + 1;
	}
}

static void read_open_file(struct load *load, int fd, const char *path)
{
	int64_t len = tr_file_read_some(fd, file_text, sizeof(file_text),
					TR_FILE_POSITION);

	load->path = path;
	load->line = 0;
	if (len < 0) {
		tell(load, "cannot be read, no file is used");
		len = 0;
	}
	if (len > FILE_BYTES) {
		const char *last = memrchr(file_text, '\n', FILE_BYTES);

		/* Half a line could be a wrong value that looks right. */
		len = last ? last - file_text : 0;
		tell(load, "is larger than %d bytes, the rest is ignored",
		     FILE_BYTES);
	}

	file_text[len] = '\0';
	read_lines(load, file_text, (size_t)len);
	load->path = NULL;
}

/* Why a file is not read, or NULL. */
static const char *objection(int fd, bool named)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return "cannot be read";
	/* A pipe would make the host wait; /dev/null means no file. */
	if (!S_ISREG(st.st_mode) && !(named && S_ISCHR(st.st_mode)))
		return "is not a plain file";
	if (named)
		return NULL;
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "belongs to another user (TARE_CONF can name it)";
	if (st.st_mode & S_IWOTH)
		return "can be written by everybody (TARE_CONF can name it)";
	if (st.st_mode & S_IWGRP)
		return "can be written by its group (TARE_CONF can name it)";

	return NULL;
}

static void tell_unused(struct load *load, const char *path, bool named,
			const char *why)
{
	char room[SHOWN_PATH];

	tell(load, "%s%s: %s, no file is used", named ? "TARE_CONF: " : "",
	     shown(path, room, sizeof(room)), why);
}

/* False: there is no such file, so the next place is tried. */
static bool read_file(struct load *load, const char *path, bool named)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why;

	if (fd < 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		if (missing && !named)
			return false;
		tell_unused(load, path, named,
			    missing ? "not found" : "cannot be opened");
		return true;
	}

	why = objection(fd, named);
	if (why)
		tell_unused(load, path, named, why);
	else
		read_open_file(load, fd, path);
	(void)close(fd);
	return true;
}

/* Writes the path in the user's folder of settings to file_path. */
static bool find_user_file(void)
{
	const char *folder = secure_getenv("XDG_CONFIG_HOME");
	const char *below = "/tare/tare.conf";
	size_t len, more;

	if (!folder || *folder != '/') { /* as its specification requires */
		folder = secure_getenv("HOME");
		below = "/.config/tare/tare.conf";
	}
	if (!folder || *folder != '/')
		return false;

	/* Without snprintf(), whose pages few programs need at their start. */
	len = strlen(folder);
	more = strlen(below) + 1;
	if (len > sizeof(file_path) - more)
		return false;
	memcpy(file_path, folder, len);
	memcpy(file_path + len, below, more);
	return true;
}

static void load_file(struct load *load)
{
	const char *named = secure_getenv("TARE_CONF");

	if (named) {
		if (*named)
			(void)read_file(load, named, true);
		return;
	}

	if (!read_file(load, "tare.conf", false) && find_user_file())
		(void)read_file(load, file_path, false);
}

/* Variables of tare that are not options: read by runtime/ and the CLI. */
static bool is_reserved(const char *variable)
{
	return strcmp(variable, "TARE_CONF") == 0 ||
	       strcmp(variable, "TARE_GROUP") == 0 ||
	       strcmp(variable, "TARE_NOTES") == 0 ||
	       strcmp(variable, "TARE_NVML_LIBRARY") == 0 ||
	       strcmp(variable, "TARE_SIGNAL_COST") == 0 ||
	       strcmp(variable, "TARE_TOKEN") == 0 ||
	       strncmp(variable, "TARE_DISABLE", 12) == 0;
}

/* MAX_SITES to max_sites: only lower-case names can be compared. */
static void put_lower(char *out, const char *text)
{
	do {
		char c = *text;

		*out++ = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	} while (*text++);
}

static void set_from_variable(struct load *load, const tare_option *option,
			      const char *value)
{
	/* Of two with the same name the first counts, as for getenv(). */
	if (value != getenv(option->env) ||
	    tr_config_set(load->config, option->name, value) == 0)
		return;
	/* `TARE_X= program` is a way to unset it. */
	if (*value)
		tell_wrong_value(load, option->env, option, value);
}

static void read_variable(struct load *load, const char *variable,
			  const char *value)
{
	char name[VARIABLE_BYTES], room[SHOWN_BYTES];
	const tare_option *option;

	put_lower(name, variable + strlen("TARE_"));
	option = tr_option_find(name);
	if (option && strcmp(option->env, variable) == 0) {
		set_from_variable(load, option, value);
		return;
	}
	if (is_reserved(variable))
		return;

	option = tr_option_closest(name);
	if (option)
		tell(load, "%s: no such option, did you mean %s?",
		     shown(variable, room, sizeof(room)), option->env);
	else
		tell(load, "%s: no such option",
		     shown(variable, room, sizeof(room)));
}

/* One pass: a lookup of every option would take ten times as long. */
static void load_variables(struct load *load)
{
	char variable[VARIABLE_BYTES];

	for (char **entry = environ; entry && *entry; entry++) {
		const char *value;
		size_t len;

		if (strncmp(*entry, "TARE_", strlen("TARE_")) != 0)
			continue;
		value = strchr(*entry, '=');
		len = value ? (size_t)(value - *entry) : strlen(*entry);
		value = *entry + len + ((*entry)[len] == '=');
		len = len < sizeof(variable) ? len : sizeof(variable) - 1;
		memcpy(variable, *entry, len);
		variable[len] = '\0';
		read_variable(load, variable, value);
	}
}

bool tr_config_root(char dir[TR_CONFIG_STRING])
{
	char given[TR_CONFIG_STRING];
	size_t len = strlen(dir), root;

	if (!len || dir[0] == '/')
		return true;
	memcpy(given, dir, len + 1);
	if (!getcwd(file_path, sizeof(file_path)) || file_path[0] != '/')
		return false;
	root = strlen(file_path);
	root -= root == 1; /* of "/" itself, one slash is enough */
	if (root + 1 + len >= TR_CONFIG_STRING)
		return false;
	memcpy(dir, file_path, root);
	dir[root] = '/';
	memcpy(dir + root + 1, given, len + 1);
	return true;
}

void tr_config_load(struct tr_config *config, tr_config_warn warn, void *arg)
{
	struct load load = { .config = config, .warn = warn, .arg = arg };
	int saved_errno = errno;

	tr_config_defaults(config);
	if (!getauxval(AT_SECURE)) {
		load_file(&load);
		load.n_warnings = 0;
		load_variables(&load);
	}
	(void)tr_config_root(config->dir); /* else as it was given */

	errno = saved_errno;
}

enum tr_config_source tr_config_source(const tare_option *option,
				       char place[PATH_MAX], unsigned *ret_line)
{
	static struct tr_config scratch;
	struct load load = { .config = &scratch, .wanted = option,
			     .wanted_path = place };
	const char *value = secure_getenv(option->env);

	*ret_line = 0;
	tr_config_defaults(&scratch);
	if (getauxval(AT_SECURE))
		return TR_CONFIG_DEFAULT;
	if (value && tr_config_set(&scratch, option->name, value) == 0)
		return TR_CONFIG_ENVIRONMENT;
	load_file(&load);
	*ret_line = load.wanted_line;
	return load.wanted_line ? TR_CONFIG_FILE : TR_CONFIG_DEFAULT;
}
