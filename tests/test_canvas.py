import pytest

from veilmap.canvas import as_written, blank_sheet, colour_range, pdf, png, scale_bar


def test_a_flat_map_gets_ten_decibels_of_colours():
    assert colour_range(-90.0, -90.0) == (-95.0, -85.0)
    assert colour_range(-94.0, -90.0) == (-97.0, -87.0)
    assert colour_range(-120.0, -60.0) == (-120.0, -60.0)


@pytest.mark.parametrize("name", ["$x$", "a$", "$$", "$x_{$", "日本"])
def test_a_name_is_drawn_as_it_is_written(name):
    figure = blank_sheet((2, 1))
    text = figure.text(0.1, 0.5, as_written(name))
    assert png(figure).startswith(b"\x89PNG")
    assert text._preprocess_math(text.get_text()) == (name, False)


def test_a_pdf_is_the_same_every_time():
    sheets = [blank_sheet((2, 1)) for _ in range(2)]
    for sheet in sheets:
        sheet.text(0.1, 0.5, "words")
    one, two = map(pdf, sheets)
    assert one.startswith(b"%PDF")
    assert one == two
    assert b"CreationDate" not in one


@pytest.mark.parametrize(
    ("width_m", "bar"), [(5, (10, "10 m")), (2000, (500, "500 m")), (3000, (1000, "1 km"))]
)
def test_a_scale_bar_is_a_round_length_of_at_most_a_third_of_the_map(width_m, bar):
    assert scale_bar(width_m) == bar
