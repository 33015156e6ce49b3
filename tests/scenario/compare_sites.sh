#!/bin/sh
# The documentation sites against the walk of their files. Without FULL=1: three small ones, and only when they are there.
here=$(cd "$(dirname "$0")" && pwd)
data=${BENCH_DATA:-$here/../../bench-data}
if [ "${FULL:-}" ]; then
    exec sh "$here/../oracle/compare.sh"
fi
if [ ! -d "$data/sites" ]; then
    echo "# skipped: no bench-data folder (make bench-data)"
    exit 0
fi
exec sh "$here/../oracle/compare.sh" apache2-doc postgresql-doc-15 python3.11-doc
