/* SPDX-License-Identifier: Apache-2.0 */
#include "readers.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/message.h"
#include "exchange.h"
#include "pending.h"
#include "reply.h"
#include "reader.h"
#include "router.h"

/* Interval at which a running task is checked. */
#define LOOK_US 100000
/* A task that lost its reader this many times fails. */
#define MOST_TRIES 8u

static bool is_steering(const struct reader *reader)
{
	return reader == &reader->server->readers.at[READERS_STEERING];
}

/* ---- sending ----------------------------------------------------------- */

static void lose(struct reader *reader, const char *why);

static void write_left_out(struct reader *reader)
{
	const struct readers *readers = &reader->server->readers;
	int64_t now = board_now_ms();
	uint32_t n = 0;

	for (size_t i = 0; i < BOARD_RUNS; i++)
		if (readers->left_out[i].key &&
		    readers->left_out[i].until_ms > now)
			reader->board->left_out[n++] =
				readers->left_out[i].key;
	reader->board->n_left_out = n;
	/* Relaxed: the message that follows orders all of it. */
	atomic_store_explicit(&reader->board->since_ms, 0,
			      memory_order_relaxed);
}

static void on_readable(evutil_socket_t fd, short what, void *arg);

static bool start(struct reader *reader)
{
	if (reader->pid)
		return true;
	reader->pid = reader_start(reader->server, reader->board,
				   &reader->fd);
	if (reader->pid < 0) {
		reader->pid = 0;
		return false;
	}
	reader->readable = event_new(reader->server->base, reader->fd,
				     EV_READ | EV_PERSIST, on_readable,
				     reader);
	return reader->readable && event_add(reader->readable, NULL) == 0;
}

/* Starts the next waiting task if none is running. */
static void go_on(struct reader *reader)
{
	static const struct timeval look = { .tv_usec = LOOK_US };
	struct readers *readers = &reader->server->readers;
	struct pending *pending;

	while (!reader->running && (pending = reader->first) != NULL) {
		reader->first = pending->next;
		if (!reader->first)
			reader->last = NULL;
		pending->next = NULL;
		/* An earlier task may have had the same request. */
		if (pending_send_kept(reader->server, pending))
			continue;
		pending->message->number = ++readers->n_tasks;
		pending->message->epoch = readers->epoch;
		(void)memcpy(pending->message->export_directory,
			     readers->export_directory, TASK_FOLDER);
		write_left_out(reader);
		reader->running = pending;
		reader->sent_ms = board_now_ms();
		if (!start(reader) ||
		    !task_send(reader->fd, pending->message, pending->len,
			       -1))
			lose(reader, "the process that reads runs could not "
				     "be started");
		else
			(void)event_add(reader->timer, &look);
	}
}

static void add(struct reader *reader, struct pending *pending)
{
	if (reader->last)
		reader->last->next = pending;
	else
		reader->first = pending;
	reader->last = pending;
	go_on(reader);
}

static void finish(struct reader *reader, const struct task_answer *answer)
{
	struct pending *pending = reader->running;
	struct readers *readers = &reader->server->readers;

	reader->running = NULL;
	(void)event_del(reader->timer);
	if (is_steering(reader)) {
		readers->epoch += pending->message->method != EVHTTP_REQ_GET;
		(void)memcpy(readers->export_directory,
			     answer->head->export_directory, TASK_FOLDER);
	}
	pending_finish(reader->server, pending, answer);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	static _Alignas(16) char in[TASK_BYTES];
	struct reader *reader = arg;
	struct task_answer answer;
	int file = -1;
	long len = task_receive(fd, in, sizeof(in), &file);

	(void)what;
	if (len < 0)
		return;
	if (len == 0 ||
	    !task_answer_parse(in, (size_t)len, file, &answer)) {
		lose(reader, "the process that reads runs ended");
	} else if (!reader->running ||
		   answer.head->number != reader->running->message->number) {
		if (answer.file >= 0)
			(void)close(answer.file);
		lose(reader, "the process that reads runs is confused");
	} else {
		finish(reader, &answer);
	}
	go_on(reader);
}

/* ---- losing a reader --------------------------------------------------- */

/* A process that is blocked in a system call is reaped later. */
static void reap(struct readers *readers, pid_t pid)
{
	for (size_t i = 0; i < READERS_DYING; i++) {
		pid_t *at = &readers->dying[i];

		if (*at && waitpid(*at, NULL, WNOHANG) != 0)
			*at = 0;
		if (!*at && pid) {
			*at = pid;
			pid = 0;
		}
	}
}

static void end_process(struct reader *reader)
{
	if (!reader->pid)
		return;
	(void)kill(reader->pid, SIGKILL);
	reap(&reader->server->readers, reader->pid);
	if (reader->readable)
		event_free(reader->readable);
	reader->readable = NULL;
	(void)close(reader->fd);
	reader->fd = -1;
	reader->pid = 0;
	(void)event_del(reader->timer);
}

