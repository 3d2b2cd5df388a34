/* SPDX-License-Identifier: Apache-2.0 */
/* Body: that of a request, as a text of JSON. */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "document.h"
#include "exchange.h"

/* As a text, which the caller frees; NULL: refused, and answered. */
char *body_take(struct exchange *ex);

/* Its members, which point into `text`. False: refused, and answered. */
bool body_parse(struct exchange *ex, char *text, struct document *document);

#endif
