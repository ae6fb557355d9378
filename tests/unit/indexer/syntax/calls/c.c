#include "buffer.h"

typedef struct buffer { char *data; } buffer_t;

static int grow(buffer_t *b, size_t n) {
    b->alloc(n);
    return check(b) ? realloc_data(b, n) : 0;
}

static const struct ops table = { .grow = grow, };

int main(void) {
    register_ops(&table, grow);
    handler = grow;
    return grow(NULL, 1);
}
