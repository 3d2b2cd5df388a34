/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/http.h>

#include "cli/message.h"

#define MOST_AT_ONCE 16
#define COMMAND_SECONDS 30
#define WEBHOOK_SECONDS 10
#define WEBHOOK_HEADER_BYTES 16384
#define TRIES 3

extern char **environ;

/* One message to the command or to the webhook. */
struct errand {
	struct notify *notify;
	struct errand *next;
	struct event *timer;
	pid_t pid;	/* of the command; 0: a webhook */
	int polls;	/* of a command, ten per second */
	int tries;	/* of a webhook */
	bool is_sent;	/* waiting for the webhook's response */
	bool done;	/* the response is complete */
	int status;	/* of the response */
	char *body;
	struct evhttp_connection *connection;
};

struct notify {
	struct event_base *base;
	struct evdns_base *dns;
	char *command, *webhook;
	struct errand *errands;
	unsigned n_errands;
};

/* ---- errands ----------------------------------------------------------- */

static void end_errand(struct errand *errand)
{
	struct errand **link = &errand->notify->errands;

	while (*link != errand)
		link = &(*link)->next;
	*link = errand->next;
	errand->notify->n_errands--;
	if (errand->pid)
		(void)kill(-errand->pid, SIGKILL);
	if (errand->connection)
		evhttp_connection_free(errand->connection);
	if (errand->timer)
		event_free(errand->timer);
	free(errand->body);
	free(errand);
}

static struct errand *new_errand(struct notify *notify, const char *json,
				 event_callback_fn on_timer)
{
	struct errand *errand;

	if (notify->n_errands == MOST_AT_ONCE) {
		message("%u messages are under way: one is dropped",
			notify->n_errands);
		return NULL;
	}
	errand = calloc(1, sizeof(*errand));
	if (!errand)
		return NULL;
	errand->notify = notify;
	errand->next = notify->errands;
	notify->errands = errand;
	notify->n_errands++;
	errand->body = strdup(json);
	errand->timer = evtimer_new(notify->base, on_timer, errand);
	if (!errand->body || !errand->timer) {
		end_errand(errand);
		return NULL;
	}
	return errand;
}

static void wait_ms(struct errand *errand, long ms)
{
	struct timeval time = { ms / 1000, ms % 1000 * 1000 };

	(void)evtimer_add(errand->timer, &time);
}

/* ---- command ----------------------------------------------------------- */

static void poll_command(evutil_socket_t fd, short what, void *arg)
{
	struct errand *errand = arg;
	int status;
	pid_t got = waitpid(errand->pid, &status, WNOHANG);

	(void)fd;
	(void)what;
	if (got == 0 && ++errand->polls < COMMAND_SECONDS * 10) {
		wait_ms(errand, 100);
		return;
	}
	if (got == 0) {
		message("alert_command took over %d s and was killed",
			COMMAND_SECONDS);
		(void)kill(-errand->pid, SIGKILL);
		(void)waitpid(errand->pid, &status, 0);
	} else if (got > 0 && status != 0) {
		message("alert_command ended with status %d",
			WIFEXITED(status) ? WEXITSTATUS(status) :
					    128 + WTERMSIG(status));
	}
	errand->pid = 0;
	end_errand(errand);
}

