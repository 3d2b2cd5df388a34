/* SPDX-License-Identifier: Apache-2.0 */
/* Moved to <tare/read/readings.h>. The next release removes this header. */
#include <tare/read/readings.h>
