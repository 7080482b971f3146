#include "XXH3.h"

const uint8_t xxh3_secret[XXH3_SECRET_LENGTH] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

/// The bytes that the accumulators take up at a time, and those after which they are scrambled.
enum { stripe_length = 64, block_length = 1024 };

/// Eight words, which the compiler keeps in as many registers as it takes.
typedef uint64_t words8 __attribute__((vector_size(stripe_length)));
typedef uint32_t halves8 __attribute__((vector_size(stripe_length / 2)));

static const uint64_t initial_accumulators[8] = {
    PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1,
};

// By reference and inline: to hand over or return a vector of this length is a matter of each processor.
#define INLINE static inline __attribute__((always_inline))

INLINE void load(words8 *words, const void *bytes) { memcpy(words, bytes, sizeof *words); }

INLINE void accumulate(words8 *accumulators, const uint8_t *stripe, size_t secret_offset) {
    words8 words, mixed;
    load(&words, stripe);
    load(&mixed, xxh3_secret + secret_offset);
    mixed ^= words;
    *accumulators += __builtin_shufflevector(words, words, 1, 0, 3, 2, 5, 4, 7, 6);
    // One instruction multiplies two lanes where the compiler sees that the factors have 32 bits.
    *accumulators += __builtin_convertvector(__builtin_convertvector(mixed, halves8), words8) * (mixed >> 32);
}

INLINE void accumulate_stripes(words8 *accumulators, const uint8_t *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) accumulate(accumulators, bytes + index * stripe_length, index * 8);
}

INLINE void take_block(words8 *accumulators, const uint8_t *block) {
    accumulate_stripes(accumulators, block, block_length / stripe_length);
    words8 secret;
    load(&secret, xxh3_secret + XXH3_SECRET_LENGTH - stripe_length);
    *accumulators = (*accumulators ^ *accumulators >> 47 ^ secret) * PRIME32_1;
}

/// Takes up the last block, of 1 to `block_length` bytes, and the last stripe, which may begin in the block before.
INLINE void take_last(words8 *accumulators, const uint8_t *block, size_t count) {
    accumulate_stripes(accumulators, block, (count - 1) / stripe_length);
    accumulate(accumulators, block + count - stripe_length, XXH3_SECRET_LENGTH - stripe_length - 7);
}

static uint64_t merged(const words8 *accumulators, uint64_t sum, size_t secret_offset) {
    const uint8_t *secret = xxh3_secret + secret_offset;
    for (size_t index = 0; index < 8; index += 2) {
        sum += folded_product(
            (*accumulators)[index] ^ word64(secret + index * 8),
            (*accumulators)[index + 1] ^ word64(secret + index * 8 + 8));
    }
    return avalanche(sum);
}

static uint64_t merged_low(const words8 *accumulators, uint64_t count) {
    return merged(accumulators, count * PRIME64_1, 11);
}

static uint64_t merged_high(const words8 *accumulators, uint64_t count) {
    return merged(accumulators, ~(count * PRIME64_2), XXH3_SECRET_LENGTH - stripe_length - 11);
}

static void take_all(words8 *accumulators, const uint8_t *bytes, size_t count) {
    words8 taken;
    load(&taken, initial_accumulators);
    for (; count > block_length; bytes += block_length, count -= block_length) take_block(&taken, bytes);
    take_last(&taken, bytes, count);
    *accumulators = taken;
}

uint64_t xxh3_large_64(const uint8_t *bytes, size_t count) {
    words8 accumulators;
    take_all(&accumulators, bytes, count);
    return merged_low(&accumulators, count);
}

cchecksum_hash128 xxh3_large_128(const uint8_t *bytes, size_t count) {
    words8 accumulators;
    take_all(&accumulators, bytes, count);
    return (cchecksum_hash128){merged_low(&accumulators, count), merged_high(&accumulators, count)};
}

// MARK: In pieces

void cchecksum_xxh3_begin(cchecksum_xxh3_stream *stream) {
    stream->count = 0;
    stream->filled = 0;
    memcpy(stream->accumulators, initial_accumulators, sizeof initial_accumulators);
}

void cchecksum_xxh3_append(cchecksum_xxh3_stream *stream, const void *bytes, size_t count) {
    uint8_t *recent = stream->recent, *block = recent + stripe_length;
    const uint8_t *next = bytes;
    stream->count += count;
    while (count > 0) {
        // Only once more follows is it known that a block is not the last one.
        if (stream->filled == block_length) {
            words8 accumulators;
            load(&accumulators, stream->accumulators);
            take_block(&accumulators, block);
            memcpy(stream->accumulators, &accumulators, sizeof accumulators);
            memcpy(recent, block + block_length - stripe_length, stripe_length);
            stream->filled = 0;
        }
        size_t room = block_length - stream->filled, taken = count < room ? count : room;
        memcpy(block + stream->filled, next, taken);
        stream->filled += taken;
        next += taken;
        count -= taken;
    }
}

uint64_t cchecksum_xxh3_result(const cchecksum_xxh3_stream *stream) {
    const uint8_t *block = stream->recent + stripe_length;
    if (stream->count <= XXH3_LONGEST_MEDIUM) return cchecksum_xxh3_64(block, stream->filled);
    words8 accumulators;
    load(&accumulators, stream->accumulators);
    take_last(&accumulators, block, stream->filled);
    return merged_low(&accumulators, stream->count);
}
