/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page: three files for the browser that the build puts into the program. They
 * contain no measurements, so they need no token. The page requests everything
 * else itself, with its token.
 */
#include <string.h>

#include "handlers.h"
#include "embedded.h"
#include "reply.h"

/* Allows its own script and style, and requests to its own server only. */
#define POLICY \
	"default-src 'none'; script-src 'self'; style-src 'self'; " \
	"connect-src 'self'; img-src data:; base-uri 'none'; " \
	"form-action 'none'; frame-ancestors 'none'; " \
	"require-trusted-types-for 'script'; trusted-types 'none'"

void handle_page(struct exchange *ex)
{
	const struct {
		const char *path, *type;
		const unsigned char *bytes;
		size_t len;
	} files[] = {
		{ "/", "text/html; charset=utf-8", page_html, page_html_size },
		{ "/page.js", "text/javascript; charset=utf-8", page_js,
		  page_js_size },
		{ "/page.css", "text/css; charset=utf-8", page_css,
		  page_css_size },
	};

	ex->policy = POLICY;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(files[i].path, ex->path) == 0)
			reply_bytes(ex, 200, files[i].type, files[i].bytes,
				    files[i].len);
}
