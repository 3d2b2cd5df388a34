/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on sockets, and reads of devices that always have more bytes. With a
 * timeout of the socket (SO_RCVTIMEO, SO_SNDTIMEO) the kernel ends them with
 * EINTR at any handler, even with SA_RESTART; and a call that has transferred a
 * part of its bytes returns that part. If a sample caused this, the call
 * continues: until its own deadline, and with the rest of its bytes.
 *
 * The socket's timeout restarts with each call. So ppoll() waits for the
 * remaining time, and the call is repeated when it need not wait.
 */
#include "preload.h"
#include "record/sampler.h"

#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* As the C library declares them for sendmmsg() and recvmmsg(). */
#if defined(__GLIBC__)
typedef int mmsg_flags;
#else
typedef unsigned mmsg_flags;
#endif


/*
 * Found early: the host's signal handlers may be the first to call them. In
 * pages that are in use anyway (see tr_config).
 */
static _Alignas(8) struct {
	__typeof__(&read) read;
	__typeof__(&write) write;
	__typeof__(&send) send;
	__typeof__(&recv) recv;
} next;

__attribute__((constructor)) static void find_next(void)
{
	next.read = PRELOAD_NEXT(read);
	next.write = PRELOAD_NEXT(write);
	next.send = PRELOAD_NEXT(send);
	next.recv = PRELOAD_NEXT(recv);
	tr_sampler_calls_at((uintptr_t)next.write);
}

#define NEXT(name) (next.name ? next.name : PRELOAD_NEXT(name))

/* ---- time -------------------------------------------------------------- */

/* Cheap, and up to a tick late. */
int64_t preload_tick_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* How long a call may wait; 0: for ever, or not a socket. */
static int64_t timeout_ns(int fd, short events)
{
	struct timeval most = { 0, 0 };
	socklen_t n = sizeof(most);

	if (getsockopt(fd, SOL_SOCKET,
		       events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO, &most,
		       &n))
		return 0;
	return (int64_t)most.tv_sec * 1000000000 +
	       (int64_t)most.tv_usec * 1000;
}

bool preload_socket_waits_on(int fd, short events, int64_t began_ns)
{
	struct pollfd waiting = { .fd = fd, .events = events };
	int64_t most = timeout_ns(fd, events), left;
	struct timespec time, tick = { 0, 0 };
	int result;

	if (!most)
		return true;
	(void)clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	do {
		uint32_t before = tr_sampler_count();

		left = began_ns + most + tick.tv_nsec - preload_now_ns();
		if (left <= 0)
			break;
		time.tv_sec = left / 1000000000;
		time.tv_nsec = left % 1000000000;
		result = PRELOAD_NEXT(ppoll)(&waiting, 1, &time, NULL);
		if (result > 0)
			return true;
		if (result < 0 && !preload_waits_on(result, before))
			return false; /* a signal of the host: EINTR */
	} while (result < 0);
	errno = EAGAIN;
	return false;
}

/* The result of `call`, repeated until it need not wait or its time is over. */
#define SOCKET_WAIT(fd, events, began_ns, call) \
	({ \
		uint32_t before_ = tr_sampler_count(); \
		long result_; \
\
		while (preload_waits_on(result_ = (call), before_) && \
		       preload_socket_waits_on(fd, events, began_ns)) \
			before_ = tr_sampler_count(); \
		result_; \
	})

#define SOCKET_CALL(fd, events, call) \
	({ \
		int64_t began_ = preload_tick_ns(); \
		SOCKET_WAIT(fd, events, began_, call); \
	})

/* ---- bytes ------------------------------------------------------------- */

/* Does a blocking call transfer all bytes, unless it is interrupted? */
static bool is_stream(int fd)
{
	struct stat st;
	int type = 0;
	socklen_t n = sizeof(type);

	if (fstat(fd, &st))
		return false;
	if (S_ISFIFO(st.st_mode))
		return true;
	return S_ISSOCK(st.st_mode) &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 &&
	       type == SOCK_STREAM;
}

/*
 * A device that always has more bytes: of zero, full, random and urandom, a
 * read returns fewer than wanted only if a signal ends it.
 */
static bool is_endless(int fd)
{
	struct stat st;
	unsigned device;

	if (fstat(fd, &st) || !S_ISCHR(st.st_mode) || major(st.st_rdev) != 1)
		return false;
	device = minor(st.st_rdev);
	return device == 5 || (device >= 7 && device <= 9);
}

/* A transfer that may consist of several calls. */
struct transfer {
	int64_t began_ns;
	size_t done, wanted;
	bool is_read; /* by read(): only an endless device has more */
	uint32_t cuts; /* tr_sampler_cuts() before the last call */
};

static struct transfer begin_transfer(size_t wanted)
{
	return (struct transfer){ .began_ns = preload_tick_ns(),
				  .wanted = wanted };
}

