"""Every refusal about a proposal, said once.

`detail` says why and what to do next, for a reader who cannot click. `advice` is the further sentence of a
page: what this person can do now, and who else can. A page writes "Not recorded." before a refused decision
itself, so no sentence here repeats it. Facts that a program needs (the tombstone, the proposal in the way,
the diff) travel as `extra` members; their names stand in backticks in `detail`. The refusals of the door
(token, scope, rate) are those of `review.access`.
"""

from __future__ import annotations

from typing import ClassVar

from huqan_site.lib.problems import Refusal


class Declined(Refusal):
    """A refusal about a proposal, with what a page adds for the person in front of it."""

    advice: ClassVar[str] = ""


class DecisionDeclined(Declined):
    """A decision of a person that was not recorded as a vote; the attempt itself is recorded (I27)."""


class Later(Declined):
    """Nothing is wrong with the request; the same one may pass after `retry_after` seconds."""

    wait: ClassVar[int] = 5

    @property
    def retry_after(self) -> int:
        """Whole seconds for the Retry-After header."""
        return int(self.extra.get("retry_after", self.wait))


class NotFound(DecisionDeclined):
    code, status, title = "not_found", 404, "Not found"
    detail = "Nothing with this id is here for you. Check the id and the workspace of your credential."
    advice = "Open the queue to see what you can decide."


# Deciding, in the order in which they answer.


class BadVerdict(DecisionDeclined):
    code, status, title = "bad_verdict", 422, "No such verdict"
    detail = "A verdict is approve, reject or request_changes. Send one of these."
    advice = "Choose one of the answers that the page offers."


class AlreadyDecided(DecisionDeclined):
    code, status, title = "already_decided", 409, "Already decided"
    detail = (
        "This proposal was decided before this arrived. Read its status; propose again if something else is "
        "needed."
    )
    advice = "The page shows who decided it and when. Nobody can decide it a second time."


class Expired(DecisionDeclined):
    code, status, title = "expired", 409, "Expired"
    detail = (
        "The time for this proposal is over, and nothing runs after that. Propose it again if it is still "
        "needed."
    )
    advice = "Nobody can extend it. The agent can propose it again."


class NotEligible(DecisionDeclined):
    code, status, title = "not_eligible", 403, "Not eligible"
    detail = (
        "Deciding this needs an active role in its workspace that you do not have. Someone who has it must "
        "decide."
    )
    advice = (
        "A manager of the workspace grants roles. A new role counts for what is submitted after it began."
    )


class RoleTooNew(DecisionDeclined):
    code, status, title = "role_too_new", 403, "Role too new"
    detail = "Your role began after these arguments were submitted. Someone whose role is older must approve."
    advice = "Rejecting and requesting changes stay open to you."


class SelfApproval(DecisionDeclined):
    code, status, title = "self_approval", 403, "Not independent"
    detail = "You are not independent of this proposal. Someone else must approve."
    advice = (
        "This holds for every account you have and for every page. Rejecting and requesting changes stay "
        "open to you."
    )


class PolicyChanged(DecisionDeclined):
    code, status, title = "policy_changed", 409, "The policy changed"
    detail = (
        "The rule for this tool changed after these arguments were submitted. Read the proposal again: it "
        "is bound anew."
    )
    advice = (
        "Open the page again in a moment and decide under the rule it shows then. Earlier votes are outdated."
    )


class StaleBinding(DecisionDeclined):
    code, status, title = "stale_binding", 409, "Changed since you looked"
    detail = (
        "The proposal is not what this decision was made on. Read it again and decide on what it says now."
    )
    advice = "The page shows what changed. What you typed is kept in the form."


class SamePerson(DecisionDeclined):
    code, status, title = "same_person", 409, "You already approved"
    detail = (
        "You approved these exact arguments before, and one person counts once. Someone else must approve."
    )
    advice = "You can still reject it or request changes."


class StepUpRequired(DecisionDeclined):
    code, status, title = "step_up_required", 403, "Confirm that it is you"
    detail = "The rule asks for a sign-in at most 5 minutes old. Type your password or code in the same form."
    advice = "What you typed is kept. Your vote is recorded when it is right."


class ReasonRequired(DecisionDeclined):
    code, status, title = "reason_required", 422, "A reason is needed"
    detail = "Rejecting, requesting changes and deciding on high risk need a reason. Write one in the form."
    advice = "One sentence is enough. The agent and the audit trail keep it."


