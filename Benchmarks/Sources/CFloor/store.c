#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#include "context.h"

int floor_store_identity(floor_context *context, int incoming_fd, const char *temp_name,
                         int items_fd, const char *name, const void *content, size_t length) {
    (void)context;
    int result = floor_write_new(incoming_fd, temp_name, content, length, 0);
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
