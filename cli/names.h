/* SPDX-License-Identifier: Apache-2.0 */
/* Names: functions and lines for the addresses of views. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include <tare/read/profile.h>

/*
 * From now on the view's places have names, as far as files of programs and
 * debug files tell them. What cannot be had is said once, on stderr. The
 * names stand until the program ends: one set serves all views.
 */
void names_attach(tare_view *view);

#endif
