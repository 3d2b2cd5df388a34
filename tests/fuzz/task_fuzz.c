/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the server and a reader process: any bytes, and what is
 * known of those that are accepted. A reader that a hostile ledger has taken
 * over may send anything.
 */
#include "../../server/task.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check_headers(const char *headers, size_t len)
{
	const char *name, *value;
	size_t at = 0;

	while (task_next_header(headers, len, &at, &name, &value)) {
		must(name >= headers && value > name);
		must(value + strlen(value) < headers + len);
		must(task_find_header(headers, len, name) != NULL);
	}
	must(at == len);
}

static void check_task(const char *bytes, size_t size)
{
	struct task task;

	if (!task_parse(bytes, size, &task))
		return;
	must(strlen(task.uri) < size);
	check_headers(task.headers, task.head->headers_len);
	must(task.body + task.head->body_len == bytes + size);
	must(memchr(task.head->export_directory, 0, TASK_FOLDER) != NULL);
}

static void check_answer(const char *bytes, size_t size)
{
	struct task_answer answer;

	if (!task_answer_parse(bytes, size, -1, &answer))
		return;
	must(answer.head->status >= 100 && answer.head->status <= 599);
	check_headers(answer.headers, answer.head->headers_len);
	must(!answer.head->has_file &&
	     answer.body + answer.head->body_len == bytes + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* As long as the message: a step beyond it is seen. */
	char *bytes = calloc(1, size ? size : 1);

	if (!bytes)
		return 0;
	if (size)
		memcpy(bytes, data, size);
	check_task(bytes, size);
	check_answer(bytes, size);
	free(bytes);
	return 0;
}
