"""
How much of it agrees
=====================

Every page of this gallery compares what a publication prints with what this package computes. The published values are
the rows of one table, ``published.toml``. This page counts the verdicts.

* *agrees*: the value computed here lies within the tolerance of the row, which gives its reason;
* *agrees after correcting*: it does not, but a correction that the page derives explains the difference;
* *not reproducible*: it does not, and the page says what is missing.

Not every row is a printed number. Where a source prints a formula, the row is the value of that formula. Where a source
poses an example, the number was computed by hand, without this package. The first table keeps these apart.
"""

# %%

import matplotlib.pyplot as plt
from published import COLOURS, ORIGINS, VERDICTS, Table, count, look, sources

by_origin, by_page = count("origin"), count("page")
total = {verdict: sum(by_origin[origin, verdict] for origin in ORIGINS) for verdict in VERDICTS}
Table(
    ("origin of the number", *VERDICTS),
    [[text, *(by_origin[name, verdict] for verdict in VERDICTS)] for name, text in ORIGINS.items()]
    + [["all", *total.values()]],
)

# %%
# Page by page
# ------------

found = sources()
with look():
    figure, axes = plt.subplots(figsize=(7.6, 0.9 + 0.27 * len(found)), layout="constrained")
    pages = list(found)[::-1]
    left = [0] * len(pages)
    for verdict, colour, hatch in zip(VERDICTS, (COLOURS[3], COLOURS[4], COLOURS[1]), ("", "///", "xxx"), strict=True):
        counts = [by_page[page, verdict] for page in pages]
        axes.barh(pages, counts, left=left, color=colour, hatch=hatch, edgecolor="white", label=verdict)
        left = [start + size for start, size in zip(left, counts, strict=True)]
    axes.set_yticks(range(len(pages)), [found[page].title.partition(":")[0] for page in pages])
    axes.set_xlabel("published values")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3)

# %%

Table(
    ("page", *VERDICTS, "on the whole", "what is not reproduced"),
    [
        [item.title, *(by_page[page, verdict] for verdict in VERDICTS), item.verdict, item.missing or "–"]
        for page, item in found.items()
    ],
)
