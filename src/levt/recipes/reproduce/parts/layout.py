"""Which files a reproduction reads, under the folder that ``--data`` names."""

QUICK = (
    "--data is a folder with one folder for each set: multi30k-en-de, europarl-en-de, software-en-ro, tatoeba-en-ro, "
    "ro-sts-en-ro, software-en-ja, tatoeba-en-ja, package-synopsis, newstest, for post-editing also tatoeba-en-de, "
    "ape-it-en-de, ape-wiki-en-de, ape-wiki-ro-en and ape-keystrokes-en-de; docs/results/reproduce.md lists their files"
)
PAPER = (
    "--data is a folder with wmt16-ro-en, wmt14-en-de, wat17-en-ja and gigaword, each with train, dev and test "
    "(.ro .en, .en .de, .en .ja, .article .title), for iterations-by-length also monolingual/en.txt, for post-editing "
    "wmt17-ape-en-de (train, dev and test, .src .mt .pe), wmt17-ape-500k (train), wmt17-ape-4m (train, .src .pe) and "
    "ape-keystrokes-en-de; docs/concepts/paper.md says what they are"
)
LAYOUT = {"toy": None, "quick": QUICK, "paper": PAPER}
"""What to say where a file is missing."""
