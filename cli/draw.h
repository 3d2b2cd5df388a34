/* SPDX-License-Identifier: Apache-2.0 */
/* Draw: a picture as text for people, or as one line of JSON. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include <stdio.h>

#include "picture.h"

struct drawing {
	unsigned width;	 /* 0: as wide as it gets */
	unsigned height; /* 0: as long as it gets */
	bool color;
	bool has_keys; /* a last line that tells the keys */
	bool is_paused;
	double interval_s;
	enum picture_sort sort;
};

void draw_text(const struct picture *picture, const struct drawing *drawing,
	       FILE *stream);
void draw_json(const struct picture *picture, FILE *stream);

#endif
