// DPDK's log stream: captured in memory during a call, else to standard error, at most ten
// lines a second.

#define _GNU_SOURCE
#include "log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#define LINES_PER_SECOND 10

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[8192]; // what was captured; its front is kept, where causes stand
static size_t len;
static int capturing;
static FILE *stream;

static time_t second; // the second in which lines were passed on
static int lines;

// tell writes to standard error, and loses what would have to wait for its reader: whoever logs may be a
// thread that packets wait for. A pipe is not waited for because the program has made it so; a socket is told here.
static void tell(const char *b, size_t n) {
	if (send(STDERR_FILENO, b, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == ENOTSOCK && write(STDERR_FILENO, b, n) < 0)
		return; // nobody to tell
}

// pass hands a line to standard error, unless there were too many.
static void pass(const char *b, size_t n) {
	time_t now = time(NULL);
	if (now != second) {
		second = now;
		lines = 0;
	}
	if (lines < LINES_PER_SECOND)
		tell(b, n);
	lines++;
}

static ssize_t take(void *cookie, const char *b, size_t n) {
	(void)cookie;
	pthread_mutex_lock(&lock);
	if (capturing) {
		size_t k = n < sizeof text - 1 - len ? n : sizeof text - 1 - len;
		memcpy(text + len, b, k);
		len += k;
		text[len] = 0;
	} else {
		pass(b, n);
	}
	pthread_mutex_unlock(&lock);
	return (ssize_t)n;
}

void go_log_capture(void) {
	pthread_mutex_lock(&lock);
	capturing = 1;
	len = 0;
	text[0] = 0;
	if (stream == NULL) {
		cookie_io_functions_t io = {.write = take};
		stream = fopencookie(NULL, "w", io);
		if (stream != NULL) {
			setvbuf(stream, NULL, _IOLBF, BUFSIZ);
			rte_openlog_stream(stream);
		}
	}
	pthread_mutex_unlock(&lock);
}

void go_log_release(void) {
	if (stream != NULL)
		fflush(stream);
	pthread_mutex_lock(&lock);
	capturing = 0;
	pthread_mutex_unlock(&lock);
}

// What the last capture took; valid until the next.
const char *go_log_text(void) { return text; }

static int starting; // rte_eal_init is running

// EAL calls exit where it has printed what an argument asks for. Nobody would see
// why the process ended, and its exit code would be 0.
static void ended(void) {
	static const char why[] = "intsink: DPDK ended the process while it started: check dpdk.eal_args\n";
	if (!starting)
		return;
	tell(why, sizeof why - 1);
	_exit(1);
}

// rte_eal_init, with what it prints besides its log kept from the terminal: on
// a wrong argument it writes a line to stderr and all options to stdout.
int go_eal_init(int argc, char **argv) {
	int rc;
#ifdef __GLIBC__ // where stdout and stderr are variables
	FILE *out = stdout, *err = stderr, *null = fopen("/dev/null", "w");
	if (null != NULL)
		stdout = null;
	if (stream != NULL)
		stderr = stream;
#endif
	atexit(ended);
	starting = 1;
	rc = rte_eal_init(argc, argv) < 0 ? rte_errno : 0;
	starting = 0;
#ifdef __GLIBC__
	stdout = out;
	stderr = err;
	if (null != NULL)
		fclose(null);
#endif
	return rc;
}
