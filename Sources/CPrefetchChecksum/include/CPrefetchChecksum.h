#pragma once

// XXH32 and XXH3 as the specification of xxHash 0.8 defines them, with the seed 0 and the default secret:
// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t low;
    uint64_t high;
} cchecksum_hash128;

uint32_t cchecksum_xxh32(const void *bytes, size_t count);
uint64_t cchecksum_xxh3_64(const void *bytes, size_t count);
cchecksum_hash128 cchecksum_xxh3_128(const void *bytes, size_t count);
