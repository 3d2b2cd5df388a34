/* SPDX-License-Identifier: Apache-2.0 */
/* Embedded: openapi.json and page/, which the build puts into the program. */
#ifndef SERVER_EMBEDDED_H
#define SERVER_EMBEDDED_H

#include <stddef.h>

extern const unsigned char openapi_json[], page_html[], page_js[], page_css[];
extern const size_t openapi_json_size, page_html_size, page_js_size,
	page_css_size;

#endif
