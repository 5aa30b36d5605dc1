#!/bin/sh
# The corpus of levt-en-de: Europarl, Tatoeba and Multi30k, a tenth of it with drafts by a phrase-based system.
#
#   sh benchmarks/bundled_corpus.sh DATA OUT
#
# DATA holds the folders europarl-en-de, tatoeba-en-de, multi30k-en-de (train, dev or val, test) and newstest
# (newstest2014.en-de.*, flores101.devtest.*). OUT becomes a corpus like any other of `levt prepare`; the work in
# between is kept in OUT.work, and a step that is done is not done again. Six to twenty minutes on two cores.
# For a student that goes on from a model of before: TOKENIZER=MODEL/tokenizer.json, and its pieces are those of that model.
set -eu
data=$1 out=$2 work=$2.work
levt=${LEVT:-levt}
vocabulary=${VOCABULARY:-12000}
mkdir -p "$work"
for side in en de; do
    cat "$data/europarl-en-de/train.$side" "$data/tatoeba-en-de/train.$side" "$data/multi30k-en-de/train.$side" \
        > "$work/all.$side"
    awk 'NR % 10 == 1' "$work/all.$side" > "$work/first.$side"
    awk 'NR % 10 == 6' "$work/all.$side" > "$work/second.$side"
done
# A weak system from one tenth, which translates another: drafts of text that it has never seen.
[ -d "$work/phrases" ] || $levt blackbox train-phrase --train "$work/first.en" "$work/first.de" --out "$work/phrases"
if [ ! -f "$work/second.mt" ]; then
    $levt blackbox translate "phrase:$work/phrases" < "$work/second.en" > "$work/second.part"
    mv "$work/second.part" "$work/second.mt"
fi
# Source, draft, target: an empty draft is the empty canvas. Tabs would part the columns, so there are none.
awk 'FNR == NR { draft[FNR] = $0; next } { print FNR % 10 == 6 ? draft[(FNR + 4) / 10] : "" }' \
    "$work/second.mt" "$work/all.en" | tr '\t' ' ' > "$work/all.mt"
for side in en de; do tr '\t' ' ' < "$work/all.$side" > "$work/plain.$side"; done
paste "$work/plain.en" "$work/all.mt" "$work/plain.de" > "$work/train.tsv"
# Short and everyday sentences are few of all tokens, so captions come four times, and Tatoeba twice.
tatoeba=$(wc -l < "$data/tatoeba-en-de/train.en") captions=$(wc -l < "$data/multi30k-en-de/train.en")
tail -n "$captions" "$work/train.tsv" > "$work/captions.tsv"
tail -n $((tatoeba + captions)) "$work/train.tsv" | head -n "$tatoeba" > "$work/tatoeba.tsv"
if [ -n "${TOKENIZER:-}" ]; then set -- --tokenizer "$TOKENIZER"; else set -- --vocabulary "$vocabulary"; fi
$levt prepare --train "$work/train.tsv" "$work/tatoeba.tsv" "$work/captions.tsv" "$work/captions.tsv" "$work/captions.tsv" \
    --dev "$data/multi30k-en-de/val.en" "$data/multi30k-en-de/val.de" \
          "$data/tatoeba-en-de/dev.en" "$data/tatoeba-en-de/dev.de" \
          "$data/europarl-en-de/dev.en" "$data/europarl-en-de/dev.de" \
    --test "$data/multi30k-en-de/test_2016_flickr.en" "$data/multi30k-en-de/test_2016_flickr.de" \
           "$data/multi30k-en-de/test_2017_flickr.en" "$data/multi30k-en-de/test_2017_flickr.de" \
           "$data/tatoeba-en-de/test.en" "$data/tatoeba-en-de/test.de" \
           "$data/europarl-en-de/test.en" "$data/europarl-en-de/test.de" \
           "$data/newstest/newstest2014.en-de.en" "$data/newstest/newstest2014.en-de.de" \
           "$data/newstest/flores101.devtest.eng" "$data/newstest/flores101.devtest.deu" \
    "$@" --max-length 128 --drop-overlap --out "$out"
