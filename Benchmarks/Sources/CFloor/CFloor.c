#include "CFloor.h"

#include <stdlib.h>

#include "context.h"

/// The largest block that `LZ4F_compressFrame` chooses for a small content: 64 KiB.
static const size_t lz4_block = 64 * 1024;

floor_context *floor_context_create(size_t max_content) {
    floor_context *context = calloc(1, sizeof *context);
    if (context == NULL) return NULL;
    context->preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    context->max_content = max_content;
    context->stored_capacity = LZ4F_compressFrameBound(max_content, &context->preferences);
    context->content_capacity = max_content > lz4_block ? max_content : lz4_block;
    context->stored = malloc(context->stored_capacity);
    context->content = malloc(context->content_capacity);
    int failed = LZ4F_isError(LZ4F_createDecompressionContext(&context->decoder, LZ4F_VERSION));
    if (failed || context->stored == NULL || context->content == NULL) {
        floor_context_destroy(context);
        return NULL;
    }
    return context;
}

void floor_context_destroy(floor_context *context) {
    if (context == NULL) return;
    LZ4F_freeDecompressionContext(context->decoder);
    free(context->stored);
    free(context->content);
    free(context);
}

size_t floor_read_capacity(const floor_context *context) { return context->content_capacity; }