/* The body as a file, so that the command need not read it. */
static int input_of(const char *json)
{
	int fd = memfd_create("alert", MFD_CLOEXEC);
	size_t len = strlen(json);

	if (fd >= 0 && (write(fd, json, len) != (ssize_t)len ||
			lseek(fd, 0, SEEK_SET) != 0)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

static char **environment_with(const char *const *variables)
{
	size_t n = 0, more = 0;
	char **all;

	while (environ[n])
		n++;
	while (variables[more])
		more++;
	all = calloc(n + more + 1, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, environ, n * sizeof(*all));
	for (size_t i = 0; i < more; i++)
		all[n + i] = (char *)(uintptr_t)variables[i];
	return all;
}

static int spawn(const char *command, int input, char **env, pid_t *ret_pid)
{
	char *argv[] = { (char *)"sh", (char *)"-c",
			 (char *)(uintptr_t)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int err;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_adddup2(&actions, input, 0);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(&attributes,
				       POSIX_SPAWN_SETPGROUP |
					       POSIX_SPAWN_SETSIGMASK |
					       POSIX_SPAWN_SETSIGDEF);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setsigdefault(&attributes, &all);
	err = posix_spawn(ret_pid, "/bin/sh", &actions, &attributes, argv,
			  env);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return err;
}

static void run_command(struct notify *notify, const char *json,
			const char *const *variables)
{
	struct errand *errand = new_errand(notify, json, poll_command);
	char **env = environment_with(variables);
	int input = input_of(json), err = ENOMEM;

	if (errand && env && input >= 0)
		err = spawn(notify->command, input, env, &errand->pid);
	if (errand && err) {
		errand->pid = 0;
		message("cannot run alert_command: %s", strerror(err));
		end_errand(errand);
	} else if (errand) {
		wait_ms(errand, 100);
	}
	free(env);
	if (input >= 0)
		(void)close(input);
}

/* ---- webhook ----------------------------------------------------------- */

/* Evaluates a status; 0: no response. */
static void judge(struct errand *errand, int code)
{
	errand->is_sent = false;
	/* A 4xx status is our error: a retry would not help. */
	errand->done = (code >= 200 && code < 500) || errand->tries == TRIES;
	if (errand->done && code == 0)
		message("alert_webhook does not answer");
	else if (errand->done && code >= 300)
		message("alert_webhook answered %d", code);
	/* Not freed here: the caller still uses the connection. */
	wait_ms(errand, errand->done ? 0 : 1000L * errand->tries);
}

/* Only the status is used: the body is not read. */
static int on_headers(struct evhttp_request *request, void *arg)
{
	struct errand *errand = arg;

	errand->status = evhttp_request_get_response_code(request);
	return -1;
}

static void on_answer(struct evhttp_request *request, void *arg)
{
	struct errand *errand = arg;

	judge(errand, request ? evhttp_request_get_response_code(request) :
				errand->status);
}

static struct evhttp_request *request_of(struct errand *errand,
					 const char *host)
{
	struct evhttp_request *request = evhttp_request_new(on_answer, errand);
	struct evkeyvalq *headers;

	if (!request)
		return NULL;
	evhttp_request_set_header_cb(request, on_headers);
	headers = evhttp_request_get_output_headers(request);
	(void)evhttp_add_header(headers, "Host", host);
	(void)evhttp_add_header(headers, "Content-Type", "application/json");
	(void)evhttp_add_header(headers, "User-Agent", "tare");
	(void)evhttp_add_header(headers, "Connection", "close");
	(void)evbuffer_add(evhttp_request_get_output_buffer(request),
			   errand->body, strlen(errand->body));
	return request;
}

static void path_of(const struct evhttp_uri *uri, char *out, size_t size)
{
	const char *path = evhttp_uri_get_path(uri);
	const char *query = evhttp_uri_get_query(uri);

	(void)snprintf(out, size, "%s%s%s", path && *path ? path : "/",
		       query ? "?" : "", query ? query : "");
}

static bool post(struct errand *errand, const struct evhttp_uri *uri)
{
	const char *host = evhttp_uri_get_host(uri);
	int port = evhttp_uri_get_port(uri);
	struct evhttp_request *request;
	char path[1024];

	if (errand->connection)
		evhttp_connection_free(errand->connection);
	errand->connection = evhttp_connection_base_new(
		errand->notify->base, errand->notify->dns, host,
		(unsigned short)(port > 0 ? port : 80));
	if (!errand->connection)
		return false;
	evhttp_connection_set_timeout(errand->connection, WEBHOOK_SECONDS);
	evhttp_connection_set_max_headers_size(errand->connection,
					       WEBHOOK_HEADER_BYTES);
	evhttp_connection_set_max_body_size(errand->connection,
					    WEBHOOK_HEADER_BYTES);
	errand->status = 0;
	errand->is_sent = true;
	/* evhttp's own timeout restarts with each byte. */
	wait_ms(errand, WEBHOOK_SECONDS * 1000L);
	request = request_of(errand, host);
	path_of(uri, path, sizeof(path));
	return request && evhttp_make_request(errand->connection, request,
					      EVHTTP_REQ_POST, path) == 0;
}

static void try_webhook(evutil_socket_t fd, short what, void *arg)
{
	struct errand *errand = arg;
	struct evhttp_uri *uri;

	(void)fd;
	(void)what;
	if (errand->done) {
		end_errand(errand);
		return;
	}
	if (errand->is_sent) {
		evhttp_connection_free(errand->connection);
		errand->connection = NULL;
		judge(errand, 0);
		return;
	}
	uri = evhttp_uri_parse(errand->notify->webhook);
	errand->tries++;
	if (!uri || !post(errand, uri)) {
		message("cannot send to alert_webhook");
		end_errand(errand);
	}
	if (uri)
		evhttp_uri_free(uri);
}

static bool is_webhook(const char *text)
{
	struct evhttp_uri *uri = evhttp_uri_parse(text);
	const char *scheme = uri ? evhttp_uri_get_scheme(uri) : NULL;
	bool ok = scheme && strcmp(scheme, "http") == 0 &&
		  evhttp_uri_get_host(uri) && *evhttp_uri_get_host(uri);

	if (uri)
		evhttp_uri_free(uri);
	return ok;
}

/* ---- both -------------------------------------------------------------- */

struct notify *notify_new(struct event_base *base, const char *command,
			  const char *webhook)
{
	struct notify *notify = calloc(1, sizeof(*notify));

	if (!notify)
		return NULL;
	notify->base = base;
	if (*webhook && !is_webhook(webhook)) {
		message("alert_webhook: '%.100s' is not an http:// address, "
			"nothing is sent", webhook);
		webhook = "";
	}
	if (*webhook)
		notify->dns = evdns_base_new(
			base, EVDNS_BASE_INITIALIZE_NAMESERVERS |
				      EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	notify->command = strdup(command);
	notify->webhook = strdup(webhook);
	if (!notify->command || !notify->webhook) {
		notify_free(notify);
		return NULL;
	}
	return notify;
}

void notify_free(struct notify *notify)
{
	if (!notify)
		return;
	while (notify->errands)
		end_errand(notify->errands);
	if (notify->dns)
		evdns_base_free(notify->dns, 0);
	free(notify->command);
	free(notify->webhook);
	free(notify);
}

void notify_send(struct notify *notify, const char *json,
		 const char *const *variables)
{
	struct errand *errand;

	if (*notify->command)
		run_command(notify, json, variables);
	if (!*notify->webhook)
		return;
	errand = new_errand(notify, json, try_webhook);
	if (errand)
		wait_ms(errand, 0);
}
