/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 1: how long does this block take?
 *
 *	tare run -- ./recipe_time_a_block
 *
 * TARE_SCOPE times from its line to the closing brace of its block, however the
 * block is left. Nested scopes make a call tree: the report shows how much of
 * "develop" was spent in "blur".
 *
 * The program runs the same without `tare run`; then nothing is measured.
 */
#include <stdio.h>
#include <tare/tare.h>

#define PIXELS 4096

static unsigned char photo[PIXELS];

static void fill(int number)
{
	for (int i = 0; i < PIXELS; i++)
		photo[i] = (unsigned char)(i * number);
}

static void blur(void)
{
	for (int i = 1; i < PIXELS - 1; i++)
		photo[i] = (unsigned char)((photo[i - 1] + 2 * photo[i] +
					    photo[i + 1]) / 4);
}

int main(void)
{
	unsigned brightness = 0;

	for (int number = 1; number <= 20; number++) {
		TARE_SCOPE("develop"); /* one iteration of the loop */

		fill(number);
		for (int pass = 0; pass < 3; pass++) {
			TARE_SCOPE("blur"); /* only the blurring inside */
			blur();
		}
		brightness += photo[PIXELS / 2];
	}
	printf("developed 20 photos, brightness %u\n", brightness);
	return 0;
}
