"""The hook that asks every commit for its reason."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "commit-message"

BODY = {
    "a sentence": "link: a shorter queue\n\nThe longer one hid losses.\n",
    "a sentence after comments": "link: a shorter queue\n# Branch main\n\n\nThe longer one hid losses.\n",
    "a sentence and a trailer": "link: a shorter queue\n\nIt hid losses.\n\nSigned-off-by: A <a@example.org>\n",
    "a list": "link: a shorter queue\n\n- The longer one hid losses.\n",
}
ACCEPTED = {
    "merge": "Merge branch 'queue'\n",
    "merge of a pull request": "Merge pull request #7 from a/queue\n",
    "revert": 'Revert "link: a shorter queue"\n',
    "fixup": "fixup! link: a shorter queue\n",
    "squash": "squash! link: a shorter queue\n",
    "amend": "amend! link: a shorter queue\n",
    "empty, which git refuses": "\n# Please enter the commit message\n",
}
REFUSED = {
    "subject alone": "link: a shorter queue\n",
    "subject of two lines": "link: a shorter queue\nand a longer test\n",
    "a change that is called a merge": "Merge the two parsers\n",
    "comments": "link: a shorter queue\n\n# Please enter the commit message\n# On branch main\n",
    "trailer": "link: a shorter queue\n\nSigned-off-by: A <a@example.org>\n",
    "difference shown by git": "link: a shorter queue\n\n# ------------------------ >8 ------------------------\n"
    "# Do not modify the line above.\ndiff --git a/x b/x\n\n+a line\n",
}


def hook(tmp_path: Path, message: str) -> tuple[int, str]:
    """Exit code and error output for a message."""
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(message)
    # Git runs its hooks in the repository. An empty folder leaves out the user's settings of comments.
    done = subprocess.run(
        [SCRIPT, file], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", BODY)
def test_a_commit_with_a_body_is_accepted(tmp_path: Path, name: str) -> None:
    assert hook(tmp_path, BODY[name]) == (0, "")


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_merge_a_revert_and_a_fixup_need_no_body(tmp_path: Path, name: str) -> None:
    assert hook(tmp_path, ACCEPTED[name]) == (0, "")


@pytest.mark.parametrize("name", REFUSED)
def test_a_commit_without_a_body_is_refused_with_a_hint(tmp_path: Path, name: str) -> None:
    code, words = hook(tmp_path, REFUSED[name])
    assert code == 1
    assert words.startswith("error: the commit message has no body\nhint: ")
