/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that calls of this process read and set.
 *
 * tr_config has the values at the start. Threads of the library read it
 * without a lock, so it does not change while the ledger is open: a value set
 * then goes to the control page, where every reader looks first, and to the
 * copy here, which calls read and a forked child starts with.
 */
#include "record/runtime.h"

#include "record/gpu.h"
#include "record/monitor.h"

#include <string.h>

/* Guarded by the lock. Not wiped: a child starts with its parent's options. */
static struct {
	uint32_t lock;
	bool is_used;
	struct tr_config config;
} chosen;

/* The options as calls of this process see them; with the lock. */
static struct tr_config *present(void)
{
	return chosen.is_used ? &chosen.config : &tr_config;
}

static struct tr_config *to_change(void)
{
	if (!chosen.is_used)
		chosen.config = tr_config;
	chosen.is_used = true;
	return &chosen.config;
}

void tr_options_inherit(void)
{
	tr_process_lock(&chosen.lock);
	if (chosen.is_used)
		tr_config = chosen.config;
	tr_process_unlock(&chosen.lock);
}

bool tr_option_is_foreign(const char *name)
{
	char outside[TR_CONFIG_STRING], own[TR_CONFIG_STRING];
	bool is_same;

	if (!tr_control_get(tr_ledger->control, name, outside,
			    sizeof(outside)))
		return false;
	tr_process_lock(&chosen.lock);
	is_same = tr_config_get(present(), name, own, sizeof(own)) >= 0 &&
		  strcmp(outside, own) == 0;
	tr_process_unlock(&chosen.lock);
	return !is_same;
}

void tr_options_read(struct tr_config *ret)
{
	char text[TR_CONFIG_STRING];
	const tare_option *option;

	tr_process_lock(&chosen.lock);
	*ret = *present();
	tr_process_unlock(&chosen.lock);
	if (!tr_ledger_is_ready())
		return;
	for (size_t i = 0; (option = tare_option_at(i)); i++)
		if (option->live && tr_control_get(tr_ledger->control,
						   option->name, text,
						   sizeof(text)))
			(void)tr_config_set(ret, option->name, text);
}

/* Options that act through the ledger's header and the control page. */
static void apply(const struct tr_config *config, const char *name)
{
	struct tr_header *header = tr_ledger->header;
	struct tr_control *control = tr_ledger->control;

	if (strcmp(name, "max_history_size") == 0 && header) {
		tr_blocks_resize(config->max_history_size);
		TR_STORE(header->max_history, config->max_history_size);
	}
	if (strcmp(name, "max_history_age") == 0 && header)
		TR_STORE(header->max_history_age, config->max_history_age);
	if (strcmp(name, "enable_metrics") == 0)
		TR_STORE(control->enabled, config->enable_metrics);
	if (strcmp(name, "enable_performance_monitoring") == 0)
		TR_STORE(control->enabled,
			 config->enable_performance_monitoring);
}

static int set_measuring(const char *name, const char *value)
{
	int err = tr_config_set(to_change(), name, value);

	if (err)
		return err;
	apply(&chosen.config, name);
	err = tr_control_set(tr_ledger->control, name, value);
	tr_control_bump(tr_ledger->control);
	return err;
}

TARE_API int tare_option_set(const char *name, const char *value)
{
	const tare_option *option;
	bool measuring;
	int err;

	if (TR_FIRST(tare_option_set))
		return TR_FIRST(tare_option_set)(name, value);
	if (!name || !value)
		return TARE_EINVAL;
	option = tr_option_find(name);
	if (!option)
		return TARE_ENOENT;
	measuring = tr_ledger_is_ready();
	if (measuring && !option->live)
		return TARE_EINVAL;
	tr_load_config();
	tr_process_lock(&chosen.lock);
	err = measuring ? set_measuring(name, value) :
			  tr_config_set(&tr_config, name, value);
	if (!err && strcmp(name, "gpu_monitor_interval") == 0)
		tr_gpu_set_interval(
			(int64_t)(present()->gpu_monitor_interval * 1e9));
	tr_process_unlock(&chosen.lock);
	if (!err && measuring)
		tr_monitor_begin();
	return err;
}

TARE_API int tare_option_get(const char *name, char *value, size_t size)
{
	struct tr_config now;

	if (TR_FIRST(tare_option_get))
		return TR_FIRST(tare_option_get)(name, value, size);
	if (!name || !value)
		return TARE_EINVAL;
	tr_load_config();
	tr_process_lock(&chosen.lock);
	now = *present();
	tr_process_unlock(&chosen.lock);
	/*
	 * While a program measures, metrics are on, however they were enabled.
	 */
	if (tr_ledger_is_ready())
		now.enable_metrics = tare_is_enabled();
	return tr_config_get(&now, name, value, size);
}
