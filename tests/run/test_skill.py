"""``maxcode skill install``: the page for agents, and the paragraph that points to it."""

from __future__ import annotations

from pathlib import Path

from tests.support.cli import maxcode


def test_the_skill_is_written_where_the_agents_of_a_folder_look(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    assert maxcode("skill", "install", cwd=tmp_path).stdout == ".claude/skills/maxcode/SKILL.md\n"
    assert (tmp_path / ".claude/skills/maxcode/SKILL.md").read_text() == maxcode("skill").stdout
    named = maxcode("skill", "install", "--agent", "codex", "--into", "gone", cwd=tmp_path)
    assert named.returncode == 2 and "gone, which is no folder" in named.stderr


def test_a_paragraph_in_agents_md_points_to_the_skill_and_is_replaced(tmp_path: Path) -> None:
    skill, page = ".agents/skills/maxcode/SKILL.md\n", tmp_path / "AGENTS.md"
    assert maxcode("skill", "install", cwd=tmp_path).stdout == skill and not page.exists(), "it is the user's file"
    assert maxcode("skill", "install", "--agents-md", cwd=tmp_path).stdout == f"{skill}AGENTS.md\n"
    alone = page.read_text()
    assert "`maxcode skill`" in alone
    (tmp_path / "CLAUDE.md").write_text("# Ours\n\nUse tabs.")
    page.unlink()
    page.symlink_to("CLAUDE.md")
    assert maxcode("skill", "install", cwd=tmp_path).stdout == f"{skill}AGENTS.md\n"
    assert page.is_symlink() and page.read_text() == f"# Ours\n\nUse tabs.\n\n{alone}"
    page.write_text(page.read_text().replace("Measure speed", "Guess speed") + "Use spaces.\n")
    assert maxcode("skill", "install", cwd=tmp_path).returncode == 0
    assert page.read_text() == f"# Ours\n\nUse tabs.\n\n{alone}Use spaces.\n"
    page.write_text(page.read_text().replace("<!-- end of", "<!--"))
    broken = maxcode("skill", "install", cwd=tmp_path)
    assert broken.returncode == 2 and "without <!-- end of maxcode skill install -->; remove it" in broken.stderr
