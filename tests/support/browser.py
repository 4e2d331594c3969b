"""A real browser for the tests of pages: Chromium without a screen, steered by the driver of the same Debian package.

Both are found on the PATH and nothing is downloaded; ``scripts/system-packages.sh browser`` installs them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

DESKTOP, PHONE = (1280, 900), (390, 844)
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def _tool(*names: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    assert found, (
        f"no {names[0]} on the PATH: run `sh scripts/system-packages.sh browser`, which installs it or says how"
    )
    return found


class Browser:
    """A window of Chromium; ``errors`` are the messages of its console since it was asked last."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def look(self, size: tuple[int, int] = DESKTOP, dark: bool = False, scripts: bool = True) -> None:
        """How pages are looked at from now on: width and height in CSS pixels, the colour scheme, scripts allowed."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file anew, whatever was there before."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(path.resolve().as_uri() + fragment)

    def ask(self, code: str, *given: object) -> Any:
        """What JavaScript says: ``ask("return document.title")``."""
        return self.driver.execute_script(code, *given)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        (found,) = self.all(selector)
        return found

    def shown(self, selector: str) -> list[WebElement]:
        return [element for element in self.all(selector) if element.is_displayed()]

    def press(self, *keys: str) -> None:
        """Keys for whatever has the focus."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    @property
    def focused(self) -> WebElement:
        return self.driver.switch_to.active_element

    @property
    def fragment(self) -> str:
        return str(self.ask("return location.hash"))

    @property
    def errors(self) -> list[str]:
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile."""
    options = webdriver.ChromeOptions()
    options.binary_location = _tool(*_NAMES)
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []  # it refuses to start as root with its sandbox
    small = ["--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars"]
    for argument in ("--headless=new", f"--user-data-dir={profile}", *small, *as_root):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(_tool("chromedriver")))
    try:
        driver.set_script_timeout(300)  # a loaded machine is no failure
        driver.set_page_load_timeout(300)
        yield Browser(driver)
    finally:
        driver.quit()
