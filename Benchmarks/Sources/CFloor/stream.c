#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "context.h"

static const size_t chunk = 1024 * 1024;

struct floor_stream {
    LZ4F_cctx *encoder;
    LZ4F_dctx *decoder;
    LZ4F_preferences_t preferences;
    unsigned char *content;
    unsigned char *stored;
    size_t stored_capacity;
};

floor_stream *floor_stream_create(void) {
    floor_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->preferences.frameInfo.blockSizeID = LZ4F_max1MB;
    stream->preferences.frameInfo.blockMode = LZ4F_blockIndependent;
    stream->preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    stream->stored_capacity = LZ4F_compressBound(chunk, &stream->preferences) + LZ4F_HEADER_SIZE_MAX;
    stream->content = malloc(chunk);
    stream->stored = malloc(stream->stored_capacity);
    int failed = LZ4F_isError(LZ4F_createCompressionContext(&stream->encoder, LZ4F_VERSION)) ||
                 LZ4F_isError(LZ4F_createDecompressionContext(&stream->decoder, LZ4F_VERSION));
    if (failed || stream->content == NULL || stream->stored == NULL) {
        floor_stream_destroy(stream);
        return NULL;
    }
    return stream;
}

void floor_stream_destroy(floor_stream *stream) {
    if (stream == NULL) return;
    LZ4F_freeCompressionContext(stream->encoder);
    LZ4F_freeDecompressionContext(stream->decoder);
    free(stream->content);
    free(stream->stored);
    free(stream);
}

static int write_all(int fd, const void *bytes, size_t length) {
    ssize_t written = write(fd, bytes, length);
    if (written < 0) return errno;
    return (size_t)written == length ? 0 : EIO;
}

static int copy(floor_stream *stream, int from_fd, int to_fd, size_t *length) {
    *length = 0;
    for (;;) {
        ssize_t count = read(from_fd, stream->content, chunk);
        if (count < 0) return errno;
        if (count == 0) return 0;
        *length += (size_t)count;
        int result = to_fd < 0 ? 0 : write_all(to_fd, stream->content, (size_t)count);
        if (result != 0) return result;
    }
}

static int encode(floor_stream *stream, int from_fd, int to_fd, size_t length) {
    stream->preferences.frameInfo.contentSize = length;
    size_t stored = LZ4F_compressBegin(stream->encoder, stream->stored, stream->stored_capacity,
                                       &stream->preferences);
    for (size_t done = 0; done < length;) {
        if (LZ4F_isError(stored)) return EINVAL;
        ssize_t count = read(from_fd, stream->content, chunk);
        if (count < 0) return errno;
        if (count == 0) return EIO;
        size_t more = LZ4F_compressUpdate(stream->encoder, stream->stored + stored,
                                          stream->stored_capacity - stored, stream->content,
                                          (size_t)count, NULL);
        if (LZ4F_isError(more)) return EINVAL;
        int result = write_all(to_fd, stream->stored, stored + more);
        if (result != 0) return result;
        stored = 0;
        done += (size_t)count;
    }
    stored = LZ4F_compressEnd(stream->encoder, stream->stored, stream->stored_capacity, NULL);
    return LZ4F_isError(stored) ? EINVAL : write_all(to_fd, stream->stored, stored);
}

static int decode(floor_stream *stream, int from_fd, int to_fd, size_t *length) {
    size_t rest = 1;
    *length = 0;
    for (;;) {
        ssize_t count = read(from_fd, stream->stored, chunk);
        if (count < 0) return errno;
        // 0 means that the frame is complete and its content checksum matched.
        if (count == 0) return rest == 0 ? 0 : EBADMSG;
        for (size_t done = 0; done < (size_t)count;) {
            size_t consumed = (size_t)count - done;
            size_t decoded = chunk;
            rest = LZ4F_decompress(stream->decoder, stream->content, &decoded,
                                   stream->stored + done, &consumed, NULL);
            if (LZ4F_isError(rest)) {
                LZ4F_resetDecompressionContext(stream->decoder);
                return EBADMSG;
            }
            done += consumed;
            *length += decoded;
            int result = to_fd < 0 ? 0 : write_all(to_fd, stream->content, decoded);
            if (result != 0) return result;
        }
    }
}

int floor_stream_store(floor_stream *stream, int source_fd, size_t length, int identity,
                       int incoming_fd, const char *temp_name, int items_fd, const char *name) {
    if (lseek(source_fd, 0, SEEK_SET) < 0) return errno;
    int fd = openat(incoming_fd, temp_name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    size_t copied = 0;
    int result = identity ? copy(stream, source_fd, fd, &copied)
                          : encode(stream, source_fd, fd, length);
    if (close(fd) != 0 && result == 0) result = errno;
    if (result != 0) return result;
    return renameat(incoming_fd, temp_name, items_fd, name) != 0 ? errno : 0;
}

int floor_stream_read(floor_stream *stream, int identity, int items_fd, const char *name,
                      size_t *length) {
    int fd = openat(items_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    int result = identity ? copy(stream, fd, -1, length) : decode(stream, fd, -1, length);
    close(fd);
    return result;
}

int floor_stream_promote(floor_stream *stream, int items_fd, const char *name, int staging_fd,
                         const char *temp_name, int documents_fd, const char *final_name) {
    int from_fd = openat(items_fd, name, O_RDONLY | O_CLOEXEC);
    if (from_fd < 0) return errno;
    int to_fd = openat(staging_fd, temp_name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    size_t length = 0;
    int result = to_fd < 0 ? errno : decode(stream, from_fd, to_fd, &length);
    close(from_fd);
    if (to_fd >= 0 && close(to_fd) != 0 && result == 0) result = errno;
    if (result == 0) result = floor_publish_file(staging_fd, temp_name, documents_fd, final_name);
    if (result == 0) result = floor_unlink(items_fd, name);
    return result;
}
