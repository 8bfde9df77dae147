"""`/clusters`: concepts that belong together, by the graph's structure."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from hopgate.errors import HopgateError
from hopgate.serve.access import PREFIX
from hopgate.serve.api.models.clusters import ClusterAnswer, ClustersAnswer
from hopgate.serve.api.models.values import Limit, ScopeQuery
from hopgate.serve.problems import RefusedError
from hopgate.serve.service import Served

router = APIRouter(prefix=f"{PREFIX}/clusters", tags=["graph"])
Resolution = Annotated[float, Query(description="Above 1 more and smaller clusters.", ge=0.01, le=100)]


@router.get("", response_model=ClustersAnswer)
def list_clusters(
    served: Served,
    resolution: Resolution = 1.0,
    level: Annotated[int, Query(description="0 is the coarsest.", ge=0, le=100)] = 0,
    scope: ScopeQuery = None,
    members: Annotated[int, Query(description="So many of each one's concepts.", ge=0, le=10_000)] = 10,
) -> ClustersAnswer:
    """List the clusters of one level, the largest first."""
    served.require_rows(members, "members")
    found = served.kb.graph.clusters(resolution=resolution, level=level, scope=served.scope(scope))
    return ClustersAnswer.model_validate(found.to_dict(members))


@router.get("/{id}", response_model=ClusterAnswer)
def get_cluster(
    id: Annotated[int, Path(description="The cluster's id.", ge=0, le=2**63 - 1)],
    served: Served,
    resolution: Resolution = 1.0,
    scope: ScopeQuery = None,
    limit: Limit = 100,
) -> ClusterAnswer:
    """Look at one cluster of any level, with so many of its concepts, the most central first."""
    served.require_rows(limit)
    scopes = served.scope(scope)
    found = served.kb.graph.clusters(resolution=resolution, scope=scopes)
    for level in range(found.levels):
        if level:
            found = served.kb.graph.clusters(resolution=resolution, level=level, scope=scopes)
        try:
            return ClusterAnswer.model_validate(found[id].to_dict(limit))
        except HopgateError:
            continue
    raise RefusedError(404, f"there is no cluster {id} here: /clusters lists them")
