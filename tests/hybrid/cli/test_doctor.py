"""``painleve doctor``: a sound installation, and the clash with another distribution's `hybrid`."""

import json
import subprocess
import sys

import pytest

from hybrid.cli import main


def test_this_installation_is_sound(capsys):
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    assert answer["python"] == sys.version.split()[0]
    assert answer["libraries"]["numpy"]
    assert all(check["ok"] for check in answer["checks"])


def test_people_are_told_that_all_is_well(capsys):
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("OK")


@pytest.mark.parametrize(("distribution", "package"), [("dwave-hybrid", "hybrid"), ("lcp", "lcp")])
def test_a_distribution_that_ships_the_same_package_is_named(distribution, package, tmp_path):
    metadata = tmp_path / f"{distribution.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (metadata / "top_level.txt").write_text(f"{package}\n")
    (metadata / "RECORD").write_text(f"{package}/__init__.py,,\n")
    lines = (
        "import sys",
        f"sys.path.append({str(tmp_path)!r})",
        "from hybrid.cli import main",
        "sys.exit(main(['doctor']))",
    )
    ended = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert distribution in ended.stdout
    assert "separate environment" in ended.stdout


def test_a_package_found_elsewhere_is_named(tmp_path):
    (tmp_path / "lcp").mkdir()
    (tmp_path / "lcp" / "__init__.py").write_text("")
    program = (
        f"import sys; import hybrid.cli; sys.path.insert(0, {str(tmp_path)!r}); "
        "from hybrid.cli.doctor import _import_name; print(_import_name('lcp'))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "ok=False" in ended.stdout
    assert str(tmp_path) in ended.stdout
