/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Task: a request of the server to a reader process, and its answer.
 *
 * One message in each direction over a local socket that preserves message
 * boundaries. Both ends are the same program, one forked from the other, so the
 * heads are plain structures. Every length in them is still checked, because a
 * reader works on files that any program may have written. A body that does not
 * fit into a message is sent as a file descriptor.
 */
#ifndef SERVER_TASK_H
#define SERVER_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest request that the gate accepts fits. */
#define TASK_BYTES (128u << 10)
#define TASK_FOLDER 512u /* size of export_directory, with its end */
#define TASK_OUT_BYTES 4096u /* headers of an answer */

/* Besides the HTTP methods: tasks that no request can create. */
#define TASK_INTERNAL 0u

struct task_head {
	uint64_t number;
	uint64_t epoch;	 /* if it changed, data read before is outdated */
	int64_t now_ns;	 /* arrival of the request, ns since 1970 */
	uint32_t method; /* enum evhttp_cmd_type, or TASK_INTERNAL */
	uint32_t is_careful; /* try every run alone before it is used */
	uint32_t uri_len;    /* with its terminating zero */
	uint32_t headers_len;
	uint32_t body_len;
	char export_directory[TASK_FOLDER];
};

/* Points into the message that it was read from. */
struct task {
	const struct task_head *head;
	const char *uri;
	const char *headers; /* name, value, name, value; zero-terminated */
	const char *body;
};

struct task_answer_head {
	uint64_t number;
	int64_t read_ms; /* monotonic: when the data was read */
	int32_t status;
	uint32_t headers_len;
	uint64_t body_len;
	uint32_t has_file; /* the body is in the file descriptor */
	char export_directory[TASK_FOLDER];
};

struct task_answer {
	const struct task_answer_head *head;
	const char *headers;
	const char *body; /* NULL: in the file */
	int file;	  /* -1: none */
};

/* False: not a valid message. `bytes` must be aligned. */
bool task_parse(const char *bytes, size_t len, struct task *ret_task);
/* Takes `file`: it is closed on failure. */
bool task_answer_parse(const char *bytes, size_t len, int file,
		       struct task_answer *ret_answer);

/* Appends name and value. False: no room. */
bool task_add_header(char *headers, size_t size, uint32_t *len,
		     const char *name, const char *value);
/* The value, or NULL. */
const char *task_find_header(const char *headers, size_t len,
			     const char *name);
/* The next pair at `*at`, which is advanced; false: there is none. */
bool task_next_header(const char *headers, size_t len, size_t *at,
		      const char **ret_name, const char **ret_value);

/* Sends one message, with a descriptor unless `file` is -1. */
bool task_send(int fd, const void *bytes, size_t len, int file);
/* The length of the message; 0: the other end is gone; -1: no message. */
long task_receive(int fd, void *bytes, size_t size, int *ret_file);

#endif
