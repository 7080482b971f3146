#pragma once

#include "CPrefetchChecksum.h"
#include "words.h"

/// Inputs of up to this many bytes are not hashed by accumulators.
#define XXH3_LONGEST_MEDIUM 240

#define XXH3_SECRET_LENGTH 192
extern const uint8_t xxh3_secret[XXH3_SECRET_LENGTH];

/// - Precondition: `count` is more than `XXH3_LONGEST_MEDIUM`.
cchecksum_hash128 xxh3_large_128(const uint8_t *bytes, size_t count);
uint64_t xxh3_large_64(const uint8_t *bytes, size_t count);

/// The first of the two final mixes of the specification.
static inline uint64_t avalanche(uint64_t word) {
    word = (word ^ word >> 37) * 0x165667919E3779F9U;
    return word ^ word >> 32;
}

typedef struct {
    uint64_t low;
    uint64_t high;
} product128;

static inline product128 product_of(uint64_t left, uint64_t right) {
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)left * right;
    return (product128){(uint64_t)product, (uint64_t)(product >> 64)};
#else
    uint64_t left_low = left & 0xFFFFFFFFU, left_high = left >> 32;
    uint64_t right_low = right & 0xFFFFFFFFU, right_high = right >> 32;
    uint64_t low = left_low * right_low;
    // At most (2³² − 1)² + 2 (2³² − 1), which is less than 2⁶⁴.
    uint64_t middle = left_high * right_low + (low >> 32);
    uint64_t other = left_low * right_high + (middle & 0xFFFFFFFFU);
    return (product128){other << 32 | (low & 0xFFFFFFFFU), left_high * right_high + (middle >> 32) + (other >> 32)};
#endif
}

static inline uint64_t folded_product(uint64_t left, uint64_t right) {
    product128 product = product_of(left, right);
    return product.low ^ product.high;
}
