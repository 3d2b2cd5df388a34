/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trainings from their begin to their end, including one without a call: at
 * exit open trainings are flushed and marked as closed. Their memory stays,
 * since threads may still be in an epoch.
 */
#include "record/train/training.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "record/train/run_csv.h"

#define FINISH_TRIES 1000

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static tare_training *open_ones;
/* The process that owns open_ones. A fork wipes it: it is 0 in a child. */
static uint32_t *owner;
static bool owner_is_wiped;

bool tr_training_is_mine(const tare_training *training)
{
	uint32_t pid = __atomic_load_n(owner, __ATOMIC_RELAXED);

	return training->pid == (owner_is_wiped ? pid : (uint32_t)getpid());
}

/*
 * A child's first training: the list becomes the child's, and so does the
 * lock, which a thread of the parent may have held.
 */
static bool own_list(void)
{
	static pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
	static uint32_t owning; /* several threads may open the first */
	uint32_t pid = (uint32_t)getpid();
	bool is_there;

	tr_process_lock(&owning);
	if (!owner)
		owner = tr_memory_map_wiped(sizeof(*owner), &owner_is_wiped);
	is_there = owner != NULL;
	if (is_there && __atomic_load_n(owner, __ATOMIC_RELAXED) != pid) {
		memcpy(&list_lock, &fresh, sizeof(fresh));
		open_ones = NULL;
		__atomic_store_n(owner, pid, __ATOMIC_RELAXED);
	}
	tr_process_unlock(&owning);
	return is_there;
}

/* ---- opening ----------------------------------------------------------- */

static bool are_pairs(const tare_training_options *options)
{
	if (options->n_pairs && !options->pairs)
		return false;
	for (size_t i = 0; i < options->n_pairs; i++)
		if (!options->pairs[2 * i])
			return false;
	return true;
}

/* Also valid as part of a file name. Few programs check the error. */
static bool is_config(const char *config)
{
	char text[400];

	if (!config || tr_run_csv_is_name(config))
		return true;
	(void)snprintf(text, sizeof(text), "'%.200s' is no name of a training, "
		       "which names a file: 1 to 200 characters, no '/', no "
		       "'.' in front; nothing is written", config);
	tr_host.log_asked(TARE_LEVEL_WARNING, text);
	return false;
}

/* The caller's options: a struct of another version is shorter or longer. */
static int take_options(const tare_training_options *from,
			tare_training_options *to)
{
	memset(to, 0, sizeof(*to));
	if (from && TR_TAKE_STRUCT(to, from, config))
		return TARE_EINVAL;
	if (!to->workers && !to->worker)
		to->workers = 1;
	if (to->worker >= to->workers || !is_config(to->config) ||
	    !are_pairs(to))
		return TARE_EINVAL;
	return 0;
}

static tare_training *training_new(const tare_training_options *o,
				   bool is_kept)
{
	tare_training *t = calloc(1, sizeof(*t));
	struct tr_phase_thread *threads = calloc(TR_PHASE_THREADS,
						 sizeof(*threads));

	if (!t || !threads) {
		free(t);
		free(threads);
		return NULL;
	}
	t->thread = threads;
	t->pid = (uint32_t)getpid();
	t->is_kept = is_kept;
	t->worker = o->worker;
	t->workers = o->workers;
	t->epochs = o->epochs;
	t->max_allreduce = o->most;
	t->sync = o->sync;
	t->data = o->data;
	tr_stopwatch_init(&t->watch);
	(void)pthread_mutex_init(&t->lock, NULL);
	(void)pthread_mutex_init(&t->files, NULL);
	if (o->config)
		strcpy(t->config, o->config);
	else if (o->workers > 1)
		(void)snprintf(t->config, sizeof(t->config), "mpi_%u",
			       o->workers);
	else
		strcpy(t->config, "sequential");
	if (is_kept)
		t->site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					"epoch", NULL, "training");
	tr_phases_init(t);
	for (uint32_t i = 0; i < TR_VALUE_COLUMNS; i++)
		(void)tr_names_add(&t->values,
				   tr_column_name(TR_COLUMN_loss + i));
	return t;
}

TARE_API int tare_training_open_(const tare_training_options *options,
				 tare_training **ret_training, bool is_kept)
{
	tare_training_options o;
	tare_training *t;
	int err;

	if (!ret_training)
		return TARE_EINVAL;
	*ret_training = NULL;
	err = take_options(options, &o);
	if (err)
		return err;
	if (!own_list())
		return TARE_ENOMEM;
	t = training_new(&o, is_kept);
	if (!t)
		return TARE_ENOMEM;
	tr_training_outputs_open(t, &o);
	(void)pthread_mutex_lock(&list_lock);
	t->next = open_ones;
	open_ones = t;
	(void)pthread_mutex_unlock(&list_lock);
	*ret_training = t;
	return 0;
}

/* ---- closing ----------------------------------------------------------- */

static void unlist(const tare_training *t)
{
	(void)pthread_mutex_lock(&list_lock);
	for (tare_training **at = &open_ones; *at; at = &(*at)->next)
		if (*at == t) {
			*at = t->next;
			break;
		}
	(void)pthread_mutex_unlock(&list_lock);
}

/* With `files`. */
static int end_training(tare_training *t)
{
	int err;

	if (t->is_over)
		return 0;
	t->is_over = true;
	tr_training_last_line(t);
	err = tr_training_outputs_close(t);
	tr_epoch_store_close(t->store);
	t->store = NULL;
	return err;
}

TARE_API int tare_training_close(tare_training *t)
{
	int err;

	if (!t || !tr_training_is_mine(t))
		return 0;
	unlist(t);
	/* Ends the scope of an epoch that was not ended. */
	if (t->epoch && t->thread[t->driver].id == (uintptr_t)pthread_self())
		tare_scope_end(t->scope);
	(void)pthread_mutex_lock(&t->files);
	err = end_training(t);
	(void)pthread_mutex_unlock(&t->files);
	(void)pthread_mutex_destroy(&t->lock);
	(void)pthread_mutex_destroy(&t->files);
	free(t->thread);
	free(t);
	return err;
}

/* Not for ever: the owner may wait for the exiting thread. */
static bool try_lock(pthread_mutex_t *lock)
{
	for (int i = 0; i < FINISH_TRIES; i++) {
		if (pthread_mutex_trylock(lock) == 0)
			return true;
		(void)sched_yield();
	}
	return false;
}

void tr_trainings_finish(void)
{
	if (!owner || !open_ones || !tr_training_is_mine(open_ones) ||
	    !try_lock(&list_lock))
		return;
	for (tare_training *t = open_ones; t; t = t->next)
		if (try_lock(&t->files)) {
			(void)end_training(t);
			(void)pthread_mutex_unlock(&t->files);
		}
	(void)pthread_mutex_unlock(&list_lock);
}

/* ---- what there is ----------------------------------------------------- */

TARE_API const char *tare_training_csv(const tare_training *training)
{
	return training && training->csv ? tare_run_csv_path(training->csv) :
					   "";
}

TARE_API struct tare_event_file *
tare_training_events(tare_training *training)
{
	return training ? training->events : NULL;
}
