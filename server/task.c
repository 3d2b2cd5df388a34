/* SPDX-License-Identifier: Apache-2.0 */
#include "task.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_text(const char *text, size_t len)
{
	return len > 0 && text[len - 1] == '\0';
}

/* Checks that the texts are complete pairs, with nothing after the last. */
static bool are_pairs(const char *headers, size_t len)
{
	size_t n_ends = 0;

	for (size_t i = 0; i < len; i++)
		n_ends += headers[i] == '\0';
	return len == 0 || (is_text(headers, len) && n_ends % 2 == 0);
}

bool task_parse(const char *bytes, size_t len, struct task *ret_task)
{
	const struct task_head *head = (const void *)bytes;
	struct task task = { .head = head };
	size_t left;

	if (len < sizeof(*head))
		return false;
	left = len - sizeof(*head);
	if (head->uri_len > left || head->headers_len > left - head->uri_len ||
	    head->body_len != left - head->uri_len - head->headers_len)
		return false;
	task.uri = bytes + sizeof(*head);
	task.headers = task.uri + head->uri_len;
	task.body = task.headers + head->headers_len;
	if (!is_text(task.uri, head->uri_len) ||
	    !are_pairs(task.headers, head->headers_len) ||
	    !is_text(head->export_directory, sizeof(head->export_directory)))
		return false;
	*ret_task = task;
	return true;
}

static bool parse_answer(const char *bytes, size_t len,
			 struct task_answer *answer)
{
	const struct task_answer_head *head = (const void *)bytes;
	size_t left;

	if (len < sizeof(*head))
		return false;
	left = len - sizeof(*head);
	if (head->headers_len > left)
		return false;
	left -= head->headers_len;
	answer->head = head;
	answer->headers = bytes + sizeof(*head);
	answer->body = answer->headers + head->headers_len;
	if (head->has_file) {
		answer->body = NULL;
		if (answer->file < 0 || left != 0)
			return false;
	} else if (head->body_len != left || answer->file >= 0) {
		return false;
	}
	return head->status >= 100 && head->status <= 599 &&
	       are_pairs(answer->headers, head->headers_len) &&
	       is_text(head->export_directory,
		       sizeof(head->export_directory));
}

bool task_answer_parse(const char *bytes, size_t len, int file,
		       struct task_answer *ret_answer)
{
	struct task_answer answer = { .file = file };

	if (!parse_answer(bytes, len, &answer)) {
		if (file >= 0)
			(void)close(file);
		return false;
	}
	*ret_answer = answer;
	return true;
}

bool task_add_header(char *headers, size_t size, uint32_t *len,
		     const char *name, const char *value)
{
	size_t name_size = strlen(name) + 1, value_size = strlen(value) + 1;

	if (size - *len < name_size + value_size)
		return false;
	(void)memcpy(headers + *len, name, name_size);
	(void)memcpy(headers + *len + name_size, value, value_size);
	*len += (uint32_t)(name_size + value_size);
	return true;
}

bool task_next_header(const char *headers, size_t len, size_t *at,
		      const char **ret_name, const char **ret_value)
{
	if (*at >= len)
		return false;
	*ret_name = headers + *at;
	*at += strlen(*ret_name) + 1;
	*ret_value = headers + *at;
	*at += strlen(*ret_value) + 1;
	return true;
}

const char *task_find_header(const char *headers, size_t len,
			     const char *name)
{
	const char *key, *value;

	for (size_t at = 0; task_next_header(headers, len, &at, &key, &value);)
		if (strcasecmp(key, name) == 0)
			return value;
	return NULL;
}

/* ---- the socket -------------------------------------------------------- */

union descriptor {
	struct cmsghdr head; /* for alignment */
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool task_send(int fd, const void *bytes, size_t len, int file)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes,
			      .iov_len = len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union descriptor extra = { .bytes = { 0 } };
	ssize_t sent;

	if (file >= 0) {
		struct cmsghdr *head;

		message.msg_control = extra.bytes;
		message.msg_controllen = sizeof(extra.bytes);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(file));
		(void)memcpy(CMSG_DATA(head), &file, sizeof(file));
	}
	do
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)len;
}

static int take_file(struct msghdr *message)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	int file = -1;

	if (head && head->cmsg_level == SOL_SOCKET &&
	    head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(file)))
		(void)memcpy(&file, CMSG_DATA(head), sizeof(file));
	return file;
}

long task_receive(int fd, void *bytes, size_t size, int *ret_file)
{
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	union descriptor extra;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = extra.bytes,
		.msg_controllen = sizeof(extra.bytes),
	};
	ssize_t n;

	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : 0;
	*ret_file = take_file(&message);
	return n;
}
