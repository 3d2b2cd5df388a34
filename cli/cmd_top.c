/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare top: a live view of a running program.
 *
 * Reads the ledger from outside, without any effect on the program. On a
 * terminal it uses the whole screen; otherwise, and with --once or --json, it
 * prints one picture after the other.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "base/platform.h"
#include "message.h"
#include "picture.h"
#include "read/view.h"
#include "runs.h"
#include "screen.h"

#define SORTS "time own calls mean p99 max failures name"
#define LEAST_INTERVAL_NS 50000000u /* making a picture takes a few ms */

static struct {
	uint64_t delay_ns;
	uint64_t count;
	const char *sort;
	const char *show;
	bool once;
	bool json;
} opts = { .delay_ns = 1000000000 };

static const struct option_spec options[] = {
	OPTION_DURATION('d', "delay", &opts.delay_ns, "SECONDS",
			"seconds between two updates (default: 1)"),
	OPTION_COUNT('n', "count", &opts.count, "COUNT",
		     "stop after COUNT updates"),
	OPTION_WORD('s', "sort", &opts.sort, "KEY", SORTS, "order by " SORTS),
	OPTION_WORD(0, "show", &opts.show, "WHAT", "all functions scopes",
		    "show only the table of sampled functions, or only "
		    "those of probes: all functions scopes"),
	OPTION_FLAG(0, "once", &opts.once, "print one update and exit"),
	OPTION_FLAG(0, "json", &opts.json, "write JSON, one line per update"),
	OPTION_END
};

struct watch {
	char *id; /* looked up once: "last" may change */
	uint64_t interval_ns;
	uint64_t n_shown;
	enum picture_sort sort;
	enum picture_show show;
	bool on_screen;
	bool is_paused;
	struct moment before;
	struct moment now;
	struct picture picture;
};

static enum picture_sort sort_of(const char *name)
{
	int sort = SORT_TIME;

	while (name && strcmp(picture_sort_name((enum picture_sort)sort), name))
		sort++;
	return (enum picture_sort)sort;
}

static enum picture_show show_of(const char *name)
{
	if (!name || strcmp(name, "all") == 0)
		return SHOW_ALL;
	return strcmp(name, "functions") == 0 ? SHOW_FUNCTIONS : SHOW_SCOPES;
}

static bool has_ended(const struct watch *watch)
{
	return tare_view_run(watch->now.view)->state != TARE_RUN_LIVE;
}

/*
 * Opens a new view and makes the picture since the previous one. A ledger moves
 * when its process ends and may for a moment be at neither place, so a failed
 * open is retried.
 */
static int refresh(struct watch *watch)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct moment fresh;
	struct picture picture;
	int err;

	for (int tries = 0; tries < 10; tries++) {
		err = moment_take(&fresh, watch->id);
		if (err != TARE_ENOENT)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (err)
		return err;

	err = picture_make(&picture, &watch->now, &fresh);
	if (err) {
		moment_release(&fresh);
		return err;
	}
	picture_release(&watch->picture);
	moment_release(&watch->before);
	watch->before = watch->now;
	watch->now = fresh;
	watch->picture = picture;
	return 0;
}

static void print(const struct watch *watch, FILE *stream, bool to_screen)
{
	struct drawing drawing = {
		.width = terminal_width(stdout),
		.height = to_screen ? terminal_height(stdout) : 0,
		.color = terminal_wants_color(stdout),
		.has_keys = to_screen,
		.is_paused = watch->is_paused,
		.interval_s = (double)watch->interval_ns / 1e9,
		.sort = watch->sort,
		.show = watch->show,
	};

	if (opts.json)
		draw_json(&watch->picture, stream);
	else
		draw_text(&watch->picture, &drawing, stream);
}

static void show(struct watch *watch)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream;

	picture_sort(&watch->picture, watch->sort);
	if (!watch->on_screen) {
		if (watch->n_shown && !opts.json)
			(void)putchar('\n');
		print(watch, stdout, false);
		(void)fflush(stdout);
		return;
	}
	stream = open_memstream(&text, &len);
	if (!stream)
		return;
	print(watch, stream, true);
	if (fclose(stream) == 0)
		screen_show(text, len);
	free(text);
}

static void change_interval(struct watch *watch, bool longer)
{
	static const uint64_t steps_ms[] = {
		100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000
	};
	const size_t n = sizeof(steps_ms) / sizeof(steps_ms[0]);
	uint64_t now_ms = watch->interval_ns / 1000000;
	size_t i = 0;

	while (i + 1 < n && (longer ? steps_ms[i] <= now_ms
				    : steps_ms[i + 1] < now_ms))
		i++;
	watch->interval_ns = steps_ms[i] * 1000000;
}

/* False: the user quits. *ret_due: redraw now. */
static bool press(struct watch *watch, int key, bool *ret_due)
{
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case 's':
		watch->sort = (enum picture_sort)((watch->sort + 1) % N_SORTS);
		break;
	case 'f':
		watch->show = (enum picture_show)((watch->show + 1) % N_SHOWS);
		break;
	case 'p':
		watch->is_paused = !watch->is_paused;
		break;
	case '+':
	case '-':
		change_interval(watch, key == '+');
		break;
	case ' ':
		*ret_due = true;
		break;
	default:
		break;
	}
	return true;
}

