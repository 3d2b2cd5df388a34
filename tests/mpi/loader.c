/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that was linked with no MPI and loads a module that was, for
 * itself alone, as Python does with mpi4py.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) :
				  NULL;
	int (*talk)(int argc, char **argv) = NULL;

	if (module)
		*(void **)(void *)&talk = dlsym(module, "talk");
	if (!talk) {
		(void)fprintf(stderr, "cannot load: %s\n", dlerror());
		return 1;
	}
	return talk(argc - 1, argv + 1);
}
