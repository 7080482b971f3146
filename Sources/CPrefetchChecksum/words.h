#pragma once

#include <stddef.h>
#include <stdint.h>
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
