/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"
#include "record/gpu/state.h"

#define NOWHERE "/nonexistent/tare"
#define LONG_NS INT64_C(60000000000)
#define MESSAGES 128

static char path[512];
static char message[MESSAGES][TR_GPU_TEXT];
static unsigned n_messages;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_message(enum tare_level level, const char *text)
{
	(void)level;
	(void)pthread_mutex_lock(&lock);
	if (n_messages < MESSAGES)
		(void)snprintf(message[n_messages++], TR_GPU_TEXT, "%s", text);
	(void)pthread_mutex_unlock(&lock);
}

unsigned driver_messages(const char *text)
{
	unsigned n = 0;

	(void)pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n_messages; i++)
		n += strstr(message[i], text) != NULL;
	(void)pthread_mutex_unlock(&lock);
	return n;
}

static struct stand_in *load(const char *name)
{
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *slash;
	void *library;

	if (!CHECK(n > 0))
		return NULL;
	path[n] = '\0';
	slash = strrchr(path, '/');
	(void)snprintf(slash + 1, 60, "%s.so", name);
	/* Never closed: it keeps its struct while tare opens and closes. */
	library = dlopen(path, RTLD_NOW);
	if (!CHECK(library != NULL)) {
		printf("# %s\n", dlerror());
		return NULL;
	}
	return dlsym(library, "stand_in");
}

struct stand_in *driver_use(const char *name)
{
	struct stand_in *driver = name ? load(name) : NULL;

	tr_nvml_path = name ? path : NOWHERE "/libnvidia-ml.so";
	tr_root = NOWHERE;
	tr_gpu_patience_ns = LONG_NS;
	tr_gpu_set_log(take_message);
	return driver;
}

void driver_poll(void)
{
	tr_gpu_poll(false);
}

tare_gpu driver_read(size_t index)
{
	tare_gpu gpu = { .struct_size = sizeof(gpu) };

	CHECK_INT(tare_gpu_read(index, &gpu), 0);
	return gpu;
}

tare_gpu driver_poll_one(size_t index)
{
	driver_poll();
	return driver_read(index);
}

static bool is_ours(const char *task)
{
	char file[300], name[32] = "";
	FILE *comm;

	(void)snprintf(file, sizeof(file), "/proc/self/task/%s/comm", task);
	comm = fopen(file, "re");
	if (!comm)
		return false; /* it has just ended */
	if (!fgets(name, sizeof(name), comm))
		name[0] = '\0';
	(void)fclose(comm);
	return strcmp(name, "tare-gpu\n") == 0;
}

unsigned driver_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks)))
		n += entry->d_name[0] != '.' && is_ours(entry->d_name);
	if (tasks)
		(void)closedir(tasks);
	return n;
}
