/* SPDX-License-Identifier: Apache-2.0 */
/* Moved to <tare/read/communication.h>. The next release removes this header. */
#include <tare/read/communication.h>
