/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that waits in every way that a handler may end early, and says
 * "wrong" where a wait ended before its time, with another result, or with a
 * short count. With an argument, a timer of its own sends SIGALRM, whose
 * handler asks for no restart: then each wait must end with EINTR.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define ALARM_MS 60

static bool is_alarmed;
/* With an alarm long enough that only the alarm ends it, on a busy machine. */
static int wait_ms = 150;
static int silent[2], full[2]; /* nothing to read; no room to write */
static int listener, crowded;  /* nobody connects; a queue that is full */
static int epoll_fd, semaphores;
static struct sockaddr_un crowded_name;
static sem_t nobody_posts;
static uint32_t word;

static void wrong(const char *what, long result, int error, double ms)
{
	printf("wrong: %s gave %ld, '%s', after %.1f ms\n", what, result,
	       strerror(error), ms);
}

static double now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static const struct timespec *how_long(void)
{
	static struct timespec time;

	time = (struct timespec){ wait_ms / 1000, wait_ms % 1000 * 1000000 };
	return &time;
}

static const struct timespec *until(clockid_t clock)
{
	static struct timespec time;

	(void)clock_gettime(clock, &time);
	time.tv_nsec += wait_ms * 1000000L;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return &time;
}

/* ---- the waits --------------------------------------------------------- */

static char bytes[1 << 16];
static struct iovec part = { bytes, 1 };
static struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
static struct mmsghdr messages[1] = { { .msg_hdr = { .msg_iov = &part,
						     .msg_iovlen = 1 } } };

#define WAITS(W) \
	W(recv, recv(silent[0], bytes, 1, 0), EAGAIN) \
	W(recvfrom, recvfrom(silent[0], bytes, 1, 0, NULL, NULL), EAGAIN) \
	W(recvmsg, recvmsg(silent[0], &message, 0), EAGAIN) \
	W(recvmmsg, recvmmsg(silent[0], messages, 1, 0, NULL), EAGAIN) \
	W(read, read(silent[0], bytes, 1), EAGAIN) \
	W(readv, readv(silent[0], &part, 1), EAGAIN) \
	W(accept, accept(listener, NULL, NULL), EAGAIN) \
	W(accept4, accept4(listener, NULL, NULL, 0), EAGAIN) \
	W(connect, connect_crowded(), EAGAIN) \
	W(send, send(full[0], bytes, 1, 0), EAGAIN) \
	W(sendto, sendto(full[0], bytes, 1, 0, NULL, 0), EAGAIN) \
	W(sendmsg, sendmsg(full[0], &message, 0), EAGAIN) \
	W(sendmmsg, sendmmsg(full[0], messages, 1, 0), EAGAIN) \
	W(write, write(full[0], bytes, 1), EAGAIN) \
	W(writev, writev(full[0], &part, 1), EAGAIN) \
	W(sem_clockwait, sem_clockwait(&nobody_posts, CLOCK_MONOTONIC, \
				       until(CLOCK_MONOTONIC)), ETIMEDOUT) \
	W(sem_timedwait, sem_timedwait(&nobody_posts, \
				       until(CLOCK_REALTIME)), ETIMEDOUT) \
	W(thrd_sleep, thrd_sleep(how_long(), NULL), 0) \
	W(nanosleep, nanosleep(how_long(), NULL), 0) \
	W(poll, poll(NULL, 0, wait_ms), 0) \
	W(epoll_wait, epoll_wait(epoll_fd, &event, 1, wait_ms), 0) \
	W(epoll_pwait2, epoll_pwait2(epoll_fd, &event, 1, how_long(), NULL), \
	  0) \
	W(semtimedop, semtimedop(semaphores, &take, 1, how_long()), EAGAIN) \
	W(raw futex, syscall(SYS_futex, &word, FUTEX_WAIT, 0, how_long()), \
	  ETIMEDOUT) \
	W(raw futex until, syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, \
				   until(CLOCK_MONOTONIC), NULL, ~0u), \
	  ETIMEDOUT) \
	W(raw ppoll, syscall(SYS_ppoll, NULL, 0, how_long(), NULL, 8), 0) \
	W(raw pselect, syscall(SYS_pselect6, 0, NULL, NULL, NULL, \
			       how_long(), NULL), 0) \
	W(raw nanosleep, syscall(SYS_nanosleep, how_long(), NULL), 0) \
	W(raw clock_nanosleep, syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, \
				       TIMER_ABSTIME, \
				       until(CLOCK_MONOTONIC), NULL), 0) \
	W(raw epoll_pwait, syscall(SYS_epoll_pwait, epoll_fd, &event, 1, \
				   wait_ms, NULL, 8), 0) \
	W(raw semtimedop, syscall(SYS_semtimedop, semaphores, &take, 1, \
				  how_long()), EAGAIN) \
	W(raw sigtimedwait, syscall(SYS_rt_sigtimedwait, &none, NULL, \
				    how_long(), 8), EAGAIN) \
	W(raw recvfrom, syscall(SYS_recvfrom, silent[0], bytes, 1, 0, NULL, \
				NULL), EAGAIN) \
	W(raw sendto, syscall(SYS_sendto, full[0], bytes, 1, 0, NULL, 0), \
	  EAGAIN) \
	W(raw read, syscall(SYS_read, silent[0], bytes, 1), EAGAIN)

