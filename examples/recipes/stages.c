/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 3: which photo, which job, which stage was it?
 *
 *	tare run -- ./recipe_stages
 *	tare records last			one line per call
 *	tare records last --name stage.ai	of one stage
 *
 * TARE_OPERATION times its block like TARE_SCOPE, and also stores a record of
 * each single call, with its attributes: whole numbers, doubles or texts.
 *
 * Put ids into attributes, never into names. "stage.ai" is one row of the
 * report, for any number of photos.
 */
#include <stdio.h>
#include <tare/tare.h>

static unsigned work(unsigned x, int rounds)
{
	while (rounds-- > 0)
		x = x * 1664525u + 1013904223u;
	return x;
}

static unsigned read_exif(int photo_id)
{
	TARE_OPERATION("stage.exif");
	TARE_ATTR("photo_id", photo_id);
	TARE_ATTR("stage", "exif");

	return work((unsigned)photo_id, 1000);
}

static double evaluate(int photo_id, unsigned data)
{
	double score;

	TARE_OPERATION("stage.ai"); /* times from here on, so before the work */
	TARE_ATTR("photo_id", photo_id);
	TARE_ATTR("stage", "ai");

	score = work(data, 20000) / 4294967295.0;
	TARE_ATTR("score", score); /* once it is known */
	return score;
}

static int run_job(int job_id, int photo_id)
{
	double score;

	TARE_OPERATION("job"); /* the stages are inside it */
	TARE_ATTR("job_id", job_id);
	TARE_ATTR("photo_id", photo_id);

	score = evaluate(photo_id, read_exif(photo_id));
	return score > 0.5;
}

int main(void)
{
	int good = 0;

	for (int job_id = 1; job_id <= 12; job_id++)
		good += run_job(job_id, 100 + job_id);
	printf("12 photos, %d good ones\n", good);
	return 0;
}
