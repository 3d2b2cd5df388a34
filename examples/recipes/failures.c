/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 4: what failed, why, and how often?
 *
 *	tare run -- ./recipe_failures
 *	tare records last --failed		the failures with their texts
 *	tare summary last --sort failures	success rates of all operations
 *
 * TARE_FAIL("text") marks the scope around it as failed. The report counts
 * failures beside calls; the text is stored in the record of the call. Describe
 * the failure in the text, and put ids into attributes: equal texts can be
 * counted.
 *
 * The mark is for the innermost scope. A caller that also fails marks itself,
 * as upload() does here; one that retries and succeeds does not.
 */
#include <stdio.h>
#include <tare/tare.h>

#define ATTEMPTS 3

/* A store that is full for photo 7, and sometimes busy. */
static const char *try_to_store(int photo_id, int attempt)
{
	if (photo_id == 7)
		return "no space left";
	if (photo_id % 5 == 0 && attempt == 1)
		return "busy";
	return NULL;
}

static int store(int photo_id, int attempt)
{
	const char *error;

	TARE_OPERATION("store");
	TARE_ATTR("photo_id", photo_id);
	TARE_ATTR("attempt", attempt);

	error = try_to_store(photo_id, attempt);
	if (error) {
		TARE_FAIL(error);
		return -1; /* any return ends the operation */
	}
	return 0;
}

static int upload(int photo_id)
{
	TARE_OPERATION("upload");
	TARE_ATTR("photo_id", photo_id);

	for (int attempt = 1; attempt <= ATTEMPTS; attempt++)
		if (store(photo_id, attempt) == 0)
			return 0;
	TARE_FAIL("given up after three attempts");
	return -1;
}

int main(void)
{
	int failed = 0;

	for (int photo_id = 1; photo_id <= 20; photo_id++)
		failed += upload(photo_id) != 0;
	printf("20 uploads, %d failed\n", failed);
	return 0;
}
