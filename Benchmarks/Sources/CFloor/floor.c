#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "CFloor.h"

struct floor_context {
    LZ4F_dctx *decoder;
    LZ4F_preferences_t preferences;
    /// One item as stored.
    size_t stored_capacity;
    unsigned char *stored;
};

floor_context *floor_context_create(size_t max_content) {
    floor_context *context = calloc(1, sizeof *context);
    if (context == NULL) return NULL;
    context->preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    context->stored_capacity = LZ4F_compressFrameBound(max_content, &context->preferences);
    context->stored = malloc(context->stored_capacity);
    int failed = LZ4F_isError(LZ4F_createDecompressionContext(&context->decoder, LZ4F_VERSION));
    if (failed || context->stored == NULL) {
        floor_context_destroy(context);
        return NULL;
    }
    return context;
}

void floor_context_destroy(floor_context *context) {
    if (context == NULL) return;
    LZ4F_freeDecompressionContext(context->decoder);
    free(context->stored);
    free(context);
}

/// fsync, or what the platform has that reaches the medium.
static int synchronize(int fd) {
#if defined(__APPLE__)
    return fcntl(fd, F_FULLFSYNC) == -1 ? errno : 0;
#else
    return fsync(fd) != 0 ? errno : 0;
#endif
}

/// openat of a file that must not exist; write in one call; close. With `durable`, fsync before close.
static int write_new(int directory_fd, const char *name, const void *bytes, size_t length,
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
        result = synchronize(fd);
    }
    if (close(fd) != 0 && result == 0) result = errno;
    return result;
}

/// openat, one read, close.
static int read_whole(int directory_fd, const char *name, void *buffer, size_t capacity,
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

int floor_store_identity(floor_context *context, int incoming_fd, const char *temp_name,
                         int items_fd, const char *name, const void *content, size_t length) {
    (void)context;
    int result = write_new(incoming_fd, temp_name, content, length, 0);
    if (result != 0) return result;
    return renameat(incoming_fd, temp_name, items_fd, name) != 0 ? errno : 0;
}

int floor_store(floor_context *context, int incoming_fd, const char *temp_name, int items_fd,
                const char *name, const void *content, size_t length) {
    context->preferences.frameInfo.contentSize = length;
    size_t stored = LZ4F_compressFrame(context->stored, context->stored_capacity, content, length,
                                       &context->preferences);
    if (LZ4F_isError(stored)) return EINVAL;
    return floor_store_identity(context, incoming_fd, temp_name, items_fd, name, context->stored,
                                stored);
}

int floor_read_identity(floor_context *context, int items_fd, const char *name, void *buffer,
                        size_t capacity, size_t *length) {
    (void)context;
    return read_whole(items_fd, name, buffer, capacity, length);
}

int floor_read(floor_context *context, int items_fd, const char *name, void *buffer,
               size_t capacity, size_t *length) {
    size_t stored = 0;
    int result = read_whole(items_fd, name, context->stored, context->stored_capacity,
                                  &stored);
    if (result != 0) return result;
    size_t consumed = stored;
    *length = capacity;
    // 0 means that the frame is complete and its content checksum matched.
    size_t rest = LZ4F_decompress(context->decoder, buffer, length, context->stored, &consumed,
                                  NULL);
    if (rest == 0 && consumed == stored) return 0;
    LZ4F_resetDecompressionContext(context->decoder);
    return EBADMSG;
}

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
    int result = write_new(staging_fd, temp_name, content, length, 1);
    if (result == 0) result = rename_exclusively(staging_fd, temp_name, documents_fd, final_name);
    if (result == 0) result = synchronize(documents_fd);
    return result;
}

int floor_publish_file(int items_fd, const char *name, int documents_fd, const char *final_name) {
    int fd = openat(items_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    int result = synchronize(fd);
    close(fd);
    if (result == 0) result = rename_exclusively(items_fd, name, documents_fd, final_name);
    if (result == 0) result = synchronize(documents_fd);
    return result;
}
