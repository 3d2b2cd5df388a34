/* SPDX-License-Identifier: Apache-2.0 */
/* Moved to <tare/read/judge.h>. The next release removes this header. */
#include <tare/read/judge.h>
