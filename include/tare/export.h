/* SPDX-License-Identifier: Apache-2.0 */
/* Moved: <tare/read/export.h>. This name goes with the next release. */
#include <tare/read/export.h>
