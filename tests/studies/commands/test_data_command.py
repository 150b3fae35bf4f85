"""``python -m studies data``."""

import hashlib


def test_the_list_names_home_and_licence(run):
    out = run("data").out
    assert "MQ2008-agg: LETOR 4.0 rank aggregation" in out
    assert "https://grouplens.org/datasets/movielens/100k/" in out
    assert "can be fetched" in out


def test_files_come_with_checksums(run):
    lines = run("data", "files", "preflib").out.splitlines()
    assert len(lines) == 1
    digest, name = lines[0].split()
    assert len(digest) == len(hashlib.sha256(b"").hexdigest())
    assert name == "preflib/00014-00000001.soc"


def test_a_folder_with_a_changed_file_does_not_pass(run, tmp_path):
    assert run("data", "verify", tmp_path).code == 0
    (tmp_path / "preflib").mkdir()
    (tmp_path / "preflib" / "00014-00000001.soc").write_text("something else")
    done = run("data", "verify", tmp_path)
    assert done.code == 1
    assert "preflib/00014-00000001.soc: different" in done.out
    assert run("data", "verify", tmp_path, "--only", "ml-100k").code == 0
    assert "no such folder" in run("data", "verify", tmp_path / "nowhere").err


def test_what_may_not_be_fetched_is_said_with_its_home(run, tmp_path):
    done = run("data", "fetch", "OHSUMED", tmp_path)
    assert done.code == 1
    assert "online agreement" in done.err
    assert run("data", "fetch", "OHSUMEDD", tmp_path).code == 2
