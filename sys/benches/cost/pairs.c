/* The bare loop that the product is compared with: the same two calls at the same offsets with the
 * same data, checked, and nothing else. Mirrors Cursor in bench/src/cursor.rs. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

struct cursor {
    uint64_t offset;
    uint64_t data;
};

/* Returns how many pairs succeeded. */
uint64_t untimed_pairs(int fd, const unsigned char *arena, uint64_t span, uint64_t block,
                       uint64_t segment, struct cursor *cursor, uint64_t pairs)
{
    for (uint64_t done = 0; done < pairs; done++) {
        if (cursor->offset + block > segment)
            cursor->offset = 0;
        uint64_t offset = cursor->offset, data = cursor->data;
        cursor->offset = offset + block;
        cursor->data = data + 4096 + 64;
        if (cursor->data > span)
            cursor->data = (cursor->data % 4096) & ~63ULL;
        if (pwrite(fd, arena + data, block, (off_t)offset) != (ssize_t)block)
            return done;
        if (fdatasync(fd) != 0)
            return done;
    }
    return pairs;
}
