"""The explorer in a real browser: the lecturer's story, by mouse and by keyboard, on projector and phone."""

import base64
import re
import shlex
import subprocess
import sys
import time

import pytest

import mechanisms
from tests.browser.conftest import IMAGES
from tests.explorers import Explorer

pytestmark = pytest.mark.browser


def typed(page, name, value):
    page.locator(f"#{name.replace('.', chr(92) + '.')}-text").fill(value)
    page.keyboard.press("Enter")


def slid(page, name, value):
    """A slider moved to a value, and the map that follows."""
    drawn = page.locator("#map").get_attribute("data-drawn")
    page.locator(f"#{name}").evaluate(
        "(item, value) => { item.value = value; "
        "item.dispatchEvent(new Event('input')); item.dispatchEvent(new Event('change')); }",
        value,
    )
    page.wait_for_function(
        "(drawn) => { const map = document.getElementById('map').dataset; "
        "return map.drawn !== drawn && map.complete === 'true'; }",
        arg=drawn,
    )


def told(page, verdict):
    page.wait_for_selector(f'#verdict[data-verdict="{verdict}"]')


def place(page, phi, phi_dot):
    """Pixels of a state on the map of the rod, phi from 0 to pi, phi_dot from -3 to 3."""
    box = page.locator("#map").bounding_box()
    return box["x"] + phi / 3.141592653589793 * box["width"], box["y"] + (3 - phi_dot) / 6 * box["height"]


def picture(page):
    return page.evaluate("document.getElementById('map').toDataURL()")


def test_the_lecturers_story(opened):
    page = opened()
    told(page, "UNIQUE")
    assert page.locator('#legend [data-verdict="INCONSISTENT"]').count() == 0
    slid(page, "parameters-mu", 1.3)
    assert page.locator("#parameters-mu-text").input_value() == "1.3"
    assert page.locator('#legend [data-verdict="INCONSISTENT"]').count() == 0  # 1.3 < 4/3
    slid(page, "parameters-mu", 1.5)
    page.wait_for_selector('#legend [data-verdict="INCONSISTENT"]')
    page.mouse.move(*place(page, 1.1, 0.3))
    assert "INCONSISTENT" in page.locator("#cell").inner_text()
    page.mouse.click(*place(page, 1.1, 0.3))
    told(page, "INCONSISTENT")
    assert "Verified in exact arithmetic" in page.locator("#certificate").inner_text()
    page.locator("#critical").click()
    page.wait_for_selector("text=1.3333333")
    page.locator("#tab-motion").click()
    page.locator("#play").click()
    page.wait_for_selector(".ending")
    assert "no contact mode is consistent" in page.locator(".ending").inner_text()
    page.locator("#rule").select_option("penalty")
    page.wait_for_selector("text=the end of the time was reached")
    page.locator("#tab-penalty").click()
    page.wait_for_selector("text=Verdict of the rigid contact: INCONSISTENT")
    assert page.locator("#penalty-view svg.curves").count() == 2
    shared, seen = page.url, picture(page)
    other = opened(shared)
    told(other, "INCONSISTENT")
    other.wait_for_selector("text=Verdict of the rigid contact: INCONSISTENT")
    assert picture(other) == seen
    assert other.locator("#drawing").inner_html() == page.locator("#drawing").inner_html()


def test_a_point_is_dragged_and_the_contact_stays_closed(opened):
    page = opened()
    before = page.locator("#pins-phi-text").input_value()
    box = page.locator('#drawing g[data-point="top"] circle').last.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(x - 8 * step, y - 2 * step)
        page.wait_for_timeout(60)
    page.mouse.up()
    page.wait_for_timeout(500)
    assert float(page.locator("#pins-phi-text").input_value()) > float(before) + 0.1
    assert page.locator("#pins-gap\\.tip-text").input_value() == "0"


