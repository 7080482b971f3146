#include "CPrefetchChecksum.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "All words are read in the order of the machine, which has to be little-endian."
#endif

#define PRIME32_1 0x9E3779B1U
#define PRIME32_2 0x85EBCA77U
#define PRIME32_3 0xC2B2AE3DU
#define PRIME32_4 0x27D4EB2FU
#define PRIME32_5 0x165667B1U

#define PRIME64_1 0x9E3779B185EBCA87U
#define PRIME64_2 0xC2B2AE3D27D4EB4FU
#define PRIME64_3 0x165667B19E3779F9U
#define PRIME64_4 0x85EBCA77C2B2AE63U
#define PRIME64_5 0x27D4EB2F165667C5U

// The bytes need not be aligned: `memcpy` becomes one load.

static inline uint32_t word32(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline uint64_t word64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline uint32_t rotated32(uint32_t word, int bits) { return word << bits | word >> (32 - bits); }

static inline uint64_t rotated64(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

// MARK: XXH32

static uint32_t mixed(uint32_t accumulator, uint32_t lane) {
    return rotated32(accumulator + lane * PRIME32_2, 13) * PRIME32_1;
}

uint32_t cchecksum_xxh32(const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    size_t rest = count;
    uint32_t hash = PRIME32_5;
    if (rest >= 16) {
        uint32_t lane1 = PRIME32_1 + PRIME32_2, lane2 = PRIME32_2, lane3 = 0, lane4 = 0 - PRIME32_1;
        for (; rest >= 16; next += 16, rest -= 16) {
            lane1 = mixed(lane1, word32(next));
            lane2 = mixed(lane2, word32(next + 4));
            lane3 = mixed(lane3, word32(next + 8));
            lane4 = mixed(lane4, word32(next + 12));
        }
        hash = rotated32(lane1, 1) + rotated32(lane2, 7) + rotated32(lane3, 12) + rotated32(lane4, 18);
    }
    hash += (uint32_t)count;
    for (; rest >= 4; next += 4, rest -= 4) hash = rotated32(hash + word32(next) * PRIME32_3, 17) * PRIME32_4;
    for (; rest > 0; next++, rest--) hash = rotated32(hash + *next * PRIME32_5, 11) * PRIME32_1;

    hash = (hash ^ hash >> 15) * PRIME32_2;
    hash = (hash ^ hash >> 13) * PRIME32_3;
    return hash ^ hash >> 16;
}

// MARK: XXH3

/// Inputs of up to this many bytes are not hashed by accumulators.
#define LONGEST_MEDIUM 240

#define SECRET_LENGTH 192

static const uint8_t default_secret[SECRET_LENGTH] = {
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
    unsigned __int128 product = (unsigned __int128)left * right;
    return (product128){(uint64_t)product, (uint64_t)(product >> 64)};
}

static inline uint64_t folded_product(uint64_t left, uint64_t right) {
    product128 product = product_of(left, right);
    return product.low ^ product.high;
}

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
    load(&mixed, default_secret + secret_offset);
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
    load(&secret, default_secret + SECRET_LENGTH - stripe_length);
    *accumulators = (*accumulators ^ *accumulators >> 47 ^ secret) * PRIME32_1;
}

/// Takes up the last block, of 1 to `block_length` bytes, and the last stripe, which may begin in the block before.
INLINE void take_last(words8 *accumulators, const uint8_t *block, size_t count) {
    accumulate_stripes(accumulators, block, (count - 1) / stripe_length);
    accumulate(accumulators, block + count - stripe_length, SECRET_LENGTH - stripe_length - 7);
}

static uint64_t merged(const words8 *accumulators, uint64_t sum, size_t secret_offset) {
    const uint8_t *secret = default_secret + secret_offset;
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
    return merged(accumulators, ~(count * PRIME64_2), SECRET_LENGTH - stripe_length - 11);
}

static void take_all(words8 *accumulators, const uint8_t *bytes, size_t count) {
    words8 taken;
    load(&taken, initial_accumulators);
    for (; count > block_length; bytes += block_length, count -= block_length) take_block(&taken, bytes);
    take_last(&taken, bytes, count);
    *accumulators = taken;
}

static uint64_t large_64(const uint8_t *bytes, size_t count) {
    words8 accumulators;
    take_all(&accumulators, bytes, count);
    return merged_low(&accumulators, count);
}

static cchecksum_hash128 large_128(const uint8_t *bytes, size_t count) {
    words8 accumulators;
    take_all(&accumulators, bytes, count);
    return (cchecksum_hash128){merged_low(&accumulators, count), merged_high(&accumulators, count)};
}

static const uint64_t PRIME_MX2 = 0x9FB21C651E98DF25U;

/// The second of the two final mixes of the specification; the first is in the header.
static uint64_t avalanche_xxh64(uint64_t word) {
    word = (word ^ word >> 33) * PRIME64_2;
    word = (word ^ word >> 29) * PRIME64_3;
    return word ^ word >> 32;
}

/// The exclusive or of two neighbouring words of the secret.
static uint64_t secret_pair(size_t offset) {
    return word64(default_secret + offset) ^ word64(default_secret + offset + 8);
}

static uint64_t secret_pair32(size_t offset) {
    return word32(default_secret + offset) ^ word32(default_secret + offset + 4);
}

/// 1 to 3 bytes and their number as one word.
static uint32_t combined(const uint8_t *bytes, size_t count) {
    return (uint32_t)bytes[count - 1] | (uint32_t)count << 8 | (uint32_t)bytes[0] << 16 |
           (uint32_t)bytes[count >> 1] << 24;
}

static uint64_t mix_step(const uint8_t *bytes, size_t secret_offset) {
    const uint8_t *secret = default_secret + secret_offset;
    return folded_product(word64(bytes) ^ word64(secret), word64(bytes + 8) ^ word64(secret + 8));
}

// MARK: 64 bits

static uint64_t small_64(const uint8_t *bytes, size_t count) {
    if (count > 8) {
        uint64_t low = secret_pair(24) ^ word64(bytes);
        uint64_t high = secret_pair(40) ^ word64(bytes + count - 8);
        return avalanche(count + __builtin_bswap64(low) + high + folded_product(low, high));
    }
    if (count >= 4) {
        uint64_t both = (uint64_t)word32(bytes) << 32 | word32(bytes + count - 4);
        uint64_t value = secret_pair(8) ^ both;
        value ^= rotated64(value, 49) ^ rotated64(value, 24);
        value *= PRIME_MX2;
        value ^= (value >> 35) + count;
        value *= PRIME_MX2;
        return value ^ value >> 28;
    }
    return avalanche_xxh64(count > 0 ? secret_pair32(0) ^ combined(bytes, count) : secret_pair(56));
}

static uint64_t medium_64(const uint8_t *bytes, size_t count) {
    uint64_t sum = count * PRIME64_1;
    if (count <= 128) {
        for (size_t round = (count - 1) / 32 + 1; round-- > 0;) {
            sum += mix_step(bytes + round * 16, round * 32);
            sum += mix_step(bytes + count - 16 - round * 16, round * 32 + 16);
        }
    } else {
        for (size_t step = 0; step < 8; step++) sum += mix_step(bytes + step * 16, step * 16);
        sum = avalanche(sum);
        for (size_t step = 8; step < count / 16; step++) sum += mix_step(bytes + step * 16, (step - 8) * 16 + 3);
        sum += mix_step(bytes + count - 16, 119);
    }
    return avalanche(sum);
}

uint64_t cchecksum_xxh3_64(const void *bytes, size_t count) {
    if (count <= 16) return small_64(bytes, count);
    if (count <= LONGEST_MEDIUM) return medium_64(bytes, count);
    return large_64(bytes, count);
}

// MARK: 128 bits

static cchecksum_hash128 small_128(const uint8_t *bytes, size_t count) {
    if (count > 8) {
        uint64_t last = word64(bytes + count - 8);
        uint64_t mixed = secret_pair(48) ^ last;
        product128 product = product_of(secret_pair(32) ^ word64(bytes) ^ last, PRIME64_1);
        uint64_t low = product.low + ((uint64_t)(count - 1) << 54);
        uint64_t high = product.high + mixed + (mixed & 0xFFFFFFFFU) * (PRIME32_2 - 1);
        product = product_of(low ^ __builtin_bswap64(high), PRIME64_2);
        return (cchecksum_hash128){avalanche(product.low), avalanche(product.high + high * PRIME64_2)};
    }
    if (count >= 4) {
        uint64_t both = (uint64_t)word32(bytes + count - 4) << 32 | word32(bytes);
        product128 product = product_of(secret_pair(16) ^ both, PRIME64_1 + (count << 2));
        uint64_t high = product.high + (product.low << 1);
        uint64_t low = product.low ^ high >> 3;
        low = (low ^ low >> 35) * PRIME_MX2;
        return (cchecksum_hash128){low ^ low >> 28, avalanche(high)};
    }
    if (count > 0) {
        uint32_t all = combined(bytes, count);
        uint32_t turned = rotated32(__builtin_bswap32(all), 13);
        return (cchecksum_hash128){
            avalanche_xxh64(secret_pair32(0) ^ all), avalanche_xxh64(secret_pair32(8) ^ turned)};
    }
    return (cchecksum_hash128){avalanche_xxh64(secret_pair(64)), avalanche_xxh64(secret_pair(80))};
}

static void mix_two(cchecksum_hash128 *sums, const uint8_t *first, const uint8_t *second, size_t secret_offset) {
    sums->low += mix_step(first, secret_offset);
    sums->high += mix_step(second, secret_offset + 16);
    sums->low ^= word64(second) + word64(second + 8);
    sums->high ^= word64(first) + word64(first + 8);
}

static cchecksum_hash128 medium_128(const uint8_t *bytes, size_t count) {
    cchecksum_hash128 sums = {count * PRIME64_1, 0};
    if (count <= 128) {
        for (size_t round = (count - 1) / 32 + 1; round-- > 0;)
            mix_two(&sums, bytes + round * 16, bytes + count - 16 - round * 16, round * 32);
    } else {
        for (size_t step = 0; step < 4; step++) mix_two(&sums, bytes + step * 32, bytes + step * 32 + 16, step * 32);
        sums = (cchecksum_hash128){avalanche(sums.low), avalanche(sums.high)};
        for (size_t step = 4; step < count / 32; step++)
            mix_two(&sums, bytes + step * 32, bytes + step * 32 + 16, (step - 4) * 32 + 3);
        mix_two(&sums, bytes + count - 16, bytes + count - 32, 103);
    }
    uint64_t high = sums.low * PRIME64_1 + sums.high * PRIME64_4 + count * PRIME64_2;
    return (cchecksum_hash128){avalanche(sums.low + sums.high), 0 - avalanche(high)};
}

cchecksum_hash128 cchecksum_xxh3_128(const void *bytes, size_t count) {
    if (count <= 16) return small_128(bytes, count);
    if (count <= LONGEST_MEDIUM) return medium_128(bytes, count);
    return large_128(bytes, count);
}
