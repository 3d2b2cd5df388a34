/* SPDX-License-Identifier: Apache-2.0 */
/* Moved: <tare/read/pipeline.h>. This name goes with the next release. */
#include <tare/read/pipeline.h>
