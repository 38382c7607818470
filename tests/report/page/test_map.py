from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.report.page.making import PANEL, Line, make_content
from veilmap.report.page.content import Track
from veilmap.report.page.page import write_page


@pytest.fixture
def town(town_file, open_file):
    return open_file(town_file)


def test_the_slider_shows_another_round(town):
    before = town.picture()
    town.page.locator("#round").fill("3")
    assert town.picture() != before
    assert town.page.locator("#round-text").inner_text() == "Round 3, from 2024-03-04 00:00"


def test_all_rounds_is_the_first_place_of_the_slider(town):
    before = town.canvases()
    town.page.locator("#round").fill("2")
    town.page.locator("#all-rounds").click()
    assert town.page.locator("#round").input_value() == "0"
    assert town.canvases() == before


def test_another_configuration_is_drawn_and_described(town):
    before, facts = town.picture(), town.page.locator("#facts").inner_text()
    town.page.locator("#configuration").select_option("2")
    assert town.picture() != before
    assert town.page.locator("#facts").inner_text() != facts


def test_another_attack_is_drawn_and_described(town):
    charts, facts = town.picture("#round-charts"), town.page.locator("#facts").inner_text()
    before = town.picture()
    town.page.locator("#attack").select_option("1")
    assert town.picture() != before
    assert town.picture("#round-charts") != charts
    assert town.page.locator("#facts").inner_text() != facts


def test_another_target_is_drawn(tmp_path, open_file):
    write_page(make_content(targets=("0", "1")), tmp_path / "two.html")
    two = open_file(tmp_path / "two.html")
    before = two.picture()
    two.page.locator("#target").select_option("1")
    assert two.picture() != before


def test_one_target_needs_no_choice(town):
    assert not town.page.locator("#target").is_visible()


@pytest.mark.parametrize("layer", ["truth", "centroids", "found", "home"])
def test_a_layer_goes_when_it_is_switched_off(town, layer):
    before = town.picture()
    town.page.locator(f"#layer-{layer}").uncheck()
    assert town.picture() != before


@pytest.mark.parametrize("layer", ["chosen", "heat"])
def test_a_layer_that_an_attack_or_defence_has_can_be_switched(town, layer):
    town.page.locator("#configuration").select_option("1")
    town.page.locator("#attack").select_option("1")
    before = town.picture()
    town.page.locator(f"#layer-{layer}").uncheck()
    assert town.picture() != before


def test_an_attack_without_a_cloud_has_no_heat_map_to_switch(town):
    assert town.page.locator("#layer-heat").is_disabled()
    assert town.page.locator("#layer-chosen").is_disabled()


def test_the_signal_comes_with_its_scale(town):
    before = town.picture()
    assert not town.page.locator("#signal-key").is_visible()
    town.page.locator("#layer-signal").check()
    assert "dBm" in town.page.locator("#signal-key").inner_text()
    assert town.picture() != before


def test_play_continues_by_itself_until_it_is_paused(town):
    round_shown, play = town.page.locator("#round"), town.page.locator("#play")
    town.page.clock.install(time="2024-01-01")
    town.page.clock.pause_at("2024-01-02")
    play.click()
    assert round_shown.input_value() == "1"
    town.page.clock.run_for(1_000)
    assert round_shown.input_value() == "2"
    play.click()
    assert play.inner_text() == "Play"
    town.page.clock.run_for(10_000)
    assert round_shown.input_value() == "2"


def test_a_location_beyond_the_view_is_counted_and_shown_at_its_edge(town):
    """Of five rounds the second leaves the area, a degree to the north-east."""
    assert "1 of 5 attacked rounds left the area" in town.page.locator("#map-caption").inner_text()
    town.page.locator("#round").fill("2")
    town.page.locator("#layer-centroids").uncheck()
    with_arrow = town.picture()
    town.page.locator("#layer-found").uncheck()
    assert town.picture() != with_arrow
    assert "outside the area" in town.page.locator("#map-caption").inner_text()


