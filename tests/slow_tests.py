"""The tests that ``make quick`` leaves out, by measured time; ``@pytest.mark.slow`` in a file marks further ones."""

import re
from pathlib import Path

import pytest

from juryrank.methods import METHODS

# Frameworks take long to import, and services to start.
FOLDERS = ("tests/everyday/", "tests/integrations/", "tests/server/", "tests/studies/")
# Files whose tests start processes, build the site, compile, simulate, or compare thousands of cases.
FILES = {
    "tests/cli/test_broken_stdout.py",
    "tests/cli/test_commands.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_interrupts.py",
    "tests/cli/test_judge.py",
    "tests/cli/test_judge_endpoint.py",
    "tests/cli/test_judge_processes.py",
    "tests/cli/test_models.py",
    "tests/cli/test_stdout.py",
    "tests/tasks/clicks/test_cascade.py",
    "tests/tasks/clicks/test_explore_and_learn.py",
    "tests/tasks/clicks/test_sequential.py",
    "tests/annotators/test_dawid_skene.py",
    "tests/data/test_draws.py",
    "tests/tasks/export/test_engines.py",
    "tests/tasks/export/test_sqlite.py",
    "tests/files/test_runs.py",
    "tests/files/test_fuzz.py",
    "tests/files/test_growth.py",
    "tests/files/test_hostile_names.py",
    "tests/files/test_limits.py",
    "tests/files/test_python_libraries_back.py",
    "tests/files/test_python_libraries_ranx.py",
    "tests/files/test_round_trips.py",
    "tests/tasks/judge/test_advice.py",
    "tests/tasks/judge/test_agreement.py",
    "tests/tasks/judge/test_endpoint.py",
    "tests/tasks/judge/test_reliability.py",
    "tests/tasks/judge/test_session.py",
    "tests/tasks/judge/test_store.py",
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
    "tests/tasks/files/test_beyond_memory.py",
    "tests/test_claims.py",
    "tests/test_determinism.py",
    "tests/test_docs.py",
    "tests/test_doors.py",
    "tests/report/test_figures.py",
    "tests/test_flows.py",
    "tests/test_forks.py",
    "tests/tasks/fuse/test_fuse_plain.py",
    "tests/tasks/fuse/test_fuse_scores.py",
    "tests/test_import_is_light.py",
    "tests/tasks/leaderboard/test_leaderboard.py",
    "tests/tasks/leaderboard/test_leaderboard_intervals.py",
    "tests/test_model_damage.py",
    "tests/test_no_private_patches.py",
    "tests/test_readme.py",
    "tests/tasks/files/test_streamed_equals_whole.py",
    "tests/tasks/files/test_streamed_parquet.py",
    "tests/tasks/files/test_streaming.py",
    "tests/methods/test_alternation.py",
    "tests/methods/test_expected_metric.py",
    "tests/methods/test_glm.py",
    "tests/learning/test_held_out_values.py",
    "tests/learning/test_linear_algebra.py",
    "tests/methods/test_monotone_targets.py",
    "tests/methods/test_preferences.py",
    "tests/methods/test_relaxation.py",
}
# Tests among quick ones that draw with matplotlib, start processes, compare all methods or take half a second.
NAMES = {
    "test_a_budget_takes_the_quick_methods_and_names_the_others",
    "test_a_comparison_is_drawn",
    "test_a_comparison_is_drawn_and_an_unknown_picture_is_refused_before_the_work",
    "test_a_damaged_parquet_file_gives_the_rows_of_another_parser_or_one_error",
    "test_a_damaged_run_is_never_read_differently",
    "test_a_double_comes_back_from_its_text",
    "test_a_duckdb_relation_is_a_dataframe",
    "test_a_killed_process_leaves_the_old_content_or_the_new",
    "test_a_learned_model_gives_what_its_fuser_gives",
    "test_a_line_is_split_by_one_rule_whatever_the_others_are",
    "test_a_little_supervision_moves_the_order_its_way",
    "test_a_model_of_parts_is_that_of_one_fit",
    "test_a_page_has_the_best_items_each_once",
    "test_a_picture_is_drawn",
    "test_a_reader_that_stops_reading_is_no_error",
    "test_agreement_counts_every_list_of_an_expert_by_its_weight",
    "test_all_is_every_method_that_needs_no_labels_and_may_stand_beside_others",
    "test_all_teams_are_equally_likely_at_every_position",
    "test_another_solver_finds_no_lower_loss",
    "test_any_plain_decimal_is_rounded_once",
    "test_compare_takes_every_consensus_method_by_default",
    "test_ctrl_c_keeps_what_was_answered",
    "test_edges_give_finite_numbers",
    "test_evaluate_takes_what_read_takes",
    "test_every_comparison_comes_back_in_its_order_whatever_holds_the_names",
    "test_every_method_explores_or_is_refused",
    "test_every_shape_is_recognised_and_has_the_same_ballots",
    "test_explain_writes_what_the_ending_says",
    "test_folds_another_metric_and_other_methods_mean_cross_validation",
    "test_imports_point_down",
    "test_intervals_hold_the_truth_about_as_often_as_they_say",
    "test_labels_of_a_simulation_are_those_of_crowd_kit",
    "test_leaving_a_query_out_is_fitting_without_it",
    "test_leaving_a_query_out_is_really_fitting_without_it",
    "test_lists_of_unknown_experts_alone_are_warned_of_once",
    "test_many_seats_need_a_number_of_digits",
    "test_marks_and_line_ends_of_other_programs_change_nothing",
    "test_means_are_those_of_pytrec_eval_whatever_the_weights",
    "test_methods_are_completed",
    "test_more_names_than_the_table_of_shared_texts_holds",
    "test_no_modules_import_each_other",
    "test_no_report_holds_what_a_terminal_obeys",
    "test_one_known_expert_among_unknown_ones_is_no_reason_to_warn",
    "test_pages_are_as_frequent_as_their_probability",
    "test_pairs_are_those_of_the_definitions_on_random_ballots",
    "test_pairs_weigh_what_a_swap_changes_in_the_metric",
    "test_pictures_are_drawn",
    "test_pictures_are_pictures_and_the_same_every_time",
    "test_python_writes_the_lines_that_polars_writes",
    "test_random_elections_with_odd_names_read_back",
    "test_rbo_is_the_mean_over_the_orders_of_ties",
    "test_scores_orders_and_uniqueness_are_those_of_all_orders",
    "test_strengths_are_those_of_the_file_with_the_same_comparisons",
    "test_tables_of_every_shape_and_format_give_the_same_board",
    "test_tables_of_every_shape_are_recognised",
    "test_the_bias_can_be_given_and_drawn",
    "test_the_common_curve_keeps_a_quarter_of_its_aim",
    "test_the_confidence_sequence_is_drawn",
    "test_the_counts_are_those_of_a_loop_over_names",
    "test_the_list_of_orders_has_a_limit",
    "test_the_number_of_threads_does_not_matter",
    "test_the_picture_sets_weight_against_accuracy",
    "test_threads_that_save_under_one_name_damage_nothing",
    "test_values_are_those_of_the_slow_version",
    "test_values_of_any_run_are_those_of_pytrec_eval",
    "test_weights_are_those_of_the_definition",
    "test_what_is_dropped_or_repaired_is_counted_in_one_warning",
    "test_wide_and_long_tables_of_the_same_lists_are_the_same",
}
# Of tests over all methods: at least one method of every family, and those with paths of their own.
QUICK_METHODS = {
    "approval",
    "stv",
    "jury",
    "borda-fuse",
    "lambdarank",
    "ridge",
    "supervised-mc4",
    "rrf",
    "borda",
    "median-rank",
    "bradley-terry",
    "rank-centrality",
    "combsum",
    "copeland",
    "kemeny",
    "elo",
    "mc4",
    "retargeting",
}
CATALOGUE = {
    "tests/cli/test_methods.py",
    "tests/tasks/explain/test_explain.py",
    "tests/methods/test_contract.py",
    "tests/methods/test_scikit_learn.py",
    "tests/tasks/fuse/test_fuse_shapes.py",
    "tests/tasks/fuse/test_fuser.py",
    "tests/test_models.py",
}
# Methods that train for long, or are compiled for some of their parameters: their cases of all other tests.
SLOW = (
    "auto|blend|boosted|convex|cps|crf|monotone-retargeting|mpm|supervised-mc2|svd-lambdarank|theta-cps|theta-mpm"
    "|tuned-rrf"
)
CASES = re.compile(rf"\[.*\b({SLOW})\b")
ROOT = Path(__file__).parents[1]


def is_slow_file(path: Path) -> bool:
    file = path.relative_to(ROOT).as_posix()
    return file in FILES or (file + "/").startswith(FOLDERS)


def is_slow(item: pytest.Item) -> bool:
    """Whether a test reads the large datasets, or is one of those above."""
    file, _, name = item.nodeid.partition("::")
    return (
        file in FILES
        or file.startswith(FOLDERS)
        or name.partition("[")[0] in NAMES
        or "shared_data" in getattr(item, "fixturenames", ())
        or (file in CATALOGUE and is_of_other_method(item))
        or CASES.search(name) is not None
    )


def is_of_other_method(item: pytest.Item) -> bool:
    case = getattr(item, "callspec", None)
    values = case.params.values() if case else ()
    return any(isinstance(value, str) and value in METHODS and value not in QUICK_METHODS for value in values)
