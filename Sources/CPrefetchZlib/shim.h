#pragma once
#include <zlib.h>

// Swift does not see macros that call functions.
static inline int cprefetch_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
