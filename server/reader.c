/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tare/control.h>

#include "base/platform.h"
#include "board.h"
#include "exchange.h"
#include "handlers.h"
#include "reply.h"
#include "router.h"
#include "task.h"

/* A body up to this size is part of the message. */
#define INLINE_BYTES (64u << 10)

/* ---- answers ----------------------------------------------------------- */

static _Alignas(16) char out[sizeof(struct task_answer_head) +
			     TASK_OUT_BYTES + INLINE_BYTES];

static void send_answer(struct exchange *ex, int status, const char *type,
			const void *body, size_t len, int file)
{
	struct task_answer_head *head = (void *)out;
	size_t at = sizeof(*head);

	ex->is_answered = true;
	if (type)
		exchange_add_header(ex, "Content-Type", type);
	*head = (struct task_answer_head){
		.number = ex->task->head->number,
		.read_ms = ex->server->pool.taken_ms,
		.status = status,
		.headers_len = ex->out_len,
		.body_len = len,
		.has_file = file >= 0,
	};
	if (tare_option_get("export_directory", head->export_directory,
			    TASK_FOLDER) < 0)
		head->export_directory[0] = '\0';
	head->export_directory[TASK_FOLDER - 1] = '\0';
	(void)memcpy(out + at, ex->out, ex->out_len);
	at += ex->out_len;
	if (file < 0 && len) {
		(void)memcpy(out + at, body, len);
		at += len;
	}
	/* If the server is gone, the next receive ends this process. */
	(void)task_send(ex->reader_fd, out, at, file);
}

/* A file in memory: the server sends from it without a copy. */
static int file_of(const char *body, size_t len)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);

	if (fd >= 0 && tr_file_write_all(fd, body, len)) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

void reader_answer(struct exchange *ex, int status, const char *type,
		   const void *body, size_t len)
{
	int file;

	if (len <= INLINE_BYTES) {
		send_answer(ex, status, type, body, len, -1);
		return;
	}
	file = file_of(body, len);
	if (file >= 0)
		reader_answer_file(ex, status, type, file, len);
	else
		send_answer(ex, 503, NULL, NULL, 0, -1);
}

void reader_answer_file(struct exchange *ex, int status, const char *type,
			int file, size_t len)
{
	send_answer(ex, status, type, NULL, len, file);
	(void)close(file);
}

/* ---- tasks ------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*handle)(struct exchange *ex);
} own[] = {
	{ "snapshot", handle_snapshot },
	{ "measure", handle_measure },
	{ "export", handle_periodic },
};

static void take_own(struct exchange *ex)
{
	pool_refresh(&ex->server->pool);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(own[i].name, ex->task->uri) == 0)
			own[i].handle(ex);
}

/* Applies settings that other readers may have received. */
static void take_settings(struct server *server, const struct task *task,
			  uint64_t *epoch)
{
	char folder[TASK_FOLDER];

	if (*epoch != task->head->epoch)
		pool_expire(&server->pool);
	*epoch = task->head->epoch;
	server->pool.is_careful = task->head->is_careful;
	if (!task->head->export_directory[0])
		return;
	if (tare_option_get("export_directory", folder, sizeof(folder)) < 0 ||
	    strcmp(folder, task->head->export_directory) != 0)
		(void)!tare_option_set("export_directory",
				      task->head->export_directory);
}

static void work(struct server *server, int fd)
{
	static _Alignas(16) char in[TASK_BYTES];
	uint64_t epoch = 0;

	for (;;) {
		int file = -1;
		long len = task_receive(fd, in, sizeof(in), &file);
		struct task task;
		struct exchange ex = { .server = server,
				       .task = &task,
				       .reader_fd = fd };

		if (len <= 0 || !task_parse(in, (size_t)len, &task))
			return;
		take_settings(server, &task, &epoch);
		ex.now_ns = task.head->now_ns;
		if (task.head->method == TASK_INTERNAL)
			take_own(&ex);
		else
			router_run(&ex);
		if (!ex.is_answered)
			problem(&ex, 500, "no answer was made");
	}
}

/* ---- the process ------------------------------------------------------- */

/* Closes the server's sockets: a peer must see them close. */
static void close_others(int keep)
{
	DIR *stream = opendir("/proc/self/fd");
	const struct dirent *entry;
	int own_fd = stream ? dirfd(stream) : -1;

	while (stream && (entry = readdir(stream))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != keep && fd != own_fd)
			(void)close(fd);
	}
	if (stream)
		(void)closedir(stream);
}

/* Ctrl-C goes to the whole process group; the server ends its readers. */
static void set_signals(void)
{
	sigset_t none;

	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void be_reader(struct server *server, pid_t parent, int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	(void)prctl(PR_SET_NAME, "tare-reader");
	set_signals();
	/* Else a process that waits for the end of stdout would wait for us. */
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(null, STDOUT_FILENO);
	close_others(fd);
	explicit_bzero(&server->state, sizeof(server->state));
	work(server, fd);
	_exit(0);
}

pid_t reader_start(struct server *server, struct board *board, int *ret_fd)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	/* A signal must not run the server's handler in the child. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		server->pool.board = board;
		be_reader(server, parent, ends[1]);
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return -1;
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*ret_fd = ends[0];
	return pid;
}