/* Adds the result of a call. True: a sample cut it short, call again. */
static bool goes_on(struct transfer *t, int fd, ssize_t result)
{
	int saved = errno;
	bool more;

	if (result <= 0)
		return false;
	t->done += (size_t)result;
	more = t->done < t->wanted && tr_sampler_cuts() != t->cuts &&
	       (t->is_read ? is_endless(fd) : is_stream(fd));
	errno = saved;
	return more;
}

#define TRANSFER(t, fd, events, call) \
	({ \
		ssize_t moved_; \
\
		do { \
			(t).cuts = tr_sampler_cuts(); \
			moved_ = SOCKET_WAIT(fd, events, (t).began_ns, call); \
		} while (goes_on(&(t), fd, moved_)); \
		(t).done ? (ssize_t)(t).done : moved_; \
	})

PRELOAD_API ssize_t write(int fd, const void *data, size_t n)
{
	struct transfer t = begin_transfer(n);

	return TRANSFER(t, fd, POLLOUT,
			NEXT(write)(fd, (const char *)data + t.done,
				    n - t.done));
}

PRELOAD_API ssize_t send(int fd, const void *data, size_t n, int flags)
{
	struct transfer t = begin_transfer(n);

	return TRANSFER(t, fd, POLLOUT,
			NEXT(send)(fd, (const char *)data + t.done,
				   n - t.done, flags));
}

PRELOAD_API ssize_t sendto(int fd, const void *data, size_t n, int flags,
			   const struct sockaddr *to, socklen_t bytes)
{
	struct transfer t = begin_transfer(n);

	return TRANSFER(t, fd, POLLOUT,
			PRELOAD_NEXT(sendto)(fd, (const char *)data + t.done,
					     n - t.done, flags, to, bytes));
}

static ssize_t move_part(const struct transfer *t, int fd, void *data,
			 size_t n, int flags)
{
	if (t->is_read)
		return read(fd, data, n);
	return flags < 0 ? write(fd, data, n) : send(fd, data, n, flags);
}

/* Transfers the parts after the first `done` bytes, one by one. */
static ssize_t move_rest(struct transfer *t, int fd, const struct iovec *part,
			 size_t n_parts, int flags)
{
	size_t skip = t->done;

	for (size_t i = 0; i < n_parts; i++) {
		size_t wanted = part[i].iov_len;
		ssize_t moved;

		if (skip >= wanted) {
			skip -= wanted;
			continue;
		}
		wanted -= skip;
		moved = move_part(t, fd, (char *)part[i].iov_base + skip,
				  wanted, flags);
		skip = 0;
		t->done += moved > 0 ? (size_t)moved : 0;
		if (moved < (ssize_t)wanted)
			break;
	}
	return (ssize_t)t->done;
}

static size_t bytes_of(const struct iovec *part, size_t n_parts)
{
	size_t sum = 0;

	for (size_t i = 0; i < n_parts; i++)
		sum += part[i].iov_len;
	return sum;
}

PRELOAD_API ssize_t writev(int fd, const struct iovec *part, int n)
{
	struct transfer t = begin_transfer(0);
	ssize_t result;

	t.cuts = tr_sampler_cuts();
	result = SOCKET_WAIT(fd, POLLOUT, t.began_ns,
			     PRELOAD_NEXT(writev)(fd, part, n));
	if (result <= 0 || t.cuts == tr_sampler_cuts())
		return result;
	t.wanted = bytes_of(part, (size_t)n);
	return goes_on(&t, fd, result) ?
		       move_rest(&t, fd, part, (size_t)n, -1) :
		       result;
}

PRELOAD_API ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct transfer t = begin_transfer(0);
	ssize_t result;

	t.cuts = tr_sampler_cuts();
	result = SOCKET_WAIT(fd, POLLOUT, t.began_ns,
			     PRELOAD_NEXT(sendmsg)(fd, message, flags));
	if (result <= 0 || t.cuts == tr_sampler_cuts())
		return result;
	t.wanted = bytes_of(message->msg_iov, message->msg_iovlen);
	return goes_on(&t, fd, result) ?
		       move_rest(&t, fd, message->msg_iov,
				 message->msg_iovlen, flags) :
		       result;
}

PRELOAD_API int sendmmsg(int fd, struct mmsghdr *messages, unsigned n,
			 mmsg_flags flags)
{
	return (int)SOCKET_CALL(fd, POLLOUT,
				PRELOAD_NEXT(sendmmsg)(fd, messages, n,
						       flags));
}

/* ---- reading ----------------------------------------------------------- */

PRELOAD_API ssize_t read(int fd, void *data, size_t n)
{
	struct transfer t = begin_transfer(n);

	t.is_read = true;
	return TRANSFER(t, fd, POLLIN,
			NEXT(read)(fd, (char *)data + t.done, n - t.done));
}