static long connect_crowded(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), error;
	struct timeval most = { wait_ms / 1000, wait_ms % 1000 * 1000 };
	long result;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	result = connect(fd, (void *)&crowded_name, sizeof(crowded_name));
	error = errno;
	(void)close(fd);
	errno = error;
	return result;
}

/*
 * A handler without SA_RESTART ends the call, as it does without tare;
 * thrd_sleep() then says so by its result alone.
 */
static bool is_right(long result, int error, int wanted, double ms)
{
	if (is_alarmed && ms < ALARM_MS - 1)
		return false;
	if (is_alarmed)
		return result == -1 && (error == EINTR || !error);
	if (ms < wait_ms - 1)
		return false;
	return wanted ? result == -1 && error == wanted : result == 0;
}

static void on_alarm(int number)
{
	(void)number;
}

static void set_alarm(int ms)
{
	/* Twice: one in some hundred may be taken for ended by a sample. */
	struct itimerval often = { { 0, ms * 1000 }, { 0, ms * 1000 } };

	if (is_alarmed)
		(void)setitimer(ITIMER_REAL, &often, NULL);
}

#define WAIT(name, call, wanted) \
	set_alarm(ALARM_MS); \
	began = now_ms(); \
	errno = 0; \
	result = (call); \
	error = errno; \
	set_alarm(0); \
	if (!is_right(result, error, wanted, now_ms() - began)) \
		wrong(#name, result, error, now_ms() - began);

static void wait_all_ways(void)
{
	struct sembuf take = { 0, -1, 0 };
	struct epoll_event event;
	uint64_t none = 0;
	double began;
	long result;
	int error;

	WAITS(WAIT)
}

/* ---- counts that are short --------------------------------------------- */

#define LARGE (4u << 20)

/* Takes, or gives, a little at a time: the other side waits in between. */
static void *slow_peer(void *arg)
{
	int fd = *(int *)arg;
	char some[65536];
	size_t done = 0;

	while (done < LARGE) {
		ssize_t n = fd == full[1] ? read(fd, some, sizeof(some)) :
					    write(fd, some, sizeof(some));

		if (n <= 0)
			break;
		done += (size_t)n;
		(void)usleep(500);
	}
	return NULL;
}

static void move_much(const char *what, int pair[2], bool is_read)
{
	char *much = calloc(1, LARGE);
	pthread_t peer;
	long result;

	(void)socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	(void)pthread_create(&peer, NULL, slow_peer, &pair[1]);
	result = is_read ? recv(pair[0], much, LARGE, MSG_WAITALL) :
			   write(pair[0], much, LARGE);
	if (result != LARGE)
		wrong(what, result, errno, 0);
	(void)shutdown(pair[0], SHUT_RDWR);
	(void)pthread_join(peer, NULL);
	free(much);
}

/* ---- setting up -------------------------------------------------------- */

static void open_sockets(void)
{
	struct timeval most = { wait_ms / 1000, wait_ms % 1000 * 1000 };
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	(void)socketpair(AF_UNIX, SOCK_STREAM, 0, silent);
	(void)socketpair(AF_UNIX, SOCK_STREAM, 0, full);
	while (send(full[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	while (send(full[0], bytes, 1, MSG_DONTWAIT) > 0)
		;
	(void)setsockopt(silent[0], SOL_SOCKET, SO_RCVTIMEO, &most,
			 sizeof(most));
	(void)setsockopt(full[0], SOL_SOCKET, SO_SNDTIMEO, &most,
			 sizeof(most));
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	(void)snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
		       "tare-waiting-%d", (int)getpid());
	(void)bind(listener, (void *)&name, sizeof(name));
	(void)listen(listener, 1);
	(void)setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &most,
			 sizeof(most));
	crowded = socket(AF_UNIX, SOCK_STREAM, 0);
	name.sun_path[1] = 'c';
	crowded_name = name;
	(void)bind(crowded, (void *)&name, sizeof(name));
	(void)listen(crowded, 0);
	(void)connect(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0),
		      (void *)&name, sizeof(name));
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_alarm };

	(void)argv;
	is_alarmed = argc > 1;
	if (is_alarmed)
		wait_ms = 3000;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigaction(SIGALRM, &action, NULL);
	open_sockets();
	epoll_fd = epoll_create1(0);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	(void)sem_init(&nobody_posts, 0, 0);
	wait_all_ways();
	(void)semctl(semaphores, 0, IPC_RMID);
	if (!is_alarmed) {
		move_much("a large write", full, false);
		move_much("MSG_WAITALL", silent, true);
	}
	return 0;
}
