from levt.edits.trace import Trace as Trace
from levt.engine.batching import Budget as Budget
from levt.engine.model import Model as Model
from levt.engine.model import load as load
from levt.engine.result import Result as Result
from levt.errors import LevtError as LevtError
from levt.refine.options import Options as Options
from levt.refine.rerank import Candidates as Candidates
from levt.refine.search import SearchOptions as SearchOptions
from levt.refine.wish import Wish as Wish

__version__: str
