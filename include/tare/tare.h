/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare: one measurement system for a program's whole life.
 *
 * Most programs need only this header. With TARE_DISABLE only the probes
 * remain, and they are empty.
 */
#ifndef TARE_TARE_H
#define TARE_TARE_H

#include <tare/version.h>
#include <tare/error.h>
#include <tare/probe.h>
#include <tare/resource.h>
#include <tare/stage.h>
#include <tare/train.h>
#ifndef TARE_DISABLE
#include <tare/control.h>
#include <tare/gpu.h>
#include <tare/monitor.h>
#include <tare/step.h>
#include <tare/system.h>
#endif

#endif
