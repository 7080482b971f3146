#pragma once

// XXH32 and XXH3 as the specification of xxHash 0.8 defines them, with the seed 0 and the default secret:
// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint64_t low;
    uint64_t high;
} cchecksum_hash128;

uint32_t cchecksum_xxh32(const void *bytes, size_t count);
uint64_t cchecksum_xxh3_64(const void *bytes, size_t count);
cchecksum_hash128 cchecksum_xxh3_128(const void *bytes, size_t count);

/// The XXH3-64 of bytes that come in pieces.
typedef struct {
    uint64_t count;
    uint64_t accumulators[8];
    /// How much of its block is filled.
    size_t filled;
    /// The last stripe of the block before, and the block that the next bytes go to.
    uint8_t recent[64 + 1024];
} cchecksum_xxh3_stream;

void cchecksum_xxh3_begin(cchecksum_xxh3_stream *stream);
void cchecksum_xxh3_append(cchecksum_xxh3_stream *stream, const void *bytes, size_t count);
/// The checksum of all bytes so far. More may be appended afterwards.
uint64_t cchecksum_xxh3_result(const cchecksum_xxh3_stream *stream);

#ifdef __cplusplus
}
#endif
