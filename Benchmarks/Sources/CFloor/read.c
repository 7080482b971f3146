#include <errno.h>

#include "context.h"

int floor_read_identity(floor_context *context, int items_fd, const char *name, void *buffer,
                        size_t capacity, size_t *length) {
    (void)context;
    return floor_read_whole(items_fd, name, buffer, capacity, length);
}

int floor_read(floor_context *context, int items_fd, const char *name, void *buffer,
               size_t capacity, size_t *length) {
    size_t stored = 0;
    int result = floor_read_whole(items_fd, name, context->stored, context->stored_capacity,
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
