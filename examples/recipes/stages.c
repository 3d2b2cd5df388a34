/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 3: which photo, which job, which stage was it?
 *
 *	tare run -- ./recipe_stages
 *	tare records last			one line a call
 *	tare records last --name stage.ai	of one stage
 *
 * TARE_OPERATION times its block as TARE_SCOPE does, and in addition keeps
 * each single call in the history, together with the attributes it was given:
 * whole numbers, doubles or texts.
 *
 * Ids belong into attributes, never into names. "stage.ai" is one row of the
 * report, however many photos there are.
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

	TARE_OPERATION("stage.ai"); /* from here on; so before the work */
	TARE_ATTR("photo_id", photo_id);
	TARE_ATTR("stage", "ai");

	score = work(data, 20000) / 4294967295.0;
	TARE_ATTR("score", score); /* when it is known */
	return score;
}

static int run_job(int job_id, int photo_id)
{
	double score;

	TARE_OPERATION("job"); /* the stages happen inside it */
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
