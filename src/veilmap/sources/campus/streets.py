"""The street network, and the routes of pedestrians on it."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
from scipy.spatial import cKDTree

from veilmap.sources.campus.world import Array, Campus, Index

WALKING_M_S = 1.35
BLOCK_M = 110.0
# Crossings stand off the lattice by this much, and some of the lattice's streets do not exist.
JITTER_M = 20.0
KEPT_STREETS = 0.8


@dataclass(frozen=True)
class Streets:
    """Crossings, and the lengths of the streets between them."""

    crossings_m: Array
    lengths_m: csr_array

    @classmethod
    def draw(cls, world: Campus, generator: np.random.Generator) -> "Streets":
        """A jittered lattice without a fifth of its streets, still connected."""
        columns, rows = np.maximum((world.size_m // BLOCK_M).astype(int), 2)
        x, y = np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(-0.5, 0.5, rows))
        lattice = np.column_stack([x.ravel(), y.ravel()]) * (world.size_m - 2 * JITTER_M)
        crossings_m = lattice + generator.uniform(-JITTER_M, JITTER_M, lattice.shape)
        node = np.arange(len(lattice)).reshape(rows, columns)
        neighbours = ((node[:, :-1], node[:, 1:]), (node[:-1], node[1:]))
        ends = np.concatenate([np.reshape(pair, (2, -1)).T for pair in neighbours])
        return cls(crossings_m, _lengths(crossings_m, ends, generator))

    def routes(self, start_m: Array, end_m: Array) -> "Routes":
        """The shortest route of each walk: to the nearest crossing, along streets, to the end."""
        near = cKDTree(self.crossings_m)
        first, last = near.query(start_m)[1], near.query(end_m)[1]
        sources, source = np.unique(first, return_inverse=True)
        _, before = dijkstra(
            self.lengths_m, directed=False, indices=sources, return_predecessors=True
        )
        way = [last]
        while (way[-1] != first).any():
            onward = before[source, way[-1]]
            way.append(np.where(way[-1] == first, first, onward))
        nodes = np.stack(way[::-1], axis=1)
        corners = [start_m[:, None], self.crossings_m[nodes], end_m[:, None]]
        return Routes(np.concatenate(corners, axis=1))


@dataclass(frozen=True)
class Routes:
    """Routes as corners, padded at the front by repeating the first crossing."""

    corners_m: Array  # way, corner, axis

    @property
    def travelled_m(self) -> Array:
        """From the start to each corner."""
        steps = np.linalg.norm(np.diff(self.corners_m, axis=1), axis=2)
        return np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)

    def at(self, way: Index, distance_m: Array) -> Array:
        """The position after a distance along each route."""
        travelled_m = self.travelled_m
        corners = travelled_m.shape[1]
        # One sorted axis for all routes: each begins where the longest before it would end.
        far_m = travelled_m.max() + 1.0
        axis = (travelled_m + far_m * np.arange(len(travelled_m))[:, None]).ravel()
        wanted = np.clip(distance_m, 0, travelled_m[way, -1]) + far_m * way
        after = np.clip(np.searchsorted(axis, wanted), way * corners + 1, (way + 1) * corners - 1)
        gone = (wanted - axis[after - 1]) / np.maximum(axis[after] - axis[after - 1], 1e-9)
        flat_m = self.corners_m.reshape(-1, 2)
        step_m = flat_m[after] - flat_m[after - 1]
        here: Array = flat_m[after - 1] + np.clip(gone, 0, 1)[:, None] * step_m
        return here


def _lengths(crossings_m: Array, ends: Index, generator: np.random.Generator) -> csr_array:
    """Streets that exist: a random share, and a random spanning tree so that all are reached."""
    count = len(crossings_m)
    order = generator.random(len(ends)) + 1e-9  # a weight of zero would mean no street
    tree = minimum_spanning_tree(csr_array((order, tuple(ends.T)), shape=(count, count)))
    in_tree = tree[ends[:, 0], ends[:, 1]] > 0
    kept = ends[in_tree | (generator.random(len(ends)) < KEPT_STREETS)]
    length_m = np.linalg.norm(crossings_m[kept[:, 0]] - crossings_m[kept[:, 1]], axis=1)
    return csr_array((length_m, tuple(kept.T)), shape=(count, count))
