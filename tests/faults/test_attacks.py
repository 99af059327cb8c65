"""The attacks of this folder, a few of each: as commands they make thousands, and print figures."""

from faults import abort, calls, editors, framing, kill, replay, states


async def test_l15_c09_c16_turns_that_are_stopped_at_random_moments_end_once_and_whole() -> None:
    found, figures = await abort.attack(tries=9, seed=1, beside=3)
    assert found == []
    assert figures["counts"]["aborted"] >= 9


async def test_l15_b09_b10_a_turn_stops_in_every_state_and_the_next_prompt_works() -> None:
    found, figures = await states.attack(tries=1, seed=1)
    assert found == []
    assert set(figures) == set(states.STATES)
    assert {row["survivors"] for row in figures.values()} == {0}


async def test_c09_c13_d10_servers_that_are_killed_at_random_moments_lose_and_brick_nothing() -> None:
    found, figures = await kill.attack(runs=2, seed=1)
    assert found == []
    assert figures["counts"]["acknowledged"] >= 2


async def test_l08_l09_b15_servers_whose_editors_go_in_any_way_end_with_all_that_they_started() -> None:
    found, figures = await editors.attack(runs=3, seed=1)
    assert found == []
    assert len(figures["exit"]) == 3


async def test_a_client_that_attaches_at_random_moments_misses_nothing() -> None:
    found, cuts = await replay.attack(runs=2, seed=1)
    assert found == []
    assert cuts == 12


def test_l01_l14_bodies_come_out_whole_between_broken_frames() -> None:
    found, figures = framing.in_process(messages=3_000, seed=1)
    assert found == []
    assert figures["broken"] > 100


async def test_l01_l14_a_server_answers_behind_each_broken_frame() -> None:
    found, figures = await framing.alive(messages=120, seed=1)
    assert found == []
    assert figures["messages"] == 120


async def test_b12_b15_many_calls_leave_no_descriptor_thread_process_or_row_behind() -> None:
    found, figures = await calls.attack(number=80, seed=1)
    assert found == []
    assert sum(figures["ended"].values()) == sum(figures["calls"].values()) >= 80
