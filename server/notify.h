/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notify: notifies a command and a webhook without waiting for them. A command
 * that does not end is killed after 30 s. A webhook that does not respond
 * within 10 s is tried three times. Only the status of a response is used; its
 * body is not read.
 */
#ifndef SERVER_NOTIFY_H
#define SERVER_NOTIFY_H


struct event_base;
struct notify;

/* `command` and `webhook` may be "". NULL: no memory. */
struct notify *notify_new(struct event_base *base, const char *command,
			  const char *webhook);
/* Aborts what is in progress. */
void notify_free(struct notify *notify);

/*
 * Sends `json` as the command's input and the webhook's body. `variables`
 * are NAME=value for the command, ending with NULL.
 */
void notify_send(struct notify *notify, const char *json,
		 const char *const *variables);

#endif
