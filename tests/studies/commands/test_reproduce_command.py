"""``python -m studies reproduce``: its output and its exit codes."""


def test_experiments_are_listed_with_what_they_need(run):
    out = run("reproduce", "--list", "www2012").out
    assert "www2012-movielens\tTables 2 and 3, Figures 4 and 5: MovieLens\tneeds ml-100k" in out
    assert "cikm2013" not in out


def test_an_unknown_paper_is_a_wrong_use(run, tmp_path):
    done = run("reproduce", "www2021", "--data", tmp_path)
    assert done.code == 2
    assert "no paper or experiment 'www2021'" in done.err


def test_without_data_everything_is_skipped_and_a_report_says_so(run, tmp_path):
    (tmp_path / "data").mkdir()
    done = run("reproduce", "cikm2013-table3", "sushi", "--data", tmp_path / "data", "-o", tmp_path / "out")
    assert done.code == 0
    assert "cikm2013-table3: skipped: needs MQ2008-agg in" in done.err
    assert "0 of 2 experiments" in done.err
    assert "needs preflib/00014-00000001.soc" in (tmp_path / "out" / "report.md").read_text()


def test_a_broken_file_fails_its_experiment_and_the_command(run, tmp_path):
    (tmp_path / "data" / "preflib").mkdir(parents=True)
    (tmp_path / "data" / "preflib" / "00014-00000001.soc").write_text("# NUMBER ALTERNATIVES: x\nnonsense\n")
    done = run("reproduce", "sushi", "--data", tmp_path / "data", "-o", tmp_path / "out")
    assert done.code == 1
    assert "sushi: FAILED: " in done.err


def test_pages_are_written_from_whole_runs_only_and_into_the_documentation_only(run, tmp_path):
    for arguments, message in (
        (["sushi", "--docs", tmp_path], "leave out PAPER"),
        (["--quick", "--docs", tmp_path], "leave out PAPER"),
        (["--docs", tmp_path], "has no reproduce.md"),
    ):
        done = run("reproduce", *arguments, "--data", tmp_path, "-o", tmp_path / "out")
        assert done.code == 2
        assert message in " ".join(done.err.replace("│", " ").split())
    assert not (tmp_path / "out").exists()