static struct left_out *find_left_out(struct readers *readers, uint64_t key)
{
	for (size_t i = 0; i < BOARD_RUNS; i++)
		if (readers->left_out[i].key == key)
			return &readers->left_out[i];
	return &readers->left_out[readers->n_left_out++ % BOARD_RUNS];
}

/* False: no ledger was being read. */
static bool leave_out(struct reader *reader)
{
	struct board *board = reader->board;
	struct left_out *entry;
	/* Acquire: reads since_ms before the run's fields. */
	int64_t since = atomic_load_explicit(&board->since_ms,
					     memory_order_acquire);
	uint64_t key = atomic_load_explicit(&board->key,
					    memory_order_relaxed);

	if (!since || !key)
		return false;
	entry = find_left_out(&reader->server->readers, key);
	if (entry->key != key)
		*entry = (struct left_out){ .key = key };
	(void)memcpy(entry->run, board->run, sizeof(entry->run));
	entry->run[sizeof(entry->run) - 1] = '\0';
	if (entry->pause_ms)
		entry->pause_ms *= 2;
	else if (atomic_load_explicit(&board->is_live, memory_order_relaxed))
		entry->pause_ms = READERS_LIVE_AGAIN_MS;
	else
		entry->pause_ms = READERS_DEAD_AGAIN_MS;
	entry->until_ms = board_now_ms() + entry->pause_ms;
	/* Cached answers include this run too. */
	reader->server->readers.epoch++;
	message("run '%s' cannot be read and is left out", entry->run);
	return true;
}

/* Repeats the running task without that run, or lets it fail. */
static void lose(struct reader *reader, const char *why)
{
	struct pending *pending = reader->running;
	bool is_blamed = reader->pid && leave_out(reader);

	end_process(reader);
	reader->running = NULL;
	if (!pending)
		return;
	pending->tries++;
	if (is_steering(reader) || pending->tries == MOST_TRIES ||
	    (!is_blamed && pending->message->is_careful)) {
		pending_fail(reader->server, pending, 503, why);
		return;
	}
	/* The run is unknown: each one is tried alone. */
	if (!is_blamed)
		pending->message->is_careful = true;
	pending->next = reader->first;
	reader->first = pending;
	if (!reader->last)
		reader->last = pending;
}

/* Limit by the ledger's size, else by the time since the last one. */
static bool is_late(struct reader *reader)
{
	/* Acquire: reads since_ms before the run's fields. */
	int64_t since = atomic_load_explicit(&reader->board->since_ms,
					     memory_order_acquire);
	int64_t now = board_now_ms(), allowed;

	if (!since)
		return now - reader->sent_ms > READERS_TASK_MS;
	allowed = atomic_load_explicit(&reader->board->allowed_ms,
				       memory_order_relaxed);
	reader->sent_ms = now;
	return now - since > (allowed < BOARD_MOST_MS ? allowed :
							BOARD_MOST_MS);
}

static void on_look(evutil_socket_t none, short what, void *arg)
{
	struct reader *reader = arg;

	(void)none;
	(void)what;
	if (!reader->running)
		return;
	if (is_late(reader))
		lose(reader, is_steering(reader) ?
				     "the programs did not take the change in "
				     "time: another process may hold their "
				     "lock" :
				     "reading the runs took too long");
	go_on(reader);
}

/* ---- life -------------------------------------------------------------- */

void readers_forward(struct exchange *ex)
{
	struct readers *readers = &ex->server->readers;
	struct pending *pending = pending_of_exchange(ex);

	if (!pending)
		problem(ex, 503, "out of memory");
	else
		add(&readers->at[ex->route->flags & ROUTE_STEERS ?
					 READERS_STEERING :
					 READERS_READING],
		    pending);
}

bool readers_ask(struct server *server, const char *name, const void *body,
		 size_t len, readers_done done, void *arg)
{
	struct pending *pending = pending_of_server(name, body, len);

	if (!pending)
		return false;
	pending->done = done;
	pending->arg = arg;
	add(&server->readers.at[READERS_READING], pending);
	return true;
}

bool readers_init(struct readers *readers, struct server *server)
{
	for (size_t i = 0; i < READERS_N; i++) {
		struct reader *reader = &readers->at[i];

		reader->server = server;
		reader->fd = -1;
		reader->board = board_new();
		reader->timer = event_new(server->base, -1, EV_PERSIST,
					  on_look, reader);
		if (!reader->board || !reader->timer)
			return false;
	}
	return true;
}

/* evhttp frees requests that still have a connection. */
static void drop(struct pending *pending)
{
	if (pending->request &&
	    !evhttp_request_get_connection(pending->request))
		evhttp_request_free(pending->request);
	pending_free(pending);
}

void readers_release(struct readers *readers)
{
	for (size_t i = 0; i < READERS_N; i++) {
		struct reader *reader = &readers->at[i];

		if (!reader->server)
			continue;
		end_process(reader);
		if (reader->running)
			drop(reader->running);
		while (reader->first) {
			struct pending *next = reader->first->next;

			drop(reader->first);
			reader->first = next;
		}
		if (reader->timer)
			event_free(reader->timer);
		board_free(reader->board);
	}
}
