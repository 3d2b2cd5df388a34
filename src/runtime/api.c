/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of tare/control.h that are not the report.
 */
#include "runtime/runtime.h"

#include "gpu/gpu.h"
#include "monitor/monitor.h"

#include <string.h>

TARE_API const char *tare_version(void)
{
	return TARE_VERSION;
}

TARE_API const char *tare_strerror(int error)
{
	switch (error) {
	case 0:
		return "no error";
#define TR_CASE_(name, value, text) \
	case name: \
		return text;
		TARE_ERROR_LIST(TR_CASE_)
#undef TR_CASE_
	default:
		return "unknown error";
	}
}

TARE_API int tare_start(void)
{
	if (tr_mode < TR_MODE_ON)
		tr_mode = TR_MODE_ON;
	return tr_start();
}

TARE_API int tare_stop(void)
{
	__typeof__(&tare_stop) first = TR_FIRST(tare_stop, TR_API_STOP);

	if (first)
		return first();
	tr_stop();
	return 0;
}

static struct tr_control *control(void)
{
	if (!tr_ledger || !TR_ACQUIRE(tr_ledger->ready))
		return NULL;
	return tr_ledger->control;
}

TARE_API int tare_enable(bool on)
{
	__typeof__(&tare_enable) first = TR_FIRST(tare_enable, TR_API_ENABLE);
	struct tr_control *page = control();

	if (first)
		return first(on);
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

/* Options that act through the ledger's header, once it is open. */
static void apply_live(const char *name)
{
	if (strcmp(name, "max_history_size") == 0 && tr_ledger->header) {
		tr_blocks_resize(tr_config.max_history_size);
		TR_STORE(tr_ledger->header->max_history,
			 tr_config.max_history_size);
	}
	if (strcmp(name, "max_history_age") == 0 && tr_ledger->header)
		TR_STORE(tr_ledger->header->max_history_age,
			 tr_config.max_history_age);
	if (strcmp(name, "enable_metrics") == 0)
		TR_STORE(tr_ledger->control->enabled,
			 tr_config.enable_metrics);
	if (strcmp(name, "enable_performance_monitoring") == 0)
		TR_STORE(tr_ledger->control->enabled,
			 tr_config.enable_performance_monitoring);
}

TARE_API int tare_option_set(const char *name, const char *value)
{
	__typeof__(&tare_option_set) first = TR_FIRST(tare_option_set,
						      TR_API_OPTION_SET);
	const tare_option *option;
	int err;

	if (first)
		return first(name, value);
	if (!name || !value)
		return TARE_EINVAL;
	option = tr_option_find(name);
	if (!option)
		return TARE_ENOENT;
	if (control() && !option->live)
		return TARE_EINVAL;
	tr_load_config();
	err = tr_config_set(&tr_config, name, value);
	if (!err && strcmp(name, "gpu_monitor_interval") == 0)
		tr_gpu_set_interval(
			(int64_t)(tr_config.gpu_monitor_interval * 1e9));
	if (err || !control())
		return err;
	apply_live(name);
	err = tr_control_set(tr_ledger->control, name, value);
	tr_control_bump(tr_ledger->control);
	tr_monitor_begin();
	return err;
}

TARE_API int tare_option_get(const char *name, char *value, size_t size)
{
	__typeof__(&tare_option_get) first = TR_FIRST(tare_option_get,
						      TR_API_OPTION_GET);

	if (first)
		return first(name, value, size);
	if (!name || !value)
		return TARE_EINVAL;
	tr_load_config();
	/* While a program measures, metrics are on, whatever switched them. */
	if (control() && strcmp(name, "enable_metrics") == 0) {
		struct tr_config now = tr_config;

		now.enable_metrics = tare_is_enabled();
		return tr_config_get(&now, name, value, size);
	}
	return tr_config_get(&tr_config, name, value, size);
}