class ConfirmMismatch(DecisionDeclined):
    code, status, title = "confirm_mismatch", 422, "The typed value differs"
    detail = (
        "What was typed is not the value that the rule asks you to confirm. Type it exactly as the page "
        "shows it."
    )
    advice = "If the value itself looks wrong, reject it or request changes."


class NotTogether(DecisionDeclined):
    code, status, title = "not_together", 422, "Not to be approved together"
    detail = (
        "Together only calls of one tool, of low risk, at most 20 of them, are approved. Open each by itself."
    )
    advice = "Rejecting several at once stays open to you."


# Proposing, revising, withdrawing.


class Invalid(Declined):
    code, status, title = "invalid", 422, "Not valid"
    detail = "Some fields are not as they must be. Correct what `errors` points at and send it again."


class KeyReused(Declined):
    code, status, title = "key_reused", 422, "Idempotency key used before"
    detail = "This idempotency key stands for another body. Use a new key for a new proposal."


class Unsatisfiable(Declined):
    code, status, title = "unsatisfiable", 422, "Nobody could approve it"
    detail = (
        "Fewer independent people could decide this than the rule needs. Ask a manager to add reviewers to "
        "the workspace."
    )


class NotDelegated(Declined):
    code, status, title = "not_delegated", 422, "No such delegation"
    detail = (
        "That person has not let this agent act for him. He grants it on his own page; or leave out "
        "`on_behalf_of`."
    )


class NoProvenance(Declined):
    code, status, title = "no_provenance", 422, "No source given"
    detail = "A high risk memory needs to say where it comes from. Send `provenance` with a kind and a ref."


class Blocked(Declined):
    code, status, title = "blocked", 403, "Blocked by policy"
    detail = "The policy of this workspace blocks this tool for agents. A manager can propose another rule."


class Tombstoned(Declined):
    code, status, title = "tombstoned", 409, "Rejected before"
    detail = (
        "This value was rejected before and stays rejected; `tombstone` names it. Only people can lift it, "
        "by a proposal."
    )


class RecentlyRejected(Declined):
    code, status, title = "recently_rejected", 409, "Rejected a moment ago"
    detail = (
        "The same call was rejected less than 15 minutes ago; `proposal` names it. Read its reason and "
        "change the arguments."
    )


class ExpiredContent(Declined):
    code, status, title = "expired_content", 409, "The content has expired"
    detail = "`expires_at` of the memory is already past. Send a later one, or none."


class Inactive(Declined):
    code, status, title = "inactive", 409, "The record is not active"
    detail = (
        "The record named was superseded, archived or withdrawn. Query the memory and name the active one."
    )


class StaleRevision(Declined):
    code, status, title = "stale_revision", 409, "Another revision is current"
    detail = "`revision` is not the current one. Read the proposal again and revise what it says now."


class BadCursor(Declined):
    code, status, title = "bad_cursor", 400, "Not a cursor of ours"
    detail = (
        "Send `cursor` exactly as `next_cursor` gave it, with the same filters; or leave it out to start "
        "again."
    )


class TooManyPending(Later):
    code, status, title = "too_many_pending", 429, "Too many open proposals"
    detail = "Too many proposals of this agent are open. Withdraw some, or wait until people have decided."
    wait = 60


# Running what was approved.


class NotApproved(Declined):
    code, status, title = "not_approved", 409, "Not approved"
    detail = (
        "This proposal is not approved, so nothing may run. Wait for people to decide; `status` says where "
        "it stands."
    )


class PermitSpent(Declined):
    code, status, title = "permit_spent", 409, "The permit is spent"
    detail = "This approval was used already, and it counts once. Propose again to run it a second time."


class ArgumentsDrifted(Declined):
    code, status, title = "arguments_drifted", 409, "Not what was approved"
    detail = (
        "What is about to run differs from what was approved; `diff` says where. Run the approved "
        "arguments, or propose anew."
    )


class BadPermit(Declined):
    code, status, title = "bad_permit", 422, "Not a valid permit"
    detail = (
        "The permit is not ours, not for you, or no longer valid. Redeem the proposal to get one; run "
        "nothing without it."
    )


class NotRunning(Declined):
    code, status, title = "not_running", 409, "Not running"
    detail = (
        "An outcome can be reported for a running proposal only. Redeem it first; `status` says where it "
        "stands."
    )


class AlreadyReported(Declined):
    code, status, title = "already_reported", 409, "Already reported"
    detail = (
        "The outcome of this proposal was reported before and does not change. Read the proposal to see it."
    )