/* Waits until the next picture is due; false: quit. */
static bool wait_on_screen(struct watch *watch)
{
	int64_t started = tr_monotonic_ns();
	bool due = false;
	int event;

	while (!due) {
		/* Paused: only keys and signals. */
		event = screen_wait(started +
				    (watch->is_paused ?
					     INT64_C(86400000000000) :
					     (int64_t)watch->interval_ns));
		if (event == SCREEN_END)
			return false;
		if (event == SCREEN_TIMEOUT)
			return true;
		if (event < SCREEN_TIMEOUT && !press(watch, event, &due))
			return false;
		show(watch);
	}
	return true;
}

static bool wait_next(struct watch *watch)
{
	struct timespec pause = {
		.tv_sec = (time_t)(watch->interval_ns / 1000000000u),
		.tv_nsec = (long)(watch->interval_ns % 1000000000u),
	};

	if (watch->on_screen)
		return wait_on_screen(watch);
	(void)nanosleep(&pause, NULL);
	return !ferror(stdout);
}

/* Prints the last picture on the normal screen. */
static void tell_end(struct watch *watch)
{
	const tare_run *run = tare_view_run(watch->now.view);

	if (watch->on_screen) {
		screen_close();
		print(watch, stdout, false);
		(void)fflush(stdout);
	}
	message("process %lld has ended (%s); see 'tare report %s'",
		(long long)run->pid, tr_run_state_name(run->state), run->id);
}

/*
 * When printing, the first picture also covers one interval: a line over the
 * whole past would not be comparable with the next ones.
 */
static int watch_run(struct watch *watch)
{
	uint64_t wanted = opts.once ? 1 : opts.count;
	int err = refresh(watch);

	if (!err && !watch->on_screen && !has_ended(watch) &&
	    wait_next(watch))
		err = refresh(watch);
	while (!err) {
		show(watch);
		watch->n_shown++;
		if (has_ended(watch)) {
			tell_end(watch);
			break;
		}
		if (watch->n_shown == wanted || !wait_next(watch))
			break;
		err = refresh(watch);
	}
	if (watch->on_screen)
		screen_die();
	return err ? runs_error("watch", watch->id, err) : CODE_OK;
}

/* Finds the only live run, else prints the candidates. Gives its id (free). */
static int find_live(char **ret_id)
{
	tare_run_entry *runs;
	size_t n, n_live = 0;
	int err = tare_runs_list(&runs, &n), code = CODE_OK;

	if (err)
		return runs_error("list", "runs", err);
	for (size_t i = 0; i < n; i++)
		if (runs[i].state == TARE_RUN_LIVE)
			runs[n_live++] = runs[i];
	if (n_live == 1) {
		*ret_id = strdup(runs[0].id);
	} else if (n_live == 0) {
		message("no live run; start one with 'tare run -- PROGRAM'");
		code = CODE_IO;
	} else {
		code = message_usage("%zu live runs, name one", n_live);
		runs_print(runs, n_live, NULL, false, stderr);
	}
	tare_runs_free(runs);
	return code;
}

static int find_run(const struct args *args, char **ret_id)
{
	tare_view *view;
	int code;

	if (args->n_operands == 0)
		return find_live(ret_id);
	code = run_open(args->operands[0], &view);
	if (code)
		return code;
	/* A file may be anywhere: its path is its name. */
	*ret_id = strdup(strchr(args->operands[0], '/')
				 ? args->operands[0]
				 : tare_view_run(view)->id);
	tare_view_close(view);
	return CODE_OK;
}

static int top(struct args *args)
{
	struct watch watch = { .interval_ns = opts.delay_ns };
	int code;

	if (opts.delay_ns < LEAST_INTERVAL_NS)
		return message_usage("'--delay' must be at least 50ms");
	code = find_run(args, &watch.id);
	if (code)
		return code;
	if (!watch.id)
		return message_error("watch", "run", TARE_ENOMEM);

	watch.sort = sort_of(opts.sort);
	watch.show = show_of(opts.show);
	watch.on_screen = !opts.once && !opts.json && screen_open();
	code = watch_run(&watch);
	picture_release(&watch.picture);
	moment_release(&watch.before);
	moment_release(&watch.now);
	free(watch.id);
	return code;
}

const struct command cmd_top = {
	.name = "top",
	.usage = "[PID | RUN] [options]",
	.summary = "watch a running program: rates, times, failures",
	.examples = "  tare top                  the live run\n"
		    "  tare top 12345 -d 0.5     process 12345, every 0.5 s\n"
		    "  tare top --show functions  only the sampled functions\n"
		    "  tare top --once           one update, as text\n"
		    "  tare top --json -n 10     ten updates as JSON, for a "
		    "script\n",
	.notes = "keys: q quit, s sort, f which tables, p pause, + - interval, "
		 "space refresh\n"
		 "TIME: share of wall time, 100 % is one thread; OWN: share "
		 "of all own time\n"
		 "of functions, OWN and TOTAL are shares of the sampled time "
		 "of the interval;\nOWN ALL and TOTAL ALL of that since the "
		 "start\n",
	.options = options,
	.max_operands = 1,
	.run = top,
};
