/* SPDX-License-Identifier: Apache-2.0 */
/* Moved: <tare/read/view.h>. This name goes with the next release. */
#include <tare/read/view.h>