def test_all_of_it_works_by_keyboard(opened):
    page = opened()
    page.locator("#map").focus()
    before = page.locator("#pins-phi-text").input_value()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(400)
    assert float(page.locator("#pins-phi-text").input_value()) > float(before)
    page.locator("#tab-branches").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("svg.automaton .lit")
    assert page.evaluate("document.activeElement.id") == "tab-automaton"
    page.locator('#drawing g[data-point="top"]').focus()
    phi = page.locator("#pins-phi-text").input_value()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(300)
    assert float(page.locator("#pins-phi-text").input_value()) > float(phi)
    assert page.evaluate("document.activeElement.dataset.point") == "top"
    reached = set()
    page.locator("#mechanism").focus()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"share", "theme", "axis-x", "map", "parameters-mu", "pins-phi"} <= reached


def test_the_back_button_takes_a_step_back(opened):
    page = opened()
    typed(page, "parameters-mu", "1.5")
    page.wait_for_selector('#legend [data-verdict="INCONSISTENT"]')
    typed(page, "parameters-mu", "0.9")
    page.wait_for_selector('#legend [data-verdict="INCONSISTENT"]', state="detached")
    page.go_back()
    page.wait_for_selector('#legend [data-verdict="INCONSISTENT"]')
    assert page.locator("#parameters-mu-text").input_value() == "1.5"


def test_two_windows_do_not_disturb_each_other(opened):
    first, second = opened("&param.mu=1.5"), opened("&mechanism=ladder_in_corner")
    typed(first, "parameters-mu", "1.6")
    typed(second, "parameters-mu", "0.7")
    first.wait_for_selector('#legend [data-verdict="INCONSISTENT"]')
    assert "Ladder" in second.locator("#title").inner_text()
    assert first.locator("#parameters-mu-text").input_value() == "1.6"


def test_errors_are_shown_at_their_lines_while_typing(opened):
    page = opened("&tab=declaration")
    text = page.locator("#text").input_value()
    page.locator("#text").fill(text.replace("y - l*sin(phi)", "y - l*sin(phy)"))
    page.wait_for_selector("#problems button")
    assert "did you mean 'phi'?" in page.locator("#problems").inner_text()
    line = text.split("\n").index(next(row for row in text.split("\n") if "y - l*sin(phi)" in row)) + 1
    assert page.locator("#lines .bad").inner_text() == str(line)
    begun = time.perf_counter()
    drawn = page.locator("#map").get_attribute("data-drawn")
    page.locator("#text").fill(text.replace("mu = { value = 0.5", "mu = { value = 1.5"))
    while page.locator("#map").get_attribute("data-drawn") == drawn and time.perf_counter() - begun < 10:
        page.wait_for_timeout(20)
    assert time.perf_counter() - begun < 2.0 + 0.35  # typing is waited for that long
    page.wait_for_selector('#legend [data-verdict="INCONSISTENT"]')
    assert page.locator("#problems button").count() == 0


def test_names_of_a_declaration_are_text_and_nothing_else(opened):
    page = opened("&tab=declaration")
    text = page.locator("#text").input_value()
    hostile = '<img src=x onerror="document.title=1">'
    page.locator("#text").fill(re.sub(r"^title = .*$", f"title = '{hostile}'", text, count=1, flags=re.MULTILINE))
    page.wait_for_selector("h1:has-text('onerror')")
    assert page.locator("h1 img").count() == 0
    assert page.title() == "rod_on_incline – painleve explorer"


def test_nonsense_in_the_address_is_said_and_left_out(opened):
    page = opened("&mechanism=no_such_thing&tab=nowhere&x=phi&stiffness=900&what=ever&text=%FF%FE")
    said = page.evaluate("document.getElementById('verdict').dataset.verdict")
    assert said == "UNIQUE"
    assert page.locator("#mechanism").input_value() == "rod_on_incline"
    assert "nowhere" in page.locator("#notice").inner_text()


