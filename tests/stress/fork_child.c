/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Started by the children of fork_test: PAGES INDEX.
 */
#include "fork_child.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t index = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	size_t bytes = (index + 1) * sizeof(struct fork_child);
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	struct fork_child *children;

	if (fd < 0)
		_exit(2);
	children = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			0);
	if (children == MAP_FAILED)
		_exit(3);
	fork_child_record(&children[index]);
	_exit(0); /* not exit(): the ledger stays where the test looks */
}
