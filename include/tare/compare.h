/* SPDX-License-Identifier: Apache-2.0 */
/* Moved: <tare/read/compare.h>. This name goes with the next release. */
#include <tare/read/compare.h>
