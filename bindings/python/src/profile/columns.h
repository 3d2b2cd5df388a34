/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's trees as columns for Python: one row a path of functions, a
 * parent's row before those of its children.
 */
#ifndef TR_PY_COLUMNS_H
#define TR_PY_COLUMNS_H

#include "session.h"

/*
 * A dict, or NULL with an exception:
 *   keys     list: code objects and names of functions in C
 *   threads  list of (ident, first row, rows, other calls, other seconds),
 *            the last two of calls without a path of their own
 *   parent   bytes of uint32: row, or NO_ROW
 *   key      bytes of uint32: index in keys
 *   calls    bytes of uint64
 *   own      bytes of double: seconds, without the profiler's own
 *   total    bytes of double: seconds, own and all below
 *   overhead seconds of the profiler that are not in `own`
 *   dropped  calls without a path of their own
 * Calls that are open are counted up to this moment.
 */
PyObject *tr_session_columns(struct tr_session *session);

#endif
