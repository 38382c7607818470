"""DBSCAN in the plane, exact, in little memory."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from veilmap.defences.clustering.box_trees import BoxTrees, Floats, count_pairs
from veilmap.defences.clustering.square_grid import OFFSETS, OFFSETS_ONE_WAY, SquareGrid
from veilmap.errors import UserError, out_of_range, refuse, too_low

Flags = NDArray[np.bool_]
Labels = NDArray[np.int64]

NOISE = -1


def dbscan(xy_m: Floats, eps_m: float, min_points: int) -> Labels:
    """The number of each point's cluster, or -1 for noise (Ester, Kriegel, Sander, Xu 1996).

    Neighbours are at most ``eps_m`` apart; a core point has ``min_points`` of them, itself
    counted; core points that are neighbours share a cluster. Clusters are numbered by their
    first core point in the order of the input. A border point, no core point but the neighbour of
    one, may belong to each cluster that it touches: it gets the lowest number, as in scikit-learn.
    Other points are noise.

    The method (Gunawan 2013; de Berg, Gunawan, Roeloffzen 2017): any two points of a square are
    neighbours, so a crowded square is a cluster already, and squares are joined if their nearest
    core points are neighbours. Neighbours are never listed: at 200 m they would be all points.
    """
    refuse(_faults(xy_m, eps_m, min_points))
    labels = np.full(len(xy_m), NOISE, np.int64)
    if len(xy_m) == 0:
        return labels
    grid = SquareGrid.of(xy_m, eps_m)
    is_core = _is_core(xy_m, grid, eps_m, min_points)
    if is_core.any():
        core = grid.part(is_core)
        trees = BoxTrees.of(xy_m[is_core], core.square)
        cluster = _by_first_point(_joined(core, trees, eps_m), core.square)
        labels[is_core] = cluster[core.square]
        others = grid.rows(~is_core)
        key = grid.key[grid.square[others]]
        labels[others] = _touched(xy_m[others], key, core, trees, cluster, eps_m)
    return labels


def _is_core(xy_m: Floats, grid: SquareGrid, eps_m: float, min_points: int) -> Flags:
    is_core: Flags = (np.bincount(grid.square) >= min_points)[grid.square]
    unsure = grid.rows(~is_core)
    if len(unsure) == 0:
        return is_core
    points, trees = _single(xy_m[unsure]), BoxTrees.of(xy_m, grid.square)
    neighbours = np.zeros(len(unsure), np.int64)
    for offset in OFFSETS:
        there, square = grid.beside(grid.key[grid.square[unsure]], offset)
        missing = min_points - neighbours[there]
        neighbours[there] += count_pairs(points, trees, there, square, eps_m, missing)
    is_core[unsure] = neighbours >= min_points
    return is_core


def _joined(core: SquareGrid, trees: BoxTrees, eps_m: float) -> Labels:
    """A number for each square, equal for the squares of one cluster."""
    cluster = np.arange(len(core.key))
    for offset in OFFSETS_ONE_WAY:
        a, b = core.beside(core.key, offset)
        apart = cluster[a] != cluster[b]
        a, b = a[apart], b[apart]
        near = count_pairs(trees, trees, a, b, eps_m, enough=1) > 0
        cluster = _merged(cluster, a[near], b[near])
    return cluster


def _merged(cluster: Labels, a: Labels, b: Labels) -> Labels:
    if len(a) == 0:
        return cluster
    clusters, links = int(cluster.max()) + 1, (cluster[a], cluster[b])
    graph = coo_array((np.ones(len(a)), links), shape=(clusters, clusters))
    merged: Labels = connected_components(graph, directed=False)[1][cluster]
    return merged


def _by_first_point(cluster: Labels, square: Labels) -> Labels:
    """The same clusters of squares, numbered by their first point."""
    first = np.unique(cluster[square], return_index=True)[1]
    return np.argsort(np.argsort(first))[cluster]


def _touched(
    xy_m: Floats, key: Labels, core: SquareGrid, trees: BoxTrees, cluster: Labels, eps_m: float
) -> Labels:
    """The lowest number of a cluster with a core point within reach; ``key`` is of the squares."""
    none = len(cluster)
    lowest = np.full(len(xy_m), none)
    if len(xy_m) == 0:
        return lowest
    points = _single(xy_m)
    for offset in OFFSETS:
        there, square = core.beside(key, offset)
        lower = cluster[square] < lowest[there]
        there, square = there[lower], square[lower]
        near = count_pairs(points, trees, there, square, eps_m, enough=1) > 0
        lowest[there[near]] = cluster[square[near]]
    return np.where(lowest < none, lowest, NOISE)


def _single(xy_m: Floats) -> BoxTrees:
    return BoxTrees.of(xy_m, np.arange(len(xy_m)))


def _faults(xy_m: Floats, eps_m: float, min_points: int) -> Iterator[UserError]:
    yield from number_faults(eps_m, min_points)
    broken = np.count_nonzero(~np.isfinite(xy_m).all(axis=1))
    if broken:
        yield UserError(
            f"positions must be finite, got {broken} of {len(xy_m)} that are not; leave them out"
        )


def number_faults(eps_m: float, min_points: int) -> Iterator[UserError]:
    """What is wrong with the two numbers of DBSCAN."""
    if not (np.isfinite(eps_m) and eps_m > 0):
        yield out_of_range("eps_m", "a finite number of metres above 0", eps_m)
    yield from too_low(1, int, min_points=min_points)
