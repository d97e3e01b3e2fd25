"""A page in headless Chromium with keys pressed in it, by the protocol of Chromium's developer tools
over a pipe: messages of JSON that end in a zero byte."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.browser import PROGRAM, QUIET

SWITCHES = [switch for switch in QUIET if not switch.startswith("--virtual-time")]
CODES = {
    "Tab": 9,
    "Enter": 13,
    " ": 32,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
}
TEXTS = {"Enter": "\r", " ": " "}


class Tab:
    """An open page."""

    def __init__(self, commands: int, answers: int) -> None:
        self.commands, self.answers = commands, os.fdopen(answers, "rb")
        self.count, self.session, self.rest = 0, "", b""

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """What Chromium answers to a command."""
        self.count += 1
        said = {"id": self.count, "method": method, "params": params}
        said |= {"sessionId": self.session} if self.session else {}
        os.write(self.commands, json.dumps(said).encode() + b"\0")
        while (answer := self._next()).get("id") != self.count:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            more = os.read(self.answers.fileno(), 2**16)
            assert more, "chromium has ended"
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript (a promise's, once there is one)."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.ask("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key, and the frame after it drawn."""
        named = {"key": key, "windowsVirtualKeyCode": CODES[key]}
        text = {"text": TEXTS[key]} if key in TEXTS else {}
        self.ask(
            "Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **named, **text
        )
        self.ask("Input.dispatchKeyEvent", type="keyUp", **named)
        self.value("new Promise(done => setTimeout(() => requestAnimationFrame(done), 0))")


@contextlib.contextmanager
def opened(page: Path) -> Iterator[Tab]:
    """A page, loaded, in a browser that ends with the block."""
    (theirs, commands), (answers, ours) = os.pipe(), os.pipe()
    pipes = f'exec "$0" "$@" 3<&{theirs} 4>&{ours}'
    profile = f"--user-data-dir={page.parent / 'profile'}"
    with subprocess.Popen(
        ["bash", "-c", pipes, PROGRAM, *SWITCHES, "--remote-debugging-pipe", profile],
        pass_fds=(theirs, ours),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(theirs)
        os.close(ours)
        tab = Tab(commands, answers)
        try:
            target = tab.ask("Target.createTarget", url="about:blank")["targetId"]
            attached = tab.ask("Target.attachToTarget", targetId=target, flatten=True)
            tab.session = attached["sessionId"]
            tab.ask("Page.navigate", url=page.as_uri())
            tab.value(
                "new Promise(done => document.readyState === 'complete' ? done()"
                " : addEventListener('load', () => setTimeout(done, 0)))"
            )
            yield tab
        finally:
            process.kill()
            os.close(commands)
            tab.answers.close()
