"""Which tests show what the rows of the list of faults expect of workers on other machines, of
their output, of files, of engines and of brokers: each row is found here by its number.
"""

import re
from typing import Final

import pytest

from tidy.source_files import ROOT

ROWS: Final = {
    3: (  # a driver is killed before or after a claim, or an offer
        "faults/test_kills.py::test_killed",
        "transports/test_rabbitmq_faults.py::test_a_kill_at_each_step_loses_and_doubles_nothing",
        "transports/test_rabbitmq_faults.py::test_two_drivers_of_which_one_slept",
        "transports/test_kafka.py::test_a_kill_in_between_loses_and_doubles_nothing",
    ),
    6: (  # an agent is killed at each phase
        "faults/test_kills.py::test_killed",
        "e2e/test_workers_outside.py::test_nothing_is_lost_or_lives_twice_when_each_part_is_killed",
        "worker/test_job_files.py::test_next_agent_keeps_what_a_job_leaves",
        "worker/test_input_cache.py::test_killed_agent_leaves_no_half_file",
        "e2e/test_s3_stores.py::test_an_upload_goes_on_with_the_part_that_is_missing",
    ),
    7: (  # an agent dies, what it started lives
        "faults/test_adoption.py::test_agent_killed_adopts_what_runs",
        "worker/test_spawner_kills.py::test_next_agent_kills_what_a_dead_spawner_left",
        "e2e/test_containers.py::test_container_is_killed_and_adopted_as_any_job",
    ),
    8: (  # a job that does not listen, forks and flees
        "worker/test_spawner_kills.py::test_time_limit_kills_one_that_does_not_listen",
        "worker/test_spawner_kills.py::test_kill_reaches_children_that_fled",
        "worker/test_cgroups.py::test_nothing_outlives_an_attempt_beside_another_one",
    ),
    9: (  # memory runs out
        "worker/test_oom.py::test_process_that_takes_too_much_memory_ends_as_oom",
        "store/test_retry_with.py::test_a_retry_after_oom_asks_for_more_memory",
    ),
    10: (  # an agent sleeps beyond its grace
        "faults/test_two_workers.py::test_agent_that_is_stopped_leaves_no_job_to_run_twice",
        "api/test_link_forgeries.py::test_a_lost_worker_changes_nothing_any_more",
    ),
    12: (  # everything dies at once
        "faults/test_kills.py::test_everything_killed",
    ),
    13: (  # a driver is killed between a machine and its record
        "faults/test_autoscaler.py::test_a_driver_that_is_killed_in_a_round_leaks_no_machine",
    ),
    28: (  # the link is cut
        "api/test_link_faults.py::test_a_short_cut_changes_nothing",
        "worker/test_fence.py::test_jobs_that_are_not_renewed_are_killed",
        "api/test_link_forgeries.py::test_a_lost_worker_changes_nothing_any_more",
    ),
    29: (  # one direction is lost
        "api/test_link_faults.py::test_a_connection_that_is_dead_without_a_word_is_given_up",
        "worker/test_fence.py::test_nothing_is_started_until_the_next_renewal",
    ),
    30: (  # delay, loss, repeats, truncation
        "api/test_link_faults.py::test_delay_changes_nothing",
        "api/test_link_faults.py::test_an_answer_that_breaks_off_is_none",
        "api/test_link_faults.py::test_a_claim_whose_answer_is_lost_is_not_lost",
        "api/test_link_faults.py::test_an_end_that_is_told_twice_is_one",
        "e2e/test_link_faults.py::test_nothing_is_lost_or_lives_twice_on_a_bad_network",
    ),
    32: (  # a broker repeats, reorders, plays a day again, or brings poison
        "store/test_transports.py::test_repeated_shuffled_and_forged_messages",
        "transports/test_rabbitmq_steps.py::test_a_days_messages_replayed_and_shuffled",
        "transports/test_kafka_faults.py::test_a_days_messages_replayed_and_shuffled",
        "transports/test_rabbitmq_dead.py::test_what_nobody_wants_is_kept_and_sent_again",
        "transports/test_job_topics.py::test_poison_goes_by_and_positions_pass_it",
    ),
    33: (  # a broker is down, full or slow
        "transports/test_away.py::test_one_incident_is_there_while_the_broker_is_away",
        "transports/test_rabbitmq_faults.py::test_a_disk_alarm_stops_what_goes_out",
        "transports/test_rabbitmq_steps.py::test_flow_control_delays_offers_and_loses_none",
        "transports/test_rabbitmq_events.py::test_none_of_a_job_passes_one_that_a_full_queue",
        "transports/test_kafka_order.py::test_what_is_refused_for_a_moment_stays_in_front",
    ),
    34: (  # a listener hangs, drips, redirects or sends without end
        "net/test_foreign_http.py::test_server_without_manners_costs_a_bounded_time",
        "net/test_foreign_http.py::test_body_without_end_is_cut_off",
        "callbacks/test_live.py::test_host_that_hangs_delays_nobody_else",
        "driver/test_callbacks.py::test_notice_logs_in_and_follows_redirections",
        "driver/test_callbacks.py::test_failure_is_tried_again_after_a_pause_and_given_up",
    ),
    38: (  # the same name, or a cloned machine
        "api/test_link_forgeries.py::test_nobody_proves_that_the_worker_of_another_token_is_gone",
    ),
    39: (  # an old version, or a forged capacity
        "release/test_side_by_side.py",
        "store/test_capacity.py::test_a_forged_worker_changes_nothing_for_others",
        "api/test_worker_link.py::test_forged_capacity_is_refused",
    ),
    40: (  # a full disk
        "faults/test_disk.py::test_full_disk_of_the_logs",
        "worker/test_job_files.py::test_job_that_would_fill_the_disk_waits_and_says_so",
        "plugins/test_spool.py::test_nothing_is_taken_while_the_disk_is_nearly_full",
    ),
    41: (  # a disk that is read only, or lost
        "up/test_disk.py::test_read_only_disk_is_said",
        "worker/test_spawner_output.py::test_full_disk_ends_the_job_not_the_spawner",
    ),
    42: (  # a host that fails softly
        "driver/test_black_holes.py::test_black_hole_is_cordoned",
    ),
    43: (  # output without end, or of any kind
        "worker/test_spawner_output.py::test_one_gigabyte_takes_little_memory_and_disk",
        "worker/test_spawner_output.py::test_long_stream_keeps_head_and_tail",
        "api/test_link_forgeries.py::test_output_ends_at_what_no_spawner_writes",
    ),
    46: (  # bodies beyond the limit
        "api/test_wire.py::test_body_of_100_mb_is_refused_early_in_flat_memory",
        "api/test_wire.py::test_body_without_a_length_is_refused_at_the_limit",
        "api/test_doors_bad_bodies.py::test_bodies_beyond_the_limit_are_refused",
    ),
    47: (  # bodies that are no JSON, or not one to be read
        "api/test_bad_input.py::test_body_that_cannot_be_read_is_a_problem",
        "api/test_doors_bad_bodies.py::test_bodies_that_cannot_be_read_are_refused",
        "api/test_agave_any_input.py::test_no_body_ends_in_an_error_of_the_server",
        "api/test_agave_story.py::test_deep_and_large_submissions_are_refused",
    ),
    48: (  # bombs, and archives that lead elsewhere
        "worker/test_stager.py::test_archives_that_are_refused",
        "api/test_bad_input.py::test_media_that_are_not_read",
        "wire/test_app_folder.py::test_what_leads_out_is_refused",
        "api/test_doors_bad_bodies.py::test_bodies_that_cannot_be_read_are_refused",
    ),
    49: (  # slow and oversize heads, and requests in requests
        "api/test_wire_attacks.py::test_each_attack_has_its_status",
        "api/test_wire_attacks.py::test_who_goes_silent_is_cut_off",
        "api/test_wire.py::test_head_without_end_is_refused",
    ),
    53: (  # SQL in any field
        "store/test_queries.py::test_hostile_texts_are_only_values",
        "api/test_agave_any_input.py::test_no_search_and_no_path_ends_in_an_error_of_the_server",
        "api/test_doors_bad_bodies.py::test_texts_of_searches_are_only_values",
    ),
    54: (  # commands in arguments, images and options
        "worker/test_posix_spawn.py::test_words_of_a_command_are_read_by_no_shell",
        "runners/test_slurm_runner.py::test_job_chooses_what_the_gateway_allows",
        "worker/test_specs.py::test_a_job_that_chooses_what_its_tenant_forbids_meanwhile_does_not_leave",
    ),
    55: (  # paths and links that lead elsewhere
        "worker/test_stager.py::test_what_is_swapped_after_it_was_found",
        "plugins/test_spool.py::test_spool_keeps_files_of_output_only",
        "plugins/test_s3_stores.py::test_a_job_names_what_it_may_ask_for",
    ),
    56: (  # tokens that are forged, confused or late
        "api/test_web_tokens.py::test_refused_token",
        "api/test_wso2.py::test_refused",
        "api/test_wso2_live.py::test_assertion_of_a_gateway_counts_alone_and_before_a_bearer",
    ),
    57: (  # the ids of another tenant, or of strangers
        "api/test_walls.py::test_nothing_tells_or_changes_anything_of_another_tenant",
        "api/test_walls.py::test_without_the_checks_of_the_code_each_route_still_knows_its_tenant_only",
        "e2e/test_door_sight.py::test_owner_granted_users_and_operators_see_a_job",
        "e2e/test_agave.py::test_permissions_let_others_in",
    ),
    58: (  # a role does what it may not
        "api/test_worker_link.py::test_token_of_a_worker_does_nothing_else",
        "api/test_worker_link.py::test_incarnation_belongs_to_its_token",
        "api/test_worker_link.py::test_link_tells_of_live_attempts_only",
        "api/test_link_forgeries.py::test_a_worker_names_only_files_that_its_job_leaves",
    ),
    59: (  # requests into the site's network
        "net/test_foreign_http.py::test_private_address_is_not_even_connected_to",
        "net/test_foreign_http.py::test_name_is_resolved_once_and_its_address_is_the_one",
        "plugins/test_web_files.py::test_no_redirection_leads_to_what_only_the_host_may_ask",
        "plugins/test_s3_stores.py::test_private_addresses_are_refused_and_silence_is_away",
    ),
    64: (  # a canary
        "e2e/test_secrets.py::test_no_value_is_found_anywhere",
        "e2e/test_secrets_outside.py::test_a_proxy_that_ends_tls_sees_no_secret",
        "e2e/test_s3_stores.py::test_files_travel_between_two_stores_and_no_job_sees_what_opens_them",
        "runners/test_kubernetes_runner.py::test_secrets_reach_the_pod_and_nothing_else",
    ),
    66: (  # pickles of others
        "worker/test_signatures.py::test_signed_function_is_unpickled_and_no_other",
        "api/test_link_keys.py::test_functions_are_checked_where_the_keys_are",
        "tidy/test_pickles.py::test_nobody_else_unpickles",
    ),
    70: (  # the tag of an image moves
        "e2e/test_containers.py::test_tag_that_moves_gives_the_new_image_and_what_runs_keeps_the_old",
    ),
    74: (  # half of the workers are taken back at once
        "store/test_spot.py::test_half_of_the_workers_are_taken_back_at_once_and_new_ones_come_late",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_row_has_tests(row: int) -> None:
    for one in ROWS[row]:
        path, _, name = one.partition("::")
        text = (ROOT / "tests" / path).read_text()
        assert re.search(rf"def {name or 'test_'}", text), one
