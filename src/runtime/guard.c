/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/runtime.h"

void tr_guard_install(void)
{
}
