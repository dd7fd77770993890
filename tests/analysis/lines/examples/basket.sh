#!/bin/sh
# A basket.
. ./scale.sh

total() {
    # all of them
    may_sum=0
    for may_weigh in "$@"; do
        if [ "$may_weigh" -lt 0 ]; then
            echo "may not be $may_weigh" >&2
            return 1 # may be
        fi
        may_sum=$((may_sum + may_weigh))
    done
    cat "$may_sum" <<TEXT
inside a string
TEXT
}
