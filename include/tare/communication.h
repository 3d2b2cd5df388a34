/* SPDX-License-Identifier: Apache-2.0 */
/* Moved: <tare/read/communication.h>. Goes with the next release. */
#include <tare/read/communication.h>
