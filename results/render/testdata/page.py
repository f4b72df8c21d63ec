"""Opens a report page in Chromium, without a network, in both themes.

usage: page.py REPORT.html FOLDER

Fails on a console message, a request for anything but the page, a chart that was not
drawn, or a serious finding of axe-core (accessibility). Screenshots go to FOLDER.
"""
import pathlib
import shutil
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

page_file, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
chromium = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
if chromium is None:
    sys.exit("no Chromium on this machine: install it, as by apt-get install chromium")

wrong = []
with sync_playwright() as p:
    browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    for theme in ("light", "dark"):
        for width in (1200, 360):
            context = browser.new_context(color_scheme=theme, offline=True, viewport={"width": width, "height": 900})
            page = context.new_page()
            page.on("console", lambda m: wrong.append(f"{theme}: console: {m.text}"))
            page.on("pageerror", lambda e: wrong.append(f"{theme}: error: {e}"))
            page.on("request", lambda r: None if r.url == page_file.as_uri() or r.url.startswith("data:") else wrong.append(f"{theme}: asks for {r.url}"))
            page.goto(page_file.as_uri())
            page.wait_for_timeout(500)
            charts = page.locator("svg").all()
            drawn = [c for c in charts if (b := c.bounding_box()) and b["width"] > 50 and b["height"] > 50]
            if not drawn:
                wrong.append(f"{theme}: no chart is drawn")
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if over > 0:
                wrong.append(f"{theme}, {width} px: the page is {over} px wider than the window")
            page.screenshot(path=folder / f"{theme}-{width}.png", full_page=True)
            if width == 1200:
                found = Axe().run(page).response["violations"]
                for v in found:
                    line = f"{theme}: {v['impact']}: {v['id']}: {v['help']} ({len(v['nodes'])}x, as {v['nodes'][0]['html'][:120]})"
                    print(line)
                    if v["impact"] in ("serious", "critical"):
                        wrong.append(line)
                print(f"{theme}: {len(drawn)} charts, {len(found)} findings of axe-core")
            context.close()
    browser.close()
for w in wrong:
    print("WRONG", w)
sys.exit(1 if wrong else 0)
