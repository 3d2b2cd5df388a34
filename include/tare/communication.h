/* SPDX-License-Identifier: Apache-2.0 */
/* Moved to <tare/read/communication.h>. The next release removes it here. */
#include <tare/read/communication.h>
