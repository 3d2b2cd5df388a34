/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of tare/control.h, without the report and the options.
 */
#include "record/runtime.h"

#include "ledger/runs.h"

TARE_API int tare_start(void)
{
	if (tr_mode < TR_MODE_ON)
		tr_mode = TR_MODE_ON;
	return tr_start();
}

TARE_API int tare_stop(void)
{
	if (TR_FIRST(tare_stop))
		return TR_FIRST(tare_stop)();
	tr_stop();
	return 0;
}

static struct tr_control *control(void)
{
	return tr_ledger_is_ready() ? tr_ledger->control : NULL;
}

TARE_API int tare_enable(bool on)
{
	struct tr_control *page = control();

	if (TR_FIRST(tare_enable))
		return TR_FIRST(tare_enable)(on);
	if (!page)
		return TARE_EOFF;
	TR_STORE(page->enabled, on);
	tr_control_bump(page);
	return 0;
}

TARE_API bool tare_is_enabled(void)
{
	const struct tr_control *page = control();

	return page && TR_LOAD(page->enabled);
}

TARE_API const char *tare_ledger_path(void)
{
	return control() && tr_ledger->path[0] ? tr_ledger->path : NULL;
}

TARE_API int tare_clear(void)
{
	if (!control() || !tr_ledger->base)
		return TARE_EOFF;
	if (!tr_ledger->path[0])
		return TARE_EIO; /* in memory only: nowhere to keep it */
	return tr_runs_clear(tr_ledger->path);
}
