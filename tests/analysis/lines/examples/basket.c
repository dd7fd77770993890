/* A basket. */
#include <stddef.h>
#include "scale.h"

#define MAX 10

static double total(const double *weights, size_t count)
{
    double may_weigh = 0.0;
    size_t may_be;

    // all of them
    for (may_be = 0; may_be < count; may_be++) {
        may_weigh += weights[may_be] * (MAX - 1); /* may be
            more than one line */
    }
    return may_weigh;
}
