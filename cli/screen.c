/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/platform.h"

/* Alternate screen, no cursor, long lines cut at the edge; and undo it. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static const int asked_to_end[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Shared with the signal handlers; written while signals are blocked. */
static struct termios cooked;
static volatile sig_atomic_t is_open;	 /* from open to close */
static volatile sig_atomic_t is_entered; /* and not stopped by Ctrl-Z */
static volatile sig_atomic_t has_keys;
static volatile sig_atomic_t end_signal;
static volatile sig_atomic_t was_resized;
static volatile sig_atomic_t was_stopped;
static volatile sig_atomic_t was_continued;
static sigset_t unblocked;

/* Uses only async-signal-safe calls. */
static void leave(void)
{
	is_entered = 0;
	(void)tr_file_write_all(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
	if (has_keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
}

static void enter(void)
{
	struct termios raw = cooked;

	/* Ctrl-C and Ctrl-Z stay signals; line ends are still translated. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (has_keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	/* A second ENTER would save the picture as the normal screen. */
	if (!is_entered)
		(void)tr_file_write_all(STDOUT_FILENO, ENTER,
					sizeof(ENTER) - 1);
	is_entered = 1;
}

static void on_signal(int number)
{
	if (number == SIGWINCH)
		was_resized = 1;
	else if (number == SIGTSTP)
		was_stopped = 1;
	else if (number == SIGCONT)
		was_continued = 1;
	else
		end_signal = number;
}

/* SA_RESETHAND: a second signal has the default action, which ends us. */
static void on_crash(int number)
{
	if (is_open)
		leave();
	(void)raise(number);
}

static void watch_signal(int number, void (*handler)(int), int flags,
			 sigset_t *blocked)
{
	struct sigaction action = { .sa_flags = flags };

	action.sa_handler = handler;
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
	if (blocked)
		(void)sigaddset(blocked, number);
}

/* Blocked except in ppoll(), so that none is missed before the wait. */
static void watch_signals(void)
{
	sigset_t blocked;

	(void)sigemptyset(&blocked);
	for (size_t i = 0; i < COUNT(asked_to_end); i++)
		watch_signal(asked_to_end[i], on_signal, 0, &blocked);
	watch_signal(SIGWINCH, on_signal, 0, &blocked);
	watch_signal(SIGTSTP, on_signal, 0, &blocked);
	watch_signal(SIGCONT, on_signal, 0, &blocked);
	for (size_t i = 0; i < COUNT(crashes); i++)
		watch_signal(crashes[i], on_crash, (int)SA_RESETHAND, NULL);
	(void)sigprocmask(SIG_BLOCK, &blocked, &unblocked);
}

bool screen_open(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
		return false;
	/* Without a keyboard it still updates, and Ctrl-C ends it. */
	has_keys = isatty(STDIN_FILENO) &&
		   tcgetattr(STDIN_FILENO, &cooked) == 0;
	watch_signals();
	is_open = 1;
	/* One write per picture, so that a terminal shows it at once. */
	(void)setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	(void)atexit(screen_close);
	enter();
	return true;
}

void screen_close(void)
{
	if (!is_open)
		return;
	is_open = 0;
	leave();
	(void)sigprocmask(SIG_SETMASK, &unblocked, NULL);
}

void screen_show(const char *text, size_t len)
{
	const char *end = text + len;

	/* A newline on the last line would scroll the first one away. */
	if (len && end[-1] == '\n')
		end--;
	(void)fputs("\033[H", stdout);
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		/* Before the text: after a full line it erases a letter. */
		(void)fputs("\033[2K", stdout);
		(void)fwrite(text, 1, n, stdout);
		if (stop)
			(void)fputc('\n', stdout);
		text += n + (stop != NULL);
	}
	(void)fputs("\033[J", stdout);
	(void)fflush(stdout);
}

static int take_signals(void)
{
	if (end_signal)
		return SCREEN_END;
	/* Ctrl-Z: restore the terminal, stop, and take it again afterwards. */
	if (was_stopped) {
		was_stopped = 0;
		leave();
		(void)raise(SIGSTOP);
		was_continued = 1;
	}
	if (was_continued)
		enter();
	if (!was_continued && !was_resized)
		return 0;
	was_continued = 0;
	was_resized = 0;
	return SCREEN_RESIZED;
}

int screen_wait(int64_t until_ns)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t now = tr_monotonic_ns();
	int64_t left = until_ns > now ? until_ns - now : 0;
	struct timespec wait = { .tv_sec = left / 1000000000,
				 .tv_nsec = left % 1000000000 };
	unsigned char key;
	int n, event;

	n = ppoll(&keys, has_keys ? 1 : 0, &wait, &unblocked);
	event = take_signals();
	if (event)
		return event;
	if (n <= 0)
		return SCREEN_TIMEOUT;
	/* The terminal is gone. */
	if (read(STDIN_FILENO, &key, 1) != 1)
		return SCREEN_END;
	return key;
}

void screen_die(void)
{
	int number = end_signal;

	screen_close();
	if (!number)
		return;
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}
