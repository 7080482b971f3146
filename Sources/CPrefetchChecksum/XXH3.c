#include "XXH3.h"

static const uint64_t PRIME_MX2 = 0x9FB21C651E98DF25U;

/// The second of the two final mixes of the specification; the first is in the header.
static uint64_t avalanche_xxh64(uint64_t word) {
    word = (word ^ word >> 33) * PRIME64_2;
    word = (word ^ word >> 29) * PRIME64_3;
    return word ^ word >> 32;
}

/// The exclusive or of two neighbouring words of the secret.
static uint64_t secret_pair(size_t offset) {
    return word64(xxh3_secret + offset) ^ word64(xxh3_secret + offset + 8);
}

static uint64_t secret_pair32(size_t offset) {
    return word32(xxh3_secret + offset) ^ word32(xxh3_secret + offset + 4);
}

/// 1 to 3 bytes and their number as one word.
static uint32_t combined(const uint8_t *bytes, size_t count) {
    return (uint32_t)bytes[count - 1] | (uint32_t)count << 8 | (uint32_t)bytes[0] << 16 |
           (uint32_t)bytes[count >> 1] << 24;
}

static uint64_t mix_step(const uint8_t *bytes, size_t secret_offset) {
    const uint8_t *secret = xxh3_secret + secret_offset;
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
    if (count <= XXH3_LONGEST_MEDIUM) return medium_64(bytes, count);
    return xxh3_large_64(bytes, count);
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
    if (count <= XXH3_LONGEST_MEDIUM) return medium_128(bytes, count);
    return xxh3_large_128(bytes, count);
}
