/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a module: at its path, if it is still the one that ran; else the
 * debug file of its build id, which has all names but no code.
 */
#include "parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MOST 4352

void file_warn(struct symbols *symbols, const struct module *module,
	       const char *what, const char *why)
{
	char text[PATH_MOST + 256];

	if (!symbols->warn)
		return;
	(void)snprintf(text, sizeof(text), "%s of '%.*s' are not known: %s",
		       what, PATH_MOST - 1, module->path, why);
	symbols->warn(symbols->warn_arg, text);
}

/* ---- build ids --------------------------------------------------------- */

/* In hexadecimal; "" if there is none, or it is not an ELF file. */
static void id_of_file(int fd, char *text, size_t size)
{
	struct elf_file elf;

	text[0] = '\0';
	if (file_map(fd, &elf))
		elf_build_id(&elf, text, size);
	file_unmap(&elf);
}

/* A ledger keeps the first 20 bytes. */
static bool is_same_id(const char *wanted, const char *is)
{
	return strncmp(wanted, is, strlen(wanted)) == 0 &&
	       (strlen(is) == strlen(wanted) || strlen(wanted) >= 40);
}

/* ---- files ------------------------------------------------------------- */

enum verdict { MISSING, OTHER, SAME };

/*
 * Opens a file if it is the module's. Without a build id, a file that changed
 * after the module was loaded is a different one.
 */
static enum verdict try_file(const struct module *module, const char *path,
			     int64_t came_ns, int *ret_fd)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char id[128];

	if (fd < 0)
		return MISSING;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return MISSING;
	}
	id_of_file(fd, id, sizeof(id));
	if (module->build_id[0] ? is_same_id(module->build_id, id) :
				  !came_ns ||
					  (int64_t)st.st_mtim.tv_sec <=
						  came_ns / 1000000000) {
		*ret_fd = fd;
		return SAME;
	}
	(void)close(fd);
	return OTHER;
}

/* Searches the folders of debug files by build id. */
static enum verdict try_debug(struct symbols *symbols,
			      const struct module *module, int *ret_fd)
{
	static const char *const endings[] = { ".debug", "" };
	const char *at = symbols->debug_path;
	char path[PATH_MOST];

	if (strlen(module->build_id) < 6)
		return MISSING;
	while (*at) {
		size_t n = strcspn(at, ":");

		for (size_t i = 0; *at == '/' && i < 2; i++) {
			(void)snprintf(path, sizeof(path),
				       "%.*s/.build-id/%.2s/%s%s", (int)n, at,
				       module->build_id, module->build_id + 2,
				       endings[i]);
			if (try_file(module, path, 0, ret_fd) == SAME)
				return SAME;
		}
		at += n + (at[n] == ':');
	}
	return MISSING;
}

/* The vDSO of the kernel, which is also mapped into this process. */
static enum verdict try_vdso(const struct module *module, int *ret_fd)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE) * 2;
	char id[128];
	int fd;

	if (!image)
		return MISSING;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return MISSING;
	/* Its size is unknown; write() stops at its end. */
	if (fchmod(fd, 0600) ||
	    write(fd, image, bytes) < (ssize_t)bytes / 2) {
		(void)close(fd);
		return MISSING;
	}
	id_of_file(fd, id, sizeof(id));
	if (module->build_id[0] && !is_same_id(module->build_id, id)) {
		(void)close(fd);
		return OTHER;
	}
	*ret_fd = fd;
	return SAME;
}

#define DELETED " (deleted)"

static enum verdict try_path(struct symbols *symbols,
			     const struct module *module, int64_t came_ns,
			     int *ret_fd)
{
	size_t len = strlen(module->path);
	char path[PATH_MOST];
	enum verdict verdict = MISSING;

	if (len > sizeof(DELETED) &&
	    strcmp(module->path + len - (sizeof(DELETED) - 1), DELETED) == 0)
		len -= sizeof(DELETED) - 1;
	if (symbols->root) {
		(void)snprintf(path, sizeof(path), "%s%.*s", symbols->root,
			       (int)len, module->path);
		verdict = try_file(module, path, came_ns, ret_fd);
	}
	if (verdict == SAME)
		return SAME;
	(void)snprintf(path, sizeof(path), "%.*s", (int)len, module->path);
	return path[0] == '/' ? try_file(module, path, came_ns, ret_fd) :
				verdict;
}

int file_find(struct symbols *symbols, const struct module *module,
	      int64_t came_ns)
{
	enum verdict verdict;
	int fd = -1;

	if (strncmp(module->path, "[vdso]", 6) == 0 ||
	    strncmp(module->name, "linux-vdso", 10) == 0)
		verdict = try_vdso(module, &fd);
	else
		verdict = try_path(symbols, module, came_ns, &fd);
	if (verdict != SAME && try_debug(symbols, module, &fd) == SAME)
		return fd;
	if (verdict == OTHER)
		file_warn(symbols, module, "names", module->build_id[0] ?
				  "the file is not the one that ran (its "
				  "build id differs)" :
				  "the file was changed after it was loaded");
	else if (verdict == MISSING && module->path[0] == '/')
		file_warn(symbols, module, "names", "the file is gone");
	return fd;
}

/* ---- debug files that belong to another build -------------------------- */

/* Warns if the file exists and has another build id. */
static bool is_wrong(struct symbols *symbols, const struct module *module,
		     const char *path)
{
	char id[128], why[PATH_MOST + 64];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	id_of_file(fd, id, sizeof(id));
	(void)close(fd);
	if (is_same_id(module->build_id, id))
		return false;
	(void)snprintf(why, sizeof(why), "debug file '%.*s' of '%.200s' is of "
		       "another build, and not used", PATH_MOST / 2, path,
		       module->name);
	if (symbols->warn)
		symbols->warn(symbols->warn_arg, why);
	return true;
}

void file_check_debug(struct symbols *symbols, const struct module *module)
{
	const char *link = elf_debug_link(&module->elf);
	const char *slash = strrchr(module->path, '/');
	int folder = slash ? (int)(slash - module->path) : 0;
	const char *at = symbols->debug_path;
	char path[PATH_MOST];

	if (!module->build_id[0])
		return;
	for (size_t n; *at; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		(void)snprintf(path, sizeof(path), "%.*s/.build-id/%.2s/%s"
			       ".debug", (int)n, at, module->build_id,
			       module->build_id + 2);
		if (*at == '/' && is_wrong(symbols, module, path))
			return;
		if (!link)
			continue;
		(void)snprintf(path, sizeof(path), "%.*s%.*s/%s", (int)n, at,
			       folder, module->path, link);
		if (*at == '/' && is_wrong(symbols, module, path))
			return;
		(void)snprintf(path, sizeof(path), "%.*s/%.*s/%s", folder,
			       module->path, (int)n, *at == '/' ? "." : at,
			       link);
		if (*at != '/' && is_wrong(symbols, module, path))
			return;
	}
	if (!link)
		return;
	(void)snprintf(path, sizeof(path), "%.*s/%s", folder, module->path,
		       link);
	(void)is_wrong(symbols, module, path);
}
