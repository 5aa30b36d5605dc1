#!/bin/sh
# levt-en-de from its corpus: teacher, distillation, student, compact model, and what both write on the test sets.
#
#   sh benchmarks/bundled_train.sh CORPUS OUT [flags of `levt chain bundled-ar bundled-levt`]
#
# Every step goes on where it was stopped and is skipped when it is done, so the command may be run again and again.
# On one H200 about 33 minutes, the sum of its parts; the third version took 27, step by step (its card says how). OUT/levt-en-de is the model, OUT/decoded.json.xz is for `benchmarks/bundled.py score`.
set -eu
corpus=$1 out=$2
shift 2
levt=${LEVT:-levt} python=${PYTHON:-python3}
$levt chain bundled-ar bundled-levt --corpus "$corpus" --out "$out" --processes "${PROCESSES:-4}" \
    --distillation.batch-size 256 --distillation.shard 4096 "$@"
$levt convert compact "$out/student/best" --out "$out/levt-en-de" --dtype int4
$python "$(dirname "$0")/bundled.py" decode --corpus "$corpus" --student "$out/levt-en-de" \
    --teacher "$out/teacher/best" --out "$out/decoded.json.xz" ${LIMIT:+--limit $LIMIT}
touch "$out/done"
