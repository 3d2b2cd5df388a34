/* SPDX-License-Identifier: Apache-2.0 */
/* Page: the files of page/ as the build put them into the program. */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H

#include <stddef.h>

extern const unsigned char page_html[], page_js[], page_css[];
extern const size_t page_html_size, page_js_size, page_css_size;

#endif
