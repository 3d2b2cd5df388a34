/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measurement: the trees of all its threads, and the engine that feeds
 * them. One at a time runs in a process.
 *
 *	engine		sees			where
 *	frame		Python functions	PEP 523; any version
 *	hook		and C functions		PyEval_SetProfile; 3.10, 3.11
 *	monitoring	and C functions		sys.monitoring; 3.12 and later
 *
 * The frame hook makes each Python call a C call. Where a C stack is nearly
 * full, the session goes on with the engine of events, so that deep recursion
 * ends where it would without a profiler.
 */
#ifndef TR_PY_SESSION_H
#define TR_PY_SESSION_H

#include "calltree.h"

enum tr_start { TR_STARTED, TR_START_FAILED, TR_START_TAKEN };

struct tr_engine {
	const char *name;
	/* TAKEN: a part of the host is in the way. FAILED: exception set. */
	enum tr_start (*start)(struct tr_session *session);
	void (*stop)(struct tr_session *session);
};

extern const struct tr_engine tr_engine_frame;
/* Profile hook, or sys.monitoring where it exists. */
extern const struct tr_engine tr_engine_events;

struct tr_session {
	const struct tr_engine *engine; /* NULL: does not run */
	uint64_t generation;
	struct tr_thread *threads;
	size_t n_threads;
	size_t n_nodes, max_nodes;
	PyObject *names; /* dict: address of a method definition -> str */
	PyInterpreterState *interp;
	uint64_t owner_id; /* PyThreadState.id of the thread that started */
	uint64_t started;  /* ticks */
	uint64_t ran;	   /* ticks of completed periods */
	bool has_builtins, is_all_threads, times_every_call;
	bool is_deep;	/* events took over from frames */
	bool has_loss;	/* a hook of ours was replaced while running */
};

/* The session that runs, or NULL. */
extern struct tr_session *tr_running;

/* Counts a node. False: the budget is used up. */
bool tr_session_take_node(struct tr_session *session);
/* Keeps the name of a function in C, once. Never leaves an exception. */
void tr_session_name(struct tr_session *session, uintptr_t key,
		     PyObject *function);
/* The tree of a thread; NULL: no memory, or the thread is not measured. */
struct tr_thread *tr_session_thread(struct tr_session *session,
				    PyThreadState *state);
enum tr_start tr_session_start(struct tr_session *session,
			       const struct tr_engine *engine);
void tr_session_stop(struct tr_session *session);
/* Frames gave too deep a C stack: events from here on. */
void tr_session_go_deep(struct tr_session *session);
/* Gives back all trees. The session must not run. */
void tr_session_clear(struct tr_session *session);
/* A forked child goes on with the calling thread alone. */
void tr_session_after_fork(void);

/* Sets the limits of short and long calls. */
void tr_session_init(void);

/* Ticks of a call that are the profiler's own. */
struct tr_call_cost {
	double inside;	/* booked at the function called */
	double outside; /* booked at its caller */
	double untimed; /* of a call that is only counted */
};
struct tr_call_cost tr_session_call_cost(void);

/* name.c: as cProfile names a function in C; a new reference or NULL. */
PyObject *tr_function_name(PyObject *function);

#endif