PRELOAD_API ssize_t readv(int fd, const struct iovec *part, int n)
{
	struct transfer t = begin_transfer(0);
	ssize_t result;

	t.is_read = true;
	t.cuts = tr_sampler_cuts();
	result = SOCKET_WAIT(fd, POLLIN, t.began_ns,
			     PRELOAD_NEXT(readv)(fd, part, n));
	if (result <= 0 || t.cuts == tr_sampler_cuts())
		return result;
	t.wanted = bytes_of(part, (size_t)n);
	return goes_on(&t, fd, result) ?
		       move_rest(&t, fd, part, (size_t)n, -1) :
		       result;
}

/* More than 256 bytes are returned in part if a signal comes. */
PRELOAD_API ssize_t getrandom(void *data, size_t n, unsigned flags)
{
	size_t done = 0;
	ssize_t result;
	uint32_t cuts;

	do {
		cuts = tr_sampler_cuts();
		result = PRELOAD_WAIT(PRELOAD_NEXT(getrandom)(
			(char *)data + done, n - done, flags));
		done += result > 0 ? (size_t)result : 0;
	} while (result > 0 && done < n && tr_sampler_cuts() != cuts);
	return done ? (ssize_t)done : result;
}

/* Does the call wait for all bytes? */
static bool wants_all(int flags)
{
	return (flags & (MSG_WAITALL | MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT)) ==
	       MSG_WAITALL;
}

PRELOAD_API ssize_t recv(int fd, void *data, size_t n, int flags)
{
	struct transfer t = begin_transfer(wants_all(flags) ? n : 0);

	return TRANSFER(t, fd, POLLIN,
			NEXT(recv)(fd, (char *)data + t.done, n - t.done,
				   flags));
}

PRELOAD_API ssize_t recvfrom(int fd, void *data, size_t n, int flags,
			     struct sockaddr *from, socklen_t *bytes)
{
	struct transfer t = begin_transfer(wants_all(flags) ? n : 0);

	return TRANSFER(t, fd, POLLIN,
			PRELOAD_NEXT(recvfrom)(fd, (char *)data + t.done,
					       n - t.done, flags, from,
					       bytes));
}

PRELOAD_API ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return SOCKET_CALL(fd, POLLIN,
			   PRELOAD_NEXT(recvmsg)(fd, message, flags));
}

PRELOAD_API int recvmmsg(int fd, struct mmsghdr *messages, unsigned n,
			 mmsg_flags flags, struct timespec *most)
{
	return (int)SOCKET_CALL(fd, POLLIN,
				PRELOAD_NEXT(recvmmsg)(fd, messages, n, flags,
						       most));
}

PRELOAD_API int accept(int fd, struct sockaddr *from, socklen_t *bytes)
{
	return (int)SOCKET_CALL(fd, POLLIN,
				PRELOAD_NEXT(accept)(fd, from, bytes));
}

PRELOAD_API int accept4(int fd, struct sockaddr *from, socklen_t *bytes,
			int flags)
{
	return (int)SOCKET_CALL(fd, POLLIN,
				PRELOAD_NEXT(accept4)(fd, from, bytes, flags));
}

/*
 * Repeated, it waits for the connection in progress; if there is one, a
 * timeout gives another error.
 */
PRELOAD_API int connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
	int64_t began = preload_tick_ns();
	uint32_t before = tr_sampler_count();
	int result;

	while (preload_waits_on(result = PRELOAD_NEXT(connect)(fd, to, bytes),
				before)) {
		if (!preload_socket_waits_on(fd, POLLOUT, began)) {
			if (errno == EAGAIN && to->sa_family != AF_UNIX)
				errno = EINPROGRESS;
			break;
		}
		before = tr_sampler_count();
	}
	return result;
}

/* Names of the variants that check their arguments. */
ssize_t __read_chk(int fd, void *data, size_t n, size_t room);
PRELOAD_API ssize_t __read_chk(int fd, void *data, size_t n, size_t room)
{
	return n > room ? PRELOAD_NEXT(__read_chk)(fd, data, n, room) :
			  read(fd, data, n);
}

ssize_t __recv_chk(int fd, void *data, size_t n, size_t room, int flags);
PRELOAD_API ssize_t __recv_chk(int fd, void *data, size_t n, size_t room,
			       int flags)
{
	return n > room ? PRELOAD_NEXT(__recv_chk)(fd, data, n, room, flags) :
			  recv(fd, data, n, flags);
}

ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t room, int flags,
		       struct sockaddr *from, socklen_t *bytes);
PRELOAD_API ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t room,
				   int flags, struct sockaddr *from,
				   socklen_t *bytes)
{
	return n > room ? PRELOAD_NEXT(__recvfrom_chk)(fd, data, n, room,
						       flags, from, bytes) :
			  recvfrom(fd, data, n, flags, from, bytes);
}
