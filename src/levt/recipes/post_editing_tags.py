"""Word-level quality estimation as a by-product of post-editing: which words are wrong, where some are missing.

What the first iteration thinks of a draft, deletions and gaps, are risks; above a threshold that is chosen on a dev set
they are BAD tags, and these are compared with what the post-edits say.
"""

from levt.engine.model import Model
from levt.evaluation.quality_tags import Risks, best_threshold, gold_tags, tag_scores, trace_risks
from levt.evaluation.score import Score
from levt.evaluation.surface import SIGNATURE
from levt.evaluation.table import Row
from levt.recipes.post_editing_triples import Triples


def risks(model: Model, triples: Triples) -> list[Risks]:
    """What a LevT thinks of each draft before it has changed anything."""
    results = model.refine(triples.sources, draft=triples.drafts, max_iterations=1)
    return [trace_risks(result.trace) for result in results]


def tagged(model: Model, dev: Triples, test: Triples) -> tuple[float, Row]:
    """The threshold that is best on the dev set, and the MCC of words and of gaps on the test set."""
    gold = [gold_tags(draft, target) for _, draft, target in dev.rows()]
    threshold = best_threshold(risks(model, dev), gold)
    found = [one.tags(threshold) for one in risks(model, test)]
    wanted = [gold_tags(draft, target) for _, draft, target in test.rows()]
    words = [bad for tags in wanted for bad in tags.words]
    share = Score(name="BAD words %", value=100 * sum(words) / max(len(words), 1), signature=SIGNATURE)
    return threshold, Row(name="LevT", scores=(*tag_scores(found, wanted), share))
