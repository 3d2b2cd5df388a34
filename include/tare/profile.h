/* SPDX-License-Identifier: Apache-2.0 */
/* Moved: <tare/read/profile.h>. This name goes with the next release. */
#include <tare/read/profile.h>
