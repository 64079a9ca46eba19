// Preloaded into a child: counts what it asks of the disk for files whose path begins with FAULT_PATH, and at the
// FAULT_AT-th request kills the process ("kill"), kills it half-way through a write ("torn"), or lets FAULT_FOR
// requests fail ("ENOSPC", "EIO"). The number of requests goes to the file FAULT_COUNT when the process ends.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long count;

static int is_ours(const char *path) {
	const char *prefix = getenv("FAULT_PATH");
	return prefix && path && strncmp(path, prefix, strlen(prefix)) == 0;
}

static int is_our_file(int fd) {
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length < 0) return 0;
	path[length] = 0;
	return is_ours(path);
}

static long number(const char *name, long otherwise) {
	const char *value = getenv(name);
	return value ? atol(value) : otherwise;
}

// What is to happen to this request: 0 to go on, -1 to fail with errno set, 1 to do half of it and die.
static int step(void) {
	long at = number("FAULT_AT", 0), now = atomic_fetch_add(&count, 1) + 1;
	const char *what = getenv("FAULT_DO");
	if (!at || !what || now < at) return 0;
	if (strcmp(what, "kill") == 0) kill(getpid(), SIGKILL);
	if (strcmp(what, "torn") == 0) return 1;
	if (now >= at + number("FAULT_FOR", 1)) return 0;
	errno = strcmp(what, "EIO") == 0 ? EIO : ENOSPC;
	return -1;
}

static int refused(void) {
	int fate = step();
	if (fate > 0) kill(getpid(), SIGKILL);
	return fate < 0;
}

__attribute__((destructor)) static void report(void) {
	const char *path = getenv("FAULT_COUNT");
	FILE *file = path ? fopen(path, "w") : NULL;
	if (!file) return;
	fprintf(file, "%ld", (long)count);
	fclose(file);
}

#define WRITING(name, parameters, half, whole)                   \
	ssize_t name parameters {                                    \
		if (is_our_file(fd)) {                                   \
			int fate = step();                                   \
			if (fate < 0) return -1;                             \
			if (fate > 0) { half; kill(getpid(), SIGKILL); }     \
		}                                                        \
		return whole;                                            \
	}

WRITING(write, (int fd, const void *from, size_t size), (void)!REAL(write)(fd, from, size / 2), REAL(write)(fd, from, size))
WRITING(pwrite, (int fd, const void *from, size_t size, off_t at), (void)!REAL(pwrite)(fd, from, size / 2, at), REAL(pwrite)(fd, from, size, at))
WRITING(pwrite64, (int fd, const void *from, size_t size, off64_t at), (void)!REAL(pwrite64)(fd, from, size / 2, at), REAL(pwrite64)(fd, from, size, at))

#define ON_FILE(name, parameters, whole) \
	int name parameters { return is_our_file(fd) && refused() ? -1 : whole; }

ON_FILE(fsync, (int fd), REAL(fsync)(fd))
ON_FILE(fdatasync, (int fd), REAL(fdatasync)(fd))
ON_FILE(ftruncate, (int fd, off_t size), REAL(ftruncate)(fd, size))
ON_FILE(ftruncate64, (int fd, off64_t size), REAL(ftruncate64)(fd, size))

int rename(const char *from, const char *to) { return is_ours(from) && refused() ? -1 : REAL(rename)(from, to); }
int unlink(const char *path) { return is_ours(path) && refused() ? -1 : REAL(unlink)(path); }
int link(const char *from, const char *to) { return is_ours(from) && refused() ? -1 : REAL(link)(from, to); }

#define OPENING(name)                                                        \
	int name(const char *path, int flags, ...) {                             \
		va_list more;                                                        \
		va_start(more, flags);                                               \
		int mode = flags & O_CREAT ? va_arg(more, int) : 0;                  \
		va_end(more);                                                        \
		if (flags & O_CREAT && is_ours(path) && refused()) return -1;        \
		return REAL(name)(path, flags, mode);                                \
	}

OPENING(open)
OPENING(open64)
