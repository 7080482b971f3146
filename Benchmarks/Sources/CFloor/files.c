#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "context.h"

int floor_synchronize(int fd) {
#if defined(__APPLE__)
    return fcntl(fd, F_FULLFSYNC) == -1 ? errno : 0;
#else
    return fsync(fd) != 0 ? errno : 0;
#endif
}

int floor_write_new(int directory_fd, const char *name, const void *bytes, size_t length,
                    int durable) {
    int fd = openat(directory_fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int result = 0;
    ssize_t written = write(fd, bytes, length);
    if (written < 0) {
        result = errno;
    } else if ((size_t)written != length) {
        result = EIO;
    } else if (durable) {
        result = floor_synchronize(fd);
    }
    if (close(fd) != 0 && result == 0) result = errno;
    return result;
}

int floor_read_whole(int directory_fd, const char *name, void *buffer, size_t capacity,
                     size_t *length) {
#if defined(O_NOATIME)
    const int access_not_noted = O_NOATIME;
#else
    const int access_not_noted = 0;
#endif
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | access_not_noted);
    if (fd < 0) return errno;
    ssize_t count = read(fd, buffer, capacity);
    int result = count < 0 ? errno : 0;
    close(fd);
    *length = count < 0 ? 0 : (size_t)count;
    return result;
}

int floor_unlink(int items_fd, const char *name) {
    return unlinkat(items_fd, name, 0) != 0 ? errno : 0;
}
