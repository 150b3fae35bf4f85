"""The tests that ``make quick`` leaves out, by measured time; ``@pytest.mark.slow`` in a file marks further ones."""

import re

import pytest

# Frameworks take long to import, and services to start.
FOLDERS = ("tests/everyday/", "tests/integrations/", "tests/server/", "tests/studies/")
# Files whose tests start processes, build the site, compile, simulate, or compare thousands of cases.
FILES = {
    "tests/cli/test_broken_stdout.py",
    "tests/cli/test_commands.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_interrupts.py",
    "tests/cli/test_judge.py",
    "tests/cli/test_judge_processes.py",
    "tests/cli/test_models.py",
    "tests/cli/test_stdout.py",
    "tests/cli/test_warm.py",
    "tests/clicks/test_explore_and_learn.py",
    "tests/clicks/test_sequential.py",
    "tests/crowd/test_dawid_skene.py",
    "tests/export/test_engines.py",
    "tests/export/test_sqlite.py",
    "tests/files/test_fast_trec.py",
    "tests/files/test_fuzz.py",
    "tests/files/test_growth.py",
    "tests/files/test_hostile_names.py",
    "tests/files/test_limits.py",
    "tests/files/test_python_libraries_back.py",
    "tests/files/test_round_trips.py",
    "tests/judging/test_advice.py",
    "tests/judging/test_agreement.py",
    "tests/judging/test_endpoint.py",
    "tests/judging/test_reliability.py",
    "tests/judging/test_session.py",
    "tests/judging/test_store.py",
    "tests/kernels/test_cache.py",
    "tests/methods/test_auto.py",
    "tests/methods/test_boosted.py",
    "tests/methods/test_crf.py",
    "tests/methods/test_degenerate_comparisons.py",
    "tests/methods/test_election_examples.py",
    "tests/methods/test_election_rules.py",
    "tests/methods/test_finite.py",
    "tests/methods/test_graded_rules.py",
    "tests/methods/test_kemeny.py",
    "tests/methods/test_list_weights.py",
    "tests/methods/test_majority_rules.py",
    "tests/methods/test_mallows.py",
    "tests/methods/test_monotone_retargeting.py",
    "tests/methods/test_mpm.py",
    "tests/methods/test_scales.py",
    "tests/methods/test_spectral_strengths.py",
    "tests/methods/test_strengths.py",
    "tests/methods/test_supervised_chains.py",
    "tests/methods/test_supervised_on_real_data.py",
    "tests/methods/test_tuned.py",
    "tests/metrics/test_few_judgements.py",
    "tests/test_add_a_method.py",
    "tests/test_beyond_memory.py",
    "tests/test_claims.py",
    "tests/test_determinism.py",
    "tests/test_docs.py",
    "tests/test_figures.py",
    "tests/test_forks.py",
    "tests/test_fuse_plain.py",
    "tests/test_fuse_scores.py",
    "tests/test_import_is_light.py",
    "tests/test_leaderboard.py",
    "tests/test_leaderboard_intervals.py",
    "tests/test_model_damage.py",
    "tests/test_no_private_patches.py",
    "tests/test_readme.py",
    "tests/test_streamed_equals_whole.py",
    "tests/test_streaming.py",
    "tests/training/test_alternation.py",
    "tests/training/test_expected_metric.py",
    "tests/training/test_glm.py",
    "tests/training/test_held_out_values.py",
    "tests/training/test_linear_algebra.py",
    "tests/training/test_monotone_targets.py",
    "tests/training/test_preferences.py",
    "tests/training/test_relaxation.py",
}
# Tests that draw with matplotlib, start processes or compare all methods, among quick ones.
NAMES = {
    "test_a_comparison_is_drawn",
    "test_a_comparison_is_drawn_and_an_unknown_picture_is_refused_before_the_work",
    "test_a_damaged_parquet_file_gives_the_rows_of_another_parser_or_one_error",
    "test_a_damaged_run_is_never_read_differently",
    "test_a_double_comes_back_from_its_text",
    "test_a_killed_process_leaves_the_old_content_or_the_new",
    "test_a_little_supervision_moves_the_order_its_way",
    "test_a_picture_is_drawn",
    "test_a_reader_that_stops_reading_is_no_error",
    "test_all_is_every_method_that_needs_no_labels_and_may_stand_beside_others",
    "test_compare_takes_every_consensus_method_by_default",
    "test_ctrl_c_keeps_what_was_answered",
    "test_every_comparison_comes_back_in_its_order_whatever_holds_the_names",
    "test_explain_writes_what_the_ending_says",
    "test_intervals_hold_the_truth_about_as_often_as_they_say",
    "test_pictures_are_drawn",
    "test_pictures_are_pictures_and_the_same_every_time",
    "test_strengths_are_those_of_the_file_with_the_same_comparisons",
    "test_the_confidence_sequence_is_drawn",
    "test_the_counts_are_those_of_a_loop_over_names",
    "test_the_number_of_threads_does_not_matter",
    "test_the_picture_sets_weight_against_accuracy",
    "test_values_are_those_of_the_slow_version",
    "test_weights_are_those_of_the_definition",
}
# Methods that train for long, or are compiled for some of their parameters: their cases of tests over all methods.
SLOW = (
    "auto|blend|boosted|convex|cps|crf|monotone-retargeting|mpm|supervised-mc2|svd-lambdarank|theta-cps|theta-mpm"
    "|tuned-rrf"
)
METHODS = re.compile(rf"\[.*\b({SLOW})\b")


def is_slow(item: pytest.Item) -> bool:
    """Whether a test reads the large datasets, or is one of those above."""
    file, _, name = item.nodeid.partition("::")
    listed = file in FILES or file.startswith(FOLDERS) or name.partition("[")[0] in NAMES
    return listed or "shared_data" in getattr(item, "fixturenames", ()) or METHODS.search(name) is not None
