/* SPDX-License-Identifier: Apache-2.0 */
/* A program as a user of the packages writes it. */
#include <tare/tare.h>

#include <stdio.h>

int main(void)
{
	for (int i = 0; i < 3; i++) {
		TARE_SCOPE("packaged.work");
		TARE_COUNT("packaged.calls", i);
	}
	(void)puts("ran");
	return 0;
}