def test_without_the_token_the_page_says_what_to_do(chromium, explorer):
    page = chromium.new_page()
    page.goto(f"http://127.0.0.1:{explorer.port}/")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "open the address that the command printed" in page.locator("#trouble").inner_text()
    page.close()


def slowdown():
    """How much longer work takes here than its own time, because others work on the same processors."""
    begun, own = time.perf_counter(), time.process_time()
    while time.process_time() - own < 0.3:
        pass
    return (time.perf_counter() - begun) / 0.3


def test_slider_to_picture_takes_less_than_150_ms(opened):
    page = opened()
    before = slowdown()
    times = page.evaluate("""async () => {
      const track = document.getElementById("parameters-mu"), map = document.getElementById("map"), found = [];
      for (let k = 0; k < 50; k++) {
        const before = map.dataset.drawn, begun = performance.now();
        track.value = 0.8 + 0.01 * k;
        track.dispatchEvent(new Event("input"));
        while (map.dataset.drawn === before || map.dataset.complete !== "true") {
          await new Promise((done) => setTimeout(done, 1));
        }
        await new Promise((done) => requestAnimationFrame(done));
        found.push(performance.now() - begun);
      }
      return found.sort((a, b) => a - b);
    }""")
    # the 95th percentile of fifty, on a machine that does nothing else
    assert times[47] < 150 * max(1.0, before, slowdown()), times


def test_pictures_are_saved_and_lines_copied(opened, tmp_path):
    page = opened("&param.mu=1.5&pin.phi=1.1&pin.phi_dot=2.5&pin.slip.tip=-1")
    page.locator("#exports summary").click()
    with page.expect_download() as saved:
        page.locator("#save-svg").click()
    svg = saved.value.path().read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "var(--" not in svg
    with page.expect_download() as saved:
        page.locator("#save-png").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    assert len(base64.b64encode(saved.value.path().read_bytes())) > 20_000
    command = page.evaluate(
        "painleve.exports.command({...painleve.state.fresh(), mechanism: 'rod_on_incline', "
        "parameters: {mu: '3/2'}, pins: {phi: 'pi/3', 'slip.tip': '-1'}}, 'branches')"
    )
    assert command == "painleve verdict rod_on_incline --param mu=3/2 --pin phi=pi/3 --pin slip.tip=-1"


def test_a_motion_is_saved_as_films(opened):
    from PIL import Image, ImageSequence

    page = opened("&pin.phi=0.4&pin.phi_dot=0.5&pin.slip.tip=0&tab=motion")
    page.locator("#exports summary").click()
    with page.expect_download() as saved:
        page.locator("#save-gif").click()
    saved.value.save_as(IMAGES / "explorer-motion.gif")
    with Image.open(IMAGES / "explorer-motion.gif") as film:
        assert (film.size, film.n_frames) == ((480, 360), 60)
        pictures = [frame.convert("RGB") for frame in ImageSequence.Iterator(film)]
    for frame in pictures:
        assert frame.getpixel((3, 3)) == (255, 255, 255)  # the page's ground: no code has slipped by a bit
    assert pictures[0].tobytes() != pictures[-1].tobytes()
    with page.expect_download() as saved:
        page.locator("#save-mp4").click()
    film = saved.value.path().read_bytes()
    assert film[4:8] == b"ftyp"
    assert len(film) > 20_000


@pytest.mark.parametrize(("size", "scheme"), [((1920, 1080), "light"), ((1280, 900), "dark"), ((390, 844), "light")])
def test_screens_of_all_sizes_show_all_and_nothing_overflows(opened, size, scheme):
    page = opened("&param.mu=1.5&pin.phi=1.1&pin.phi_dot=2.5&pin.slip.tip=-1", size=size, scheme=scheme)
    told(page, "INDETERMINATE")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.screenshot(path=IMAGES / f"explorer-{size[0]}.png")


