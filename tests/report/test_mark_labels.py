import numpy as np

from veilmap.canvas import blank_sheet
from veilmap.report.mark_labels import Mark, label_marks


def panel(side=3.0):
    figure = blank_sheet((side, side))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    return figure, axes


def test_texts_cover_neither_marks_nor_each_other_and_stay_inside():
    figure, axes = panel()
    places = np.random.default_rng(0).uniform(0, 1, (30, 2))
    label_marks(figure, axes, [Mark(x, y, "eps 50 m", "black") for x, y in places])
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) > 10
    assert all(one.count_overlaps(boxes) == 1 for one in boxes)
    marks = axes.transData.transform(places)
    assert not any(box.contains(*mark) for box in boxes for mark in marks)
    assert all(axes.bbox.containsx(box.x0) and axes.bbox.containsx(box.x1) for box in boxes)


def test_a_text_goes_where_no_line_is():
    figure, axes = panel()
    axes.plot([0.5, 1], [0.5, 0.5])
    label_marks(figure, axes, [Mark(0.5, 0.5, "ε 1", "black")])
    assert axes.texts[0].get_ha() == "right"


def test_what_has_no_room_is_left_out():
    figure, axes = panel(0.3)
    label_marks(figure, axes, [Mark(0.5, 0.5, "eps 50 m, num 20", "black"), Mark(0, 0, "", "k")])
    assert list(axes.texts) == []


def test_the_layout_stays_as_it_is():
    figure, axes = panel()
    label_marks(figure, axes, [Mark(0.5, 0.5, "ε 1", "black")])
    assert not axes.texts[0].get_in_layout()
