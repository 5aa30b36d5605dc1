"""The policies of LevT by graphs, as the loops of ``levt.refine`` ask for them."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from levt.engine.onnx_graph import Array
from levt.engine.onnx_memory import GraphMemory
from levt.engine.onnx_sessions import Sessions
from levt.policy.config import LevTConfig, Policy, TransformerConfig
from levt.policy.embedding import check_length
from levt.policy.layout import Padded
from levt.policy.scores import NEVER_PRODUCED


class GraphNetwork(nn.Module):
    """A network without weights of its own: its passes are graphs."""

    def __init__(self, sessions: Sessions, config: TransformerConfig) -> None:
        super().__init__()
        self.sessions, self.config = sessions, config

    def encode(self, x: Int[Tensor, "b s"]) -> GraphMemory:
        """Read padded sources."""
        layout = Padded.of(x)
        check_length(layout, self.config.max_length)
        found = self.sessions.run("encode", {"x": x.numpy()})
        towers = {name.removeprefix("kv."): torch.from_numpy(kv) for name, kv in found.items()}
        return GraphMemory.of(towers, layout)


class GraphPolicy(GraphNetwork):
    """The three policies over padded states: scores of the first two are not normalised."""

    def __init__(self, sessions: Sessions, config: LevTConfig) -> None:
        super().__init__(sessions, config)
        self.alike = config.shares("delete", "placeholder")
        """Whether deletions and placeholders see a state alike."""
        nothing: tuple[GraphMemory | None, Tensor, dict[str, Array]] = (None, torch.empty(0), {})
        self._last = nothing

    def states(self, memory: GraphMemory, y: Int[Tensor, "b n"], policy: Policy) -> Array:
        """Flat states of y for one policy: the graphs of its chain but the last.

        Where the placeholder policy asks for the state that the delete policy has just seen, what their chains share
        is not run again: all of it in ``look``, and what lies below both exits where nothing was deleted.
        """
        check_length(Padded.of(y), self.config.max_length)
        *parts, _ = self.sessions.graphs.chains[policy]
        last, seen, known = self._last
        if last is not memory or not torch.equal(seen, y):
            known = {}
        self._last = (memory, y, known)
        feeds: dict[str, Array] = memory.feeds(parts[0].rpartition(".")[0]) | {"y": y.numpy()}
        for graph in parts:
            if graph not in known:
                known[graph] = self.sessions.run(graph, feeds)["states"]
            feeds["h"] = known[graph]
        return feeds["h"]

    def look(
        self, memory: GraphMemory, y: Int[Tensor, "b n"]
    ) -> tuple[Float[Tensor, "b n 2"], Float[Tensor, "b g k"]]:
        """Both at one look, for policies that see a state alike: what the first has seen is still known."""
        return self.delete(memory, y), self.placeholder(memory, y)

    def delete(self, memory: GraphMemory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        """Scores of keeping (0) or deleting (1) each token."""
        found = self.sessions.run("delete", {"h": self.states(memory, y, "delete")})
        return torch.from_numpy(found["scores"]).view(*y.shape, 2)

    def placeholder(self, memory: GraphMemory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        """Scores of how many placeholders to open in each gap."""
        found = self.sessions.run("placeholder", {"h": self.states(memory, y, "placeholder")})
        (b, n), k = y.shape, found["scores"].shape[1]
        # Flat gaps of a batch: after the n − 1 of a row comes the one to the next row, which is stepped over.
        return torch.from_numpy(found["scores"]).as_strided((b, n - 1, k), (n * k, k, 1))

    def token(
        self, memory: GraphMemory, y: Int[Tensor, "b n"], where: Bool[Tensor, "b n"]
    ) -> Float[Tensor, "p v"]:
        """The log π^tok at the places asked for; −∞ for what is never produced."""
        places = where.flatten().nonzero().squeeze(1).numpy()
        found = self.sessions.run("token", {"h": self.states(memory, y, "token"), "places": places})
        scores = torch.from_numpy(found["scores"])
        scores[:, list(NEVER_PRODUCED)] = float("-inf")
        return scores