@pytest.mark.parametrize(("size", "scheme"), [((1920, 1080), "light"), ((1280, 1500), "light"), ((390, 1600), "dark")])
def test_a_motion_fits_on_every_screen(opened, size, scheme):
    page = opened("&pin.phi=0.4&pin.phi_dot=0.5&pin.slip.tip=0&tab=motion&t_end=1.9&at=1.2", size=size, scheme=scheme)
    page.wait_for_selector(".ending")
    assert "t = 1.2" in page.locator("#time").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.locator("#below").scroll_into_view_if_needed()
    page.screenshot(path=IMAGES / f"explorer-motion-{size[0]}.png")


@pytest.mark.parametrize("tab", ["branches", "automaton", "motion", "penalty", "declaration"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_anybody_out(opened, axe, tab, scheme):
    page = opened(f"&tab={tab}&param.mu=1.5&pin.phi=1.1&pin.phi_dot=0.3&pin.slip.tip=-1", scheme=scheme)
    page.wait_for_timeout(1500)
    found = page.evaluate(axe + "; axe.run(document).then((result) => result.violations)")
    assert [(item["id"], [node["html"][:120] for node in item["nodes"][:3]]) for item in found] == []


def test_a_page_without_a_server_answers_from_its_tables(opened, tmp_path):
    from hybrid.cli import main

    assert main(["explore", "rod_on_incline", "--offline", str(tmp_path / "rod.html")]) == 0
    page = opened((tmp_path / "rod.html").as_uri())
    told(page, "UNIQUE")
    typed(page, "parameters-mu", "2")
    page.wait_for_selector('#legend [data-verdict="INCONSISTENT"]')
    page.mouse.click(*place(page, 1.1, 0.0))
    told(page, "INCONSISTENT")


def test_a_closed_window_ends_its_work(opened, explorer):
    page = opened("&mechanism=slider_crank")
    page.locator("#tab-penalty").click()
    page.close()
    begun = time.perf_counter()
    assert explorer.ask({"kind": "declaration", "text": 'name = "x"'})[-1]["error"]["kind"] == "declaration"
    assert time.perf_counter() - begun < 5


def test_a_server_that_has_gone_is_said(chromium):
    own = Explorer("--port", "0")
    page = chromium.new_page()
    page.goto(f"http://127.0.0.1:{own.port}/#token={own.token}")
    page.wait_for_selector("#map[data-complete=true]")
    own.stop()
    typed(page, "parameters-mu", "1.1")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "does not answer" in page.locator("#trouble").inner_text()
    page.close()


@pytest.mark.parametrize("name", mechanisms.names())
def test_every_mechanism_can_be_looked_at_in_every_tab(chromium, explorer, name):
    page, said = chromium.new_page(viewport={"width": 1280, "height": 900}), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"http://127.0.0.1:{explorer.port}/#token={explorer.token}&mechanism={name}")
    page.wait_for_selector("#verdict[data-verdict]:not([data-verdict=''])")
    page.wait_for_selector("#map[data-complete=true], #legend li")
    if page.locator("#map[data-complete=true]").count():
        box = page.locator("#map").bounding_box()
        page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + 0.3 * box["height"])
        page.wait_for_timeout(300)
    page.locator("#tab-automaton").click()
    page.wait_for_selector("svg.automaton, #panel-automaton p", timeout=30_000)
    page.locator("#tab-motion").click()
    page.locator("#play").click()
    page.wait_for_selector(".ending, #motion-view p:not(:has-text('following'))", timeout=30_000)
    page.locator("#tab-penalty").click()
    page.wait_for_selector("#penalty-view :not(:has-text('comparing'))", timeout=30_000)
    page.locator("#tab-declaration").click()
    page.close()
    assert said == []


