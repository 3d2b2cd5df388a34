/* SPDX-License-Identifier: Apache-2.0 */
/* Revision: the commit that a word means in the git repository here. */
#ifndef CLI_REVISION_H
#define CLI_REVISION_H

#include <stdbool.h>

#define REVISION_BYTES 65

/* As git says, if there is a program git. False: it is no revision. */
bool revision_of(const char *word, char revision[REVISION_BYTES]);

#endif
