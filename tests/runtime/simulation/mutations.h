#pragma once

namespace pstrain::simulation {

/// Deliberate faults, to show that the simulation sees them. The product itself is not changed:
/// what it is told, or what it says, is, on the way between two processes or to the disk, so that
/// the whole behaves as if a rule were not kept.
struct Mutations {
  /// A ps reports its checkpoint shards as written before they are synced.
  bool shards_not_synced = false;
  /// Names are not synced: neither of checkpoint shards nor of manifests.
  bool folders_not_synced = false;
  /// A ps that restores calls every error of its disk a damage.
  bool errors_are_damage = false;
  /// The chief believes a ps that finds a checkpoint damaged: it reads what that ps says to have
  /// read.
  bool damage_is_believed = false;
  /// A worker reports a push that got no answer.
  bool failed_pushes_are_reported = false;
  /// The chief does not keep the checkpoint that the evaluator reads.
  bool pins_are_ignored = false;
  /// A ps that the chief has given up is told that it is known.
  bool lost_ps_are_known = false;
  /// Workers do not hear of new owners.
  bool memberships_are_not_told = false;
  /// The chief takes a poll that is late for the newest one.
  bool late_polls_count = false;
  /// A chief never sees that another one has taken a later term.
  bool later_chiefs_are_unseen = false;
  /// The chief waits for ever for workers that do not get on: it shares none of their batches, and
  /// a job in which nobody gets on does not fail.
  bool chief_waits_for_ever = false;
  /// The chief waits for ever for the evaluation of the final checkpoint.
  bool evaluation_has_no_deadline = false;
  /// A worker for which there is nothing to do now is told that the job is finished.
  bool finish_is_told_early = false;
  /// A pause of the chief is none to it: its time goes on, and nobody is heard.
  bool pauses_of_chief_count = false;
  /// Nobody's pauses grow before something is tried again.
  bool pauses_do_not_grow = false;
  /// The file that names the newest checkpoint is not there for a chief that starts.
  bool newest_is_not_noted = false;
  /// Nobody is asked for a token.
  bool callers_are_believed = false;
  /// A token that has expired is refused for good.
  bool expired_is_for_good = false;
  /// Nobody says which attempt it is.
  bool attempts_are_not_told = false;
  /// The chief takes a link over which no call arrives for a good one.
  bool dead_links_look_well = false;
  /// A worker pulls far ahead of what it has pushed.
  bool steps_run_ahead = false;
  /// The chief grants before all ps know of new variables.
  bool news_are_not_awaited = false;
  /// A ps does not say that a variable is not finite any more; or it does not look.
  bool non_finite_is_not_told = false;
  bool non_finite_is_not_seen = false;
  /// A shard that was taken over, from a ps or a checkpoint, does not get what is declared later.
  bool copies_do_not_grow = false;
  /// A shard does not look which chief has granted what it is asked for.
  bool chiefs_of_grants_are_ignored = false;
  /// A shard does not look whether it has what the work that pulls, or pushes, waits for.
  bool early_pulls_are_served = false;
  bool early_pushes_are_applied = false;
  /// A call counts as committed when the copies of all shards turn out to have it.
  bool copies_commit_calls = false;
  /// The chief never begins another chain of checkpoints.
  bool chains_are_endless = false;
  /// Two chiefs of one term are one and the same: to themselves, to ps, or to workers.
  bool chiefs_share_terms = false;
  bool ps_ignore_chief_ids = false;
  bool workers_ignore_chief_ids = false;
  /// A ps copies all shards of a checkpoint together, not one after the other.
  bool shards_are_copied_together = false;
  /// A resumed run waits for ever for the evaluation of its restored state.
  bool restored_state_has_no_deadline = false;
  /// A new chief does not wait until the evaluator has said what it reads.
  bool pins_are_not_awaited = false;
  /// A checkpoint does not say of which generation its catalog is.
  bool generations_are_not_noted = false;
  /// A chief of a program does not note at which mark it begins.
  bool histories_are_not_noted = false;
  /// A chief of a program begins at the newest mark, whichever history that is of.
  bool marks_of_all_histories_count = false;
  /// A chief tells of a mark that has come into place after another chief has begun.
  bool late_marks_are_told = false;
  /// What a program has scheduled is forgotten when it is committed.
  bool log_is_freed_at_commit = false;
  /// Of the attempts that were reported the last one says what a call has returned.
  bool last_result_counts = false;
  /// Calls that change nothing read from shards that lack what they are after.
  bool looks_do_not_wait = false;
  /// No attempt of an atomic call hears what another one has come to: it computes it again.
  bool prepared_is_not_told = false;
  /// What an attempt comes to that was given up counts as any other.
  bool missed_attempts_count = false;
  /// A shard that has what a call changes says nothing when the call is to be left out.
  bool errors_win_over_changes = false;
  /// A worker leaves out what runs again for a lost ps and fails, as any other call.
  bool repairs_are_left_out = false;
  /// A worker takes a call that was given up for one that was voided.
  bool lost_calls_are_voided = false;
  /// The chief hears of a call that was given up as of one that is committed again.
  bool lost_updates_do_not_count = false;
  /// What is to end the chief, so that the program goes on from its mark, does not.
  bool returns_are_ignored = false;
  /// A mark does not say how many calls have failed.
  bool failed_calls_are_forgotten = false;
  /// A ps of a program serves the next chief too, with what it has.
  bool former_ps_are_adopted = false;
};

/// What runs now.
Mutations& ActiveMutations();

}  // namespace pstrain::simulation