def test_a_link_has_the_branch_and_the_instant_too(opened):
    page = opened("&param.mu=1.5&pin.phi=1.1&pin.phi_dot=2.5&pin.slip.tip=-1&tab=branches")
    page.locator('.card button:has-text("slide-")').click()
    cells = page.locator('.card:has(button[aria-pressed="true"]) td').all_inner_texts()
    assert [cells[0], *(text.split()[-1] for text in cells[1:3])] == ["tip", "N", "N"]
    assert "branch slide-" in page.locator("#drawing-caption").inner_text()
    page.locator("#tab-motion").click()
    page.locator("#play").click()
    page.wait_for_selector(".ending")
    page.locator("#play").click()  # held
    page.wait_for_function("location.hash.includes('at=')")
    other = opened(page.url)
    other.wait_for_selector(".ending")
    assert other.locator("#time").inner_text() == page.locator("#time").inner_text()
    for shown in ("#drawing", "#drawing-caption", "#motion-view"):
        assert other.locator(shown).inner_html() == page.locator(shown).inner_html()


def test_a_text_of_ten_megabytes_is_refused_at_once(opened):
    page = opened("&tab=declaration")
    text = page.locator("#text").input_value()
    begun = time.perf_counter()
    page.locator("#text").evaluate(
        "(field) => { field.value = 'x = 1\\n'.repeat(1.7e6); field.dispatchEvent(new Event('input')); }"
    )
    assert "painleve check FILE" in page.locator("#problems").inner_text()
    assert page.locator("#text").input_value() == text
    page.locator("#text").fill(text.replace("value = 0.5", "value = 1.5"))
    page.wait_for_selector('#legend [data-verdict="INCONSISTENT"]')
    assert time.perf_counter() - begun < 20


def test_a_map_that_takes_long_is_stopped(opened):
    page = opened("&mechanism=slider_crank")
    page.wait_for_load_state("networkidle")
    held = []  # however quick the machine, this answer waits; that work ends with its question is tested elsewhere
    page.route("**/compute**", lambda route: held.append(route))
    page.locator("#axis-x").select_option("l1")
    page.wait_for_selector("#stop:not([hidden])")
    assert "computing the map" in page.locator("#working").inner_text()
    page.locator("#stop").click()
    page.wait_for_selector("#stop", state="hidden")
    assert held
    page.unroute("**/compute**")
    page.locator("#mechanism").select_option("bouncing_ball")  # and the next question is answered
    page.wait_for_selector("h1:has-text('bounces')")


def test_a_file_that_does_not_parse_opens_with_its_errors(chromium, tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text('name = "broken"\ncoordinates = ["x"]\n[dynamics]\nkinetic = "m*x_dot**2/2"\n', encoding="utf-8")
    own = Explorer("--port", "0", str(file))
    page = chromium.new_page()
    page.goto(f"http://127.0.0.1:{own.port}/#token={own.token}")
    page.wait_for_selector("#trouble:not([hidden])")
    page.locator("#tab-declaration").click()
    assert "unknown name 'm'" in page.locator("#problems").inner_text()
    assert page.locator("#lines .bad").inner_text() == "4"
    page.locator("#text").fill(file.read_text(encoding="utf-8").replace("m*x_dot", "x_dot"))
    page.wait_for_selector("#trouble", state="hidden")
    page.close()
    assert own.stop() == 0


def test_what_is_copied_gives_the_verdict_that_is_seen(opened, capsys, tmp_path):
    from hybrid.cli import main

    page = opened("&param.mu=3/2&pin.phi=pi/3&pin.phi_dot=1/2&pin.slip.tip=-1")
    told(page, "INCONSISTENT")
    state = "{...painleve.state.read(location.hash).state}"
    words = shlex.split(page.evaluate(f"painleve.exports.command({state}, 'branches')"))
    assert (words[0], main([*words[1:], "--json"])) == ("painleve", 0)
    assert '"INCONSISTENT"' in capsys.readouterr().out
    source = page.evaluate(f"painleve.exports.python({state}, painleve.map.shown.axes)")
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert "INCONSISTENT" in done.stdout
    assert "'none'" in done.stdout  # of the map's shares
