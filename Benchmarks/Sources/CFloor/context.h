#pragma once

#include <lz4frame.h>

#include "CFloor.h"

struct floor_context {
    LZ4F_dctx *decoder;
    LZ4F_preferences_t preferences;
    size_t max_content;
    /// One item as stored.
    size_t stored_capacity;
    unsigned char *stored;
    /// One item as decoded, for a promotion.
    size_t content_capacity;
    unsigned char *content;
};

/// openat of a file that must not exist; write in one call; close. With `durable`, fsync before close.
int floor_write_new(int directory_fd, const char *name, const void *bytes, size_t length,
                    int durable);

/// openat, one read, close.
int floor_read_whole(int directory_fd, const char *name, void *buffer, size_t capacity,
                     size_t *length);

/// fsync, or what the platform has that reaches the medium.
int floor_synchronize(int fd);