def test_a_target_that_never_moved_has_a_map_too(tmp_path, open_file):
    content = make_content(rounds=1, points=1)
    ground = content.ground
    track = ground.truth["0"]
    place = (float(track.lat_deg[0]), float(track.lon_deg[0]))
    write_page(
        replace(content, ground=replace(ground, area_deg=(place,) * 4)), tmp_path / "one.html"
    )
    one = open_file(tmp_path / "one.html")
    before = one.picture()
    one.page.locator("#layer-centroids").uncheck()
    assert one.picture() != before
    assert one.page.locator("#map-caption").inner_text().startswith("1 real point in 1 round.")


def test_the_whole_area_comes_back_after_looking_elsewhere(town):
    before = town.canvases()
    town.page.locator(".leaflet-control-zoom-in").click()
    assert town.canvases() != before
    town.page.locator("#whole-area").click()
    assert town.canvases() == before


def test_the_map_has_a_scale_bar(town):
    assert town.page.locator(".leaflet-control-scale-line").inner_text().endswith("m")


def test_tiles_are_asked_for_only_where_they_are_given(tmp_path, browser):
    tiles = "https://tiles.example.org/{z}/{x}/{y}.png"
    write_page(make_content(), tmp_path / "tiles.html", tiles=tiles)
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "tiles.html").as_uri())
    page.locator(".leaflet-tile").first.wait_for(state="attached")
    context.close()
    assert asked[1:]
    assert all(each.startswith("https://tiles.example.org/") for each in asked[1:])


def test_rounds_in_which_a_target_sent_nothing_are_not_said_to_be_lost(tmp_path, open_file):
    """Of five rounds the target sent in three, all of the first seed and found; seed 1 in all."""
    content = make_content(PANEL[:1], seeds=(0, 1))
    sent = [row for row in content.history if row["seed"] == 1 or row["round"] <= 3]
    key, found = next(iter(content.ground.found.items()))
    some = found.locations.rounds <= 3
    locations = Track(
        found.locations.lat_deg[some], found.locations.lon_deg[some], found.locations.rounds[some]
    )
    first = replace(found, locations=locations, inside=found.inside[some])
    ground = replace(content.ground, found={**content.ground.found, key: first})
    write_page(replace(content, history=sent, ground=ground), tmp_path / "some.html")
    page = open_file(tmp_path / "some.html").page
    page.locator("#attack").select_option(label=key[1])
    caption = page.locator("#map-caption").inner_text()
    assert "1 of 3 attacked rounds left the area. " in caption


def test_the_caption_says_how_near_the_attack_comes_to_the_home(tmp_path, open_file):
    """42.7 m with the first seed, which the map has; the second attack names no home."""
    content = make_content(PANEL[:1])
    errors_m = {("first_layer", 0): 42.7, ("first_layer", 1): 99.0}
    rows = [
        Line({**row, "home_error_m": errors_m.get((row["attack"], row["seed"]))})
        for row in content.rows
    ]
    named = {
        key: home for key, home in content.ground.named_homes.items() if key[1] == "first_layer"
    }
    ground = replace(content.ground, named_homes=named)
    write_page(replace(content, rows=rows, ground=ground), tmp_path / "home.html")
    opened = open_file(tmp_path / "home.html")
    caption = opened.page.locator("#map-caption")
    expect(caption).to_contain_text("The home that the attack names is 43 m from the true one.")
    opened.page.locator("#attack").select_option(label="heatmap")
    expect(caption).to_contain_text("The attack names no home.")


def test_the_true_and_the_named_home_are_drawn_each_by_itself(tmp_path, open_file):
    content = make_content(PANEL[:1])
    grounds = {
        "both": content.ground,
        "true": replace(content.ground, named_homes={}),
        "named": replace(content.ground, homes={}),
        "none": replace(content.ground, homes={}, named_homes={}),
    }
    pictures = {}
    for name, ground in grounds.items():
        write_page(replace(content, ground=ground), tmp_path / f"{name}.html")
        opened = open_file(tmp_path / f"{name}.html")
        pictures[name] = str(opened.canvases())
        assert opened.page.locator("#layer-home").is_disabled() == (name == "none")
    assert len(set(pictures.values())) == len(grounds)
