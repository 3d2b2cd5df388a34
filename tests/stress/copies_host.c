/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a copy of the library in it that loads a module with
 * another: PAGE MODULE. Both record; the program also asks for itself.
 */
#define PLUGIN "host"
#include "plugin_body.h"

#include <tare/read/view.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	struct plugin_done *done;
	plugin_record_fn *record;
	tare_view *view;
	void *module;

	if (fd < 0)
		_exit(2);
	done = mmap(NULL, 2 * sizeof(*done), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (done == MAP_FAILED)
		_exit(3);
	for (unsigned i = 0; i < 100; i++) {
		plugin_record(&done[0]);
		module = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
		if (!module)
			_exit(4);
		*(void **)&record = dlsym(module, "plugin_record");
		if (!record)
			_exit(5);
		{
			TARE_SCOPE("host.around");
			record(&done[1]);
		}
		(void)dlclose(module);
	}
	if (!tare_ledger_path() || tare_view_open("self", &view))
		_exit(6);
	tare_view_close(view);
	_exit(0); /* not exit(): the ledger stays where the test looks */
}
