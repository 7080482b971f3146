#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "context.h"

/// Renames, and fails with EEXIST when the new name is taken.
static int rename_exclusively(int from_fd, const char *from, int to_fd, const char *to) {
#if defined(__APPLE__)
    return renameatx_np(from_fd, from, to_fd, to, RENAME_EXCL) != 0 ? errno : 0;
#else
    return renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) != 0 ? errno : 0;
#endif
}

int floor_publish(int staging_fd, const char *temp_name, int documents_fd, const char *final_name,
                  const void *content, size_t length) {
    int result = floor_write_new(staging_fd, temp_name, content, length, 1);
    if (result == 0) result = rename_exclusively(staging_fd, temp_name, documents_fd, final_name);
    if (result == 0) result = floor_synchronize(documents_fd);
    return result;
}

int floor_publish_file(int items_fd, const char *name, int documents_fd, const char *final_name) {
    int fd = openat(items_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    int result = floor_synchronize(fd);
    close(fd);
    if (result == 0) result = rename_exclusively(items_fd, name, documents_fd, final_name);
    if (result == 0) result = floor_synchronize(documents_fd);
    return result;
}

int floor_promote(floor_context *context, int items_fd, const char *name, int staging_fd,
                  const char *temp_name, int documents_fd, const char *final_name) {
    size_t length = 0;
    int result = floor_read(context, items_fd, name, context->content, context->content_capacity,
                            &length);
    if (result == 0) {
        result = floor_publish(staging_fd, temp_name, documents_fd, final_name, context->content,
                               length);
    }
    if (result == 0) result = floor_unlink(items_fd, name);
    return result;
}
