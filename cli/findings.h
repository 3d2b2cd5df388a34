/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of `tare check`: one line each, as text, JUnit and GitHub. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include <stddef.h>
#include <stdio.h>

#include "base/text.h"

enum finding_state { FINDING_OK, FINDING_UNSURE, FINDING_BAD };

struct finding {
	enum finding_state state;
	char *name; /* what was checked */
	char *text; /* and what came out */
};

struct findings {
	struct finding *at;
	size_t n, room;
	bool failed; /* out of memory: some are missing */
};

/* Takes the buffer's text. */
void findings_add(struct findings *findings, enum finding_state state,
		  const char *name, struct tr_buf *text);
void findings_release(struct findings *findings);

/* The exit code: a problem, else cannot tell, else none. */
int findings_code(const struct findings *findings);
void findings_print(const struct findings *findings);
/* "::error title=...::...": a workflow of GitHub shows it. */
void findings_github(const struct findings *findings, FILE *stream);
int findings_junit(const struct findings *findings, const char *path);
void findings_json(const struct findings *findings, struct tr_json *json);

#endif
