"""The report in a real browser: read a table, sort it, follow a number, ask nobody anything."""

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import fake_results

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1300,1000",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no browser: install the packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.get("about:blank")
    driver.get_log("performance")  # what the browser's own first page asked is not ours
    driver.get((fake_results.whole().root / "report.html").as_uri())
    yield driver
    driver.quit()


def all_of(browser: Any, selector: str) -> list[Any]:
    return list(browser.find_elements("css selector", selector))


def column(browser: Any, table: str, number: int) -> list[str]:
    cells = all_of(browser, f"#{table} tbody tr > :nth-child({number})")
    return [cell.text.splitlines()[0] for cell in cells]


def test_the_task_il_table_reads_as_the_markdown_does(browser: Any) -> None:
    text = (fake_results.whole().root / "tables" / "task_il_main.md").read_text()
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")][1:]
    models = column(browser, "table-task_il_main", 2)
    assert models == [row[2].strip(" *") for row in rows]
    shown = [value.split(" ↑")[0].split(" ↓")[0].split(" ≈")[0]
             for value in column(browser, "table-task_il_main", 3)]  # fmt: skip
    assert shown == [row[3].strip() for row in rows]


def test_a_head_sorts_up_then_down_and_says_so(browser: Any) -> None:
    head = all_of(browser, "#table-class_il_main thead tr:nth-child(2) th")[2]
    button = head.find_element("css selector", "button")

    def values() -> list[float]:
        return [float(text.split(" ")[0]) for text in column(browser, "table-class_il_main", 3)]

    before = values()
    browser.execute_script("arguments[0].click()", button)
    assert head.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(before)
    browser.execute_script("arguments[0].click()", button)
    assert head.get_attribute("aria-sort") == "descending"
    assert values() == sorted(before, reverse=True)
    assert before != sorted(before)


def test_a_value_that_does_not_apply_stays_last_in_either_order(browser: Any) -> None:
    button = all_of(browser, "#table-task_il_main thead tr:nth-child(2) th button")[3]
    for _ in range(2):
        browser.execute_script("arguments[0].click()", button)
        assert column(browser, "table-task_il_main", 4)[-1] == "n/a"


def test_a_number_leads_to_its_runs_parameters_commit_and_data(browser: Any) -> None:
    button = all_of(browser, "#table-task_il_main tr.plus button[data-cell]")[0]
    place = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})"
    browser.execute_script(place, button)
    button.click()
    drawer = browser.find_element("css selector", "#drawer")
    assert drawer.get_attribute("open") is not None
    text = drawer.text
    assert button.get_attribute("data-cell") in text
    for said in ("seed4.json", '"lr": 0.1', "0123abc", "feed", "memory_weights"):
        assert said in text, said
    assert len(all_of(browser, "#drawer tbody tr")) == 5
    browser.find_element("css selector", "#drawer form button").click()
    assert drawer.get_attribute("open") is None


def test_claims_can_be_narrowed_to_one_verdict(browser: Any) -> None:
    rows = all_of(browser, "#table-claims tbody tr")
    button = browser.find_element("css selector", "[data-filter='not reproduced']")
    browser.execute_script("arguments[0].click()", button)
    shown = [row for row in rows if row.is_displayed()]
    assert 0 < len(shown) < len(rows)
    assert {row.get_attribute("data-verdict") for row in shown} == {"not reproduced"}
    browser.execute_script("document.querySelector(\"[data-filter='']\").click()")
    assert all(row.is_displayed() for row in rows)


def test_rows_are_filtered_by_all_words(browser: Any) -> None:
    box = all_of(browser, "input[data-rows=table-task_il_main]")[0]
    box.send_keys("er⁺ 200")
    shown = [row.text for row in all_of(browser, "#table-task_il_main tbody tr") if row.text]
    assert len(shown) == 3  # ER, MER and CLS-ER
    assert all("200" in row and "ER⁺" in row for row in shown)
    box.clear()
    box.send_keys(" ")
    assert all(row.is_displayed() for row in all_of(browser, "#table-task_il_main tbody tr"))


def test_figures_are_decoded(browser: Any) -> None:
    browser.execute_async_script(
        "const done = arguments[0]; Promise.all([...document.images].filter(i => i.src)"
        ".map(i => i.decode())).then(() => done(true), done)"
    )
    assert browser.execute_script(
        "return [...document.querySelectorAll('figure img')].every(i => i.naturalWidth > 250)"
    )


def test_a_figure_opens_large_from_the_keyboard_and_leads_to_the_next(browser: Any) -> None:
    opener = all_of(browser, "#figure-theta .zoom")[0]
    browser.execute_script("arguments[0].focus()", opener)
    press(browser, "ENTER")
    large = browser.find_element("css selector", "#large")
    assert large.get_attribute("open") is not None
    assert "Sensitivity" in large.find_element("css selector", "h2").text
    wide = large.find_element("css selector", "img").size["width"]
    assert wide > 0.5 * browser.execute_script("return innerWidth")
    saved = all_of(browser, "#large a[data-save=csv]")[0]
    assert saved.get_attribute("href").startswith("data:text/csv")
    assert saved.get_attribute("download") == "theta.csv"
    press(browser, "ARROW_RIGHT")
    assert "Sensitivity" not in large.find_element("css selector", "h2").text
    press(browser, "ESCAPE")
    assert large.get_attribute("open") is None
    assert browser.switch_to.active_element == opener


def press(browser: Any, key: str) -> None:
    from selenium.webdriver import ActionChains, Keys

    ActionChains(browser).send_keys(getattr(Keys, key)).perform()


@pytest.mark.parametrize("width", [360, 1400])
def test_nothing_scrolls_sideways_with_all_of_it_unfolded(browser: Any, width: int) -> None:
    view = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", view)
    try:
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        script = "const page = document.documentElement; return page.scrollWidth - page.clientWidth"
        assert browser.execute_script(script) == 0
        browser.execute_script("document.querySelector('[data-cell]').click()")
        box = browser.find_element("css selector", "#drawer").rect
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        browser.execute_script("document.querySelector('#drawer').close()")
        lead = all_of(browser, "#figure-gains img")[0]
        name = browser.execute_script("return arguments[0].currentSrc", lead)
        narrow = all_of(browser, "#figure-gains source")[0].get_attribute("srcset")
        assert (name == narrow) == (width == 360)
    finally:
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = false)")
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark_and_light_differ_and_print_is_light(browser: Any) -> None:
    def page_colour(scheme: str, media: str = "") -> str:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": media, "features": features}
        )
        script = "return getComputedStyle(document.documentElement).getPropertyValue('--page')"
        return str(browser.execute_script(script)).strip()

    light, dark, printed = (page_colour(*how) for how in (("light",), ("dark",), ("dark", "print")))
    page_colour("light")
    assert light == printed == "#fbfbfa"
    assert dark == "#16181b"


def test_no_console_error_and_no_request_leaves_the_page(browser: Any) -> None:
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    left = [address for address in asked if not address.startswith(("file:", "data:"))]
    assert left == []
