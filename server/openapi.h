/* SPDX-License-Identifier: Apache-2.0 */
/* Openapi: openapi.json as the build put it into the program. */
#ifndef SERVER_OPENAPI_H
#define SERVER_OPENAPI_H

#include <stddef.h>

extern const unsigned char openapi_json[];
extern const size_t openapi_json_size;

#endif
