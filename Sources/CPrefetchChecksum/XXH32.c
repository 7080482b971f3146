#include "CPrefetchChecksum.h"
#include "words.h"

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
